"""Tensor expressions: the language that operators are defined in, and TensorIR is made from."""

from . import topi as topi
from .arithmetic import cast as cast
from .arithmetic import const as const
from .arithmetic import dim_expr as dim_expr
from .arithmetic import symbol as symbol
from .broadcast import ConstantTensor as ConstantTensor
from .broadcast import broadcast_index as broadcast_index
from .broadcast import broadcast_shape as broadcast_shape
from .broadcast import elementwise as elementwise
from .expr import Index as Index
from .expr import PrimExpr as PrimExpr
from .expr import Var as Var
from .intrinsics import call_intrinsic as call_intrinsic
from .intrinsics import if_then_else as if_then_else
from .prim_func import build_prim_func as build_prim_func
from .prim_func import create_prim_func as create_prim_func
from .tensor import IterVar as IterVar
from .tensor import Tensor as Tensor
from .tensor import comm_reducer as comm_reducer
from .tensor import compute as compute
from .tensor import max as max
from .tensor import min as min
from .tensor import placeholder as placeholder
from .tensor import prod as prod
from .tensor import reduce_axis as reduce_axis
from .tensor import sum as sum


def fma(x: PrimExpr, y: PrimExpr, z: PrimExpr) -> PrimExpr:
    """``x * y + z``, rounded once for floats; `math.fma`."""
    return call_intrinsic("fma", x, y, z)


def var(name: str = "n", dtype: str = "int64") -> Index:
    """A symbolic dim; TVM's ``te.var``."""
    return symbol(name)

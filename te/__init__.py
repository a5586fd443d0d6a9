"""Tensor expressions: the language that operators are defined in, and TensorIR is made from.

Scalar functions are the ones that scripts have: ``te.exp`` is ``T.exp``, see `intrinsics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dialects.diagnostics import suggestion
from ..dialects.dtypes import check_dtype
from ..ir.extern_primfunc import extern_primfunc as extern_primfunc
from ..ir.prim_func import PrimFunc
from ..ir.struct_info import PrimStructInfo
from . import topi as topi
from .arithmetic import cast as cast
from .arithmetic import const as const
from .arithmetic import dim_expr as dim_expr
from .arithmetic import symbol as symbol
from .axes import IterVar as IterVar
from .axes import reduce_axis as reduce_axis
from .broadcast import ConstantTensor as ConstantTensor
from .broadcast import broadcast_index as broadcast_index
from .broadcast import broadcast_shape as broadcast_shape
from .broadcast import elementwise as elementwise
from .constant_dim import ConstantDim
from .expr import Index as Index
from .expr import PrimExpr as PrimExpr
from .expr import Var as Var
from .extern import IRBuilder as IRBuilder
from .extern import scatter as scatter
from .extern import statements as statements
from .foreign import call_extern as call_extern
from .foreign import call_packed as call_packed
from .foreign import extern as extern
from .intrinsics import FUNCTIONS as _FUNCTIONS
from .intrinsics import call_intrinsic as call_intrinsic
from .intrinsics import if_then_else as if_then_else
from .intrinsics import let as let
from .intrinsics import select as select
from .moved import moved as moved
from .prim_func import build_prim_func as build_prim_func
from .reducers import all as all
from .reducers import any as any
from .reducers import comm_reducer as comm_reducer
from .reducers import finite_max as finite_max
from .reducers import max as max
from .reducers import min as min
from .reducers import prod as prod
from .reducers import sum as sum
from .scan import ScanOp as ScanOp
from .scan import recurrence as recurrence
from .scan import scan as scan
from .tag import tag_scope as tag_scope
from .tensor import Compute as Compute
from .tensor import PlaceholderOp as PlaceholderOp
from .tensor import Tensor as Tensor
from .tensor import TensorSlice as TensorSlice
from .tensor import compute as compute
from .tensor import placeholder as placeholder
from .tensor import shape_of as shape_of

PrimExpr.type_of = ConstantDim.type_of = PrimStructInfo


def var(name: str = "n", dtype: Any = "int64", *, ty: Any = None) -> PrimExpr:
    """A symbolic dim, or a scalar variable; TVM's ``te.var`` and ``tir.Var``.

    For "int32" and "int64" it is a dim: an int64 of at least 0, and for "handle" the memory of a
    buffer. The dtype, also called `ty`, may be a type of numbers that has it. Raises ValueError for
    a dtype that does not exist.
    """
    dtype = dtype if ty is None else ty
    dtype = getattr(dtype, "dtype", dtype)
    if dtype in ("int32", "int64"):
        return symbol(name)
    return Var(name, dtype if dtype == "handle" else check_dtype(dtype))


def create_prim_func(
    tensors: Sequence[Tensor | PrimExpr],
    index_dtype_override: str | None = None,
    *,
    name: str = "main",
) -> PrimFunc:
    """The function whose parameters are `tensors`, inputs and outputs, in this order.

    Variables of scalars may be among them.

    TVM's ``te.create_prim_func``; see `build_prim_func`. Indices are int64 whatever the override,
    "int32" or "int64", says. Raises ValueError for any other one.
    """
    if index_dtype_override not in (None, "int32", "int64"):
        raise ValueError(
            f"expected index_dtype_override to be int32, int64 or None, "
            f"got {index_dtype_override!r}"
        )
    return PrimFunc(build_prim_func(tensors, name))


def __getattr__(name: str) -> Callable[..., PrimExpr]:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(
        f"module '{__name__}' has no attribute '{name}'{suggestion(name, __dir__())}"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})

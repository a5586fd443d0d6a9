"""Functions of the C library, called for each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from ....dialects import llvm_ext
from ....dialects.llvm_ext.types import element_type
from ..builder import FunctionBuilder
from ..native_calls import call_symbol
from ..types import lane_count
from .formats import DOUBLE
from .terms import Real

Scalar = Callable[[FunctionBuilder, Sequence[SSAValue]], SSAValue]


def per_lane(f: FunctionBuilder, args: Sequence[SSAValue], function: Scalar) -> SSAValue:
    """A function of scalars on each lane of vectors; on scalars, the function itself."""
    type_ = args[0].type
    count = lane_count(type_)
    if not count:
        return function(f, args)
    result = f.emit(llvm_ext.PoisonOp, (), type_)
    for lane in range(count):
        position = f.integer(lane)
        scalars = [
            f.emit(llvm_ext.ExtractElementOp, (a, position), element_type(a.type)) for a in args
        ]
        result = f.emit(llvm.InsertElementOp, (result, function(f, scalars), position), type_)
    return result


def library(name: str) -> Callable[..., Real]:
    """A function of the C library: `tanhf` on f32, `tanh` on f64."""

    def compute(*args: Real) -> Real:
        f = args[0].f
        symbol = name if args[0].format is DOUBLE else f"{name}f"

        def scalar(f: FunctionBuilder, args: Sequence[SSAValue]) -> SSAValue:
            type_ = args[0].type
            f.module.external(symbol, [type_] * len(args), type_, pure=True)
            return call_symbol(f, symbol, args, type_)

        return Real(f, per_lane(f, [a.value for a in args], scalar))

    return compute

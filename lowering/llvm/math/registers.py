"""Vectors of several registers, for instructions of the target that work on one."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from ....dialects.llvm_ext.types import element_type
from ..builder import FunctionBuilder
from ..types import Properties, i32_array, lane_count, vector_of
from .terms import Real, Term


def register_bits(x: Real) -> int:
    """The width of the registers that hold `x`, or of `x` in a part of one."""
    return lane_count(x.value.type) * x.format.width // _registers(x)


def by_register(x: Real, emit: Callable[..., SSAValue], *operands: Term) -> Real:
    """A vector like `x`, of what `emit` makes of each register of the operands.

    `x` has a number of lanes that is a power of two.
    """
    count = _registers(x)
    parts = [_parts(x.f, operand.value, count) for operand in operands]
    return Real(x.f, _joined(x.f, [emit(*part) for part in zip(*parts, strict=True)]))


def _registers(x: Real) -> int:
    return max(1, lane_count(x.value.type) * x.format.width // x.f.module.isa.vector_bits)


def _parts(f: FunctionBuilder, value: SSAValue, count: int) -> list[SSAValue]:
    """A vector in equal parts."""
    lanes = lane_count(value.type) // count
    return (
        [value] if count == 1 else [_lanes(f, value, value, p * lanes, lanes) for p in range(count)]
    )


def _joined(f: FunctionBuilder, parts: list[SSAValue]) -> SSAValue:
    """Equal parts, a power of two of them, as one vector."""
    while len(parts) > 1:
        lanes = 2 * lane_count(parts[0].type)
        parts = [_lanes(f, a, b, 0, lanes) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _lanes(f: FunctionBuilder, lhs: SSAValue, rhs: SSAValue, first: int, count: int) -> SSAValue:
    """Some of the lanes of two vectors after each other."""
    type_ = vector_of(element_type(lhs.type), count)
    mask: Properties = {"mask": i32_array(*range(first, first + count))}
    return f.emit(llvm.ShuffleVectorOp, (lhs, rhs), type_, mask)

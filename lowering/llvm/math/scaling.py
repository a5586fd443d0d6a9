"""Vectors of floats times powers of two in one instruction, as AVX-512's `vscalef`.

It takes the exponent as floats, so that infinities and NaN need no care: ``a * 2^-inf`` is 0 and
``a * 2^NaN`` is NaN. Vectors of several registers are scaled one register at a time. Elsewhere
`exponential.power_of_two` makes factors of bits.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerType
from xdsl.ir import SSAValue

from ....backend.targets.architecture import Intrinsic
from ....dialects.llvm_ext.types import element_type
from ..builder import FunctionBuilder
from ..types import Properties, i32_array, lane_count, vector_of
from .terms import Real

_NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}


def can_scale(x: Real) -> bool:
    """Whether the target has the instruction for vectors like `x`."""
    return _bits(x).bit_count() == 1 and _instruction(x) is not None


def scale(x: Real, n: Real) -> Real:
    """``x * 2^n`` for integers n, infinities and NaN, rounded once; only where `can_scale`."""
    f, instruction = x.f, _instruction(x)
    assert instruction is not None
    constants = [f.integer(value, IntegerType(bits)) for bits, value in instruction.constants]
    parts = [_parts(f, value, _registers(x)) for value in (x.value, n.value)]
    scaled = [
        f.intrinsic(instruction.name, [a, b, a, *constants], a.type, _NO_OVERLOADS)
        for a, b in zip(*parts, strict=True)
    ]
    return Real(f, _joined(f, scaled))


def _instruction(x: Real) -> Intrinsic | None:
    """What scales each register of `x`."""
    return x.f.module.isa.scale(x.format.width, _bits(x) // _registers(x))


def _registers(x: Real) -> int:
    return max(1, _bits(x) // x.f.module.isa.vector_bits)


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


def _bits(x: Real) -> int:
    return lane_count(x.value.type) * x.format.width

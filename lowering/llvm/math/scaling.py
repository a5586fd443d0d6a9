"""Vectors of floats times powers of two in one instruction: AVX-512's `vscalef`.

It takes the exponent as floats, so that infinities and NaN need no care: ``a * 2^-inf`` is 0 and
``a * 2^NaN`` is NaN. Vectors of several registers are scaled one register at a time. Elsewhere
`exponential.power_of_two` makes factors of bits.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerType, i32
from xdsl.ir import SSAValue

from ....dialects.llvm_ext.types import element_type
from ..builder import FunctionBuilder
from ..types import Properties, i32_array, lane_count, vector_of
from .formats import SINGLE
from .terms import Real

_REGISTERS, _ROUNDED = (128, 256, 512), 512
"""Bits of the registers that are scaled, and of those whose intrinsic asks for the rounding."""
_CURRENT_ROUNDING = 4
_NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}


def can_scale(x: Real) -> bool:
    """Whether the target has the instruction for vectors like `x`."""
    bits = _bits(x)
    is_whole = bits in _REGISTERS or (bits % _REGISTERS[-1] == 0 and bits & (bits - 1) == 0)
    return x.f.module.scales_vectors and bits > 0 and is_whole


def scale(x: Real, n: Real) -> Real:
    """``x * 2^n`` for integers n, infinities and NaN, rounded once; only where `can_scale`."""
    f, registers = x.f, max(1, _bits(x) // _REGISTERS[-1])
    parts = [_parts(f, value, registers) for value in (x.value, n.value)]
    scaled = [_scale_register(Real(f, a), Real(f, b)).value for a, b in zip(*parts, strict=True)]
    return Real(f, _joined(f, scaled))


def _scale_register(x: Real, n: Real) -> Real:
    f, bits = x.f, _bits(x)
    all_lanes = f.integer(-1, IntegerType(max(lane_count(x.value.type), 8)))
    args = [x.value, n.value, x.value, all_lanes]
    if bits == _ROUNDED:
        args.append(f.integer(_CURRENT_ROUNDING, i32))
    letter = "s" if x.format is SINGLE else "d"
    name = f"llvm.x86.avx512.mask.scalef.p{letter}.{bits}"
    return Real(f, f.intrinsic(name, args, x.value.type, _NO_OVERLOADS))


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

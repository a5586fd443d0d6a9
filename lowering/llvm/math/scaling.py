"""Vectors of floats times powers of two in one instruction: AVX-512's `vscalef`.

It takes the exponent as floats, so that infinities and NaN need no care: ``a * 2^-inf`` is 0 and
``a * 2^NaN`` is NaN. Elsewhere `exponential.power_of_two` makes factors of bits.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerType, i32

from ..types import Properties, lane_count
from .formats import SINGLE
from .terms import Real

_REGISTERS, _ROUNDED = (128, 256, 512), 512
"""Bits of the registers that are scaled, and of those whose intrinsic asks for the rounding."""
_CURRENT_ROUNDING = 4
_NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}


def can_scale(x: Real) -> bool:
    """Whether the target has the instruction for vectors like `x`."""
    return x.f.module.scales_vectors and _bits(x) in _REGISTERS


def scale(x: Real, n: Real) -> Real:
    """``x * 2^n`` for integers n, infinities and NaN, rounded once; only where `can_scale`."""
    f, bits = x.f, _bits(x)
    all_lanes = f.integer(-1, IntegerType(max(lane_count(x.value.type), 8)))
    args = [x.value, n.value, x.value, all_lanes]
    if bits == _ROUNDED:
        args.append(f.integer(_CURRENT_ROUNDING, i32))
    letter = "s" if x.format is SINGLE else "d"
    name = f"llvm.x86.avx512.mask.scalef.p{letter}.{bits}"
    return Real(f, f.intrinsic(name, args, x.value.type, _NO_OVERLOADS))


def _bits(x: Real) -> int:
    return lane_count(x.value.type) * x.format.width

"""``sin``, ``cos``, ``tan``.

The angle is ``n pi/2 + r`` with ``|r| <= pi/4``; n chooses between a polynomial for the sine and
one for the cosine of r, and the sign. r is found by one of two ways:

- of Cody and Waite: pi/2 is split into parts whose products with n are exact;
- beyond their range, of f32, after Payne and Hanek (1983): 2/pi is split into parts whose products
  with x are exact, each is reduced modulo 4, and the rest is added exactly. The
  branch to it is taken where some lane needs it. An f64 beyond the range goes to the C library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

from xdsl.ir import Block

from .formats import DOUBLE, SINGLE, Format
from .terms import Bits, Mask, Real, fused, polynomial

_SIN: dict[Format, tuple[float, ...]] = {
    SINGLE: (-0.16666655242443085, 0.008332188241183758, -0.0001951808953890577),
    DOUBLE: tuple(
        map(
            float.fromhex,
            (
                "-0x1.5555555555548p-3",
                "0x1.111111110f730p-7",
                "-0x1.a01a019be91acp-13",
                "0x1.71de3555206e1p-19",
                "-0x1.ae5e4b78920cdp-26",
                "0x1.5d8b51c138088p-33",
            ),
        )
    ),
}
"""``(sin(r) - r) / r^3`` in r squared."""
_COS: dict[Format, tuple[float, ...]] = {
    SINGLE: (0.04166664555668831, -0.0013887309469282627, 2.4432323698420078e-05),
    DOUBLE: tuple(
        map(
            float.fromhex,
            (
                "0x1.555555555554bp-5",
                "-0x1.6c16c16c1500dp-10",
                "0x1.a01a019c8dce0p-16",
                "-0x1.27e4f7f0495f9p-22",
                "0x1.1ee9dac40231dp-29",
                "-0x1.8fa5e71cdaa87p-37",
            ),
        )
    ),
}
"""``(cos(r) - 1 + r^2 / 2) / r^4`` in r squared."""

_TWO_PARTS = (float.fromhex("0x1.921fb5p+0"), float.fromhex("0x1.110b4611a6263p-26"))
"""pi/2 as 25 bits and a rest."""
_FOUR_PARTS = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e0p-69"),
    float.fromhex("0x1.b839a252049c1p-104"),
)
"""pi/2 as three parts of 33 bits or less, and a rest."""
LIMIT: dict[Format, float] = {SINGLE: 2.0**27, DOUBLE: 2.0**20}
"""Up to here the reduction of Cody and Waite is used."""

_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041
"""2/pi in units of ``2^-192``."""
_PART_BITS, _PARTS = 28, 6
_UNIT = 192


@dataclass(frozen=True)
class _Angle:
    """``quarter pi/2 + r + low``; the low two bits of `quarter` count."""

    quarter: Bits
    r: Real
    low: Real | None


def _reduce_single(x: Real) -> _Angle:
    wide = x.double()
    shifted = fused(wide, 2 / pi, DOUBLE.shift)
    n = shifted - DOUBLE.shift
    r = (wide - n * _TWO_PARTS[0]) - n * _TWO_PARTS[1]
    return _Angle(shifted.bits().narrow(), r.single(), None)


def _two_over_pi() -> list[float]:
    """2/pi in parts, of `_PART_BITS` bits each."""
    parts: list[float] = []
    for number in range(1, _PARTS + 1):
        position = _UNIT - number * _PART_BITS
        digits = (_TWO_OVER_PI >> position) & ((1 << _PART_BITS) - 1)
        parts.append(float(digits) * 2.0 ** (-number * _PART_BITS))
    left = _UNIT - _PARTS * _PART_BITS
    return [*parts, float(_TWO_OVER_PI & ((1 << left) - 1)) * 2.0**-_UNIT]


def _rounded(x: Real) -> Real:
    """The nearest integer; not every C library has the function for targets without this one."""
    is_fraction = x.absolute() < 2.0 ** (x.format.fraction - 1)
    return is_fraction.choose((x + x.format.shift) - x.format.shift, x)


def _reduce_large(x: Real) -> _Angle:
    """Any f32 that is finite."""
    wide = x.double()
    total, lost = wide.constant(0.0), wide.constant(0.0)
    for part in _two_over_pi():
        product = wide * part
        term = product - _rounded(product * 0.25) * 4.0
        following = total + term
        back = following - total
        lost = lost + ((total - (following - back)) + (term - back))
        total = following
    shifted = total + DOUBLE.shift
    r = ((total - (shifted - DOUBLE.shift)) + lost) * (pi / 2)
    return _Angle(shifted.bits().narrow(), r.single(), None)


def _reduce_double(x: Real) -> _Angle:
    """r to about 2^-140, as a sum."""
    shifted = fused(x, 2 / pi, DOUBLE.shift)
    n = shifted - DOUBLE.shift
    r, low = x - n * _FOUR_PARTS[0], x.constant(0.0)
    for part in _FOUR_PARTS[1:]:
        product = n * part
        following = r - product
        back = following - r
        low = low + ((r - (following - back)) - (product + back))
        r = following
    total = r + low
    return _Angle(shifted.bits(), total, (r - total) + low)


def _sin_cos(angle: _Angle) -> tuple[Real, Real]:
    r, low = angle.r, angle.low
    z = r * r
    sin_tail, cos_tail = polynomial(z, _SIN[r.format]), polynomial(z, _COS[r.format])
    half = z * 0.5
    main = 1.0 - half
    if low is None:
        return fused(r * z, sin_tail, r), main + fused(z * z, cos_tail, (1.0 - main) - half)
    sin = r + (r * z * sin_tail + low * main)
    return sin, main + (((1.0 - main) - half) + (z * z * cos_tail - r * low))


def _signed(value: Real, quarter: Bits, bit: int) -> Real:
    """Negated where a bit is on."""
    return (value.bits() ^ ((quarter & (1 << bit)) << (value.format.width - 1 - bit))).real()


def _sin(angle: _Angle) -> Real:
    sin, cos = _sin_cos(angle)
    is_odd = (angle.quarter & 1).differs(0)
    return _signed(is_odd.choose(cos, sin), angle.quarter, 1)


def _cos(angle: _Angle) -> Real:
    return _sin(_Angle(angle.quarter + 1, angle.r, angle.low))


def _tan(angle: _Angle) -> Real:
    sin, cos = _sin_cos(angle)
    is_odd = (angle.quarter & 1).differs(0)
    return _signed(is_odd.choose(cos, sin) / is_odd.choose(sin, cos), angle.quarter, 0)


def _where_needed(condition: Mask, usual: Real, rare: Callable[[], Real]) -> Real:
    """`usual`, and `rare` where the condition holds, which is computed if it does in some lane."""
    f = usual.f
    block, following = Block(), Block(arg_types=[usual.value.type])
    f.branch_if(condition.any(), block, following, (), [usual.value])
    f.continue_in(block)
    f.branch(following, [condition.choose(rare(), usual).value])
    f.continue_in(following)
    return Real(f, following.args[0])


def _function(of: Callable[[_Angle], Real], is_odd: bool) -> Callable[..., Real]:
    def compute(x: Real, library: Callable[[Real], Real]) -> Real:
        is_large = x.absolute() > LIMIT[x.format]
        if x.format is SINGLE:
            usual = of(_reduce_single(x))
            result = _where_needed(is_large, usual, lambda: of(_reduce_large(x)))
        else:
            result = _where_needed(is_large, of(_reduce_double(x)), lambda: library(x))
        return x.equals(0.0).choose(x, result) if is_odd else result

    return compute


sin = _function(_sin, True)
cos = _function(_cos, False)
tan = _function(_tan, True)

"""``asin``, ``acos``, ``atan``, ``atan2``: our fits in the square of a reduced argument."""

from __future__ import annotations

from math import inf, pi

from .formats import DOUBLE, SINGLE, Format
from .terms import Real, polynomial

_ASIN: dict[Format, tuple[float, ...]] = {
    SINGLE: (
        0.16666659712791443,
        0.07500521838665009,
        0.04451335594058037,
        0.03183947131037712,
        0.014312418177723885,
        0.03770172968506813,
    ),
    DOUBLE: (
        float.fromhex("0x1.5555555555577p-3"),
        float.fromhex("0x1.333333332e109p-4"),
        float.fromhex("0x1.6db6db7215610p-5"),
        float.fromhex("0x1.f1c71a938aa0cp-6"),
        float.fromhex("0x1.6e8bdf0e5349dp-6"),
        float.fromhex("0x1.1c49ecc1beeefp-6"),
        float.fromhex("0x1.ca1feb997e4b4p-7"),
        float.fromhex("0x1.75824f4efb4e3p-7"),
        float.fromhex("0x1.614fbfdfece73p-7"),
        float.fromhex("0x1.e4c4031fc1462p-9"),
        float.fromhex("0x1.63fdbc67eea8cp-6"),
        float.fromhex("-0x1.588cfd7f22facp-6"),
        float.fromhex("0x1.0b75578f1204bp-5"),
    ),
}
"""``(asin(x) - x) / x^3`` in x squared, up to 1/2."""
_ATAN: dict[Format, tuple[float, ...]] = {
    SINGLE: (
        -0.33333316445350647,
        0.19998528063297272,
        -0.14244386553764343,
        0.10599099844694138,
        -0.06089795008301735,
    ),
    DOUBLE: (
        float.fromhex("-0x1.555555555553dp-2"),
        float.fromhex("0x1.9999999995852p-3"),
        float.fromhex("-0x1.24924922ac688p-3"),
        float.fromhex("0x1.c71c70e5954bep-4"),
        float.fromhex("-0x1.745cf8cc9d3bep-4"),
        float.fromhex("0x1.3b1117e752014p-4"),
        float.fromhex("-0x1.10eba9987f931p-4"),
        float.fromhex("0x1.df0e6a3c5dca4p-5"),
        float.fromhex("-0x1.9cce9c527f43ap-5"),
        float.fromhex("0x1.37cac99207ecfp-5"),
        float.fromhex("-0x1.2551dac105d0cp-6"),
    ),
}
"""``(atan(x) - x) / x^3`` in x squared, up to the tangent of pi / 8."""

_HALF_PI: dict[Format, tuple[float, float]] = {
    SINGLE: (1.57079637050628662109375, -4.37113882867379e-08),
    DOUBLE: (pi / 2, 6.123233995736766e-17),
}
_TAN_EIGHTH, _TAN_THREE_EIGHTHS = 0.41421356237309503, 2.414213562373095


def _arc(x: Real) -> tuple[Real, Real, Real]:
    """``|x|``, and a number s with a rest: asin |x| up to 1/2, half of acos |x| above it."""
    a = x.absolute()
    is_large = a > 0.5
    z = is_large.choose((1.0 - a) * 0.5, a * a)
    s = is_large.choose(z.root(), a)
    return a, s, s * z * polynomial(z, _ASIN[x.format])


def asin(x: Real) -> Real:
    """The inverse of ``sin``; NaN beyond 1."""
    high, low = _HALF_PI[x.format]
    a, s, rest = _arc(x)
    large = (high - s * 2.0) + (low - rest * 2.0)
    return (a > 0.5).choose(large, s + rest).with_sign_of(x)


def acos(x: Real) -> Real:
    """The inverse of ``cos``; NaN beyond 1."""
    high, low = _HALF_PI[x.format]
    a, s, rest = _arc(x)
    signed, signed_rest = s.with_sign_of(x), rest.with_sign_of(x)
    small = (high - signed) + (low - signed_rest)
    is_negative = x < 0.0
    large = is_negative.choose((2 * high - s * 2.0) + (2 * low - rest * 2.0), s * 2.0 + rest * 2.0)
    return (a > 0.5).choose(large, small)


def _angle(y: Real, x: Real) -> tuple[Real, Real]:
    """The angle of a point with ``x >= 0`` and ``y >= 0``, and what the sum before it lost."""
    high, low = _HALF_PI[x.format]
    is_steep, is_middle = y > x * _TAN_THREE_EIGHTHS, y > x * _TAN_EIGHTH
    zero = x.constant(0.0)
    q = is_steep.choose(-x, is_middle.choose(y - x, y)) / is_steep.choose(
        y, is_middle.choose(y + x, x)
    )
    base = is_steep.choose_number(high, is_middle.choose_number(high / 2, zero))
    base_low = is_steep.choose_number(low, is_middle.choose_number(low / 2, zero))
    z = q * q
    return base, q + (q * z * polynomial(z, _ATAN[x.format]) + base_low)


def atan(x: Real) -> Real:
    """The inverse of ``tan``."""
    base, rest = _angle(x.absolute(), x.constant(1.0))
    return (base + rest).with_sign_of(x)


def atan2(y: Real, x: Real) -> Real:
    """The angle of a point; zeros and infinities as in C, by their signs."""
    a, b = _in_range(y.absolute(), x.absolute())
    high, low = _HALF_PI[x.format]
    base, rest = _angle(a, b)
    behind = (2 * high - base) + (2 * low - rest)
    result = x.bits().is_negative().choose(behind, base + rest)
    return result.with_sign_of(y)


def _in_range(y: Real, x: Real) -> tuple[Real, Real]:
    """Two sides in the same ratio, whose sum neither overflows nor is coarse; no 0 / 0."""
    form = y.format
    largest = (y > x).choose(y, x)
    scale = (largest > 2.0 ** (form.bias - 3)).choose(x.constant(2.0**-4), 1.0)
    scale = (largest < 2.0 ** (-form.bias // 2)).choose_number(2.0 ** (form.bias // 2), scale)
    both_infinite = y.equals(inf) & x.equals(inf)
    y, x = both_infinite.choose_number(1.0, y * scale), both_infinite.choose_number(1.0, x * scale)
    return y, largest.equals(0.0).choose_number(1.0, x)

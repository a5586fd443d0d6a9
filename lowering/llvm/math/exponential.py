"""``exp``, ``exp2``, ``expm1``, ``sinh``, ``cosh``, ``tanh``.

``exp x = 2^n * e^r`` with ``r = x - n ln 2``, the reduction of Cody and Waite (1980): ln 2 is split
so that the product of n and its high part is exact. ``e^r`` is a minimax polynomial. If a register
may hold a table, n is a multiple of 1/16, ``2^n`` is in part looked up, and the polynomial is short
(Tang, 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

from .formats import DOUBLE, SINGLE, Format
from .lookup import can_look_up, look_up
from .scaling import can_scale, scale
from .terms import Real, fused, polynomial

LN2 = 0.6931471805599453


@dataclass(frozen=True)
class _Constants:
    """What the functions need for one format."""

    exp: tuple[float, ...]
    """``(e^r - 1 - r) / r^2`` for ``|r| <= ln 2``."""
    short: tuple[float, ...]
    """``e^r`` for ``|r| <= ln 2 / 2``: of even degree, so that it is above 0 everywhere."""
    expm1: tuple[float, ...]
    """The same for ``|r| <= ln 2 / 2``, its error relative to ``e^r - 1``."""
    ln2: tuple[float, float]
    exp_range: tuple[float, float]
    """Beyond these ``exp`` is 0 and infinite."""
    exp2_range: tuple[float, float]
    expm1_low: float
    """Below this ``expm1`` is -1."""
    half_high: float
    """Beyond this ``e^x / 2`` is infinite."""


_DOUBLE_EXPM1 = (
    float.fromhex("0x1.0000000000000p-1"),
    float.fromhex("0x1.5555555555559p-3"),
    float.fromhex("0x1.5555555555558p-5"),
    float.fromhex("0x1.111111110f726p-7"),
    float.fromhex("0x1.6c16c16c1794ap-10"),
    float.fromhex("0x1.a01a01af99e9ap-13"),
    float.fromhex("0x1.a01a01963003bp-16"),
    float.fromhex("0x1.71ddf8b66f102p-19"),
    float.fromhex("0x1.27e50bf336fbfp-22"),
    float.fromhex("0x1.af5f2800786d6p-26"),
    float.fromhex("0x1.1f1dad12623fdp-29"),
)

_CONSTANTS: dict[Format, _Constants] = {
    SINGLE: _Constants(
        exp=(
            0.5,
            0.16666679084300995,
            0.041666753590106964,
            0.008332195691764355,
            0.0013883154606446624,
            0.00020158407278358936,
            2.5777746486710384e-05,
        ),
        short=(
            1.0,
            1.0,
            0.499999934321146,
            0.16666520399002732,
            0.0416683907865773,
            0.008368745112607618,
            0.0013814540026202589,
        ),
        expm1=(
            0.5,
            0.16666635870933533,
            0.041666511446237564,
            0.008341506123542786,
            0.0013930521672591567,
            0.00015026042819954455,
        ),
        ln2=(0.693359375, -2.1219444e-4),
        exp_range=(-104.0, 89.0),
        exp2_range=(-151.0, 129.0),
        expm1_low=-20.0,
        half_high=89.6,
    ),
    DOUBLE: _Constants(
        exp=(
            float.fromhex("0x1.0000000000000p-1"),
            float.fromhex("0x1.555555555554bp-3"),
            float.fromhex("0x1.5555555555533p-5"),
            float.fromhex("0x1.111111111241cp-7"),
            float.fromhex("0x1.6c16c16c1d9dep-10"),
            float.fromhex("0x1.a01a019cf7592p-13"),
            float.fromhex("0x1.a01a0190e5351p-16"),
            float.fromhex("0x1.71de3e2797977p-19"),
            float.fromhex("0x1.27e50a6a94bdep-22"),
            float.fromhex("0x1.ae5f7b051adeap-26"),
            float.fromhex("0x1.1edddd19c6abep-29"),
            float.fromhex("0x1.645217fbcd7acp-33"),
            float.fromhex("0x1.a27e055c9be88p-37"),
        ),
        short=(1.0, 1.0, *_DOUBLE_EXPM1),
        expm1=_DOUBLE_EXPM1,
        ln2=(float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
        exp_range=(-746.0, 710.0),
        exp2_range=(-1076.0, 1025.0),
        expm1_low=-40.0,
        half_high=710.7,
    ),
}


_POWERS = tuple(2 ** (i / 16) for i in range(16))
"""The table of f32: as many numbers as a register of 512 bits has lanes."""
_SHORTEST = (1.0, 0.5000168681144714, 0.1666705459356308)
"""``(e^r - 1) / r`` for ``|r| <= ln 2 / 32``, to 2^-29 of ``e^r``."""

SHORT_EXP = _CONSTANTS[SINGLE].exp
"""``(e^r - 1 - r) / r^2`` to 2^-29, for ``|r| <= ln 2``."""


def power_of_two(shifted: Real, exponent: int) -> Real:
    """``2^(n + exponent)``, where `shifted` is ``n + shift``: n is in its low bits."""
    form = shifted.format
    return ((shifted.bits() << form.fraction) + form.bits_of_power(exponent)).real()


def _scaled(r: Real, shifted: Real) -> Real:
    """``e^r * 4^m``, where `shifted` is ``m + shift``.

    Twice by 2^m: neither factor overflows, and only the last product is rounded, once.
    """
    tail = polynomial(r, _CONSTANTS[r.format].exp)
    scale = power_of_two(shifted, 0)
    return (fused(r * r, tail, r) + 1.0) * scale * scale


def _parts(x: Real) -> int:
    """The exponents that 1 is divided into where `can_scale`: n is a multiple of ``1 / _parts``."""
    is_looked_up = x.format is SINGLE and can_look_up(x, len(_POWERS))
    return len(_POWERS) if is_looked_up else 1


def _short_scaled(r: Real, n: Real, shifted: Real) -> Real:
    """``e^r * 2^n`` for any n, a multiple of ``1 / _parts``, which is in the low bits of `shifted`.

    ``|r| <= ln 2 / 2 / _parts`` unless the result is 0 or infinite. r may be anything then, also
    NaN: what takes the place of the factor from 0.97 to 1.96 is above 0 and finite.
    """
    if _parts(r) == 1:
        power = polynomial(r, _CONSTANTS[r.format].short)
        return scale((power < 2.0).choose(power, 2.0), n)
    power = look_up(r, _POWERS, shifted.bits())
    power = fused(power, r * polynomial(r, _SHORTEST), power)
    return scale(((power.bits() & 0x00FFFFFF) | 0x3F000000).real(), n)


def exp(x: Real, low: Real | None = None) -> Real:
    """``e^x``; ``e^(x + low)`` if there is a `low`, small against an ulp of 1."""
    c, shift = _CONSTANTS[x.format], x.format.shift
    if can_scale(x):
        shift /= _parts(x)
        shifted = fused(x, 1 / LN2, shift)
        n = shifted - shift
        r = fused(n, -c.ln2[1], fused(n, -c.ln2[0], x))
        return _short_scaled(r if low is None else r + low, n, shifted)
    x = x.at_least(c.exp_range[0]).at_most(c.exp_range[1])
    shifted = fused(x, 0.5 / LN2, shift)
    m = shifted - shift
    r = fused(m, -2 * c.ln2[1], fused(m, -2 * c.ln2[0], x))
    return _scaled(r if low is None else r + low, shifted)


def exp2(x: Real) -> Real:
    """``2^x``, exact for integers."""
    c, shift = _CONSTANTS[x.format], x.format.shift
    if can_scale(x):
        shift /= _parts(x)
        shifted = x + shift
        n = shifted - shift
        return _short_scaled((x - n) * LN2, n, shifted)
    x = x.at_least(c.exp2_range[0]).at_most(c.exp2_range[1])
    shifted = fused(x, 0.5, shift)
    return _scaled(fused(shifted - shift, -2.0, x) * LN2, shifted)


def _reduced(x: Real) -> tuple[Real, Real]:
    """``e^r - 1`` and ``n + shift``, where ``x = r + n ln 2`` and ``|r| <= ln 2 / 2``."""
    c, shift = _CONSTANTS[x.format], x.format.shift
    shifted = fused(x, 1 / LN2, shift)
    n = shifted - shift
    r = fused(n, -c.ln2[1], fused(n, -c.ln2[0], x))
    return fused(r * r, polynomial(r, c.expm1), r), shifted


def expm1(x: Real) -> Real:
    """``e^x - 1`` without cancellation."""
    c = _CONSTANTS[x.format]
    p, shifted = _reduced(x.at_least(c.expm1_low).at_most(c.exp_range[1]))
    half = power_of_two(shifted, -1)
    result = fused(half, p, half - 0.5) * 2.0
    return result.with_sign_of(x)


def _half_exp(p: Real, shifted: Real) -> Real:
    """``e^x / 2`` up to where ``sinh`` overflows, from `_reduced` of ``x >= 0``."""
    quarter = power_of_two(shifted, -2)
    return fused(quarter, p, quarter) * 2.0


def sinh(x: Real) -> Real:
    """The hyperbolic sine: from ``expm1`` below 1, from exponentials above."""
    a = x.absolute().at_most(_CONSTANTS[x.format].half_high)
    p, shifted = _reduced(a)
    half = _half_exp(p, shifted)
    one = power_of_two(shifted, 0)
    e = fused(one, p, one - 1.0)
    result = (a < 1.0).choose((e + e / (e + 1.0)) * 0.5, half - 0.25 / half)
    return result.with_sign_of(x)


def cosh(x: Real) -> Real:
    """The hyperbolic cosine."""
    half = _half_exp(*_reduced(x.absolute().at_most(_CONSTANTS[x.format].half_high)))
    return half + 0.25 / half


def tanh(x: Real) -> Real:
    """The hyperbolic tangent, of f64 from ``expm1``; 1 from 22 on."""
    e = expm1(x.absolute().at_most(22.0) * 2.0)
    return (e / (e + 2.0)).with_sign_of(x)

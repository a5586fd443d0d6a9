"""``log``, ``log2``, ``log10``, ``log1p`` and the inverse hyperbolic functions.

``x = 2^e * (1 + f)`` with 1 + f between the roots of 1/2 and 2. The arrangement of the sums is that
of FreeBSD's msun (Sun Microsystems' fdlibm, 1993); polynomials for f32, and the tail for f64 in
``s = f / (2 + f)``, are our fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

from .exponential import LN2
from .formats import DOUBLE, SINGLE, Format
from .terms import Real, fused, polynomial, small_integer


@dataclass(frozen=True)
class _Constants:
    """What the functions need for one format."""

    tail: tuple[float, ...]
    root_half: int
    """Bits of the root of 1/2."""
    smallest: float
    """The smallest normal number."""
    ln2: tuple[float, float]
    log2: tuple[float, float, float, float]
    """``1 / ln 2`` and ``1``, each with a high part that is exact in products."""
    log10: tuple[float, float, float, float]
    high_bits: int
    """A mask for the bits of a high part."""


_CONSTANTS: dict[Format, _Constants] = {
    SINGLE: _Constants(
        tail=(
            0.3333333134651184,
            -0.2500082552433014,
            0.20001265406608582,
            -0.16623209416866302,
            0.14200866222381592,
            -0.13160961866378784,
            0.12767544388771057,
            -0.07638750225305557,
        ),
        root_half=0x3F3504F3,
        smallest=2.0**-126,
        ln2=(0.693359375, -2.1219444e-4),
        log2=(1.4428710938, -1.7605285393e-04, 1.0, 0.0),
        log10=(4.3432617188e-01, -3.1689971365e-05, 3.0102920532e-01, 7.9034151668e-07),
        high_bits=-(1 << 12),
    ),
    DOUBLE: _Constants(
        tail=(
            float.fromhex("0x1.5555555555593p-1"),
            float.fromhex("0x1.999999997f9f2p-2"),
            float.fromhex("0x1.249249422adc7p-2"),
            float.fromhex("0x1.c71c51d7281e9p-3"),
            float.fromhex("0x1.746649da9b790p-3"),
            float.fromhex("0x1.39a0904e1e041p-3"),
            float.fromhex("0x1.2f11bd5624d3ap-3"),
        ),
        root_half=0x3FE6A09E667F3BCD,
        smallest=2.0**-1022,
        ln2=(float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")),
        log2=(1.44269504072144627571e00, 1.67517131648865118353e-10, 1.0, 0.0),
        log10=(
            4.34294481878168880939e-01,
            2.50829467116452752298e-11,
            3.01029995663611771306e-01,
            3.69423907715893078616e-13,
        ),
        high_bits=-(1 << 32),
    ),
}


@dataclass(frozen=True)
class _Parts:
    """``log(1 + f)`` is ``f - (square - tail)``, and x is ``2^e * (1 + f)``."""

    e: Real
    f: Real
    square: Real
    tail: Real


def split(x: Real) -> tuple[Real, Real]:
    """e and f of a positive number that is neither infinite nor NaN."""
    c, form = _CONSTANTS[x.format], x.format
    lift = form.fraction + 2
    is_small = x < c.smallest
    i = is_small.choose(x * 2.0**lift, x).bits() - c.root_half
    m = ((i & ((1 << form.fraction) - 1)) + c.root_half).real()
    e = small_integer(i >> form.fraction, form)
    return is_small.choose(e - float(lift), e), m - 1.0


def _parts(e: Real, f: Real) -> _Parts:
    tail = _CONSTANTS[f.format].tail
    square = f * f * 0.5
    if f.format is SINGLE:
        return _Parts(e, f, square, f * f * f * polynomial(f, tail))
    s = f / (f + 2.0)
    z = s * s
    return _Parts(e, f, square, s * fused(z, polynomial(z, tail), square))


def _with_limits(x: Real, result: Real) -> Real:
    """The result for positive numbers, and what belongs to all others: -inf at 0, NaN below."""
    of_zero = x.equals(0.0).choose_number(-inf, x.constant(nan))
    return (x > 0.0).choose((x < inf).choose(result, x), of_zero)


def log(x: Real) -> Real:
    """The natural logarithm."""
    p, (high, low) = _parts(*split(x)), _CONSTANTS[x.format].ln2
    return _with_limits(x, _sum(p, fused(p.e, low, p.tail), high))


def _sum(p: _Parts, tail: Real, ln2_high: float) -> Real:
    return p.e * ln2_high + (p.f - (p.square - tail))


def log2(x: Real) -> Real:
    """The logarithm to base 2, exact for powers of two."""
    return _to_base(x, _CONSTANTS[x.format].log2)


def log10(x: Real) -> Real:
    """The logarithm to base 10."""
    return _to_base(x, _CONSTANTS[x.format].log10)


def _to_base(x: Real, factors: tuple[float, float, float, float]) -> Real:
    factor_high, factor_low, unit_high, unit_low = factors
    p = _parts(*split(x))
    high = ((p.f - p.square).bits() & _CONSTANTS[x.format].high_bits).real()
    low = ((p.f - high) - p.square) + p.tail
    product = high * factor_high
    rest = fused(p.e, unit_low, (low + high) * factor_low) + low * factor_high
    whole = p.e * unit_high
    total = whole + product
    return _with_limits(x, total + (rest + ((whole - total) + product)))


def log1p(x: Real) -> Real:
    """``log(1 + x)`` without cancellation; what the sum loses is added to the logarithm."""
    u = x + 1.0
    lost = (x > 1.0).choose(1.0 - (u - x), x - (u - 1.0))
    p, (high, low) = _parts(*split(u)), _CONSTANTS[x.format].ln2
    result = _sum(p, fused(p.e, low, p.tail) + lost / u, high)
    return _with_limits(u, result).with_sign_of(x)


def _of_large(x: Real, otherwise: Real) -> Real:
    """``log1p(otherwise)``, or ``log(2x)`` where 1 is nothing against x."""
    is_large = x > 2.0 ** (x.format.fraction + 3)
    return log1p(is_large.choose(x, otherwise)) + is_large.choose_number(LN2, x.constant(0.0))


def asinh(x: Real) -> Real:
    """The inverse of ``sinh``."""
    a = x.absolute()
    square = a * a
    return _of_large(a, a + square / ((square + 1.0).root() + 1.0)).with_sign_of(x)


def acosh(x: Real) -> Real:
    """The inverse of ``cosh``; NaN below 1."""
    t = x - 1.0
    result = _of_large(x, t + (t * (t + 2.0)).root())
    return (x < 1.0).choose_number(nan, result)


def atanh(x: Real) -> Real:
    """The inverse of ``tanh``; infinite at 1 and -1, NaN beyond."""
    a = x.absolute()
    return (log1p(a * 2.0 / (1.0 - a)) * 0.5).with_sign_of(x)

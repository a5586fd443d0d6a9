"""``pow`` with C's special cases, ``cbrt`` and ``rsqrt``."""

from __future__ import annotations

from math import inf, nan

from .exponential import LN2, SHORT_EXP, exp, power_of_two
from .formats import DOUBLE, SINGLE
from .logarithm import split
from .terms import Mask, Real, fused, polynomial

_LARGE = 2.0**66
"""Exponents are cut off here: ``x^y`` is then 0, 1 or infinite for every x."""

_TAIL = tuple(
    map(
        float.fromhex,
        (
            "0x1.9999999999995p-2",
            "0x1.2492492493192p-2",
            "0x1.c71c71c5573e7p-3",
            "0x1.745d1845ebc6ep-3",
            "0x1.3b135d85b1258p-3",
            "0x1.11217bff272e2p-3",
            "0x1.de142d6ae9581p-4",
            "0x1.ec13e52f707d5p-4",
        ),
    )
)
"""``(2 atanh(s) - 2s - 2/3 s^3) / s^5`` in s squared, our fit."""
_SHORT_LOG = tuple(
    map(
        float.fromhex,
        (
            "0x1.55555560ab5f8p-2",
            "-0x1.000000c257054p-2",
            "0x1.99998b2abc3e5p-3",
            "-0x1.5554a04f56aaap-3",
            "0x1.2494b90933b20p-3",
            "-0x1.001e12396d4a7p-3",
            "0x1.c6e0cf72c2f21p-4",
            "-0x1.950430f25bff3p-4",
            "0x1.7285c8e10c171p-4",
            "-0x1.7d7184893d350p-4",
            "0x1.734633af12c4ap-4",
            "-0x1.7e3950ac00930p-5",
        ),
    )
)
"""``(log(1 + f) - f + f^2 / 2) / f^3`` to 2^-33 of the logarithm, our fit."""
_LN2 = (float.fromhex("0x1.62e42fefa3800p-1"), float.fromhex("0x1.ef35793c76730p-45"))
_TWO_THIRDS = (float.fromhex("0x1.5555555555555p-1"), float.fromhex("0x1.5555555555555p-55"))

Pair = tuple[Real, Real]
"""The sum of two numbers, the second at most half an ulp of the first."""


def _sum(x: Real, y: Real) -> Pair:
    """``x + y`` exactly, where ``|x| >= |y|`` or x is 0 (Dekker 1971)."""
    total = x + y
    return total, (x - total) + y


def _product(x: Pair, y: Pair) -> Pair:
    """The product of two pairs, but for that of their low parts."""
    high = x[0] * y[0]
    low = x[0].times_plus(y[0], -high)
    return high, low + (x[0] * y[1] + x[1] * y[0])


def _log_pair(x: Real) -> Pair:
    """The logarithm of a positive f64 to about 2^-65 of itself."""
    e, f = split(x)
    m = f + 2.0
    m_low = (2.0 - m) + f
    s = f / m
    s_low = ((-s).times_plus(m, f) - s * m_low) / m
    root = (s, s_low)
    z = _product(root, root)
    cubic, cubic_low = _sum(x.constant(_TWO_THIRDS[0]), z[0] * polynomial(z[0], _TAIL))
    third = _product(_product(root, z), (cubic, cubic_low + _TWO_THIRDS[1]))
    total, lost = _sum(e * _LN2[0], s * 2.0)
    total, lost_too = _sum(total, third[0])
    rest = (lost + lost_too) + (s_low * 2.0 + third[1] + e * _LN2[1])
    return _sum(total, rest)


def _double_power(x: Real, y: Real) -> Real:
    """``x^y`` of f64 for ``0 < x < inf``."""
    product, low = _product(_log_pair(x), (y, y.constant(0.0)))
    in_range = product.absolute() < 800.0
    return exp(product, in_range.choose(low, 0.0))


def _single_power(x: Real, y: Real) -> Real:
    """``x^y`` of f32 for ``0 < x < inf``, in f64 to about 2^-27: that has the range for it."""
    e, f = split(x)
    e, f, y = e.double(), f.double(), y.double()
    square = f * f
    log = fused(e, LN2, fused(square * f, polynomial(f, _SHORT_LOG), fused(square, -0.5, f)))
    product = (y * log).at_least(-150.0).at_most(150.0)
    shifted = fused(product, 1 / LN2, DOUBLE.shift)
    r = fused(shifted - DOUBLE.shift, -LN2, product)
    exp_of_r = fused(r * r, polynomial(r, SHORT_EXP), r) + 1.0
    return (exp_of_r * power_of_two(shifted, 0)).single()


def power(x: Real, y: Real) -> Real:
    """``x^y``; NaN for a negative x and a y that is no integer."""
    a, exponent = x.absolute(), y.at_least(-_LARGE).at_most(_LARGE)
    kernel = _single_power if x.format is SINGLE else _double_power
    result = kernel(a, exponent)
    of_infinity = (y < 0.0).choose(x.constant(0.0), inf)
    of_zero = (y < 0.0).choose(x.constant(inf), 0.0)
    result = a.equals(inf).choose(of_infinity, a.equals(0.0).choose(of_zero, result))
    is_odd = _is_odd(y)
    result = (is_odd & x.bits().is_negative()).choose(-result, result)
    is_undefined = (x < 0.0) & (x > -inf) & y.differs(y.truncated())
    result = is_undefined.choose_number(nan, result)
    is_nan = x.differs(x) | y.differs(y)
    result = is_nan.choose(x + y, result)
    return (x.equals(1.0) | y.equals(0.0)).choose_number(1.0, result)


def _is_odd(y: Real) -> Mask:
    """Where y is an odd integer; no number from ``2^(fraction + 1)`` on is."""
    half = y * 0.5
    return y.equals(y.truncated()) & half.differs(half.truncated())


_THIRD_ROOT = (
    1.87595182427177009643,
    -1.88497979543377169875,
    1.621429720105354466140,
    -0.758397934778766047437,
    0.145996192886612446982,
)


def cbrt(x: Real) -> Real:
    """The cube root of f64, as FreeBSD's ``s_cbrt.c`` computes it."""
    a = x.absolute()
    is_small = a < 2.0**-1022
    scaled = is_small.choose(a * 2.0**54, a)
    high = (scaled.bits() >> 32) * 0x55555556 >> 32
    t = ((high + 715094163) << 32).real()
    t = t * polynomial(t * t * (t / scaled), _THIRD_ROOT)
    t = ((t.bits() + 0x80000000) & -(1 << 30)).real()
    r = scaled / (t * t)
    t = t + t * ((r - t) / (t + t + r))
    result = is_small.choose(t * 2.0**-18, t).with_sign_of(x)
    return ((a < inf) & (a > 0.0)).choose(result, x)


def rsqrt(x: Real) -> Real:
    """``1 / sqrt(x)``, rounded twice."""
    return 1.0 / x.root()


def rsqrt_accurate(x: Real) -> Real:
    """``1 / sqrt(x)`` of f64 with what both operations lose added again."""
    is_small = x < 2.0**-600
    scaled = is_small.choose(x * 2.0**200, x)
    root = scaled.root()
    result = 1.0 / root
    of_root = (-root).times_plus(root, scaled)
    of_quotient = (-result).times_plus(root, x.constant(1.0))
    better = result + result * (of_quotient - of_root * result * result * 0.5)
    better = is_small.choose(better * 2.0**100, better)
    return ((x > 0.0) & (x < inf)).choose(better, result)

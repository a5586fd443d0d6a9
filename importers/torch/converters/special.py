"""Special functions: error, gamma and Bessel functions, computed in float64."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log, pi, sqrt

from ...emitter import Value
from ...unsupported import Unsupported
from .. import coefficients
from ..context import Context
from ..formulas import Formula
from ..registry import converts

_INF = float("inf")
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B2, B4, …, B16."""
_SHIFT = 10
"""From here on the asymptotic series of gamma functions have the precision of float64."""

Function = Callable[[Formula], Formula]


def _function(*overloads: str) -> Callable[[Function], Function]:
    """Register a function of float64 as the converter of overloads without further arguments."""

    def register(function: Function) -> Function:
        def convert(ctx: Context, x: Value) -> Value:
            return ctx.astype(function(_wide(ctx, x)).value, ctx.dtype)

        converts(*overloads)(convert)
        return function

    return register


def _wide(ctx: Context, x: Value) -> Formula:
    return Formula(ctx, ctx.astype(x, "float64"))


@_function("aten.special_erfcx.default")
def erfcx(x: Formula) -> Formula:
    """``exp(x * x) * erfc(x)``."""
    above = _erfcx_of_size(x)
    return (x < 0).where(2 * (x * x).op("exp") - above, above)


def _erfcx_of_size(x: Formula) -> Formula:
    size = abs(x)
    return (1 - 8 / (size + 4)).polynomial(coefficients.ERFCX) / (2 * size + 1)


@_function("aten.erfc.default", "aten.special_erfc.default")
def erfc(x: Formula) -> Formula:
    """``1 - erf(x)``, without cancellation."""
    above = (-(x * x)).op("exp") * _erfcx_of_size(x)
    return (x < 0).where(2 - above, above)


@_function("aten.special_ndtr.default")
def ndtr(x: Formula) -> Formula:
    """The area under the normal distribution up to `x`."""
    return erfc(x * -sqrt(0.5)) * 0.5


@_function("aten.special_log_ndtr.default")
def log_ndtr(x: Formula) -> Formula:
    """The logarithm of `ndtr`."""
    size = x * -sqrt(0.5)
    below = (erfcx(size) * 0.5).op("log") - size * size
    return (x < -1).where(below, (erfc(-size) * -0.5).op("log1p"))


@_function("aten.erfinv.default", "aten.special_erfinv.default")
def erfinv(x: Formula) -> Formula:
    """The inverse of the error function; NaN outside of [-1, 1]."""
    size = abs(x)
    found = _erfinv_of(size, 1 - size)
    found = size.equals(1).where(x.number(_INF), found)
    return (x < 0).where(-found, found)


@_function("aten.special_ndtri.default")
def ndtri(x: Formula) -> Formula:
    """The inverse of `ndtr`; NaN outside of [0, 1]."""
    tail = x.op("minimum", 1 - x)
    found = _erfinv_of(1 - 2 * tail, 2 * tail) * sqrt(2)
    found = tail.equals(0).where(x.number(_INF), found)
    return (x < 0.5).where(-found, found)


def _erfinv_of(x: Formula, rest: Formula) -> Formula:
    """The inverse of erf at `x` in [0, 1), where ``rest = 1 - x``: a guess and Halley's step."""
    square = -(x < 0.5).where((-(x * x)).op("log1p"), (rest * (2 - rest)).op("log"))
    near = (square / 3.125 - 1).polynomial(coefficients.ERFINV)
    root = square.op("sqrt")
    low, high = 1 / 27.5, 1 / 2.5
    scaled = (2 / root - (low + high)) / (high - low)
    far = scaled.polynomial(coefficients.ERFINV_FAR) * root
    guess = x * (square < 6.25).where(near, far)
    density = (-(guess * guess)).op("exp")
    excess = (x < 0.5).where(guess.op("erf") - x, rest - density * _erfcx_of_size(guess))
    step = excess / (density * (2 / sqrt(pi)))
    # Below, the density is a denormal number, of few bits.
    return (rest < 3e-308).where(guess, guess - step / (guess * step + 1))


def _shifted_down(x: Formula) -> Formula:
    """The nearest difference of `x` to an integer, for functions of period 1."""
    return x - x.op("round")


@_function("aten.lgamma.default", "aten.special_gammaln.default")
def lgamma(x: Formula) -> Formula:
    """The logarithm of the size of the gamma function."""
    size = abs(x)
    found = _lgamma_above_0(size)
    sine = abs((_shifted_down(x) * pi).op("sin"))
    reflected = (pi / (size * sine)).op("log") - found
    # Large negative numbers are integers, where the function is infinite.
    below = (sine.equals(0) | size.equals(_INF)).where(x.number(_INF), reflected)
    return (x < 0).where(below, found)


def _lgamma_above_0(x: Formula) -> Formula:
    # A polynomial on [1, 2], where the function has zeros, after one step into it.
    before = (x < 1).where(x, (x > 2).where(x - 1, x.number(1)))
    inner = (x < 1).where(x + 1, (x > 2).where(x - 1, x))
    near = (inner - 1) * (inner - 2) * (2 * inner - 3).polynomial(coefficients.LOG_GAMMA)
    step = before.op("log")
    near = (x < 1).where(near - step, near + step)
    product = x
    for k in range(1, _SHIFT):
        product = product * (x + k)
    is_small = x < _SHIFT
    large = is_small.where(x + _SHIFT, x)
    far = _stirling(large) - is_small.where(product, x.number(1)).op("log")
    return (x < 3).where(near, far)


def _stirling(x: Formula) -> Formula:
    terms = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
    series = (1 / (x * x)).polynomial(terms[::-1]) / x
    return (x - 0.5) * (x.op("log") - 1) + (log(2 * pi) - 1) / 2 + series


@_function("aten.digamma.default", "aten.special_digamma.default", "aten.special_psi.default")
def digamma(x: Formula) -> Formula:
    """The derivative of `lgamma`."""
    reflected = _digamma_above_0(1 - x) - pi / (_shifted_down(x) * pi).op("tan")
    is_pole = _shifted_down(x).equals(0)
    below = is_pole.where(x.number(float("nan")), reflected)
    found = (x < 0).where(below, _digamma_above_0(x))
    return x.equals(0).where(-1 / x, found)


def _digamma_above_0(x: Formula) -> Formula:
    before = 1 / x
    for k in range(1, _SHIFT):
        before = before + 1 / (x + k)
    is_small = x < _SHIFT
    large = is_small.where(x + _SHIFT, x)
    square = 1 / (large * large)
    series = square.polynomial([b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)][::-1]) * square
    found = large.op("log") - 0.5 / large - series
    return is_small.where(found - before, found)


@converts("aten.polygamma.default", "aten.special_polygamma.default")
def polygamma(ctx: Context, n: int, x: Value) -> Value:
    """The `n`-th derivative of `digamma`."""
    wide = _wide(ctx, x)
    return ctx.astype((_polygamma(n, wide) if n else digamma(wide)).value, ctx.dtype)


def _polygamma(n: int, x: Formula) -> Formula:
    if n > 30:
        raise Unsupported(f"expected a derivative of up to 30, got {n}")
    sign = -1 if n % 2 else 1
    is_below = x < 0
    zeta = _zeta(n + 1, is_below.where(1 - x, abs(x))) * float(factorial(n))
    cotangent = 1 / (_shifted_down(x) * pi).op("tan")
    # The derivatives of the cotangent are polynomials of it.
    powers = [1.0, 0.0]
    for _ in range(n):
        slope = [c * k for c, k in zip(powers[:-1], range(len(powers) - 1, 0, -1), strict=True)]
        powers = [-a - b for a, b in zip([*slope, 0.0, 0.0], [0.0, 0.0, *slope], strict=True)]
    reflected = -zeta - cotangent.polynomial(powers) * pi ** (n + 1)
    return is_below.where(reflected, zeta * -sign)


def _zeta(s: int, q: Formula) -> Formula:
    """The sum of ``(q + k) ** -s`` over all k, by Euler and Maclaurin."""
    total = (1 / q).op("power", q.number(s))
    for k in range(1, _SHIFT):
        total = total + (1 / (q + k)).op("power", q.number(s))
    inverse = 1 / (q + _SHIFT)
    terms, factor = [1 / (s - 1)], 1.0
    for k, b in enumerate(_BERNOULLI, 1):
        factor = float(s) if k == 1 else factor * (s + 2 * k - 3) * (s + 2 * k - 2)
        terms.append(b / factorial(2 * k) * factor)
    tail = (inverse * inverse).polynomial(terms[::-1]) + 0.5 * inverse
    return total + tail * inverse.op("power", q.number(s - 1))


def _bessel(order: int, is_scaled: bool) -> Function:
    """The modified Bessel function of order 0 or 1, perhaps times ``exp(-|x|)``."""
    near_terms = (coefficients.I0, coefficients.I1)[order]
    far_terms = (coefficients.I0_FAR, coefficients.I1_FAR)[order]

    def function(x: Formula) -> Formula:
        size = abs(x)
        near = (size * size / 32 - 1).polynomial(near_terms)
        far = (16 / size - 1).polynomial(far_terms) / size.op("sqrt")
        if is_scaled:
            near = near * (-size).op("exp")
        else:
            far = far * size.op("exp")
        if order == 1:
            near, far = near * x, (x < 0).where(-far, far)
        return (size <= 8).where(near, far)

    return function


for _order in (0, 1):
    _function(f"aten.special_modified_bessel_i{_order}.default")(_bessel(_order, False))
    _function(f"aten.special_i{_order}e.default")(_bessel(_order, True))
_function("aten.i0.default", "aten.special_i0.default")(_bessel(0, False))
_function("aten.special_i1.default")(_bessel(1, False))

"""`math` in NumPy: functions are computed in float64 and rounded once to their dtype.

float64 functions themselves are NumPy's, at its accuracy. `fma` is rounded once in every dtype.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.ir import Operation

from .values import (
    Array,
    Maker,
    Precision,
    ScalarFunction,
    Value,
    choose,
    round_to_odd,
    signed,
    unsigned,
    value_dtype,
)


def _wide(function: ScalarFunction) -> Maker:
    """A function of floats, computed in float64; the integer operand of `fpowi` is converted."""

    def make(op: Operation, precision: Precision) -> ScalarFunction:
        dtype = value_dtype(op.results[0].type)
        return lambda *args: precision.narrow(
            dtype, function(*(np.asarray(a, np.float64) for a in args))
        )

    return make


def _exact(function: ScalarFunction) -> Maker:
    """A function whose result needs no rounding: it stays in the dtype of its operand."""
    return lambda op, precision: lambda *args: function(*args)


def _round_half_away(x: Array) -> Array:
    """C's ``round``; adding 0.5 would round 0.49999999999999994 up."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)


_erf_of_each: Any = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Array) -> Array:
    return np.asarray(_erf_of_each(x), np.float64)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    total = x + y
    rest = total - x
    return total, (x - (total - rest)) + (y - rest)


def _split(x: Array) -> tuple[Array, Array]:
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    product = x * y
    xh, xl = _split(x)
    yh, yl = _split(y)
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


def _fma_by_fraction(x: float, y: float, z: float) -> float:
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fma64(x: Array, y: Array, z: Array) -> Array:
    """``x * y + z`` rounded once: Boldo and Melquiond's algorithm, fractions near its limits."""
    x, y, z = (np.asarray(a) for a in np.broadcast_arrays(x, y, z))
    high, low = _two_product(x, y)
    sum_low, rest_low = _two_sum(z, low)
    sum_high, rest_high = _two_sum(high, sum_low)
    tail, error = _two_sum(rest_low, rest_high)
    usual = _usual(x, 400) & _usual(y, 400) & _usual(z, 900) & _usual(high, 800)
    factors = np.isfinite(x) & np.isfinite(y)
    plain: Array = np.where(factors & np.isinf(z), z, x * y + z)
    result: Array = np.where(usual, sum_high + round_to_odd(tail, error), plain)
    finite = factors & np.isfinite(z)
    for place in np.argwhere(~usual & finite & (x != 0) & (y != 0) & (z != 0)):
        at = tuple(place)
        result[at] = _fma_by_fraction(float(x[at]), float(y[at]), float(z[at]))
    return result


def _usual(x: Array, exponent: int) -> Array:
    magnitude = np.abs(x)
    return (magnitude < 2.0**exponent) & (magnitude > 2.0**-exponent)


def _fma(op: Operation, precision: Precision) -> ScalarFunction:
    dtype = value_dtype(op.results[0].type)

    def narrow_fma(x: Value, y: Value, z: Value) -> Value:
        product = np.asarray(x, np.float64) * np.asarray(y, np.float64)
        total, error = _two_sum(product, np.asarray(z, np.float64))
        return precision.narrow(dtype, round_to_odd(np.asarray(total), np.asarray(error)))

    def wide_fma(x: Value, y: Value, z: Value) -> Value:
        return fma64(x, y, z)[()]

    def float64_fma(x: Value, y: Value, z: Value) -> Value:
        return x * y + z

    if precision.float64:
        return float64_fma
    return narrow_fma if dtype != "float64" else wide_fma


def _power(base: Value, exponent: Value) -> Value:
    """`math.ipowi`: powers wrap, and a negative exponent gives the truncated reciprocal."""
    base, exponent = np.broadcast_arrays(base, exponent)
    result: Array = np.ones_like(base)
    factor, left = base.copy(), np.maximum(exponent, 0)
    while left.any():
        result = np.asarray(choose(left & 1, result * factor, result))
        factor, left = factor * factor, left >> 1
    sign = np.where(exponent & 1, base, 1)
    reciprocal = np.where(np.abs(base) == 1, sign, 0)
    return np.where(exponent < 0, reciprocal, result).astype(base.dtype)[()]


def _integer(function: ScalarFunction) -> Maker:
    def make(op: Operation, precision: Precision) -> ScalarFunction:
        held = precision.compute(value_dtype(op.results[0].type))

        def apply(*args: Value) -> Value:
            values = np.asarray(function(*(signed(np.asarray(a, held)) for a in args)))
            return (values & 1 != 0)[()] if held.kind == "b" else values.astype(held)[()]

        return apply

    return make


def _bit_counter(count: str) -> Maker:
    def make(op: Operation, precision: Precision) -> ScalarFunction:
        held = precision.compute(value_dtype(op.results[0].type))
        width = 1 if held.kind == "b" else held.itemsize * 8

        def ones(bits: Value) -> Value:
            return np.bitwise_count(bits)

        def apply(x: Value) -> Value:
            bits = unsigned(np.asarray(x, held))
            if count == "ones":
                result = ones(bits)
            elif count == "trailing":
                result = np.minimum(ones(~bits & (bits - bits.dtype.type(1))), width)
            else:
                for shift in (1, 2, 4, 8, 16, 32):
                    if shift < width:
                        bits = bits | (bits >> bits.dtype.type(shift))
                result = width - ones(bits).astype(np.int64)
            return np.asarray(result).astype(held)[()]

        return apply

    return make


MATH: dict[str, Maker] = {
    "math.absf": _exact(np.abs),
    "math.absi": _integer(np.abs),
    "math.acos": _wide(np.arccos),
    "math.acosh": _wide(np.arccosh),
    "math.asin": _wide(np.arcsin),
    "math.asinh": _wide(np.arcsinh),
    "math.atan": _wide(np.arctan),
    "math.atan2": _wide(np.arctan2),
    "math.atanh": _wide(np.arctanh),
    "math.cbrt": _wide(np.cbrt),
    "math.ceil": _exact(np.ceil),
    "math.copysign": _exact(np.copysign),
    "math.cos": _wide(np.cos),
    "math.cosh": _wide(np.cosh),
    "math.ctlz": _bit_counter("leading"),
    "math.ctpop": _bit_counter("ones"),
    "math.cttz": _bit_counter("trailing"),
    "math.erf": _wide(_erf),
    "math.exp": _wide(np.exp),
    "math.exp2": _wide(np.exp2),
    "math.expm1": _wide(np.expm1),
    "math.floor": _exact(np.floor),
    "math.fma": _fma,
    "math.fpowi": _wide(np.power),
    "math.ipowi": _integer(_power),
    "math.log": _wide(np.log),
    "math.log10": _wide(np.log10),
    "math.log1p": _wide(np.log1p),
    "math.log2": _wide(np.log2),
    "math.powf": _wide(np.power),
    "math.round": _wide(_round_half_away),
    "math.roundeven": _exact(np.rint),
    "math.rsqrt": _wide(_rsqrt),
    "math.sin": _wide(np.sin),
    "math.sinh": _wide(np.sinh),
    "math.sqrt": _wide(np.sqrt),
    "math.tan": _wide(np.tan),
    "math.tanh": _wide(np.tanh),
    "math.trunc": _exact(np.trunc),
    "vector.fma": _fma,
}
"""How each function of the `math` dialect is computed."""

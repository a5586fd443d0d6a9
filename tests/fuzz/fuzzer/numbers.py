"""Arithmetic of every dtype in NumPy, with a bound on how far a result may be from it.

A value is exact, up to the bit, until a reduction of floats or a function such as `exp` makes it
inexact; from there its bound grows by the rules of running error analysis (Higham, "Accuracy and
Stability of Numerical Algorithms", 3.3). What depends on an inexact comparison has no bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .syntax import FLOATS, INDEX, INTEGERS

Array = np.ndarray[Any, Any]
EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
TINY = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 5e-324}

RANGE = {
    "float16": (2.0**-14, 65504.0),
    "bfloat16": (2.0**-126, 2.0**127 * (2 - 2.0**-7)),
    "float32": (2.0**-126, float(np.finfo("float32").max)),
    "float64": (2.0**-1022, float(np.finfo("float64").max)),
}
"""The least and the largest number of a dtype with all its digits."""


def storage(dtype: str) -> np.dtype[Any]:
    """What holds a dtype here: bfloat16 is float32 whose lower half is 0."""
    return np.dtype({"bfloat16": "float32", INDEX: "int64"}.get(dtype, dtype))


def rounded(values: Array, dtype: str) -> Array:
    """Values in a dtype: integers wrap, floats are rounded to the nearest, ties to even."""
    values = np.asarray(values)
    if dtype != "bfloat16":
        return values.astype(storage(dtype))
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return np.where(
        np.isnan(values), np.float32(np.nan), nearest.astype(np.uint32).view(np.float32)
    )


@dataclass(frozen=True)
class Value:
    """Numbers of a dtype; `error` bounds their distance from what a program may compute."""

    dtype: str
    data: Array
    error: Array | None = None

    def at(self, chosen: Any) -> Value:
        """Some of the numbers."""
        error = None if self.error is None else np.broadcast_to(self.error, self.data.shape)[chosen]
        return Value(self.dtype, self.data[chosen], error)

    @property
    def bound(self) -> Array:
        """The error as an array, 0 where the numbers are exact."""
        return np.zeros(self.data.shape) if self.error is None else self.error


def floor_divide(x: Array, y: Array) -> Array:
    """Rounded towards minus infinity; 0 by 0, and wrapping."""
    safe = np.where(y == 0, np.ones_like(y), y)
    return np.where(y == 0, np.zeros_like(x), np.floor_divide(x, safe)).astype(x.dtype)


def floor_modulo(x: Array, y: Array) -> Array:
    """What `floor_divide` leaves; 0 by 0."""
    return np.where(y == 0, np.zeros_like(x), x - floor_divide(x, y) * y).astype(x.dtype)


def truncated_divide(x: Array, y: Array) -> Array:
    """Rounded towards 0; 0 by 0."""
    quotient = floor_divide(x, y)
    inexact = (quotient * y != x) & ((x < 0) != (y < 0)) & (y != 0)
    return (quotient + inexact).astype(x.dtype)


def truncated_modulo(x: Array, y: Array) -> Array:
    """What `truncated_divide` leaves; 0 by 0."""
    return np.where(y == 0, np.zeros_like(x), x - truncated_divide(x, y) * y).astype(x.dtype)


def shift(x: Array, y: Array, left: bool) -> Array:
    """A shift by the width or more, or by less than 0, gives 0 or the sign."""
    width = x.dtype.itemsize * 8
    wide = (y < 0) | (y >= width)
    by = np.where(wide, 0, y).astype(x.dtype)
    if left:
        return np.where(wide, 0, x << by).astype(x.dtype)
    return np.where(wide, np.where(x < 0, -1, 0).astype(x.dtype), x >> by).astype(x.dtype)


EXACT = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "floordiv": floor_divide,
    "floormod": floor_modulo,
    "truncdiv": truncated_divide,
    "truncmod": truncated_modulo,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": lambda x, y: shift(x, y, True),
    "shr": lambda x, y: shift(x, y, False),
    "neg": np.negative,
    "not": np.invert,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "sqrt": np.sqrt,
    "popcount": np.bitwise_count,
    "both": np.logical_and,
    "either": np.logical_or,
    "negation": np.logical_not,
}
INEXACT = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "tanh": np.tanh,
    "cos": np.cos,
    "atan": np.arctan,
    "exp2": np.exp2,
    "log2": np.log2,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sinh": np.sinh,
    "asinh": np.arcsinh,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
ULPS = 8
"""How exact functions of `INEXACT` are at least, docs/math.md."""


def operate(op: str, dtype: str, args: list[Value]) -> Value:
    """An operation on all numbers at once."""
    with np.errstate(all="ignore"):
        data = [a.data for a in args]
        if op in COMPARISONS:
            return Value("bool", COMPARISONS[op](*data), _comparison_error(args))
        if op in INEXACT:
            return _inexact(op, dtype, args[0])
        found = rounded(EXACT[op](*data), dtype)
        error = None
        if any(a.error is not None for a in args):
            error = _error(op, dtype, found, args)
        if op in ("min", "max") and dtype in FLOATS:
            error = _with_either_zero(dtype, data, error)
        return Value(dtype, found, error)


def _with_either_zero(dtype: str, data: list[Array], error: Array | None) -> Array | None:
    """The bound where one of 0 and -0 is chosen: either may be, which a quotient makes much of."""
    x, y = (d.astype(float) for d in data)
    is_open = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
    if not is_open.any():
        return error
    return np.where(is_open, TINY[dtype], 0.0) + (0.0 if error is None else error)


def _comparison_error(args: list[Value]) -> Array | None:
    if all(a.error is None for a in args):
        return None
    near = np.abs(args[0].data.astype(float) - args[1].data) <= args[0].bound + args[1].bound
    certain = (args[0].bound + args[1].bound) == 0
    return np.where(near & ~certain, np.inf, 0.0)


def _inexact(op: str, dtype: str, arg: Value) -> Value:
    function, x = INEXACT[op], arg.data.astype(np.float64)
    exact = function(x)
    error = ULPS * (np.abs(exact) * EPSILON[dtype] + TINY[dtype])
    if arg.error is not None:
        spread = [np.abs(function(x + s * arg.error) - exact) for s in (-1, 1)]
        error = error + 2 * np.maximum(*spread)
    found = rounded(exact, dtype)
    # Where the exact result is not finite, neither is that of a program; nor may it have an error.
    return Value(
        dtype,
        found,
        np.where(np.isfinite(exact), np.nan_to_num(error, nan=np.inf, posinf=np.inf), 0),
    )


def _error(op: str, dtype: str, found: Array, args: list[Value]) -> Array:
    """The bound of a result of inexact numbers."""
    bounds = [a.bound for a in args]
    x = np.abs(args[0].data.astype(float))
    match op:
        case "add" | "sub":
            error = bounds[0] + bounds[1]
        case "mul":
            y = np.abs(args[1].data.astype(float))
            error = bounds[0] * y + bounds[1] * x + bounds[0] * bounds[1]
        case "div":
            y = np.abs(args[1].data.astype(float))
            error = np.where(
                y > bounds[1], (bounds[0] + bounds[1] * x / y) / (y - bounds[1]), np.inf
            )
        case "min" | "max":
            error = np.maximum(*bounds)
        case "neg" | "abs":
            error = bounds[0]
        case "floor" | "ceil" | "round" | "trunc":
            error = np.where(bounds[0] == 0, 0.0, bounds[0] + 1)
        case "sqrt":
            error = np.where(
                x > bounds[0],
                bounds[0] / np.sqrt(np.maximum(x - bounds[0], TINY["float64"])),
                np.inf,
            )
        case _:
            error = np.where(sum(bounds) == 0, 0.0, np.inf)
    if dtype in FLOATS:
        slack = np.abs(found.astype(float)) * EPSILON[dtype] * 2 + TINY[dtype]
        error = np.where(error > 0, error * 1.01 + slack, 0.0)
        return np.where(np.isfinite(found), error, np.inf)
    return np.where(error == 0, 0.0, np.inf)


def cast(value: Value, dtype: str) -> Value:
    """A conversion: floats that do not fit give the nearest integer that does, NaN gives 0."""
    with np.errstate(all="ignore"):
        data = value.data
        if dtype in INTEGERS and value.dtype in FLOATS:
            found = _to_integers(data.astype(np.float64), dtype)
        else:
            found = data != 0 if dtype == "bool" else rounded(data, dtype)
        if value.error is None:
            return Value(dtype, found)
        error = value.error
        if dtype in FLOATS:
            slack = np.abs(found.astype(float)) * EPSILON[dtype] * 2 + TINY[dtype]
            return Value(dtype, found, np.where(error > 0, error + slack, 0.0))
        return Value(dtype, found, np.where(error > 0, np.inf, 0.0))


def _to_integers(data: Array, dtype: str) -> Array:
    limits = np.iinfo(dtype)
    whole = np.nan_to_num(np.trunc(data), nan=0.0, posinf=np.inf, neginf=-np.inf)
    inside = np.where((whole > limits.min) & (whole < limits.max), whole, 0).astype(dtype)
    low, high = whole <= limits.min, whole >= limits.max
    return np.where(low, limits.min, np.where(high, limits.max, inside)).astype(dtype)

"""Arithmetic of every dtype in NumPy, with a bound on how far a result may be from it.

A value is exact, up to the bit, until a reduction of floats or a function such as `exp` makes it
inexact; from there its bound grows by the rules of `bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .bounds import (
    of_comparison,
    of_flushed,
    of_function,
    of_operation,
    of_small_quotient,
    of_step,
)
from .syntax import FLOATS, INDEX, INTEGERS

Array = np.ndarray[Any, Any]


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
    """Numbers of a dtype; `error` bounds their distance from what a program may compute.

    It is infinite for numbers that may be any, infinities and NaN too. The zeros that `zeros` says
    may have either sign, which what is divided by them makes much of.
    """

    dtype: str
    data: Array
    error: Array | None = None
    zeros: Array | None = None

    def at(self, chosen: Any) -> Value:
        """Some of the numbers."""
        error, zeros = (
            None if a is None else np.broadcast_to(a, self.data.shape)[chosen]
            for a in (self.error, self.zeros)
        )
        return Value(self.dtype, self.data[chosen], error, zeros)

    @property
    def bound(self) -> Array:
        """The error as an array, 0 where the numbers are exact."""
        return np.zeros(self.data.shape) if self.error is None else self.error

    @property
    def either_zero(self) -> Array:
        """The zeros of either sign as an array."""
        return np.zeros(self.data.shape, bool) if self.zeros is None else self.zeros


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
DIVIDED = ("float32", "float64")
"""Floats that are multiplied by reciprocals of constants, lowering/llvm/divisions.py."""
STEPS = ("floor", "ceil", "round", "trunc")
"""Operations of `EXACT` that grow with a number, by jumps."""


def operate(op: str, dtype: str, args: list[Value]) -> Value:
    """An operation on all numbers at once."""
    data, inexact = [a.data for a in args], any(a.error is not None for a in args)
    bounds = [a.bound for a in args] if inexact else []
    with np.errstate(all="ignore"):
        if op in COMPARISONS:
            error = of_comparison(data, bounds) if inexact else None
            return Value("bool", COMPARISONS[op](*data), error)
        if op in INEXACT:
            return _inexact(op, dtype, args[0])
        found = rounded(EXACT[op](*data), dtype)
        error, zeros = None, _either_zeros(op, dtype, found, args)
        if inexact and op in STEPS:
            error = of_step(EXACT[op], dtype, data[0], bounds[0])
        elif inexact:
            error = of_operation(op, dtype, found, data, bounds)
        if op == "div" and dtype in DIVIDED:
            error = of_small_quotient(dtype, found, data[0], error)
        if op == "div" and args[1].zeros is not None:
            open_sign = np.where(args[1].zeros & np.isinf(found), np.inf, 0.0)
            error = open_sign if error is None else np.maximum(error, open_sign)
        if op == "mul" and dtype in FLOATS:
            # LLVM leaves products with a constant 0 out of sums that may be reordered.
            is_zero = np.logical_or(*(d == 0 for d in data))
            if (left_out := np.isnan(found) & is_zero).any():
                anything = np.where(left_out, np.inf, 0.0)
                error = anything if error is None else np.maximum(error, anything)
        return Value(dtype, found, of_flushed(dtype, found, error), zeros)


def _either_zeros(op: str, dtype: str, found: Array, args: list[Value]) -> Array | None:
    """Which results may be zeros of either sign: of 0 and -0, either is the smaller one."""
    if dtype not in FLOATS or op == "abs":
        return None
    may_be = [a.zeros for a in args if a.zeros is not None]
    if op in ("min", "max"):
        may_be.append(np.signbit(args[0].data) != np.signbit(args[1].data))
    zeros = np.logical_or.reduce(may_be) & (found == 0) if may_be else np.False_
    return zeros if zeros.any() else None


def _inexact(op: str, dtype: str, arg: Value) -> Value:
    function, x = INEXACT[op], arg.data.astype(np.float64)
    exact = function(x)
    error = of_function(op, function, dtype, x, arg.bound)
    if op == "rsqrt":
        error = np.where(arg.either_zero, np.inf, error)
    return Value(dtype, rounded(exact, dtype), error)


def cast(value: Value, dtype: str) -> Value:
    """A conversion: floats that do not fit give the nearest integer that does, NaN gives 0."""
    with np.errstate(all="ignore"):
        found = _cast(value.data, value.dtype, dtype)
        zeros = None if value.zeros is None or dtype not in FLOATS else value.zeros & (found == 0)
        if value.error is None:
            return Value(dtype, found, of_flushed(dtype, found, None), zeros)
        if value.dtype not in FLOATS:
            error = np.where(value.error > 0, np.inf, 0.0)
        elif dtype in FLOATS:
            error = of_operation("neg", dtype, found, [value.data], [value.error])
        else:
            error = of_step(lambda x: _cast(x, value.dtype, dtype), dtype, value.data, value.error)
            if dtype == "bool":
                may_be_zero = (value.error > 0) & (np.abs(value.data) <= value.error)
                error = np.where(may_be_zero, np.inf, error)
        return Value(dtype, found, error, zeros)


def _cast(data: Array, source: str, dtype: str) -> Array:
    if dtype in INTEGERS and source in FLOATS:
        return _to_integers(data.astype(np.float64), dtype)
    return data != 0 if dtype == "bool" else rounded(data, dtype)


def _to_integers(data: Array, dtype: str) -> Array:
    limits = np.iinfo(dtype)
    whole = np.nan_to_num(np.trunc(data), nan=0.0, posinf=np.inf, neginf=-np.inf)
    inside = np.where((whole > limits.min) & (whole < limits.max), whole, 0).astype(dtype)
    low, high = whole <= limits.min, whole >= limits.max
    return np.where(low, limits.min, np.where(high, limits.max, inside)).astype(dtype)

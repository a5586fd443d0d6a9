"""Arithmetic, comparisons and conversions of known values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from ...dialects.int_expr import IntExpr, floordiv, floormod, maximum, minimum
from .fold_values import Fold, Given, alike, is_symbolic, objects
from .ratio import Ratio
from .tensor import Known
from .weights import DTYPES

Binary = Callable[[Any, Any], Any]
Symbolic = Callable[[Any, Any, Given], Any]
"""An operation on two elements, expressions or ratios; `None` where it cannot say."""


def _elementwise(numeric: Binary, symbolic: Symbolic, dtype: Any = object) -> Fold:
    """Operators of two or more tensors that broadcast; `dtype` is that of symbolic results."""

    def pair(first: Known, second: Known, given: Given) -> Known:
        first, second = alike(first, second)
        if not is_symbolic(first):
            return np.asarray(numeric(first, second))
        pairs = np.broadcast(first, second)
        cells = [symbolic(a, b, given) for a, b in pairs]
        if any(c is None for c in cells):
            raise ValueError("expected a result that is known")
        return objects(cells, pairs.shape).astype(dtype)

    def fold(inputs: list[Any], given: Given) -> Known | None:
        if given.get("axis") is not None:
            return None  # before opset 7, it aligns the second operand
        return reduce(lambda a, b: pair(a, b, given), inputs)

    return fold


def _divide(a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return a / b
    if np.any(b == 0):
        raise ZeroDivisionError
    quotient = np.abs(a) // np.abs(b)  # ONNX truncates
    return (quotient * np.sign(a) * np.sign(b)).astype(a.dtype)


def _quotient(a: Any, b: Any, given: Given) -> Any:
    """``a / b``, for integers rounded towards 0."""
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        return Ratio.of(a) / b
    if b.is_constant and b.offset > 0:
        return truncated(a, b.offset, given)
    exact = floordiv(a, b)
    return exact if exact * b == a else None


def truncated(value: IntExpr, divisor: int, given: Given) -> IntExpr:
    """``value / divisor`` rounded towards 0."""
    whole = floordiv(value, IntExpr.of(divisor))
    if divisor == 1 or whole * divisor == value or given.is_size(value):
        return whole
    if given.is_size(-value):
        return -floordiv(-value, IntExpr.of(divisor))
    parts = (maximum(value, 0), maximum(-value, 0))
    return floordiv(parts[0], IntExpr.of(divisor)) - floordiv(parts[1], IntExpr.of(divisor))


def _modulo(inputs: list[Any], given: Given) -> Known | None:
    if given.get("fmod", 0) or any(i.dtype.kind == "f" for i in inputs):
        return None
    if not is_symbolic(inputs[1]) and np.any(inputs[1] == 0):
        return None
    return np.asarray(_elementwise(np.mod, _remainder)(inputs, given))


def _remainder(a: Any, b: Any, given: Given) -> Any:
    return floormod(a, b) if b.is_constant and b.offset > 0 else None


def _power(inputs: list[Any], given: Given) -> Known | None:
    base, exponent = inputs
    if not is_symbolic(base) and not is_symbolic(exponent):
        if base.dtype.kind != "f" and (exponent.dtype.kind == "f" or np.any(exponent < 0)):
            return None
        return np.power(base, exponent).astype(base.dtype)
    if is_symbolic(exponent) or exponent.size != 1 or exponent.reshape(-1)[0] not in (0, 1, 2, 3):
        return None
    count = int(exponent.reshape(-1)[0])
    powers = [reduce(lambda a, b: a * b, [v] * count, v * 0 + 1) for v in base.flat]
    return objects(powers, np.broadcast_shapes(base.shape, exponent.shape))


def _extremum(of: Callable[[IntExpr, IntExpr], IntExpr]) -> Symbolic:
    def choose(a: Any, b: Any, given: Given) -> Any:
        if isinstance(a, Ratio) or isinstance(b, Ratio):
            return Ratio.of(a).combined(b, of)
        if given.is_size(a - b):
            return a if of is maximum else b
        if given.is_size(b - a):
            return b if of is maximum else a
        return of(a, b)

    return choose


def _difference(a: Any, b: Any) -> IntExpr:
    """An integer of the sign of ``a - b``."""
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        return Ratio.of(a).combined(b, lambda x, y: x - y).numerator
    return a - b


def _is_less(a: Any, b: Any, given: Given) -> bool | None:
    if given.is_size(_difference(b, a) - 1):
        return True
    return False if given.is_size(_difference(a, b)) else None


def _is_equal(a: Any, b: Any, given: Given) -> bool | None:
    difference = _difference(a, b)
    if difference.is_constant:
        return difference.offset == 0
    return False if _is_less(a, b, given) or _is_less(b, a, given) else None


def _negated(found: bool | None) -> bool | None:
    return None if found is None else not found


def _cast(inputs: list[Any], given: Given) -> Known | None:
    dtype = DTYPES.get(given.attributes["to"], "bfloat16")
    (values,) = inputs
    if dtype in ("bfloat16", "float16") or not is_symbolic(values):
        return None if dtype == "bfloat16" or values.dtype == object else _numeric(values, dtype)
    if dtype == "bool":
        return objects([_is_nonzero(v, given) for v in values.flat], values.shape).astype(bool)
    if dtype in ("float32", "float64"):
        return objects([Ratio.of(v) for v in values.flat], values.shape)
    if dtype not in ("int32", "int64"):
        return None
    return objects([_integer(v, given) for v in values.flat], values.shape)


def _numeric(values: Known, dtype: str) -> Known | None:
    """Numbers in another dtype; `None` for floats that it cannot represent."""
    if values.dtype.kind == "f" and np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        if not np.all((values > float(limits.min) - 1) & (values < float(limits.max))):
            return None
    return values.astype(dtype)


def _is_nonzero(value: Any, given: Given) -> bool:
    found = _is_equal(value, IntExpr.of(0), given)
    if found is None:
        raise ValueError("expected a value that is known to be 0 or not")
    return not found


def _integer(value: Any, given: Given) -> IntExpr:
    if isinstance(value, Ratio):
        return truncated(value.numerator, value.denominator, given)
    return value


def _rounding(numeric: Callable[[Any], Any], symbolic: Callable[[Ratio], Any]) -> Fold:
    def fold(inputs: list[Any], given: Given) -> Known:
        (values,) = inputs
        if not is_symbolic(values):
            return np.asarray(numeric(values))
        return objects([Ratio.of(symbolic(Ratio.of(v))) for v in values.flat], values.shape)

    return fold


def _rounded(value: Ratio) -> Ratio:
    if value.denominator != 1:
        raise ValueError("expected an integer")
    return value


def _unary(numeric: Callable[[Any], Any], symbolic: Callable[[Any, Given], Any]) -> Fold:
    def fold(inputs: list[Any], given: Given) -> Known:
        (values,) = inputs
        if not is_symbolic(values):
            return np.asarray(numeric(values))
        return objects([symbolic(v, given) for v in values.flat], values.shape)

    return fold


def _absolute(value: Any, given: Given) -> Any:
    top = value.numerator if isinstance(value, Ratio) else value
    if given.is_size(top):
        return value
    if given.is_size(-top):
        return -value
    raise ValueError("expected a value of known sign")


def _sign(value: Any, given: Given) -> Any:
    top = value.numerator if isinstance(value, Ratio) else value
    for sign in (1, -1):
        if given.is_size(top * sign - 1):
            return value * 0 + sign
    raise ValueError("expected a value of known sign")


def _root(inputs: list[Any], given: Given) -> Known | None:
    return None if is_symbolic(inputs[0]) else np.sqrt(inputs[0])


def _logical(numeric: Callable[..., Any]) -> Fold:
    return lambda inputs, given: np.asarray(reduce(numeric, inputs))


def _clip(inputs: list[Any], given: Given) -> Known | None:
    values, *bounds = inputs if given.opset >= 11 else (inputs[0], given.get("min"))
    if given.opset < 11:
        bounds = [_as_bound(given.get(n), values) for n in ("min", "max")]
    for bound, operator in zip(bounds, ("Max", "Min"), strict=False):
        if bound is not None and np.size(bound) != 1:
            return None  # which is an error
        if bound is not None:
            values = ARITHMETIC[operator]([values, bound], given)
    return np.asarray(values)


def _as_bound(value: float | None, like: Known) -> Known | None:
    if value is None:
        return None
    return np.asarray(value, np.float64 if is_symbolic(like) else like.dtype)


def add(a: Any, b: Any, given: Given) -> Any:
    return Ratio.of(a) + b if isinstance(b, Ratio) else a + b


def _subtract(a: Any, b: Any, given: Given) -> Any:
    return Ratio.of(a) - b if isinstance(b, Ratio) else a - b


def multiply(a: Any, b: Any, given: Given) -> Any:
    return Ratio.of(a) * b if isinstance(b, Ratio) else a * b


LARGER, SMALLER = _extremum(maximum), _extremum(minimum)

ARITHMETIC: Mapping[str, Fold] = {
    "Abs": _unary(np.abs, _absolute),
    "Add": _elementwise(np.add, add),
    "And": _logical(np.logical_and),
    "Cast": _cast,
    "Ceil": _rounding(np.ceil, Ratio.ceil),
    "Clip": _clip,
    "Div": _elementwise(_divide, _quotient),
    "Equal": _elementwise(np.equal, _is_equal, bool),
    "Floor": _rounding(np.floor, Ratio.floor),
    "Greater": _elementwise(np.greater, lambda a, b, g: _is_less(b, a, g), bool),
    "GreaterOrEqual": _elementwise(
        np.greater_equal, lambda a, b, g: _negated(_is_less(a, b, g)), bool
    ),
    "Less": _elementwise(np.less, _is_less, bool),
    "LessOrEqual": _elementwise(np.less_equal, lambda a, b, g: _negated(_is_less(b, a, g)), bool),
    "Max": _elementwise(np.maximum, LARGER),
    "Min": _elementwise(np.minimum, SMALLER),
    "Mod": _modulo,
    "Mul": _elementwise(np.multiply, multiply),
    "Neg": _unary(np.negative, lambda value, given: -value),
    "Not": lambda inputs, given: np.logical_not(inputs[0]),
    "Or": _logical(np.logical_or),
    "Pow": _power,
    "Round": _rounding(np.round, _rounded),
    "Sign": _unary(np.sign, _sign),
    "Sqrt": _root,
    "Sub": _elementwise(np.subtract, _subtract),
    "Sum": _elementwise(np.add, add),
    "Xor": _logical(np.logical_xor),
}

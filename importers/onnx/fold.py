"""Operators on values that are known during the import: the arithmetic of shapes.

Exporters compute shapes by chains of Shape, Gather, Concat and arithmetic. They are evaluated here
over integers and integer expressions, so that operators get their shapes as attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...dialects.int_expr import IntExpr, floordiv, floormod, maximum, minimum
from .tensor import Known
from .weights import DTYPES

MAX_ELEMENTS = 1024
"""Larger values are computed by operators; the compiler folds them."""

Fold = Callable[..., "Known | None"]
"""A function of known values and the attributes of a node; `None` where it cannot say."""


def is_symbolic(values: Known) -> bool:
    """Whether values have integer expressions."""
    return values.dtype == object


def folded(
    operator: str, inputs: Sequence[Known | None], attributes: Mapping[str, Any], opset: int
) -> Known | None:
    """The result of an operator on known values, `None` where it is not known."""
    fold = FOLDS.get(operator)
    if fold is None or any(i is not None and i.size > MAX_ELEMENTS for i in inputs):
        return None
    try:
        return fold(list(inputs), attributes, opset)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None  # the operator's converter says what is wrong


def _elementwise(
    numeric: Callable[[Any, Any], Any], symbolic: Callable[[IntExpr, IntExpr], Any]
) -> Fold:
    def fold(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
        first, *others = inputs
        for second in others:
            if not is_symbolic(first) and not is_symbolic(second):
                first = np.asarray(numeric(first, second))
                continue
            pairs = np.broadcast(_exprs(first), _exprs(second))
            cells = [symbolic(a, b) for a, b in pairs]
            if any(c is None for c in cells):
                return None
            is_bool = bool(cells) and isinstance(cells[0], bool)
            first = np.array(cells, bool if is_bool else object).reshape(pairs.shape)
        return first

    return fold


def _exprs(values: Known) -> Known:
    """Values as integer expressions; raises ValueError for a float that is no integer."""
    if is_symbolic(values):
        return values
    if values.dtype.kind == "f" and not np.all(values == np.floor(values)):
        raise ValueError("expected integers")
    made = np.empty(values.shape, object)
    for index, value in np.ndenumerate(values):
        made[index] = IntExpr.of(int(value))
    return made


def _divide(a: Any, b: Any) -> Any:
    if np.asarray(a).dtype.kind == "f":
        return a / b
    quotient = np.abs(a) // np.abs(b)  # ONNX truncates
    return (quotient * np.sign(a) * np.sign(b)).astype(a.dtype)


def _symbolic_divide(a: IntExpr, b: IntExpr) -> IntExpr | None:
    if not b.is_constant or b.offset <= 0:
        return None if a != b else IntExpr.of(1)
    return floordiv(a, b)  # sizes are not negative


def _compare(relation: Callable[[int], bool]) -> Callable[[IntExpr, IntExpr], bool | None]:
    def compare(a: IntExpr, b: IntExpr) -> bool | None:
        difference = a - b
        if difference.is_constant:
            return relation(difference.offset)
        return None

    return compare


def _equal(a: IntExpr, b: IntExpr) -> bool | None:
    difference = a - b
    if difference.is_constant:
        return difference.offset == 0
    negative = [x for x in (a, b) if x.is_constant and x.offset < 0]
    return False if negative else None  # a size is not negative, such as -1 in a shape


def _cast(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    dtype = DTYPES.get(attributes["to"], "bfloat16")
    if dtype == "bfloat16":
        return None
    (values,) = inputs
    if is_symbolic(values):  # an integer in any dtype; `bool` says whether it is 0
        return None if dtype == "bool" else values
    return values.astype(dtype)


def _concat(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    symbolic = any(map(is_symbolic, inputs))
    parts = [_exprs(i) for i in inputs] if symbolic else inputs
    return np.concatenate(parts, attributes.get("axis", 1))


def _gather(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    values, indices = inputs
    if is_symbolic(indices):
        return None
    return np.take(values, indices.astype(np.int64), axis=attributes.get("axis", 0))


def _slice(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    data = inputs[0]
    if opset < 10:
        starts, ends = attributes["starts"], attributes["ends"]
        axes, steps = attributes.get("axes"), None
    else:
        given = [*inputs[1:], None, None][:4]
        if any(g is not None and is_symbolic(g) for g in given):
            return None
        starts, ends, axes, steps = (None if g is None else [int(v) for v in g] for g in given)
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        least = end < -(2**31) if step < 0 else False
        index[axis] = slice(start, None if least else end, step)
    return data[tuple(index)]


def _squeeze(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    axes = attributes.get("axes") if opset < 13 else _ints(inputs[1:])
    return np.squeeze(inputs[0], None if axes is None else tuple(axes))


def _unsqueeze(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    axes = attributes["axes"] if opset < 13 else _ints(inputs[1:])
    return np.expand_dims(inputs[0], tuple(axes or ()))


def _ints(inputs: Sequence[Known | None]) -> list[int] | None:
    return [int(v) for v in inputs[0].reshape(-1)] if inputs and inputs[0] is not None else None


def _reshape(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    data = inputs[0]
    shape = attributes.get("shape") if opset < 5 else _numbers(inputs[1])
    if shape is None:
        return None
    copies = not attributes.get("allowzero", 0)
    return data.reshape([data.shape[i] if d == 0 and copies else d for i, d in enumerate(shape)])


def _numbers(values: Known) -> list[int] | None:
    return None if is_symbolic(values) else [int(v) for v in values.reshape(-1)]


def _where(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    condition, x, y = inputs
    if is_symbolic(condition):
        return None
    if is_symbolic(x) or is_symbolic(y):
        return np.where(condition, _exprs(x), _exprs(y))
    return np.where(condition, x, y)


def _range(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    if any(map(is_symbolic, inputs)):
        return None
    start, limit, delta = (i.reshape(-1)[0] for i in inputs)
    return np.arange(start, limit, delta, dtype=inputs[0].dtype)


def _constant_of_shape(
    inputs: list[Known], attributes: Mapping[str, Any], opset: int
) -> Known | None:
    shape = _numbers(inputs[0])
    if shape is None or np.prod(shape) > MAX_ELEMENTS:
        return None
    value = attributes.get("value")
    return np.full(shape, np.float32(0) if value is None else value.values.reshape(-1)[0])


def _reduce(symbolic: Callable[[IntExpr, IntExpr], IntExpr], numeric: Callable[..., Any]) -> Fold:
    def fold(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
        values = inputs[0]
        axes = attributes.get("axes") if "axes" in attributes else _ints(inputs[1:])
        keeps = bool(attributes.get("keepdims", 1))
        if not is_symbolic(values):
            return np.asarray(
                numeric(values, axis=None if axes is None else tuple(axes), keepdims=keeps)
            )
        if values.ndim != 1 or not values.size:
            return None
        total = values[0]
        for value in values[1:]:
            total = symbolic(total, value)
        made = np.empty((1,) if keeps else (), object)
        made[...] = total
        return made

    return fold


def _expand(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    shape = _numbers(inputs[1])
    if shape is None or np.prod(shape) > MAX_ELEMENTS:
        return None
    values = inputs[0]
    return np.broadcast_to(values, np.broadcast_shapes(values.shape, tuple(shape)))


def _rounding(numeric: Callable[[Any], Any]) -> Fold:
    def fold(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
        return inputs[0] if is_symbolic(inputs[0]) else np.asarray(numeric(inputs[0]))

    return fold


def _negate(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    return -inputs[0]


def _not(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    return None if is_symbolic(inputs[0]) else ~inputs[0]


def _identity(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    return inputs[0]


def _transpose(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known:
    return np.transpose(inputs[0], attributes.get("perm"))


def _modulo(inputs: list[Known], attributes: Mapping[str, Any], opset: int) -> Known | None:
    if attributes.get("fmod", 0):
        return None
    return cast("Known | None", _elementwise(np.mod, floormod)(inputs, attributes, opset))


FOLDS: dict[str, Fold] = {
    "Add": _elementwise(np.add, lambda a, b: a + b),
    "And": _elementwise(np.logical_and, lambda a, b: None),
    "Cast": _cast,
    "Ceil": _rounding(np.ceil),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _elementwise(_divide, _symbolic_divide),
    "Equal": _elementwise(np.equal, _equal),
    "Expand": _expand,
    "Floor": _rounding(np.floor),
    "Gather": _gather,
    "Greater": _elementwise(np.greater, _compare(lambda d: d > 0)),
    "GreaterOrEqual": _elementwise(np.greater_equal, _compare(lambda d: d >= 0)),
    "Identity": _identity,
    "Less": _elementwise(np.less, _compare(lambda d: d < 0)),
    "LessOrEqual": _elementwise(np.less_equal, _compare(lambda d: d <= 0)),
    "Max": _elementwise(np.maximum, maximum),
    "Min": _elementwise(np.minimum, minimum),
    "Mod": _modulo,
    "Mul": _elementwise(np.multiply, lambda a, b: a * b),
    "Neg": _negate,
    "Not": _not,
    "Or": _elementwise(np.logical_or, lambda a, b: None),
    "Range": _range,
    "ReduceMax": _reduce(maximum, np.max),
    "ReduceMin": _reduce(minimum, np.min),
    "ReduceProd": _reduce(lambda a, b: a * b, np.prod),
    "ReduceSum": _reduce(lambda a, b: a + b, np.sum),
    "Reshape": _reshape,
    "Round": _rounding(np.round),
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": _elementwise(np.subtract, lambda a, b: a - b),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}

"""Selection, joining, reshapes and creation of known values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ...dialects.int_expr import IntExpr
from .fold_values import Fold, Given, alike, is_symbolic, numbers, objects, require_small
from .ratio import Ratio
from .tensor import Known


def _concat(inputs: list[Any], given: Given) -> Known:
    return np.concatenate(alike(*inputs), given.get("axis", 1))


def _split(inputs: list[Any], given: Given) -> Sequence[Known] | None:
    values, axis = inputs[0], given.get("axis", 0)
    lengths = given.listed("split", inputs, 1, 13)
    if lengths is None:
        return None  # the converter knows the number of results
    if sum(lengths) != values.shape[axis]:
        return None
    return np.split(values, np.cumsum(lengths)[:-1], axis)


def _gather(inputs: list[Any], given: Given) -> Known:
    values, indices = inputs
    axis = given.get("axis", 0) % values.ndim
    places = np.array(numbers(indices), np.int64)
    rows = np.take(values, places, axis)
    return rows.reshape((*values.shape[:axis], *indices.shape, *values.shape[axis + 1 :]))


def _gather_elements(inputs: list[Any], given: Given) -> Known:
    values, indices = inputs
    axis = given.get("axis", 0) % values.ndim
    places = np.array(numbers(indices), np.int64).reshape(indices.shape)
    kept = [slice(None if a == axis else d) for a, d in enumerate(indices.shape)]
    return np.take_along_axis(values[tuple(kept)], places, axis)


def _gather_nd(inputs: list[Any], given: Given) -> Known | None:
    values, indices = inputs
    if given.get("batch_dims", 0):
        return None
    places = np.array(numbers(indices), np.int64).reshape(indices.shape)
    shape = (*indices.shape[:-1], *values.shape[indices.shape[-1] :])
    require_small(shape)
    made = np.empty(shape, values.dtype)
    for at in np.ndindex(indices.shape[:-1]):
        made[at] = values[tuple(places[at])]
    return made


def _scatter_elements(inputs: list[Any], given: Given) -> Known | None:
    if given.get("reduction", "none") != "none":
        return None
    values, indices, updates = inputs
    values, updates = alike(values, updates)
    made, axis = values.copy(), given.get("axis", 0)
    places = np.array(numbers(indices), np.int64).reshape(indices.shape)
    for at in np.ndindex(places.shape):
        place = list(at)
        place[axis] = places[at]
        made[tuple(place)] = updates[at]
    return made


def _scatter_nd(inputs: list[Any], given: Given) -> Known | None:
    if given.get("reduction", "none") != "none":
        return None
    values, indices, updates = inputs
    values, updates = alike(values, updates)
    made = values.copy()
    places = np.array(numbers(indices), np.int64).reshape(indices.shape)
    for at in np.ndindex(places.shape[:-1]):
        made[tuple(places[at])] = updates[at]
    return made


def _slice(inputs: list[Any], given: Given) -> Known:
    values = inputs[0]
    starts, ends, axes, steps = (
        given.listed(name, inputs, index + 1, 10)
        for index, name in enumerate(("starts", "ends", "axes", "steps"))
    )
    starts, ends = starts or [], ends or []
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * values.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = range_of(start, end, step, values.shape[axis])
    return values[tuple(index)]


def range_of(start: int, end: int, step: int, dim: int) -> slice:
    """The slice of a dim: bounds count from the end where negative, and are clamped."""
    if dim == 0:
        return slice(0, 0)
    start, end = (v + dim if v < 0 else v for v in (start, end))
    most = dim if step > 0 else dim - 1
    start, end = min(max(start, 0), most), min(max(end, 0 if step > 0 else -1), most)
    return slice(start, None if end < 0 else end, step)


def _squeeze(inputs: list[Any], given: Given) -> Known:
    axes = given.listed("axes", inputs, 1, 13)
    return np.squeeze(inputs[0], None if axes is None else tuple(axes))


def _unsqueeze(inputs: list[Any], given: Given) -> Known:
    return np.expand_dims(inputs[0], tuple(given.listed("axes", inputs, 1, 13) or ()))


def _reshape(inputs: list[Any], given: Given) -> Known | None:
    values, shape = inputs[0], given.listed("shape", inputs, 1, 5)
    if shape is None:
        return None
    copies = not given.get("allowzero", 0)
    dims = [values.shape[i] if d == 0 and copies else d for i, d in enumerate(shape)]
    return values.reshape(dims)


def _flatten(inputs: list[Any], given: Given) -> Known:
    (values,) = inputs
    axis = given.get("axis", 1)
    axis = axis + values.ndim if axis < 0 else axis
    return values.reshape(prod(values.shape[:axis]), prod(values.shape[axis:]))


def _transpose(inputs: list[Any], given: Given) -> Known:
    return np.transpose(inputs[0], given.get("perm"))


def _where(inputs: list[Any], given: Given) -> Known:
    condition, *others = inputs
    return np.where(condition, *alike(*others))


def _range(inputs: list[Any], given: Given) -> Known:
    start, limit, delta = (i.reshape(-1)[0] for i in alike(*inputs))
    if isinstance(start, Ratio):
        raise ValueError("expected integers")
    if not isinstance(start, IntExpr):
        count = max(int(np.ceil((limit - start) / delta)), 0)
        require_small([count])
        return (start + np.arange(count) * delta).astype(inputs[0].dtype)
    span, step = (limit - start).constant, delta.constant
    if span is None or not step:
        raise ValueError("expected a known number of elements")
    count = max(-(-span // step), 0)
    require_small([count])
    return objects([start + step * i for i in range(count)], [count])


def _constant_of_shape(inputs: list[Any], given: Given) -> Known | None:
    shape, value = numbers(inputs[0]), given.get("value")
    require_small(shape)
    if value is not None and value.dtype == "bfloat16":
        return None
    return np.full(shape, np.float32(0) if value is None else value.values.reshape(-1)[0])


def _expand(inputs: list[Any], given: Given) -> Known:
    values = inputs[0]
    dims = np.broadcast_shapes(values.shape, tuple(numbers(inputs[1])))
    require_small(dims)
    return np.broadcast_to(values, dims).copy()


def _tile(inputs: list[Any], given: Given) -> Known | None:
    if given.opset < 6:
        return None
    repeats = numbers(inputs[1])
    require_small([d * r for d, r in zip(inputs[0].shape, repeats, strict=True)])
    return np.tile(inputs[0], repeats)


def _identity(inputs: list[Any], given: Given) -> Known:
    return inputs[0]


def _cumulative_sum(inputs: list[Any], given: Given) -> Known | None:
    values, axis = inputs[0], numbers(inputs[1])[0]
    if given.get("exclusive", 0) or given.get("reverse", 0):
        return None
    found = np.cumsum(values, axis)
    return found if is_symbolic(values) else found.astype(values.dtype)


def _nonzero(inputs: list[Any], given: Given) -> Known | None:
    return None if is_symbolic(inputs[0]) else np.array(np.nonzero(inputs[0]), np.int64)


def _compress(inputs: list[Any], given: Given) -> Known:
    kept = np.flatnonzero(inputs[1])
    axis = given.get("axis")
    if axis is None:
        return inputs[0].reshape(-1)[kept]
    return np.take(inputs[0], kept, axis)


def _argument(of: Callable[..., Any]) -> Fold:
    def fold(inputs: list[Any], given: Given) -> Known | None:
        (values,) = inputs
        if is_symbolic(values) or given.get("select_last_index", 0):
            return None
        axis, keeps = given.get("axis", 0), bool(given.get("keepdims", 1))
        return np.asarray(of(values, axis=axis, keepdims=keeps), np.int64)

    return fold


MOVEMENT: Mapping[str, Fold] = {
    "ArgMax": _argument(np.argmax),
    "ArgMin": _argument(np.argmin),
    "Compress": _compress,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "CumSum": _cumulative_sum,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Identity": _identity,
    "NonZero": _nonzero,
    "Range": _range,
    "Reshape": _reshape,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}

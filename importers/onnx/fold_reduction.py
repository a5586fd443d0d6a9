"""Reductions of known values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .fold_arithmetic import LARGER, SMALLER, Binary, Symbolic, add, multiply
from .fold_values import Fold, Given, is_symbolic, objects
from .tensor import Known


def _reduction(numeric: Callable[..., Any], symbolic: Symbolic, since: int) -> Fold:
    """A reduction, whose axes are an input from an opset on."""

    def fold(inputs: list[Any], given: Given) -> Known | None:
        values, axes = inputs[0], given.listed("axes", inputs, 1, since)
        if not axes and given.get("noop_with_empty_axes", 0):
            return values
        chosen = tuple(axes) if axes else tuple(range(values.ndim))
        keeps = bool(given.get("keepdims", 1))
        if not is_symbolic(values):
            found = np.asarray(numeric(values, axis=chosen, keepdims=keeps))
            return found.astype(values.dtype)
        return _reduced(values, chosen, keeps, lambda a, b: symbolic(a, b, given))

    return fold


def _reduced(values: Known, axes: Sequence[int], keeps: bool, operation: Binary) -> Known:
    last = [a % values.ndim for a in axes]
    first = [a for a in range(values.ndim) if a not in last]
    rows = values.transpose([*first, *last]).reshape(
        [int(np.prod([values.shape[a] for a in group], dtype=int)) for group in (first, last)]
    )
    cells = [reduce(operation, row) for row in rows]
    shape = [1 if a in last else d for a, d in enumerate(values.shape)]
    return objects(cells, shape if keeps else [values.shape[a] for a in first])


def _mean(inputs: list[Any], given: Given) -> Known | None:
    axes = given.listed("axes", inputs, 1, 18)
    if is_symbolic(inputs[0]) or inputs[0].dtype.kind != "f":
        return None
    if not axes and given.get("noop_with_empty_axes", 0):
        return inputs[0]
    found = np.mean(
        inputs[0], axis=tuple(axes) if axes else None, keepdims=bool(given.get("keepdims", 1))
    )
    return np.asarray(found)


REDUCTIONS: Mapping[str, Fold] = {
    "ReduceMax": _reduction(np.max, LARGER, 18),
    "ReduceMean": _mean,
    "ReduceMin": _reduction(np.min, SMALLER, 18),
    "ReduceProd": _reduction(np.prod, multiply, 18),
    "ReduceSum": _reduction(np.sum, add, 13),
}

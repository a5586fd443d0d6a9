"""Selections whose size depends on the values of tensors, which must be known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....dialects import relax
from ....dialects.int_expr import ONE
from ..context import Context
from ..parts import numbered, product
from ..registry import converts
from ..tensor import DataDependent, Tensor, axis_of


def values_of(tensor: Tensor, what: str) -> Any:
    """The values that determine the size of a result; raises DataDependent with advice."""
    try:
        return tensor.numbers(what)
    except DataDependent as problem:
        problem.advice = "end the model before it, and run it on the results with NumPy"
        raise


@converts("Compress")
def compress(ctx: Context, x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """The slices of an axis, or the elements, where a condition holds."""
    kept = ctx.array(np.flatnonzero(values_of(condition, "a number of elements")), "int64")
    if axis is None:
        return ctx.emit("take", ctx.reshape(x, [product(x.dims)]), kept, axis=0)
    return ctx.emit("take", x, kept, axis=axis_of(axis, x.rank))


@converts("NonZero")
def nonzero(ctx: Context, x: Tensor) -> Tensor:
    """The indices of the elements other than 0, a row for each dim."""
    if x.rank == 1 and _is_filled(x):
        return ctx.reshape(numbered(ctx, x.dims[0]), [ONE, x.dims[0]])
    values = values_of(x, "a number of elements")
    return ctx.array(np.array(np.nonzero(values)), "int64")


def _is_filled(x: Tensor) -> bool:
    """Whether a tensor is one number other than 0, repeated: exporters count by its indices."""
    op = None if x.emitted is None else x.emitted.owner
    if not isinstance(op, relax.OPERATORS["relax.broadcast_to"]):
        return False
    source = op.operands[0].owner
    return isinstance(source, relax.ConstantOp) and bool(np.all(source.value.data.values))


@converts("Unique")
def unique(
    ctx: Context, x: Tensor, *, axis: int | None = None, sorted: int = 1
) -> tuple[Tensor, ...]:
    """The different elements, or slices, of known values; where each is, and how many."""
    values = values_of(x, "a number of elements")
    values = values.reshape(-1) if axis is None else values
    place = 0 if axis is None else axis_of(axis, x.rank)
    found, first, inverse, counts = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True, axis=place
    )
    order = np.arange(len(first)) if sorted else np.argsort(first)
    ranks = np.argsort(order)
    others = (first[order], ranks[inverse.reshape(-1)], counts[order])
    whole = ctx.array(np.take(found, order, place), x.dtype)
    return (whole, *(ctx.array(v, "int64") for v in others))


@converts("NonMaxSuppression")
def non_max_suppression(
    ctx: Context,
    boxes: Tensor,
    scores: Tensor,
    most: Tensor | None = None,
    overlap: Tensor | None = None,
    least: Tensor | None = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    """The batch, class and number of boxes of high scores that overlap no better one."""
    values = values_of(boxes, "a number of boxes"), values_of(scores, "a number of boxes")
    if [v.ndim for v in values] != [3, 3] or values[0].shape != (*values[1].shape[::2], 4):
        shapes = " and ".join(str(v.shape) for v in values)
        raise ValueError(f"expected boxes (n, m, 4) and scores (n, k, m), got {shapes}")
    corners = _corners(values[0], bool(center_point_box))
    count = 0 if most is None else int(most.number("a number of boxes"))
    limit = 0.0 if overlap is None else float(overlap.number("an overlap"))
    lowest = -np.inf if least is None else float(least.number("a score"))
    found = [
        (batch, kind, box)
        for batch, classes in enumerate(values[1])
        for kind, own in enumerate(classes)
        for box in _best(corners[batch], own, count, limit, lowest)
    ]
    return ctx.array(np.array(found, np.int64).reshape(-1, 3), "int64")


def _corners(boxes: Any, is_centered: bool) -> Any:
    """The lowest and the highest corner of boxes."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if is_centered:
        first, second = first - second / 2, first + second / 2
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


def _best(boxes: Any, scores: Any, count: int, limit: float, lowest: float) -> Iterator[int]:
    """The boxes of a class by score, without those that overlap one before."""
    chosen: list[int] = []
    for box in np.argsort(-scores, kind="stable"):
        if len(chosen) == count or not scores[box] > lowest:
            return
        if all(_overlap(boxes[box], boxes[other]) <= limit for other in chosen):
            chosen.append(int(box))
            yield int(box)


def _overlap(a: Any, b: Any) -> float:
    """The area that two boxes share over the area that they cover."""
    shared = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0).prod()
    covered = (a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - shared
    return float(shared / covered) if covered > 0 else 0.0

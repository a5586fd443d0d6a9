"""Selections whose size depends on the values of tensors."""

from __future__ import annotations

import numpy as np

from ....dialects import relax
from ....dialects.dtypes import element_type
from ....dialects.int_expr import ONE, IntExpr
from ...runs import Runs
from ..context import Context
from ..parts import numbered, part, product
from ..registry import converts
from ..tensor import Tensor, axis_of


@converts("Compress")
def compress(ctx: Context, x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """The slices of an axis, or the elements, where a condition holds."""
    kept = ctx.reshape(positions(ctx, condition), [-1])
    if axis is None:
        return ctx.emit("take", ctx.reshape(x, [product(x.dims)]), kept, axis=0)
    return ctx.emit("take", x, kept, axis=axis_of(axis, x.rank))


@converts("NonZero")
def nonzero(ctx: Context, x: Tensor) -> Tensor:
    """The indices of the elements other than 0, a row for each dim."""
    if x.rank == 1 and _is_filled(x):
        return ctx.reshape(numbered(ctx, x.dims[0]), [ONE, x.dims[0]])
    return positions(ctx, x)


def positions(ctx: Context, x: Tensor) -> Tensor:
    """The indices of the elements other than 0; of known elements they are known."""
    if x.known is not None and x.known.dtype != object:
        return ctx.array(np.array(np.nonzero(x.known)), "int64")
    return ctx.tensor(ctx.emitter.positions(x.value))


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
    """The different elements; where each is first, which one each element is, and how many."""
    if axis is not None and x.rank > 1:
        return _unique_slices(ctx, x, axis_of(axis, x.rank), bool(sorted))
    flat = ctx.reshape(x, [product(x.dims)])
    order = ctx.emit("argsort", flat, dtype="int64")
    runs = Runs(ctx.emitter, ctx.emit("take", flat, order, axis=0).value)
    first = ctx.emit("take", order, ctx.tensor(runs.starts), axis=0)
    inverse = ctx.tensor(runs.numbers_before(order.value))
    found = [ctx.tensor(runs.values()), first, ctx.tensor(runs.lengths())]
    if not sorted:  # by the places of first elements
        places = ctx.emit("argsort", first, dtype="int64")
        found = [ctx.emit("take", f, places, axis=0) for f in found]
        inverse = ctx.emit("take", ctx.emit("argsort", places, dtype="int64"), inverse, axis=0)
    values, first, counts = found
    return values, first, inverse, counts


def _unique_slices(ctx: Context, x: Tensor, axis: int, is_sorted: bool) -> tuple[Tensor, ...]:
    """The different slices of an axis, and the same about them."""
    further = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
    found = ctx.emitter.op("unique", x.value, sorted=is_sorted, axis=axis, **further)
    count = ctx.emitter.functions.new_size("unique_count")
    whole = [*x.dims[:axis], count, *x.dims[axis + 1 :]]
    types = [
        relax.TensorType.of(dims, element_type(dtype))
        for dims, dtype in (
            (whole, x.dtype),
            ([count], "int64"),
            ([x.dims[axis]], "int64"),
            ([count], "int64"),
        )
    ]
    fields = zip(ctx.emitter.fields(found), types, strict=True)
    return tuple(ctx.tensor(ctx.emitter.match(field, type_)) for field, type_ in fields)


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
    count = 0 if most is None else int(most.number("a number of boxes"))
    limit = 0.0 if overlap is None else float(overlap.number("an overlap"))
    lowest = float("-inf") if least is None else float(least.number("a score"))
    rows, total = ctx.emit_fields(
        "vision.all_class_non_max_suppression",
        _corners(ctx, boxes) if center_point_box else boxes,
        scores,
        max_output_boxes_per_class=min(count, _MOST),
        iou_threshold=limit,
        score_threshold=lowest,
    )
    size = ctx.emitter.functions.new_size("chosen_boxes")
    ctx.emitter.read_sizes(total.value, [size], [rows.dims[0]])
    return part(ctx, rows, 0, IntExpr.of(0), size)


_MOST = 1 << 30
"""More boxes of one class than there are; some files have the largest integer."""


def _corners(ctx: Context, boxes: Tensor) -> Tensor:
    """Two opposite corners of boxes of a center and a size."""
    center, size = (part(ctx, boxes, 2, IntExpr.of(at), IntExpr.of(2)) for at in (0, 2))
    half = ctx.elementwise("multiply", size, ctx.number(0.5, size.dtype))
    corners = [ctx.elementwise(name, center, half) for name in ("subtract", "add")]
    return ctx.emit("concat", *corners, axis=2)

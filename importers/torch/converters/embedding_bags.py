"""Embedding bags: sums, means and maxima of rows of a table, by the bags of their indices."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of, dtype_of
from ..context import Context
from ..formulas import Formula
from ..registry import converts

_SUM, _MEAN, _MAX = range(3)
"""PyTorch's numbers of the modes."""


@converts("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default")
def embedding_bag(
    ctx: Context, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = False,
    mode: int = _SUM, sparse: bool = False, per_sample_weights: Value | None = None,
    include_last_offset: bool = False, padding_idx: int = -1,
) -> tuple[Any, None, None, None]:  # fmt: skip
    """The rows of each bag combined, 0 for an empty bag; the other results must be unused."""
    dtype = dtype_of(weight)
    wide = "float64" if dtype == "float64" else "float32"
    rows = Formula(ctx, ctx.op("take", weight, indices, axis=0)).astype(wide)
    if per_sample_weights is not None:
        column = ctx.op("expand_dims", per_sample_weights, axis=[1])
        rows = rows * Formula(ctx, column).astype(wide)
    shape = ctx.symbols.dims(ctx.result[0])
    places = _places(ctx, indices, offsets, shape[0], padding_idx)
    wanted = ctx.broadcast(ctx.op("expand_dims", places, axis=[1]), dims_of(rows.value))
    start = rows.number(float("-inf") if mode == _MAX else 0.0)
    combined = "max" if mode == _MAX else "add"
    found = Formula(ctx, _scattered(ctx, ctx.broadcast(start.value, shape), wanted, rows, combined))
    if mode != _SUM:
        ones = Formula(ctx, ctx.broadcast(rows.number(1).value, dims_of(rows.value)))
        none = ctx.broadcast(rows.number(0).value, shape)
        count = Formula(ctx, _scattered(ctx, none, wanted, ones, "add"))
        found = found / count.op("maximum", 1) if mode == _MEAN else (count > 0).where(found, 0)
    return found.astype(dtype).value, None, None, None


def _scattered(ctx: Context, base: Value, places: Value, rows: Formula, reduction: str) -> Value:
    return ctx.op("scatter_elements", base, places, rows.value, axis=0, reduction=reduction)


def _places(ctx: Context, indices: Value, offsets: Value, bags: IntExpr, padding_idx: int) -> Value:
    """The bag of each index; that of padding, and of indices before all bags, does not exist."""
    steps = ctx.op("arange", start=0, end=dims_of(indices)[0], step=1, dtype="int64")
    column = ctx.op("expand_dims", steps, axis=[1])
    begun = ctx.op("less_equal", ctx.astype(offsets, "int64"), column)
    bag = Formula(ctx, ctx.op("sum", ctx.astype(begun, "int64"), axis=[1])) - 1
    outside = Formula(ctx, ctx.number(bags, "int64"))
    is_kept = bag >= 0
    if padding_idx >= 0:
        is_kept = is_kept & Formula(ctx, indices).op("not_equal", padding_idx)
    return is_kept.where(bag, outside).value

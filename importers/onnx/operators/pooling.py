"""Pools over windows and over all spatial dims, and the inverse of max pools."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from ....dialects.dtypes import is_float
from ....dialects.int_expr import ONE, ZERO, IntExpr
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .slicing import padded
from .windows import Windows, margins_of, pad_symbolic


def _operator(
    kind: str, windows: Windows, padding: list[int], ceil_mode: int
) -> tuple[str, dict[str, Any]]:
    """The name and attributes of a pool of windows."""
    sizes = [s.offset for s in windows.sizes]
    attributes = {"pool_size": sizes, "padding": padding, "ceil_mode": bool(ceil_mode)}
    return f"nn.{kind.format(windows.rank)}", {**attributes, **windows.attributes}


@converts("MaxPool")
def max_pool(
    ctx: Context,
    x: Tensor,
    *,
    kernel_shape: list[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    storage_order: int = 0,
    strides: list[int] | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window, and its index in the flattened data."""
    windows = Windows.of(x, kernel_shape, strides, dilations)
    margins = margins_of(x, windows, auto_pad, pads)
    indexed = ctx.outputs[1:2] == [True]
    lowest = -float("inf") if is_float(x.dtype) else int(np.iinfo(x.dtype).min)
    data, left = pad_symbolic(ctx, x, margins, lowest)
    kind = "max_pool{}d_with_indices" if indexed else "max_pool{}d"
    name, attributes = _operator(kind, windows, left, ceil_mode)
    if not indexed:
        return ctx.emit(name, data, **attributes)
    values, indices = ctx.emit_fields(name, data, **attributes)
    index = Formula(ctx, indices)
    if storage_order or data is not x:
        pairs = zip(data.dims[2:], x.dims[2:], margins, strict=False)
        before = [ZERO if padded_dim == dim else m for padded_dim, dim, m in pairs]
        index = _moved(index, data.dims[2:], before, x.dims[2:], storage_order)
    return values, _in_whole(index, x.dims)


def _in_whole(index: Formula, dims: Sequence[IntExpr]) -> Tensor:
    """Indices into the flattened spatial dims as indices into the flattened data."""
    (batch, channels), spatial, ctx = dims[:2], dims[2:], index.context
    planes = ctx.emit("arange", start=ZERO, end=batch * channels, step=ONE, dtype="int64")
    planes = ctx.reshape(planes, [batch, channels, *[ONE] * len(spatial)])
    return (Formula(ctx, planes) * reduce(mul, spatial) + index).tensor


def _moved(
    index: Formula,
    own: Sequence[IntExpr],
    before: Sequence[IntExpr],
    spatial: Sequence[IntExpr],
    storage_order: int,
) -> Formula:
    """Indices into data with padding `before` as those into the data without it.

    With a storage order of 1, the first spatial dim is contiguous.
    """
    found: Any = 0
    for axis in reversed(range(len(own))):
        place = index.with_("floor_mod", own[axis]) - before[axis]
        others = spatial[:axis] if storage_order else spatial[axis + 1 :]
        found = place * reduce(mul, others, ONE) + found
        index = index.with_("floor_divide", own[axis])
    return found


@converts("AveragePool")
def average_pool(
    ctx: Context,
    x: Tensor,
    *,
    kernel_shape: list[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """The mean of each window, with or without its padding."""
    windows = Windows.of(x, kernel_shape, strides, dilations)
    margins = margins_of(x, windows, auto_pad, pads)
    data, left = pad_symbolic(ctx, x, margins, 0)
    name, attributes = _operator("avg_pool{}d", windows, left, ceil_mode)
    if data is x or count_include_pad:
        return ctx.emit(name, data, count_include_pad=bool(count_include_pad), **attributes)
    ones = ctx.broadcast(ctx.number(1, x.dtype), [ONE, ONE, *x.dims[2:]])
    counts, _ = pad_symbolic(ctx, ones, margins, 0)
    sums = [ctx.emit(name, t, divisor_override=1, **attributes) for t in (data, counts)]
    return ctx.elementwise("divide", *sums)


@converts("LpPool")
def lp_pool(
    ctx: Context,
    x: Tensor,
    *,
    kernel_shape: list[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    p: int | float = 2,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """The p-norm of each window."""
    windows = Windows.of(x, kernel_shape, strides, dilations)
    powers = _powers(Formula.wide(ctx, x), p).tensor
    data, left = pad_symbolic(ctx, powers, margins_of(x, windows, auto_pad, pads), 0)
    name, attributes = _operator("avg_pool{}d", windows, left, ceil_mode)
    sums = ctx.emit(name, data, divisor_override=1, **attributes)
    return _root(Formula(ctx, sums), p).to(x.dtype).tensor


def _powers(x: Formula, p: float) -> Formula:
    """``|x| ** p``."""
    if p == 2:
        return x * x
    return x.apply("abs") if p == 1 else x.apply("abs").with_("power", p)


def _root(x: Formula, p: float) -> Formula:
    """``x ** (1 / p)``; raises ValueError for a `p` without a norm."""
    if p <= 0:
        raise ValueError(f"expected a positive p, got {p}")
    if p == 2:
        return x.apply("sqrt")
    return x if p == 1 else x.with_("power", 1 / p)


def _over_all(kind: str, operator: str) -> Any:
    def convert(ctx: Context, x: Tensor) -> Tensor:
        """One element for each channel."""
        spatial = x.rank - 2
        if spatial in (1, 2, 3) and is_float(x.dtype):
            name = f"nn.adaptive_{kind}_pool{spatial}d"
            return ctx.emit(name, x, output_size=[1] * spatial)
        return ctx.emit(operator, x, axis=list(range(2, x.rank)), keepdims=True)

    return convert


converts("GlobalAveragePool")(_over_all("avg", "mean"))
converts("GlobalMaxPool")(_over_all("max", "max"))


@converts("GlobalLpPool")
def global_lp_pool(ctx: Context, x: Tensor, *, p: int | float = 2) -> Tensor:
    """The p-norm of each channel."""
    axes = list(range(2, x.rank))
    sums = _powers(Formula.wide(ctx, x), p).apply("sum", axis=axes, keepdims=True)
    return _root(sums, p).to(x.dtype).tensor


@converts("MaxUnpool")
def max_unpool(
    ctx: Context,
    x: Tensor,
    indices: Tensor,
    output_shape: Tensor | None = None,
    *,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """The data that a max pool has these results of, and 0 elsewhere."""
    windows = Windows.of(x, kernel_shape, strides, None)
    margins = margins_of(x, windows, "NOTSET", pads)
    sums = [a + b for a, b in zip(margins, margins[windows.rank :], strict=False)]
    spatial = [
        (d - 1) * s + size - pad
        for d, s, size, pad in zip(x.dims[2:], windows.strides, windows.sizes, sums, strict=True)
    ]
    dims = [*x.dims[:2], *spatial]
    zeros = ctx.broadcast(ctx.number(0, x.dtype), [reduce(mul, dims)])
    count = reduce(mul, x.dims)
    flat = [ctx.reshape(ctx.fitted(t, x.dims), [count]) for t in (indices, x)]
    result = ctx.reshape(ctx.emit("scatter_elements", zeros, *flat, axis=0), dims)
    if output_shape is None:
        return result
    wanted = output_shape.sizes("the shape of the result")
    if len(wanted) != x.rank:
        raise ValueError(f"expected {x.rank} sizes of the result, got {len(wanted)}")
    after = [w - d for w, d in zip(wanted, dims, strict=True)]
    return padded(ctx, result, [*[ZERO] * x.rank, *after], "constant", ctx.number(0, x.dtype))

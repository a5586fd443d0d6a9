"""Adaptive max pools and the indices of their largest elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....dialects import relax
from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .windows import adaptive_pool


def _windows(length: int, count: int) -> NDArray[Any]:
    """The places of each window's elements; shorter windows repeat their last element."""
    steps: NDArray[Any] = np.arange(count + 1) * length
    first, end = steps[:-1] // count, -(-steps[1:] // count)
    widest = int(np.max(end - first, initial=1))
    return np.minimum(first[:, None] + np.arange(widest), end[:, None] - 1)


def _table(sizes: Sequence[int], counts: Sequence[int]) -> NDArray[Any]:
    """The indices of each window's elements in the flattened spatial dims."""
    rank, index = len(sizes), np.zeros((), np.int64)
    for axis, (length, count) in enumerate(zip(sizes, counts, strict=True)):
        places = _windows(length, count)
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = places.shape
        index = index * length + places.reshape(shape)
    return np.ascontiguousarray(index.reshape(int(np.prod(counts)), -1))


def _indices(ctx: Context, x: Value, spatial: int) -> Value:
    """The index (int64) of the largest element of each window."""
    dims, counts = dims_of(x), ctx.symbols.dims(ctx.result[1])[-spatial:]
    known = [d.constant for d in (*dims[-spatial:], *counts)]
    sizes = [n for n in known if n is not None]
    if len(sizes) < len(known):
        raise Unsupported("expected known sizes for the indices of an adaptive pool, got symbols")
    table = _table(sizes[:spatial], sizes[spatial:])
    outer = dims[:-spatial]
    flat = ctx.reshape(x, [*outer, IntExpr.of(int(np.prod(sizes[:spatial])))])
    axis = len(outer)
    windows = ctx.op("take", flat, ctx.constant(relax.TensorData.of(table)), axis=axis)
    chosen = ctx.op("argmax", windows, axis=axis + 1)
    starts = np.arange(len(table)) * table.shape[1]
    place = ctx.op("add", chosen, ctx.constant(relax.TensorData.of(starts)))
    entries = ctx.constant(relax.TensorData.of(table.reshape(-1)))
    return ctx.reshape(ctx.op("take", entries, place, axis=0), [*outer, *counts])


def _with_indices(spatial: int) -> Callable[..., tuple[Value, Value | None]]:
    def convert(ctx: Context, x: Value, output_size: Any) -> tuple[Value, Value | None]:
        """A max pool, and its indices if they are used."""
        values = adaptive_pool("max", spatial)(ctx, x, output_size)
        is_used = ctx.node is None or any(user.args[1:] == (1,) for user in ctx.node.users)
        return values, _indices(ctx, x, spatial) if is_used else None

    return convert


for _spatial in (1, 2, 3):
    converts(f"aten.adaptive_max_pool{_spatial}d.default")(_with_indices(_spatial))

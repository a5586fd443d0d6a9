"""Distances between rows, and sums of products of three tensors."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np

from ....dialects import relax
from ....dialects.int_expr import ZERO
from ...emitter import Value, dims_of
from ...unsupported import Unsupported
from ..context import Context
from ..formulas import Formula
from ..registry import converts
from .reduction import vector_norm


def _norm(ctx: Context, difference: Value, p: float) -> Value:
    if dims_of(difference)[-1] == ZERO:
        return ctx.broadcast(ctx.number(0, ctx.dtype), ctx.dims)
    if p == 0:  # NaN is not a number: the count is NaN
        size = Formula(ctx, difference)
        return abs(size).op("ceil").op("minimum", 1).op("sum", axis=[-1]).value
    return vector_norm(ctx, difference, p, -1)


@converts("aten._cdist_forward.default", "aten.cdist.default")
def cdist(ctx: Context, x1: Value, x2: Value, p: float = 2.0, compute_mode: Any = None) -> Value:
    """The `p`-norms of the differences of all pairs of rows of two batches of matrices."""
    rows = ctx.op("expand_dims", x1, axis=[len(dims_of(x1)) - 1])
    columns = ctx.op("expand_dims", x2, axis=[len(dims_of(x2)) - 2])
    return _norm(ctx, ctx.op("subtract", rows, columns), p)


@converts("aten._pdist_forward.default", "aten.pdist.default")
def pdist(ctx: Context, x: Value, p: float = 2.0) -> Value:
    """The `p`-norms of the differences of each two rows of a matrix."""
    count = dims_of(x)[0].constant
    if count is None:
        raise Unsupported("expected a number of rows that is known, got a symbol")
    pairs = [relax.TensorData.of(i.astype(np.int64)) for i in np.triu_indices(count, 1)]
    first, second = (ctx.op("take", x, ctx.constant(i), axis=0) for i in pairs)
    return _norm(ctx, ctx.op("subtract", first, second), p)


@converts("aten._trilinear.default")
def trilinear(
    ctx: Context, i1: Value, i2: Value, i3: Value, expand1: Sequence[int],
    expand2: Sequence[int], expand3: Sequence[int], sumdim: Sequence[int], unroll_dim: int = 1,
) -> Value:  # fmt: skip
    """The product of three tensors, each broadcast along some dims, summed over dims."""
    rank = len(dims_of(i1)) + len(expand1)
    names = [
        "".join(ascii_lowercase[a] for a in range(rank) if a not in expanded)
        for expanded in (expand1, expand2, expand3)
    ]
    left = "".join(ascii_lowercase[a] for a in range(rank) if a not in sumdim)
    return ctx.op("einsum", i1, i2, i3, subscripts=f"{','.join(names)}->{left}")

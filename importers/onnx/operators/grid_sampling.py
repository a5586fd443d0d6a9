"""Samples of images at the points of grids, and grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import ONE, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from .linear import matmul

_METHODS = {
    "nearest": "nearest",
    "linear": "bilinear",
    "bilinear": "bilinear",
    "cubic": "bicubic",
    "bicubic": "bicubic",
}
_LAYOUTS = {3: "NCW", 4: "NCHW", 5: "NCDHW"}


@converts("GridSample")
def grid_sample(
    ctx: Context,
    x: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:
    """The data at the points of a grid, whose coordinates are its last dim."""
    if x.rank not in _LAYOUTS:
        raise Unsupported(f"expected 1 to 3 spatial dims, got data of rank {x.rank}")
    if mode not in _METHODS:
        raise ValueError(f"expected a mode among {', '.join(_METHODS)}, got '{mode}'")
    if grid.rank != x.rank:
        raise ValueError(f"expected a grid of rank {x.rank}, got rank {grid.rank}")
    grid = ctx.fitted(grid, [x.dims[0], *grid.dims[1:-1], IntExpr.of(x.rank - 2)])
    points = ctx.permute(grid, [0, grid.rank - 1, *range(1, grid.rank - 1)])
    return ctx.emit(
        "image.grid_sample", x, points, method=_METHODS[mode], layout=_LAYOUTS[x.rank],
        padding_mode=padding_mode, align_corners=bool(align_corners),
    )  # fmt: skip


@converts("AffineGrid")
def affine_grid(ctx: Context, theta: Tensor, size: Tensor, *, align_corners: int = 0) -> Tensor:
    """The points of an image that an affine map of coordinates from -1 to 1 gives."""
    spatial = size.sizes("sizes")[2:]
    rank = len(spatial)
    if rank not in (2, 3) or theta.dims[1:] != [IntExpr.of(rank), IntExpr.of(rank + 1)]:
        given = ", ".join(map(str, theta.dims))
        raise ValueError(f"expected maps of 2 or 3 dims, got ({given}) for {rank} dims")
    columns = [_coordinates(ctx, spatial, axis, theta.dtype, align_corners) for axis in range(rank)]
    count = [ctx.broadcast(column, [*spatial, ONE]) for column in reversed(columns)]
    ones = ctx.broadcast(ctx.number(1, theta.dtype), [*spatial, ONE])
    points = ctx.emit("concat", *count, ones, axis=rank)
    total = spatial[0]
    for dim in spatial[1:]:
        total = total * dim
    flat = ctx.reshape(points, [total, rank + 1])
    grid = matmul(ctx, flat, ctx.permute(theta, [0, 2, 1]))
    return ctx.reshape(grid, [theta.dims[0], *spatial, rank])


def _coordinates(
    ctx: Context, spatial: Sequence[IntExpr], axis: int, dtype: str, align_corners: int
) -> Tensor:
    """The coordinates along a dim, in the shape of the whole."""
    size = spatial[axis]
    numbers = ctx.emit("arange", start=IntExpr.of(0), end=size, step=ONE, dtype="int64")
    place = Formula(ctx, numbers).to(dtype) * 2
    if align_corners:
        found = place / Formula(ctx, ctx.number(size - 1, dtype)).at_least(1) - 1
    else:
        found = (place + 1) / size - 1
    dims = [size if d == axis else ONE for d in range(len(spatial))]
    return ctx.reshape(found.tensor, [*dims, ONE])

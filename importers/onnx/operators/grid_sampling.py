"""Samples of images at the points of grids, and grids of affine maps."""

from __future__ import annotations

from ....dialects.int_expr import IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..data_sizes import sizes_of
from ..registry import MICROSOFT, converts
from ..tensor import Tensor

_METHODS = {
    "nearest": "nearest",
    "linear": "bilinear",
    "bilinear": "bilinear",
    "cubic": "bicubic",
    "bicubic": "bicubic",
}
_LAYOUTS = {3: "NCW", 4: "NCHW", 5: "NCDHW"}


@converts("GridSample")
@converts("GridSample", domain=MICROSOFT)
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
    spatial = sizes_of(ctx, size, "sizes")[2:]
    rank = len(spatial)
    if rank not in (2, 3) or theta.dims[1:] != [IntExpr.of(rank), IntExpr.of(rank + 1)]:
        given = ", ".join(map(str, theta.dims))
        raise ValueError(f"expected maps of 2 or 3 dims, got ({given}) for {rank} dims")
    points = ctx.emit("image.affine_grid", theta, size=spatial, align_corners=bool(align_corners))
    return ctx.permute(points, [0, *range(2, rank + 2), 1])

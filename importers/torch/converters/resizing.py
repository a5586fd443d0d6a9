"""Interpolation to other sizes, and samples at the points of grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import IntExpr
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts

_LINEAR = {1: "linear1d", 2: "bilinear2d", 3: "trilinear3d"}
_ANTIALIASED = {"antialias": True, "cubic_exclude": True, "cubic_alpha": -0.5}
"""The weights of elements outside of the data are 0, and Keys's parameter is -0.5."""


FLOOR = {"coordinate_transformation_mode": "asymmetric", "rounding_method": "floor"}
"""How PyTorch chooses the nearest element."""


def resize(ctx: Context, x: Value, factors: Sequence[float | None], **attributes: Any) -> Value:
    """The data in the size of the result; factors that PyTorch rounded sizes from replace these."""
    own, new = dims_of(x)[2:], ctx.dims[2:]
    known = [f for f in factors if f is not None]
    is_rounded = len(known) == len(own) and not all(map(_is_ratio, known, own, new))
    return ctx.op(
        f"image.resize{len(own)}d", x, size=new, scales=known if is_rounded else None, **attributes
    )


def _is_ratio(factor: float, own: IntExpr, new: IntExpr) -> bool:
    """Whether a known size is exactly the factor times the own one."""
    if own.constant is None or new.constant is None:
        return False
    return Fraction(factor) * own.constant == new.constant


def _nearest(**attributes: Any) -> tuple[Callable[..., Value], Callable[..., Value]]:
    """Converters of the overloads with a list of factors, and with a factor for each dim."""

    def of_list(ctx: Context, x: Value, size: Any, factors: Any = None) -> Value:
        return resize(ctx, x, factors or (), method="nearest_neighbor", **attributes)

    def of_dims(ctx: Context, x: Value, size: Any, *factors: Any) -> Value:
        return of_list(ctx, x, size, factors)

    return of_list, of_dims


def _interpolated(
    method: str, **attributes: Any
) -> tuple[Callable[..., Value], Callable[..., Value]]:
    """Converters of both overloads for linear and cubic interpolation."""

    def of_list(
        ctx: Context, x: Value, size: Any, align_corners: bool, factors: Any = None
    ) -> Value:
        if dtype_of(x) not in FLOATS:
            raise Unsupported(f"expected floats to interpolate, got {dtype_of(x)}")
        if align_corners and "antialias" in attributes:
            return resize(ctx, x, _factors_of_corners(ctx, x), method=method, **attributes)
        if "antialias" in attributes and method == "linear" and _enlarges(ctx, x, factors):
            return resize(ctx, x, factors or (), method=method)
        if align_corners:
            mode = "align_corners"
            return resize(
                ctx, x, (), method=method, coordinate_transformation_mode=mode, **attributes
            )
        return resize(ctx, x, factors or (), method=method, **attributes)

    def of_dims(ctx: Context, x: Value, size: Any, align_corners: bool, *factors: Any) -> Value:
        return of_list(ctx, x, size, align_corners, factors)

    return of_list, of_dims


def _enlarges(ctx: Context, x: Value, factors: Sequence[float | None] | None) -> bool:
    """Whether no size gets smaller: each element is then between two, also with antialiasing."""
    pairs = zip(dims_of(x)[2:], ctx.dims[2:], strict=True)
    sizes = [(own.constant, new.constant) for own, new in pairs]
    known = all(own is not None and new is not None and own <= new for own, new in sizes)
    return known and all(f is None or f >= 1 for f in factors or ())


def _factors_of_corners(ctx: Context, x: Value) -> list[float]:
    """The factors by which PyTorch resizes with aligned corners and antialiasing.

    They are those of the distances between the corners, but the centers of elements are aligned.
    """
    pairs = zip(dims_of(x)[2:], ctx.dims[2:], strict=True)
    sizes = [(own.constant or 1, new.constant or 1) for own, new in pairs]
    if any(own < 2 or new < 2 for own, new in sizes):
        raise Unsupported(
            "expected known sizes above 1 for aligned corners with antialiasing",
            "use align_corners=False",
        )
    return [(new - 1) / (own - 1) for own, new in sizes]


def _register(name: str, converters: tuple[Callable[..., Value], Callable[..., Value]]) -> None:
    of_list, of_dims = converters
    converts(f"aten.{name}.vec")(of_list)
    converts(f"aten.{name}.default")(of_dims)


for _spatial, _name in _LINEAR.items():
    _register(f"upsample_nearest{_spatial}d", _nearest(**FLOOR))
    _centers = {
        "coordinate_transformation_mode": "tf_half_pixel_for_nn",
        "rounding_method": "floor",
    }
    _register(f"_upsample_nearest_exact{_spatial}d", _nearest(**_centers))
    _register(f"upsample_{_name}", _interpolated("linear"))
_register("upsample_bicubic2d", _interpolated("cubic"))
_register("_upsample_bilinear2d_aa", _interpolated("linear", **_ANTIALIASED))
_register("_upsample_bicubic2d_aa", _interpolated("cubic", **_ANTIALIASED))


@converts("aten.grid_sampler.default", "aten.grid_sampler_2d.default",
          "aten.grid_sampler_3d.default")  # fmt: skip
def grid_sampler(
    ctx: Context,
    x: Value,
    grid: Value,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Value:
    """The data at the points of a grid, whose coordinates are its last dim."""
    rank = len(dims_of(x))
    points = ctx.permute(grid, [0, rank - 1, *range(1, rank - 1)])
    return ctx.op(
        "image.grid_sample", x, points,
        method=("bilinear", "nearest", "bicubic")[interpolation_mode],
        padding_mode=("zeros", "border", "reflection")[padding_mode],
        layout=("NCHW", "NCDHW")[rank - 4], align_corners=align_corners,
    )  # fmt: skip


@converts("aten.affine_grid_generator.default")
def affine_grid(ctx: Context, theta: Value, size: Any, align_corners: bool) -> Value:
    """The points of a regular grid that affine maps move, with the coordinates last."""
    spatial = ctx.dims[1:-1]
    points = ctx.op("image.affine_grid", theta, size=spatial, align_corners=align_corners)
    return ctx.permute(points, [0, *range(2, len(spatial) + 2), 1])

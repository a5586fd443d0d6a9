"""Resizing of any axes: Resize and Upsample of all opsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE, ZERO, IntExpr
from ...unsupported import Unsupported
from ..context import Context
from ..data_sizes import sizes_of
from ..registry import converts
from ..tensor import Tensor, axes_of

_METHODS = {
    "nearest": "nearest_neighbor",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
}
_BY_SCALE = ("half_pixel", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
"""The transformations that ONNX Runtime computes from a factor that it rounds to float32."""

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@dataclass(frozen=True)
class Axis:
    """What becomes of one axis: its new size, by which factor, and of which part of it."""

    size: IntExpr
    scale: float | None = None
    region: tuple[float, float] = (0.0, 1.0)
    attributes: tuple[tuple[str, Any], ...] = ()

    def is_kept(self, dim: IntExpr) -> bool:
        """Whether nothing becomes of an axis of this size."""
        return self.size == dim and self.scale in (None, 1) and self.region == (0, 1)


def resized(ctx: Context, x: Tensor, axes: dict[int, Axis], **attributes: Any) -> Tensor:
    """The tensor with axes resized: neighbors with equal attributes at once."""
    changed = sorted(a for a, axis in axes.items() if not axis.is_kept(x.dims[a]))
    while changed:
        first, count = changed[0], 1
        while count < 3 and changed[count : count + 1] == [first + count]:
            if axes[first + count].attributes != axes[first].attributes:
                break
            count += 1
        group = [axes[first + n] for n in range(count)]
        x = _neighbors(ctx, x, first, group, attributes | dict(group[0].attributes))
        changed = changed[count:]
    return x


def _neighbors(
    ctx: Context, x: Tensor, first: int, group: Sequence[Axis], attributes: dict[str, Any]
) -> Tensor:
    """The tensor with axes in a row resized; those before and after them are flattened."""
    count, dims = len(group), x.dims
    before, own, after = dims[:first], dims[first : first + count], dims[first + count :]
    outer, inner = (reduce(mul, part, ONE) for part in (before, after))
    channels_last = inner != ONE
    flat = [outer, *own, inner] if channels_last else [outer, ONE, *own]
    scales = [axis.scale for axis in group]
    starts, ends = zip(*(axis.region for axis in group), strict=True)
    result = ctx.emit(
        f"image.resize{count}d", ctx.reshape(x, flat),
        size=[axis.size for axis in group], layout=_LAYOUTS[count][channels_last],
        scales=None if None in scales else scales,
        roi=[*starts, *ends] if (*starts, *ends) != (0,) * count + (1,) * count else None,
        **attributes,
    )  # fmt: skip
    return ctx.reshape(result, [*before, *(axis.size for axis in group), *after])


def scaled_size(dim: IntExpr, scale: float) -> IntExpr:
    """A size times a factor, rounded down."""
    if dim.is_constant:
        return IntExpr.of(int(np.float32(dim.offset) * np.float32(scale)))
    fraction = Fraction(scale).limit_denominator(1000)
    if np.float32(float(fraction)) != np.float32(scale):
        fraction = Fraction(scale)
    return dim * fraction.numerator // IntExpr.of(fraction.denominator)


def _method(mode: str) -> str:
    if mode not in _METHODS:
        raise ValueError(f"expected a mode among {', '.join(_METHODS)}, got '{mode}'")
    return _METHODS[mode]


def _by_factors(ctx: Context, x: Tensor, scales: Sequence[float], mode: str) -> Tensor:
    """The result of a factor for each axis, before opset 11."""
    if len(scales) != x.rank:
        raise ValueError(f"expected {x.rank} scales, got {len(scales)}")
    axes: dict[int, Axis] = {}
    for axis, (dim, scale) in enumerate(zip(x.dims, scales, strict=True)):
        rounding = ("rounding_method", "ceil" if scale < 1 else "floor")
        axes[axis] = Axis(scaled_size(dim, scale), scale, attributes=(rounding,))
    transformation = "asymmetric"
    return resized(
        ctx, x, axes, method=_method(mode), coordinate_transformation_mode=transformation
    )


@converts("Upsample")
def upsample_image(
    ctx: Context,
    x: Tensor,
    *,
    height_scale: float,
    width_scale: float,
    mode: str = "nearest",
) -> Tensor:
    """An image of ``(N, C, H, W)`` enlarged."""
    return _by_factors(ctx, x, [1.0, 1.0, height_scale, width_scale], mode)


@converts("Upsample", since=7)
def upsample(ctx: Context, x: Tensor, *, scales: list[float], mode: str = "nearest") -> Tensor:
    """The tensor enlarged by a factor for each axis."""
    return _by_factors(ctx, x, scales, mode)


@converts("Upsample", since=9)
@converts("Resize", since=10)
def resize_by_factors(ctx: Context, x: Tensor, scales: Tensor, *, mode: str = "nearest") -> Tensor:
    """The tensor resized by a factor for each axis."""
    return _by_factors(ctx, x, [float(s) for s in scales.numbers("factors").flat], mode)


@converts("Resize", since=11)
def resize(
    ctx: Context,
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    antialias: int = 0,
    axes: list[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    """The tensor resized to sizes, or by factors."""
    chosen = list(range(x.rank)) if axes is None else axes_of(axes, x.rank)
    found = _axes(ctx, x, chosen, _given(scales), _given(sizes), keep_aspect_ratio_policy)
    is_stretched = _given(scales) is None and keep_aspect_ratio_policy == "stretch"
    if is_stretched and coordinate_transformation_mode not in _BY_SCALE:
        found = [replace(axis, scale=None) for axis in found]
    if coordinate_transformation_mode == "tf_crop_and_resize":
        found = _cropped(found, _given(roi))
    method = _method(mode)
    attributes: dict[str, Any] = {
        "method": method,
        "coordinate_transformation_mode": coordinate_transformation_mode,
        "extrapolation_value": extrapolation_value,
    }
    if method == "nearest_neighbor":
        attributes["rounding_method"] = nearest_mode
    else:
        attributes["antialias"] = bool(antialias)
        attributes["cubic_exclude"] = bool(exclude_outside)
        attributes["cubic_alpha"] = cubic_coeff_a
    return resized(ctx, x, dict(zip(chosen, found, strict=True)), **attributes)


def _given(tensor: Tensor | None) -> Tensor | None:
    """An input, `None` also for one without elements."""
    return None if tensor is None or tensor.dims == [IntExpr.of(0)] else tensor


def _axes(
    ctx: Context,
    x: Tensor,
    axes: Sequence[int],
    scales: Tensor | None,
    sizes: Tensor | None,
    policy: str,
) -> list[Axis]:
    """What becomes of each of these axes."""
    if (scales is None) == (sizes is None):
        raise ValueError("expected either scales or sizes, got " + ("both", "none")[scales is None])
    dims = [x.dims[a] for a in axes]
    if scales is not None:
        factors = [float(f) for f in scales.numbers("factors").reshape(-1)]
        _require_each(axes, factors, "scales")
        return [Axis(scaled_size(d, f), f) for d, f in zip(dims, factors, strict=True)]
    assert sizes is not None
    wanted = sizes_of(ctx, sizes, "sizes")
    _require_each(axes, wanted, "sizes")
    if policy == "stretch":
        return [Axis(w, _factor(w, d)) for w, d in zip(wanted, dims, strict=True)]
    return _proportional(dims, wanted, policy)


def _require_each(axes: Sequence[int], given: Sequence[Any], what: str) -> None:
    if len(given) != len(axes):
        raise ValueError(f"expected {len(axes)} {what}, got {len(given)}")


def _factor(size: IntExpr, dim: IntExpr) -> float | None:
    """The factor of a new size, in float32; `None` where it depends on symbols."""
    if not size.is_constant or not dim.is_constant or dim.offset == 0:
        return None
    return float(np.float32(size.offset) / np.float32(dim.offset))


def _proportional(dims: Sequence[IntExpr], wanted: Sequence[IntExpr], policy: str) -> list[Axis]:
    """Sizes of one factor for all axes."""
    if policy not in ("not_larger", "not_smaller"):
        raise ValueError(
            f"expected a policy among stretch, not_larger, not_smaller, got '{policy}'"
        )
    if not all(d.is_constant for d in (*dims, *wanted)):
        raise Unsupported("a constant ratio of sizes that are unknown", "give sizes as numbers")
    if ZERO in dims:
        raise ValueError(f"expected sizes other than 0 for {policy}, got 0")
    ratios = [w.offset / d.offset for w, d in zip(wanted, dims, strict=True)]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [Axis(IntExpr.of(int(scale * d.offset + 0.5)), scale) for d in dims]


def _cropped(axes: Sequence[Axis], roi: Tensor | None) -> list[Axis]:
    """The axes with the parts of them that are resized."""
    if roi is None:
        raise ValueError("expected roi for 'tf_crop_and_resize', got none")
    bounds = [float(b) for b in roi.numbers("a region").reshape(-1)]
    if len(bounds) != 2 * len(axes):
        raise ValueError(f"expected roi of {2 * len(axes)} numbers, got {len(bounds)}")
    pairs = zip(bounds[: len(axes)], bounds[len(axes) :], strict=True)
    return [replace(axis, region=pair) for axis, pair in zip(axes, pairs, strict=True)]

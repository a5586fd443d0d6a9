"""Pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..context import Context, Value, dims_of
from ..registry import Unsupported, converts
from .convolution import each


def pool(ctx: Context, operator: str, x: Value, spatial: int, **attributes: Any) -> Value:
    """A pool; one without a batch gets a batch of 1."""
    if len(dims_of(x)) == spatial + 1:
        batch = ctx.op("expand_dims", x, axis=[0])
        return ctx.op("squeeze", ctx.op(operator, batch, **attributes), axis=[0])
    return ctx.op(operator, x, **attributes)


def _strides(stride: Any, size: list[int], spatial: int) -> list[int]:
    return size if stride is None or stride == [] or stride == () else each(stride, spatial)


def _max_pool(spatial: int) -> Callable[..., Value]:
    def convert(
        ctx: Context, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0,
        dilation: Any = 1, ceil_mode: bool = False,
    ) -> Value:  # fmt: skip
        size = each(kernel_size, spatial)
        return pool(
            ctx, f"nn.max_pool{spatial}d", x, spatial,
            pool_size=size, strides=_strides(stride, size, spatial),
            padding=each(padding, spatial) * 2, dilation=each(dilation, spatial),
            ceil_mode=ceil_mode,
        )  # fmt: skip

    return convert


def _avg_pool(spatial: int) -> Callable[..., Value]:
    def convert(
        ctx: Context, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Value:  # fmt: skip
        if divisor_override is not None:
            raise Unsupported("expected a mean over the window, got a divisor of its own")
        size = each(kernel_size, spatial)
        return pool(
            ctx, f"nn.avg_pool{spatial}d", x, spatial,
            pool_size=size, strides=_strides(stride, size, spatial),
            padding=each(padding, spatial) * 2, ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )  # fmt: skip

    return convert


def _adaptive_pool(kind: str, spatial: int) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value, output_size: Any) -> Value:
        sizes: list[Any] = each(output_size, spatial)
        own = dims_of(x)[-spatial:]
        size = [d if s is None else s for s, d in zip(sizes, own, strict=True)]
        return pool(ctx, f"nn.adaptive_{kind}_pool{spatial}d", x, spatial, output_size=size)

    return convert


for _spatial in (1, 2):
    converts(f"aten.max_pool{_spatial}d.default")(_max_pool(_spatial))
    converts(f"aten.avg_pool{_spatial}d.default")(_avg_pool(_spatial))
    converts(
        f"aten.adaptive_avg_pool{_spatial}d.default", f"aten._adaptive_avg_pool{_spatial}d.default"
    )(_adaptive_pool("avg", _spatial))


@converts("aten.adaptive_max_pool2d.default")
def adaptive_max_pool2d(ctx: Context, x: Value, output_size: Any) -> tuple[Any, None]:
    """A pool whose indices nothing may read."""
    return _adaptive_pool("max", 2)(ctx, x, output_size), None


@converts("aten.max_pool2d_with_indices.default")
def max_pool2d_with_indices(ctx: Context, *args: Any, **kwargs: Any) -> tuple[Any, None]:
    """A pool whose indices nothing may read."""
    return _max_pool(2)(ctx, *args, **kwargs), None

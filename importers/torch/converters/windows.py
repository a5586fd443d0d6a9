"""Convolutions, their transposes, and pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ....dialects import relax
from ....dialects.int_expr import ONE
from ...emitter import Value, dims_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts

_RANKS = (1, 2, 3)


def each(value: Any, count: int) -> list[int]:
    """A number or list as a list with a number for each spatial dim."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def convolve(
    ctx: Context, x: Value, weight: Value, bias: Value | None, transposed: bool,
    **attributes: Any,
) -> Value:  # fmt: skip
    """A convolution with optional bias; an unbatched input gets a batch of 1."""
    spatial = len(dims_of(weight)) - 2
    if spatial not in _RANKS:
        raise Unsupported(f"expected a convolution of 1 to 3 spatial dims, got {spatial}")
    if len(dims_of(x)) == spatial + 1:
        batch = ctx.op("expand_dims", x, axis=[0])
        return ctx.op(
            "squeeze", convolve(ctx, batch, weight, bias, transposed, **attributes), axis=[0]
        )
    name = f"nn.conv{spatial}d{'_transpose' if transposed else ''}"
    given = {n: v if isinstance(v, int) and n == "groups" else each(v, spatial)
             for n, v in attributes.items()}  # fmt: skip
    given["padding"] = given["padding"] * 2
    result = ctx.op(name, x, weight, **given)
    if bias is None:
        return result
    shape = [ONE, dims_of(bias)[0], *[ONE] * spatial]
    return ctx.op("add", result, ctx.reshape(bias, shape))


@converts("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def forward(
    ctx: Context, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Value:  # fmt: skip
    """A convolution of one to three spatial dims."""
    return convolve(
        ctx, x, weight, bias, False,
        strides=stride, padding=padding, dilation=dilation, groups=groups,
    )  # fmt: skip


@converts("aten.conv_transpose1d.default", "aten.conv_transpose2d.input",
          "aten.conv_transpose3d.input")  # fmt: skip
def backward(
    ctx: Context, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1,
    padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Value:  # fmt: skip
    """A transposed convolution of one to three spatial dims."""
    return convolve(
        ctx, x, weight, bias, True,
        strides=stride, padding=padding, dilation=dilation, groups=groups,
        output_padding=output_padding,
    )  # fmt: skip


@converts("aten.convolution.default")
def convolution(
    ctx: Context, x: Value, weight: Value, bias: Value | None, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int], transposed: bool,
    output_padding: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    """A convolution or transposed convolution."""
    if transposed:
        return backward(ctx, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return forward(ctx, x, weight, bias, stride, padding, dilation, groups)


def pool(ctx: Context, operator: str, x: Value, spatial: int, **attributes: Any) -> Value:
    """A pool; an unbatched input gets a batch of 1."""
    return pools(ctx, operator, x, spatial, **attributes)[0]


def pools(
    ctx: Context, operator: str, x: Value, spatial: int, **attributes: Any
) -> tuple[Value, ...]:
    """The results of a pool; an unbatched input gets a batch of 1."""
    is_single = len(dims_of(x)) == spatial + 1
    found = ctx.op(operator, ctx.op("expand_dims", x, axis=[0]) if is_single else x, **attributes)
    results = (found,) if isinstance(found.type, relax.TensorType) else ctx.fields(found)
    return tuple(ctx.op("squeeze", r, axis=[0]) if is_single else r for r in results)


def _strides(stride: Any, size: list[int], spatial: int) -> list[int]:
    return size if stride is None or stride == [] or stride == () else each(stride, spatial)


def max_pool(spatial: int, suffix: str = "") -> Callable[..., Any]:
    """The converter of max pools; with the suffix "_with_indices" they also give positions."""

    def convert(
        ctx: Context, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0,
        dilation: Any = 1, ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        size = each(kernel_size, spatial)
        found = pools(
            ctx, f"nn.max_pool{spatial}d{suffix}", x, spatial,
            pool_size=size, strides=_strides(stride, size, spatial),
            padding=each(padding, spatial) * 2, dilation=each(dilation, spatial),
            ceil_mode=ceil_mode,
        )  # fmt: skip
        return found if suffix else found[0]

    return convert


def _avg_pool(spatial: int) -> Callable[..., Value]:
    def convert(
        ctx: Context, x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Value:  # fmt: skip
        size, margins = each(kernel_size, spatial), each(padding, spatial) * 2
        whole = not ceil_mode and (count_include_pad or not any(margins))
        if whole and divisor_override == prod(size):  # what every window is divided by
            divisor_override = None
        return pool(
            ctx, f"nn.avg_pool{spatial}d", x, spatial,
            pool_size=size, strides=_strides(stride, size, spatial),
            padding=margins, ceil_mode=ceil_mode,
            count_include_pad=count_include_pad, divisor_override=divisor_override,
        )  # fmt: skip

    return convert


def adaptive_pool(kind: str, spatial: int) -> Callable[..., Value]:
    """The converter of the pools to a number of windows, whose kind is avg or max."""

    def convert(ctx: Context, x: Value, output_size: Any) -> Value:
        sizes: list[Any] = each(output_size, spatial)
        own = dims_of(x)[-spatial:]
        size = [d if s is None else s for s, d in zip(sizes, own, strict=True)]
        return pool(ctx, f"nn.adaptive_{kind}_pool{spatial}d", x, spatial, output_size=size)

    return convert


for _spatial in _RANKS:
    converts(f"aten.max_pool{_spatial}d.default")(max_pool(_spatial))
    converts(f"aten.max_pool{_spatial}d_with_indices.default")(max_pool(_spatial, "_with_indices"))
    converts(f"aten.avg_pool{_spatial}d.default")(_avg_pool(_spatial))
    converts(
        f"aten.adaptive_avg_pool{_spatial}d.default", f"aten._adaptive_avg_pool{_spatial}d.default"
    )(adaptive_pool("avg", _spatial))

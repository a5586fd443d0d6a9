"""Convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import ONE
from ..context import Context, Value, dims_of
from ..registry import Unsupported, converts

_NAMES = {1: "conv1d", 2: "conv2d"}


def each(value: Any, count: int) -> list[int]:
    """One number for each spatial dim."""
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def convolve(
    ctx: Context, x: Value, weight: Value, bias: Value | None, transposed: bool,
    **attributes: Any,
) -> Value:  # fmt: skip
    """A convolution, and the bias of its channels; one without a batch gets a batch of 1."""
    spatial = len(dims_of(weight)) - 2
    if spatial not in _NAMES:
        raise Unsupported(f"expected a convolution of 1 or 2 spatial dims, got {spatial}")
    if len(dims_of(x)) == spatial + 1:
        batch = ctx.op("expand_dims", x, axis=[0])
        return ctx.op(
            "squeeze", convolve(ctx, batch, weight, bias, transposed, **attributes), axis=[0]
        )
    name = f"nn.{_NAMES[spatial]}{'_transpose' if transposed else ''}"
    given = {n: v if isinstance(v, int) and n == "groups" else each(v, spatial)
             for n, v in attributes.items()}  # fmt: skip
    given["padding"] = given["padding"] * 2
    result = ctx.op(name, x, weight, **given)
    if bias is None:
        return result
    shape = [ONE, dims_of(bias)[0], *[ONE] * spatial]
    return ctx.op("add", result, ctx.reshape(bias, shape))


@converts("aten.conv1d.default", "aten.conv2d.default")
def forward(
    ctx: Context, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Value:  # fmt: skip
    """A convolution of one or two spatial dims."""
    return convolve(
        ctx, x, weight, bias, False,
        strides=stride, padding=padding, dilation=dilation, groups=groups,
    )  # fmt: skip


@converts("aten.conv_transpose1d.default", "aten.conv_transpose2d.input")
def backward(
    ctx: Context, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1,
    padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Value:  # fmt: skip
    """The transpose of a convolution of one or two spatial dims."""
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
    """Any convolution."""
    if transposed:
        return backward(ctx, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return forward(ctx, x, weight, bias, stride, padding, dilation, groups)

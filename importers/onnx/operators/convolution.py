"""Convolutions and transposed convolutions, with the forms of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum
from ..context import Context
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .linear import activated
from .slicing import padded, part
from .windows import Windows, margins_of, pad_symbolic, split_margins

_PARAMETERS = {
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Clip": ("min", "max"),
}
"""What the numbers of `activation_params` are."""


@converts("Conv")
def convolution(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    kernel_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """A convolution over one to three dims."""
    windows = _windows(x, weight, kernel_shape, strides, dilations)
    x = _with_channels(ctx, x, weight.dims[1] * group)
    data, padding = pad_symbolic(ctx, x, margins_of(x, windows, auto_pad, pads), 0)
    result = ctx.emit(
        f"nn.conv{windows.rank}d", data, weight, padding=padding, groups=group,
        **windows.attributes,
    )  # fmt: skip
    return biased(ctx, result, bias)


def _windows(
    x: Tensor, weight: Tensor, kernel_shape: list[int] | None, strides: Any, dilations: Any
) -> Windows:
    if weight.rank != x.rank:
        raise ValueError(f"expected a weight of rank {x.rank}, got rank {weight.rank}")
    sizes = weight.dims[2:]
    if kernel_shape is not None and sizes != [IntExpr.of(k) for k in kernel_shape]:
        given = ", ".join(map(str, sizes))
        raise ValueError(f"expected a weight with windows of {kernel_shape}, got ({given})")
    return Windows.of(x, sizes, strides, dilations)


def _with_channels(ctx: Context, x: Tensor, channels: IntExpr) -> Tensor:
    """The data with the channels of the weight, if their number is unknown."""
    if x.dims[1].is_constant:
        return x
    return ctx.fitted(x, [x.dims[0], channels, *x.dims[2:]])


def biased(ctx: Context, x: Tensor, bias: Tensor | None) -> Tensor:
    """The result plus a number for each channel."""
    if bias is None:
        return x
    bias = ctx.fitted(bias, x.dims[1:2])
    return ctx.emit("add", x, ctx.reshape(bias, [ONE, *x.dims[1:2], *[ONE] * (x.rank - 2)]))


@converts("FusedConv", domain=MICROSOFT)
def fused_convolution(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    summand: Tensor | None = None,
    *,
    activation: str = "",
    activation_params: Sequence[float] = (),
    **attributes: Any,
) -> Tensor:
    """A convolution, the sum with another tensor, and an activation function."""
    result = convolution(ctx, x, weight, bias, **attributes)
    if summand is not None:
        result = ctx.elementwise("add", result, summand)
    parameters = zip(_PARAMETERS.get(activation, ()), activation_params, strict=False)
    return activated(ctx, result, activation, **dict(parameters))


@converts("NhwcConv", "NhwcFusedConv", domain=MICROSOFT)
def convolution_of_channels_last(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    summand: Tensor | None = None,
    **attributes: Any,
) -> Tensor:
    """A convolution of data with its channels last."""
    first = [0, x.rank - 1, *range(1, x.rank - 1)]
    last = [0, *range(2, x.rank), 1]
    around = None if summand is None else ctx.permute(summand, first)
    result = fused_convolution(ctx, ctx.permute(x, first), weight, bias, around, **attributes)
    return ctx.permute(result, last)


@converts("ConvTranspose")
def transposed_convolution(
    ctx: Context,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    kernel_shape: list[int] | None = None,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """A transposed convolution over one to three dims."""
    windows = _windows(x, weight, kernel_shape, strides, dilations)
    x = _with_channels(ctx, x, weight.dims[0])
    extra = output_padding or [0] * windows.rank
    if len(extra) != windows.rank:
        raise ValueError(f"expected output_padding of {windows.rank} dims, got {len(extra)}")
    margins = margins_of(x, windows, "NOTSET" if auto_pad.startswith("SAME") else auto_pad, pads)
    wanted: list[IntExpr] = []
    if output_shape is not None:
        wanted = [IntExpr.of(d) for d in output_shape[-windows.rank :]]
    elif auto_pad.startswith("SAME"):
        wanted = [d * s for d, s in zip(x.dims[2:], windows.strides, strict=True)]
    if wanted:
        whole = _whole_sizes(x, windows, extra)
        totals = [_at_least_0(a - b) for a, b in zip(whole, wanted, strict=True)]
        margins = split_margins(totals, auto_pad)
    result = _transposed(ctx, x, weight, windows, margins, extra, group)
    if output_shape is not None:
        result = _widened(ctx, result, wanted)
    return biased(ctx, result, bias)


def _whole_sizes(x: Tensor, windows: Windows, extra: Sequence[int]) -> list[IntExpr]:
    """The spatial dims of a transposed convolution without padding."""
    dims = zip(x.dims[2:], windows.strides, windows.reach, extra, strict=True)
    return [(d - 1) * stride + reach + more for d, stride, reach, more in dims]


def _at_least_0(expr: IntExpr) -> IntExpr:
    return IntExpr.of(max(expr.offset, 0)) if expr.is_constant else maximum(expr, 0)


def _transposed(
    ctx: Context, x: Tensor, weight: Tensor, windows: Windows, margins: Sequence[IntExpr],
    extra: Sequence[int], group: int,
) -> Tensor:  # fmt: skip
    """A transposed convolution; padding that depends on symbols is cut off of its result."""
    rank = windows.rank
    pairs = list(zip(margins[:rank], margins[rank:], strict=True))
    fixed = [a.is_constant and b.is_constant for a, b in pairs]
    padding = [m.offset if fixed[d % rank] else 0 for d, m in enumerate(margins)]
    result = ctx.emit(
        f"nn.conv{rank}d_transpose", x, weight, padding=padding, output_padding=list(extra),
        groups=group, **windows.attributes,
    )  # fmt: skip
    for axis, (before, after) in enumerate(pairs):
        if not fixed[axis]:
            length = result.dims[axis + 2] - before - after
            result = part(ctx, result, axis + 2, before, length)
    return result


def _widened(ctx: Context, result: Tensor, sizes: Sequence[IntExpr]) -> Tensor:
    """The result padded with zeros at its end to the sizes that a model asks for."""
    after = [_at_least_0(a - b) for a, b in zip(sizes, result.dims[2:], strict=True)]
    widths = [*[ZERO] * (result.rank + 2), *after]
    return padded(ctx, result, widths, "constant", ctx.number(0, result.dtype))

"""Converters of operators that PyTorch's default decompositions replace, to TVM's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...emitter import Value, axis_of, dims_of, dtype_of
from ..context import Context
from ..registry import converts_as_tvm
from .activation import prelu
from .arithmetic import multiply
from .manipulation import pixel_shuffle, squeeze
from .slicing import narrow, split, unbind


@converts_as_tvm("aten.linear.default")
def linear(ctx: Context, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """``x @ weight.T + bias``, which the pipeline fuses to one kernel."""
    if len(dims_of(weight)) != 2:
        return ctx.op("linear", x, weight, *(() if bias is None else (bias,)))
    product = ctx.op("matmul", x, ctx.op("permute_dims", weight))
    return product if bias is None else ctx.op("add", product, bias)


@converts_as_tvm("aten.prelu.default")
def prelu_of_channels(ctx: Context, x: Value, weight: Value) -> Value:
    """`x`, or below 0 `x` times the weight of its channel."""
    if len(dims_of(x)) < 2 or dtype_of(x) != dtype_of(weight):
        return prelu(ctx, x, weight)
    return ctx.op("nn.prelu", x, weight, axis=1)


@converts_as_tvm("aten.outer.default")
def outer(ctx: Context, x: Value, vec2: Value) -> Value:
    """The products of all pairs of elements of two vectors."""
    dtype = ctx.common_dtype(x, vec2)
    return ctx.op("outer", ctx.astype(x, dtype), ctx.astype(vec2, dtype))


@converts_as_tvm("aten.square.default")
def square(ctx: Context, x: Value) -> Value:
    """``x * x``."""
    return multiply(ctx, x, x) if dtype_of(x) == "bool" else ctx.op("square", x)


@converts_as_tvm("aten.pixel_shuffle.default")
def pixel_shuffle_of_images(ctx: Context, x: Value, upscale_factor: int) -> Value:
    """Channels rearranged to rows and columns."""
    if len(dims_of(x)) != 4:
        return pixel_shuffle(ctx, x, upscale_factor)
    return ctx.op("nn.pixel_shuffle", x, upscale_factor=upscale_factor)


@converts_as_tvm("aten.meshgrid.default", "aten.meshgrid.indexing")
def meshgrid(ctx: Context, tensors: Sequence[Value], indexing: str = "ij") -> tuple[Value, ...]:
    """For each vector, the tensor of its elements over the grid of all."""
    vectors = [ctx.flat(t) for t in tensors]
    return ctx.fields(ctx.op("meshgrid", *vectors, indexing=indexing))


@converts_as_tvm("aten.squeeze.default")
def squeeze_all(ctx: Context, x: Value) -> Value:
    """`x` without the dims that are 1."""
    if all(d.constant == 1 or d.is_constant for d in dims_of(x)) and ctx.dims != dims_of(x):
        return ctx.op("squeeze", x)
    return squeeze(ctx, x)


@converts_as_tvm("aten.split.Tensor", "aten.chunk.default")
def split_evenly(ctx: Context, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
    """Consecutive parts along a dim, which are equally long."""
    axis, count = axis_of(dim, len(dims_of(x))), len(ctx.result)
    lengths = {ctx.symbols.expr(r.shape[axis]).constant for r in ctx.result}
    if count == 1 or len(lengths) != 1 or None in lengths:
        return split(ctx, x, sizes, dim)
    return ctx.fields(ctx.op("split", x, indices_or_sections=count, axis=dim))


@converts_as_tvm("aten.unbind.int")
def unbind_by_split(ctx: Context, x: Value, dim: int = 0) -> tuple[Value, ...]:
    """The slices at all indices of a dim."""
    axis, count = axis_of(dim, len(dims_of(x))), len(ctx.result)
    if count == 1 or not dims_of(x)[axis].is_constant:
        return unbind(ctx, x, dim)
    parts = ctx.op("split", x, indices_or_sections=count, axis=dim)
    return tuple(ctx.op("squeeze", ctx.field(parts, i), axis=[dim]) for i in range(count))


@converts_as_tvm("aten.narrow.default")
def slice_of_length(ctx: Context, x: Value, dim: int, start: Any, length: Any) -> Value:
    """`length` elements along a dim."""
    whole = dims_of(x)[dim].constant
    if not isinstance(start, int) or not isinstance(length, int) or whole is None:
        return narrow(ctx, x, dim, start, length)
    first = start + whole if start < 0 else start
    return ctx.op("strided_slice", x, axes=[dim], begin=[first], end=[first + length])


@converts_as_tvm("aten.zeros_like.default", "aten.empty_like.default", "aten.zero.default")
def zeros_like(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """Zeros in the shape of another tensor, also for an uninitialized result."""
    return ctx.op("zeros_like", x, dtype=None if ctx.dtype == dtype_of(x) else ctx.dtype)


@converts_as_tvm("aten.ones_like.default")
def ones_like(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """Ones in the shape of another tensor."""
    return ctx.op("ones_like", x, dtype=None if ctx.dtype == dtype_of(x) else ctx.dtype)

"""Converters of operators that PyTorch's default decompositions replace, to TVM's operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....dialects import relax
from ....dialects.relax.operators.conversion import accumulator
from ...emitter import Value, dims_of, dtype_of
from ..context import Context
from ..dtypes import dtype_name
from ..registry import converts_as_tvm
from .activation import prelu
from .arithmetic import multiply
from .manipulation import pixel_shuffle, squeeze
from .normalization import instance_norm, normalized_over, weights
from .resizing import FLOOR, resize
from .windows import max_pool


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


@converts_as_tvm("aten.upsample_nearest2d.vec", "aten.upsample_nearest2d.default")
def nearest(ctx: Context, x: Value, size: Any, *factors: Any) -> Value:
    """The nearest elements: for multiples of the sizes also those nearest to the centers."""
    given: Any = factors[0] if len(factors) == 1 else factors  # one overload has a list
    factors = tuple(given or ())
    pairs = zip(dims_of(x)[2:], ctx.dims[2:], strict=True)
    sizes = [(own.constant, new.constant) for own, new in pairs]
    ratios = [new // own for own, new in sizes if own and new and new % own == 0]
    if len(ratios) == 2 and all(f in (None, r) for f, r in zip(factors, ratios, strict=False)):
        return ctx.op("image.resize2d", x, size=ctx.dims[2:], method="nearest_neighbor")
    are_parts = all(own and new and own % new == 0 for own, new in sizes)
    options = {**FLOOR, "rounding_method": None} if are_parts and not factors else FLOOR
    return resize(ctx, x, factors, method="nearest_neighbor", **options)  # of parts none rounds


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


@converts_as_tvm("aten.zeros_like.default", "aten.empty_like.default", "aten.zero.default")
def zeros_like(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """Zeros in the shape of another tensor, also for an uninitialized result."""
    return ctx.op("zeros_like", x, dtype=None if ctx.dtype == dtype_of(x) else ctx.dtype)


@converts_as_tvm("aten.ones_like.default")
def ones_like(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """Ones in the shape of another tensor."""
    return ctx.op("ones_like", x, dtype=None if ctx.dtype == dtype_of(x) else ctx.dtype)


@converts_as_tvm("aten.instance_norm.default")
def instance_norm_of_channels(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, running_mean: Any,
    running_var: Any, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Value:  # fmt: skip
    """Each channel of each sample normalized to mean 0 and variance 1, scaled and shifted."""
    if not use_input_stats or running_mean is not None:
        return instance_norm(
            ctx, x, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
            cudnn_enabled,
        )  # fmt: skip
    axes = list(range(2, len(dims_of(x))))
    return normalized_over(ctx, x, weight, bias, axes, eps)


@converts_as_tvm("aten._native_batch_norm_legit.no_stats")
def norm_by_own_statistics(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, training: bool,
    momentum: float, eps: float,
) -> tuple[Any, None, None]:  # fmt: skip
    """Each channel normalized over the batch; its statistics must be unused."""
    axes = [a for a in range(len(dims_of(x))) if a != 1]
    return normalized_over(ctx, x, weight, bias, axes, eps), None, None


@converts_as_tvm("aten._native_batch_norm_legit_functional.default")
def norm_that_moves_statistics(
    ctx: Context, x: Value, weight: Value | None, bias: Value | None, running_mean: Value,
    running_var: Value, training: bool, momentum: float, eps: float,
) -> tuple[Value | None, ...]:  # fmt: skip
    """A batch norm with the running statistics of the next step; those it saves must be unused."""
    axes, dtype = [a for a in range(len(dims_of(x))) if a != 1], accumulator(dtype_of(x))
    x, mean, var = (ctx.astype(v, dtype) for v in (x, running_mean, running_var))
    scale, shift = weights(ctx, weight, bias, dims_of(x)[1:2], dtype)
    named: dict[str, Any] = {"axis": 1, "epsilon": eps, "momentum": momentum, "training": training}
    normal, mean, moved = ctx.fields(ctx.op("nn.batch_norm", x, scale, shift, mean, var, **named))
    if training:  # PyTorch's running variance has a divisor of one less
        own = ctx.op("variance", x, axis=axes, correction=1)
        parts = ((var, 1 - momentum), (own, momentum))
        moved = ctx.op("add", *(ctx.op("multiply", v, ctx.number(p, dtype)) for v, p in parts))
    found = zip((normal, mean, moved), (ctx.result[i] for i in (0, 3, 4)), strict=True)
    normal, mean, var = (ctx.astype(v, dtype_name(r.dtype)) for v, r in found)
    return normal, None, None, mean, var


def _max_pool_of_pair(spatial: int) -> Callable[..., tuple[Value, Value | None]]:
    """The converter of max pools with positions: without them if nothing reads them."""

    def convert(ctx: Context, x: Value, *given: Any, **named: Any) -> tuple[Value, Value | None]:
        assert ctx.node is not None
        if any(user.args[1] != 0 for user in ctx.node.users):
            return max_pool(spatial, "_with_indices")(ctx, x, *given, **named)
        largest = max_pool(spatial)(ctx, x, *given, **named)
        pair = relax.TupleOp([largest, ctx.op("zeros_like", largest)])  # as TVM's, of two fields
        ctx.insert(pair)
        return ctx.field(pair.result, 0), None

    return convert


for _spatial in (2, 3):
    converts_as_tvm(f"aten.max_pool{_spatial}d_with_indices.default")(_max_pool_of_pair(_spatial))

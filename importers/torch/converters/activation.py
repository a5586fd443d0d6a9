"""Activations and softmax."""

from __future__ import annotations

from typing import Any

import torch

from ....dialects.int_expr import ONE
from ...emitter import Value, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..dtypes import dtype_name, float_of
from ..registry import converts
from .arithmetic import binary


@converts("aten.relu.default")
def relu(ctx: Context, x: Value) -> Value:
    """``max(x, 0)``."""
    return ctx.op("nn.relu", x)


@converts("aten.gelu.default")
def gelu(ctx: Context, x: Value, approximate: str = "none") -> Value:
    """``x * Φ(x)``, by erf or by tanh."""
    return ctx.op("nn.gelu_tanh" if approximate == "tanh" else "nn.gelu", x)


@converts("aten.silu.default")
def silu(ctx: Context, x: Value) -> Value:
    """``x * sigmoid(x)``."""
    return ctx.op("nn.silu", x)


@converts("aten.leaky_relu.default")
def leaky_relu(ctx: Context, x: Value, negative_slope: float = 0.01) -> Value:
    """`x`, or ``negative_slope * x`` below 0."""
    return ctx.op("nn.leakyrelu", x, alpha=float(negative_slope))


@converts("aten.rrelu_with_noise_functional.default")
def rrelu(
    ctx: Context, x: Value, noise: Value, lower: float = 1 / 8, upper: float = 1 / 3,
    training: bool = False, generator: Any = None,
) -> tuple[Value, Value]:  # fmt: skip
    """`x`, or below 0 the mean of two slopes times `x`."""
    if training:
        raise Unsupported("random slopes in training mode", "call model.eval() before the export")
    return leaky_relu(ctx, x, (lower + upper) / 2), noise


@converts("aten.hardtanh.default")
def hardtanh(ctx: Context, x: Value, min_val: Any = -1.0, max_val: Any = 1.0) -> Value:
    """`x` clamped to two bounds."""
    low, high = ctx.number(min_val, dtype_of(x)), ctx.number(max_val, dtype_of(x))
    return ctx.op("minimum", ctx.op("maximum", x, low), high)


@converts("aten.elu.default")
def elu(
    ctx: Context, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> Value:
    """``scale * x``, below 0 ``scale * alpha * (exp(input_scale * x) - 1)``."""
    dtype = dtype_of(x)
    inner = ctx.astype(x, "float32" if dtype in ("float16", "bfloat16") else dtype)
    below = ctx.op("expm1", binary(ctx, "multiply", inner, input_scale))
    negative = binary(ctx, "multiply", below, alpha * scale)
    positive = binary(ctx, "multiply", inner, scale)
    holds = ctx.op("greater", inner, ctx.number(0, dtype_of(inner)))
    return ctx.astype(ctx.op("where", holds, positive, negative), dtype)


@converts("aten.softplus.default")
def softplus(ctx: Context, x: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    """``log(1 + exp(beta * x)) / beta``, or `x` where ``beta * x`` is above `threshold`."""
    return ctx.op("nn.softplus", x, beta=float(beta), threshold=float(threshold))


@converts("aten.prelu.default", "aten._prelu_kernel.default")
def prelu(ctx: Context, x: Value, weight: Value) -> Value:
    """`x`, or below 0 `x` times the weight of its channel."""
    rank, sizes = len(dims_of(x)), dims_of(weight)
    if len(sizes) == 1:
        channel = 1 if rank > 1 else 0
        weight = ctx.reshape(weight, [sizes[0] if a == channel else ONE for a in range(rank)])
    positive = ctx.op("greater", x, ctx.number(0, dtype_of(x)))
    return ctx.op("where", positive, x, ctx.op("multiply", x, weight))


@converts("aten.softmax.int", "aten._softmax.default")
def softmax(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """``exp(x) / sum(exp(x))`` along a dim."""
    return _along(ctx, "nn.softmax", _input(ctx, x, dtype), dim)


@converts("aten._safe_softmax.default")
def safe_softmax(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """A softmax that is 0 for rows of minus infinity, such as fully masked attention."""
    x = _input(ctx, x, dtype)
    never = ctx.op("equal", x, ctx.number(float("-inf"), dtype_of(x)))
    if dims_of(x):
        never = ctx.op("all", never, axis=[dim], keepdims=True)
    return ctx.op("where", never, ctx.number(0, dtype_of(x)), softmax(ctx, x, dim))


@converts("aten.log_softmax.int", "aten._log_softmax.default")
def log_softmax(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """The logarithm of softmax along a dim."""
    return _along(ctx, "nn.log_softmax", _input(ctx, x, dtype), dim)


def _along(ctx: Context, operator: str, x: Value, dim: int) -> Value:
    """An operator along a dim; PyTorch accepts dim 0 for tensors of rank 0."""
    if dims_of(x):
        return ctx.op(operator, x, axis=dim)
    return ctx.reshape(ctx.op(operator, ctx.reshape(x, [ONE]), axis=0), [])


def _input(ctx: Context, x: Value, dtype: Any) -> Value:
    # The overloads with an underscore have a bool here: whether to convert half to float.
    if isinstance(dtype, torch.dtype):
        return ctx.astype(x, dtype_name(dtype))
    return ctx.astype(x, float_of(dtype_of(x)))

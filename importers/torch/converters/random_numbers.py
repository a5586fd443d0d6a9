"""Random numbers, which are functions of the key of a call, and dropout in training mode."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import Any

import torch

from ....dialects.dtypes import is_float
from ....dialects.int_expr import IntExpr
from ....dialects.relax.operators.conversion import accumulator
from ...emitter import Value, dims_of, dtype_of, is_tensor
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from .arithmetic import binary

_EVAL = "call model.eval() before the export"


def generated(
    ctx: Context, kind: str, dims: Sequence[IntExpr], dtype: str, **attributes: Any
) -> Value:
    """Numbers of an operator of ``relax.random``, in a stream of their own."""
    if ctx.random is None:
        raise Unsupported(
            "random numbers inside of a branch, a loop, or torch.compile",
            "pass the random tensor in as an argument",
        )
    key, stream = ctx.random.stream()
    return ctx.op(f"random.{kind}", key, shape=list(dims), dtype=dtype, stream=stream, **attributes)


def _inner(ctx: Context) -> str:
    """The dtype to compute numbers of the result in."""
    return accumulator(ctx.dtype) if is_float(ctx.dtype) else "float32"


@converts("aten.rand.default", "aten.rand_like.default")
def rand(ctx: Context, *_: Any, **__: Any) -> Value:
    """Numbers of [0, 1)."""
    return generated(ctx, "uniform", ctx.dims, ctx.dtype)


@converts("aten.uniform.default")
def uniform(ctx: Context, x: Any, low: float = 0.0, high: float = 1.0) -> Value:
    """Numbers of [low, high) in the shape of a tensor."""
    return generated(ctx, "uniform", ctx.dims, ctx.dtype, low=float(low), high=float(high))


@converts("prims.uniform.default")
def prims_uniform(ctx: Context, shape: Any, *, low: float, high: float, **_: Any) -> Value:
    """Numbers of [low, high) in a shape."""
    return uniform(ctx, shape, low, high)


@converts("aten.randn.default", "aten.randn_like.default")
def randn(ctx: Context, *_: Any, **__: Any) -> Value:
    """Numbers of the standard normal distribution."""
    return generated(ctx, "normal", ctx.dims, ctx.dtype)


@converts("aten.normal_functional.default")
def normal_like(ctx: Context, x: Value, mean: float = 0.0, std: float = 1.0) -> Value:
    """Numbers of a normal distribution in the shape of a tensor."""
    return generated(ctx, "normal", ctx.dims, ctx.dtype, mean=float(mean), std=float(std))


@converts("aten.normal.float_float")
def normal_of_shape(ctx: Context, mean: float, std: float, size: Any, **_: Any) -> Value:
    """Numbers of a normal distribution in a shape."""
    return normal_like(ctx, size, mean, std)


@converts("aten.normal.Tensor_Tensor", "aten.normal.Tensor_float", "aten.normal.float_Tensor")
def normal(ctx: Context, mean: Any = 0.0, std: Any = 1.0) -> Value:
    """Numbers of normal distributions, whose means and deviations are tensors or numbers."""
    scaled = binary(ctx, "multiply", generated(ctx, "normal", ctx.dims, ctx.dtype), std, ctx.dtype)
    return binary(ctx, "add", scaled, mean, ctx.dtype)


@converts("aten.randint.default", "aten.randint_like.default")
def randint(ctx: Context, *args: Any, **_: Any) -> Value:
    """Integers of [0, high); the other argument is a shape or a tensor."""
    high = next(a for a in args if not is_tensor(a) and not isinstance(a, list | tuple))
    return _integers(ctx, 0, high)


@converts("aten.randint.low")
def randint_low(ctx: Context, low: int, high: int, size: Any, **_: Any) -> Value:
    """Integers of [low, high)."""
    return _integers(ctx, low, high)


@converts("aten.randint_like.low_dtype")
def randint_like_low(ctx: Context, x: Value, low: int, high: int, **_: Any) -> Value:
    """Integers of [low, high) in the shape of a tensor."""
    return _integers(ctx, low, high)


def _integers(ctx: Context, low: Any, high: Any) -> Value:
    if isinstance(low, IntExpr) or isinstance(high, IntExpr):
        raise Unsupported("expected bounds of random integers that are known, got a symbol")
    return ctx.astype(generated(ctx, "randint", ctx.dims, "int64", low=low, high=high), ctx.dtype)


@converts("aten.randperm.default")
def randperm(ctx: Context, n: Any, **_: Any) -> Value:
    """The integers below `n` in random order."""
    order = ctx.op("argsort", generated(ctx, "uniform", ctx.dims, "float64"), axis=0, dtype="int64")
    return ctx.astype(order, ctx.dtype)


def _events(ctx: Context, p: Any, dims: Sequence[IntExpr]) -> Value:
    """Which of independent events with probabilities `p` happen."""
    inner = accumulator(dtype_of(p)) if is_tensor(p) and is_float(dtype_of(p)) else "float32"
    chances = ctx.as_tensor(p if is_tensor(p) else float(p), inner)
    return ctx.op("less", generated(ctx, "uniform", dims, inner), chances)


@converts("aten.bernoulli.default")
def bernoulli(ctx: Context, p: Value) -> Value:
    """1 with the probability of an element, else 0."""
    return ctx.astype(_events(ctx, p, ctx.dims), ctx.dtype)


@converts("aten.bernoulli.p", "aten.bernoulli.Tensor")
def bernoulli_like(ctx: Context, x: Value, p: Any = 0.5) -> Value:
    """1 with the probability `p`, else 0, in the shape of a tensor."""
    return ctx.astype(_events(ctx, p, ctx.dims), ctx.dtype)


@converts("aten.dropout.default")
def dropout(ctx: Context, x: Value, p: float, train: bool) -> Value:
    """The tensor itself, or in training mode with elements that are zeros, and others scaled."""
    return _dropped(ctx, x, p, train)[0]


@converts("aten.native_dropout.default")
def native_dropout(ctx: Context, x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """As `dropout`, and a mask of the elements that are kept."""
    # PyTorch's `None` is training mode.
    value, mask = _dropped(ctx, x, p, train is not False)
    if mask is None:
        mask = ctx.broadcast(ctx.number(True, "bool"), dims_of(x))
    return value, mask


def _dropped(ctx: Context, x: Value, p: float, train: bool) -> tuple[Value, Value | None]:
    if not train or p == 0:
        return x, None
    if ctx.random is None:
        raise Unsupported("dropout in training mode", _EVAL)
    mask, dtype = _events(ctx, 1 - p, dims_of(x)), dtype_of(x)
    noise = binary(ctx, "multiply", ctx.astype(mask, dtype), 0.0 if p == 1 else 1 / (1 - p), dtype)
    return ctx.op("multiply", x, noise), mask


def _exponential(ctx: Context, dims: Sequence[IntExpr], dtype: str) -> Value:
    """Numbers of the standard exponential distribution, above 0."""
    one, least = ctx.number(1, dtype), torch.finfo(getattr(torch, dtype)).eps / 2
    logarithms = ctx.op("log", ctx.op("subtract", one, generated(ctx, "uniform", dims, dtype)))
    return ctx.op("maximum", ctx.op("negative", logarithms), ctx.number(least, dtype))


@converts("aten.exponential.default")
def exponential(ctx: Context, x: Value, rate: float = 1.0) -> Value:
    """Numbers of an exponential distribution."""
    numbers = _exponential(ctx, ctx.dims, _inner(ctx))
    return ctx.astype(binary(ctx, "multiply", numbers, 1 / rate), ctx.dtype)


@converts("aten.geometric.default")
def geometric(ctx: Context, x: Value, p: float) -> Value:
    """The number of the first of independent events with probability `p`, from 1."""
    numbers = _exponential(ctx, ctx.dims, inner := _inner(ctx))
    scale = 0.0 if p == 1 else -1 / log(1 - p)
    count = ctx.op("ceil", ctx.op("multiply", numbers, ctx.number(scale, inner)))
    return ctx.astype(ctx.op("maximum", count, ctx.number(1, inner)), ctx.dtype)


@converts("aten.log_normal.default")
def log_normal(ctx: Context, x: Value, mean: float = 1.0, std: float = 2.0) -> Value:
    """The exponential function of numbers of a normal distribution."""
    numbers = generated(ctx, "normal", ctx.dims, _inner(ctx), mean=float(mean), std=float(std))
    return ctx.astype(ctx.op("exp", numbers), ctx.dtype)


@converts("aten.cauchy.default")
def cauchy(ctx: Context, x: Value, median: float = 0.0, sigma: float = 1.0) -> Value:
    """Numbers of a Cauchy distribution."""
    angles = generated(ctx, "uniform", ctx.dims, _inner(ctx), low=-pi / 2, high=pi / 2)
    scaled = binary(ctx, "multiply", ctx.op("tan", angles), float(sigma))
    return ctx.astype(binary(ctx, "add", scaled, float(median)), ctx.dtype)


@converts("aten.multinomial.default")
def multinomial(
    ctx: Context, weights: Value, num_samples: Any, replacement: bool = False, **_: Any
) -> Value:
    """Numbers of categories by their weights; without `replacement`, distinct ones."""
    if isinstance(num_samples, IntExpr):
        raise Unsupported("expected a number of samples that is known, got a symbol")
    weights = ctx.astype(weights, "float64")
    if replacement:
        return _by_sums(ctx, weights)
    # The category whose exponential waiting time is least has the probability of its rate.
    times = ctx.op("divide", weights, _exponential(ctx, dims_of(weights), "float64"))
    return ctx.op("topk", times, k=num_samples, axis=-1, ret_type="indices", dtype="int64")


def _by_sums(ctx: Context, weights: Value) -> Value:
    """For each sample the number of running sums up to it."""
    *_, categories = dims_of(weights)
    sums = ctx.op("cumsum", weights, axis=-1)
    total = ctx.op("sum", weights, axis=[-1], keepdims=True)
    samples = ctx.op("multiply", generated(ctx, "uniform", ctx.dims, "float64"), total)
    below = ctx.op(
        "less_equal", ctx.op("expand_dims", sums, axis=[-2]),
        ctx.op("expand_dims", samples, axis=[-1]),
    )  # fmt: skip
    count = ctx.op("sum", ctx.astype(below, "int64"), axis=[-1])
    # Rounded, a sample may be the total.
    return ctx.op("minimum", count, ctx.number(categories - 1, "int64"))

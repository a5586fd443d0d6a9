"""Random numbers, which are functions of the key of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE, IntExpr
from ....dialects.relax.operators.conversion import accumulator
from ...unsupported import Unsupported
from ..context import Context
from ..parts import part
from ..registry import converts
from ..tensor import Tensor
from ..weights import dtype_of_element


def _generated(
    ctx: Context,
    kind: str,
    dims: Sequence[IntExpr],
    dtype: str,
    seed: float | None,
    **attributes: Any,
) -> Tensor:
    """Numbers of an operator of ``relax.random``; nodes with the same seed have the same."""
    if ctx.importer.random is None:
        raise Unsupported("random numbers in a branch or a loop", "make them an input of the model")
    key, stream = ctx.importer.random.stream()
    if seed is not None:
        stream = int(np.array(seed, np.float32).view(np.uint32))
    given = dict(shape=list(dims), dtype=dtype, stream=stream, **attributes)
    return ctx.emit(f"random.{kind}", ctx.tensor(key), **given)


@converts("RandomUniform")
def random_uniform(
    ctx: Context,
    *,
    shape: list[int],
    dtype: int = 1,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    """Numbers of [low, high)."""
    dims, element = [IntExpr.of(d) for d in shape], dtype_of_element(dtype)
    return _generated(ctx, "uniform", dims, element, seed, low=low, high=high)


@converts("RandomUniformLike")
def random_uniform_like(
    ctx: Context,
    x: Tensor,
    *,
    dtype: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    """Numbers of [low, high) in the shape of a tensor."""
    element = x.dtype if dtype is None else dtype_of_element(dtype)
    return _generated(ctx, "uniform", x.dims, element, seed, low=low, high=high)


@converts("RandomNormal")
def random_normal(
    ctx: Context,
    *,
    shape: list[int],
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    """Numbers of a normal distribution."""
    dims, element = [IntExpr.of(d) for d in shape], dtype_of_element(dtype)
    return _generated(ctx, "normal", dims, element, seed, mean=mean, std=scale)


@converts("RandomNormalLike")
def random_normal_like(
    ctx: Context,
    x: Tensor,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    """Numbers of a normal distribution in the shape of a tensor."""
    element = x.dtype if dtype is None else dtype_of_element(dtype)
    return _generated(ctx, "normal", x.dims, element, seed, mean=mean, std=scale)


@converts("Bernoulli")
def bernoulli(
    ctx: Context, x: Tensor, *, dtype: int | None = None, seed: float | None = None
) -> Tensor:
    """1 with the probability of an element, else 0."""
    inner = accumulator(x.dtype)
    numbers = _generated(ctx, "uniform", x.dims, inner, seed)
    events = ctx.emit("less", numbers, ctx.astype(x, inner))
    return ctx.astype(events, x.dtype if dtype is None else dtype_of_element(dtype))


@converts("Multinomial")
def multinomial(
    ctx: Context, x: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> Tensor:
    """Numbers of classes, each with the probability whose logarithm is an element of its row."""
    rows, classes = x.dims
    inner = accumulator(x.dtype)
    largest = ctx.emit("max", x, axis=[1], keepdims=True)
    weights = ctx.emit("exp", ctx.astype(ctx.elementwise("subtract", x, largest), inner))
    sums = ctx.emit("cumsum", weights, axis=1)
    total = part(ctx, sums, 1, classes - 1, ONE)
    samples = _generated(ctx, "uniform", [rows, IntExpr.of(sample_size)], inner, seed)
    limits = ctx.emit("expand_dims", ctx.elementwise("multiply", samples, total), axis=[2])
    below = ctx.emit("less_equal", ctx.emit("expand_dims", sums, axis=[1]), limits)
    count = ctx.emit("sum", ctx.astype(below, "int64"), axis=[2])
    # Rounded, a sample may be the total.
    chosen = ctx.elementwise("minimum", count, ctx.number(classes - 1, "int64"))
    return ctx.astype(chosen, dtype_of_element(dtype))

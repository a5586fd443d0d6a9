"""Reductions and scans: sums, means, extrema, variances, cumulative sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import mul
from typing import Any

import torch

from ....dialects.int_expr import ONE
from ...emitter import Value, axis_of, dims_of, dtype_of
from ...unsupported import Unsupported
from ..context import Context
from ..dtypes import float_of
from ..registry import converts
from .arithmetic import binary, truth

Dims = Sequence[int] | int | None


def axes_of(x: Value, dim: Dims) -> list[int]:
    """The dims of a reduction as non-negative axes; all for None."""
    rank = len(dims_of(x))
    given = [dim] if isinstance(dim, int) else list(dim or range(rank))
    return [axis_of(d, rank) for d in given] if rank else []


def reduced(ctx: Context, operator: str, x: Value, dim: Dims, keepdim: bool) -> Value:
    """A reduction over dims, all for None; a tensor of rank 0 is unchanged."""
    if not dims_of(x):
        return x
    axes = [dim] if isinstance(dim, int) else list(dim or ()) or None
    return ctx.op(operator, x, axis=axes, keepdims=keepdim)


@converts("aten.sum.default", "aten.sum.dim_IntList")
def sum_(
    ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The sum over dims; of integers and bools as int64."""
    return reduced(ctx, "sum", ctx.astype(x, ctx.dtype), dim, keepdim)


@converts("aten.mean.default", "aten.mean.dim")
def mean(
    ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The mean over dims."""
    return reduced(ctx, "mean", ctx.astype(x, ctx.dtype), dim, keepdim)


@converts("aten.prod.default", "aten.prod.dim_int")
def prod(
    ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The product over dims."""
    if isinstance(dim, torch.dtype):
        dim = None
    return reduced(ctx, "prod", ctx.astype(x, ctx.dtype), dim, keepdim)


@converts("aten.amax.default")
def amax(ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
    """The largest element over dims."""
    return _extremum(ctx, "max", x, dim, keepdim)


@converts("aten.amin.default")
def amin(ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
    """The smallest element over dims."""
    return _extremum(ctx, "min", x, dim, keepdim)


def _extremum(ctx: Context, operator: str, x: Value, dim: Dims, keepdim: bool) -> Value:
    if dtype_of(x) == "bool":
        operator = {"max": "any", "min": "all"}[operator]
    return reduced(ctx, operator, x, dim, keepdim)


@converts("aten.max.default")
def max_(ctx: Context, x: Value) -> Value:
    """The largest element of all."""
    return amax(ctx, x)


@converts("aten.min.default")
def min_(ctx: Context, x: Value) -> Value:
    """The smallest element of all."""
    return amin(ctx, x)


@converts("aten.max.dim")
def max_dim(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The largest elements along a dim, and their indices."""
    return amax(ctx, x, dim, keepdim), _argument(ctx, "argmax", x, dim, keepdim)


@converts("aten.min.dim")
def min_dim(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The smallest elements along a dim, and their indices."""
    return amin(ctx, x, dim, keepdim), _argument(ctx, "argmin", x, dim, keepdim)


def _argument(ctx: Context, operator: str, x: Value, dim: int | None, keepdim: bool) -> Value:
    if dtype_of(x) == "bool":
        x = ctx.astype(x, "uint8")
    if not dims_of(x):
        return ctx.number(0, "int64")
    return ctx.astype(ctx.op(operator, x, axis=dim, keepdims=keepdim), "int64")


@converts("aten.argmax.default")
def argmax(ctx: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    """The index of the largest element, along a dim or in the flattened tensor."""
    return _argument(ctx, "argmax", x, dim, keepdim)


@converts("aten.argmin.default")
def argmin(ctx: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    """The index of the smallest element, along a dim or in the flattened tensor."""
    return _argument(ctx, "argmin", x, dim, keepdim)


def _truths(operator: str) -> Callable[..., Value]:
    def convert(ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
        return ctx.astype(reduced(ctx, operator, truth(ctx, x), dim, keepdim), ctx.dtype)

    return convert


for _name in ("any", "all"):
    converts(*(f"aten.{_name}.{o}" for o in ("default", "dim", "dims")))(_truths(_name))


def moment(
    ctx: Context, operator: str, x: Value, dim: Any, correction: Any, keepdim: bool
) -> Value:
    """The variance or the standard deviation over dims, with a correction of the count."""
    # The older overloads have a bool here: whether to divide by the count minus 1.
    if isinstance(dim, bool):
        dim, correction = None, int(dim)
    correction = 1 if correction is None else correction
    if correction != int(correction):
        raise Unsupported(f"expected an integer correction, got {correction}")
    axes = axes_of(x, dim)
    return ctx.op(operator, x, axis=axes, keepdims=keepdim, correction=int(correction))


def _deviation(operator: str) -> Callable[..., Value]:
    def convert(
        ctx: Context, x: Value, dim: Any = None, unbiased: bool = True, keepdim: bool = False,
        correction: Any = None,
    ) -> Value:  # fmt: skip
        correction = int(unbiased) if correction is None else correction
        return moment(ctx, operator, x, dim, correction, keepdim)

    return convert


for _name, _operator in (("var", "variance"), ("std", "std")):
    converts(*(f"aten.{_name}.{o}" for o in ("correction", "dim", "default")))(
        _deviation(_operator)
    )


@converts("aten.var_mean.correction")
def var_mean(
    ctx: Context, x: Value, dim: Dims = None, correction: Any = None, keepdim: bool = False
) -> tuple[Value, Value]:
    """The variance and the mean over dims."""
    variance = moment(ctx, "variance", x, dim, correction, keepdim)
    return variance, reduced(ctx, "mean", x, dim, keepdim)


@converts("aten.linalg_vector_norm.default")
def vector_norm(
    ctx: Context, x: Value, ord: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The norm of the vectors along dims."""
    size = ctx.op("abs", ctx.astype(x, ctx.dtype))
    if ord in (float("inf"), -float("inf")):
        return reduced(ctx, "max" if ord > 0 else "min", size, dim, keepdim)
    if ord == 1:
        return reduced(ctx, "sum", size, dim, keepdim)
    if ord == 0:
        nonzero = ctx.astype(truth(ctx, x), ctx.dtype)
        return reduced(ctx, "sum", nonzero, dim, keepdim)
    # The intermediate sum would overflow in half precision.
    wide = ctx.astype(size, "float32" if ctx.dtype in ("float16", "bfloat16") else ctx.dtype)
    powers = binary(ctx, "power", wide, ord) if ord != 2 else ctx.op("multiply", wide, wide)
    total = reduced(ctx, "sum", powers, dim, keepdim)
    root = ctx.op("sqrt", total) if ord == 2 else binary(ctx, "power", total, 1 / ord)
    return ctx.astype(root, ctx.dtype)


@converts("aten.cumsum.default")
def cumsum(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """The cumulative sums along a dim."""
    return _scan(ctx, "cumsum", x, dim)


@converts("aten.cumprod.default")
def cumprod(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """The cumulative products along a dim."""
    return _scan(ctx, "cumprod", x, dim)


def _scan(ctx: Context, operator: str, x: Value, dim: int) -> Value:
    x = ctx.astype(x, ctx.dtype)
    return ctx.op(operator, x, axis=axis_of(dim, len(dims_of(x)))) if dims_of(x) else x


@converts("aten.histc.default")
def histc(ctx: Context, x: Value, bins: int = 100, min: Any = 0, max: Any = 0) -> Value:
    """The numbers of elements in intervals of equal width from `min` to `max`."""
    if min >= max:
        raise Unsupported("expected limits of the intervals, of which the first is smaller")
    dtype = dtype_of(x)
    least, most = ctx.number(min, dtype), ctx.number(max, dtype)
    scaled = binary(ctx, "multiply", ctx.op("subtract", x, least), bins, dtype)
    place = ctx.op("floor", ctx.op("divide", scaled, ctx.op("subtract", most, least)))
    place = ctx.op("minimum", place, ctx.number(bins - 1, dtype))
    within = ctx.op("logical_and", ctx.op("greater_equal", x, least), ctx.op("less_equal", x, most))
    place = ctx.op("where", within, place, ctx.number(-1, dtype))
    count = reduce(mul, dims_of(x), ONE)
    place = ctx.reshape(ctx.astype(place, "int64"), [ONE, count])
    intervals = ctx.op("arange", start=0, end=bins, step=1, dtype="int64")
    equal = ctx.op("equal", ctx.op("expand_dims", intervals, axis=[1]), place)
    return ctx.op("sum", ctx.astype(equal, dtype), axis=[1])


@converts("aten.logsumexp.default")
def logsumexp(ctx: Context, x: Value, dim: Dims, keepdim: bool = False) -> Value:
    """``log(sum(exp(x)))`` without overflow."""
    x = ctx.astype(x, float_of(dtype_of(x)))
    largest = reduced(ctx, "max", x, dim, True)
    finite = ctx.op("where", ctx.op("isfinite", largest), largest, ctx.number(0, dtype_of(x)))
    total = reduced(ctx, "sum", ctx.op("exp", ctx.op("subtract", x, finite)), dim, keepdim)
    kept = ctx.reshape(finite, dims_of(total))
    return ctx.op("add", ctx.op("log", total), kept)

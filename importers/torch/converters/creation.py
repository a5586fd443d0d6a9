"""New tensors: ranges, constants, triangles."""

from __future__ import annotations

from typing import Any

from ...emitter import Value
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts


@converts("aten.arange.default", "aten.arange.start", "aten.arange.start_step")
def arange(ctx: Context, *bounds: Any, dtype: Any = None) -> Value:
    """``start, start + step, …`` before `end`."""
    start, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if any(isinstance(b, float) for b in (start, end, step)):
        return _float_range(ctx, start, step)
    values = ctx.op("arange", start=start, end=end, step=step, dtype="int64")
    return ctx.astype(values, ctx.dtype)


def _float_range(ctx: Context, start: Any, step: Any) -> Value:
    count = ctx.dims[0]
    places = ctx.op("arange", start=0, end=count, step=1, dtype="int64")
    inner = "float64" if ctx.dtype == "float64" else "float32"
    scaled = ctx.op("multiply", ctx.astype(places, inner), ctx.number(float(step), inner))
    return ctx.astype(ctx.op("add", scaled, ctx.number(float(start), inner)), ctx.dtype)


@converts("aten.linspace.default")
def linspace(ctx: Context, start: Any, end: Any, steps: Any, dtype: Any = None) -> Value:
    """`steps` numbers from `start` to `end`."""
    if not isinstance(steps, int):
        raise Unsupported("expected a number of steps that is known, got a symbol")
    return _float_range(ctx, start, (end - start) / max(steps - 1, 1))


def _filled(ctx: Context, value: Any) -> Value:
    """The tensor of the result's type, filled with a number."""
    return ctx.broadcast(ctx.as_tensor(value, ctx.dtype), ctx.dims)


@converts("aten.full.default", "aten.full_like.default", "aten.fill.Scalar", "aten.fill.Tensor")
def full(ctx: Context, like: Any, fill_value: Any, **_: Any) -> Value:
    """A tensor filled with a number, of a shape or like another tensor."""
    return _filled(ctx, fill_value)


@converts("aten.new_full.default")
def new_full(ctx: Context, x: Value, size: Any, fill_value: Any, **_: Any) -> Value:
    """A tensor filled with a number."""
    return _filled(ctx, fill_value)


@converts(
    "aten.empty.memory_format",
    "aten.empty_like.default",
    "aten.empty_permuted.default",
    "aten.empty_strided.default",
    "aten.new_empty.default",
    "aten.new_zeros.default",
    "aten.zeros.default",
    "aten.zeros_like.default",
    "aten.zero.default",
)
def zeros(ctx: Context, *_: Any, **__: Any) -> Value:
    """A tensor of zeros, also for operators whose result is uninitialized."""
    return _filled(ctx, 0)


@converts("aten.new_ones.default", "aten.ones.default", "aten.ones_like.default")
def ones(ctx: Context, *_: Any, **__: Any) -> Value:
    """A tensor of ones."""
    return _filled(ctx, 1)


@converts("aten.scalar_tensor.default")
def scalar_tensor(ctx: Context, value: Any, **_: Any) -> Value:
    """A number as a tensor of rank 0."""
    return ctx.as_tensor(value, ctx.dtype)


@converts("aten.tril.default")
def tril(ctx: Context, x: Value, diagonal: int = 0) -> Value:
    """The lower triangles of matrices, 0 above."""
    return _triangle(ctx, "tril", x, diagonal)


@converts("aten.triu.default")
def triu(ctx: Context, x: Value, diagonal: int = 0) -> Value:
    """The upper triangles of matrices, 0 below."""
    return _triangle(ctx, "triu", x, diagonal)


def _triangle(ctx: Context, operator: str, x: Value, diagonal: Any) -> Value:
    return ctx.op(operator, x, k=diagonal)


@converts("aten.eye.default", "aten.eye.m")
def eye(ctx: Context, n: Any, m: Any = None, **_: Any) -> Value:
    """Ones on the diagonal, zeros elsewhere."""
    rows, columns = ctx.dims
    return ctx.op("eye", n=rows, m=columns, dtype=ctx.dtype)

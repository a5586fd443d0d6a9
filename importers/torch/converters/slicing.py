"""Parts of tensors: slices, selections, splits, and parts put back."""

from __future__ import annotations

from typing import Any

from ....dialects.int_expr import ZERO, IntExpr
from ..context import Context, Value, axis_of, dims_of
from ..registry import Unsupported, converts


def part(
    ctx: Context, x: Value, axis: int, start: IntExpr, length: IntExpr, step: int = 1
) -> Value:
    """`length` elements along an axis; PyTorch has made sure that they are there."""
    if (start, length, step) == (ZERO, dims_of(x)[axis], 1):
        return x
    ends = [start + length * step]
    strides = None if step == 1 else [step]
    return ctx.op(
        "strided_slice", x, axes=[axis], begin=[start], end=ends, strides=strides,
        assume_inbound=True,
    )  # fmt: skip


def _first(start: Any, dim: IntExpr) -> IntExpr:
    """Where a slice begins, counted from the front and within the dim where that is known."""
    first = IntExpr.of(0 if start is None else start)
    if (value := first.constant) is None or value >= 0:
        return _at_most(first, dim)
    first = first + dim
    return first if first.constant is None or first.constant >= 0 else ZERO


def _at_most(first: IntExpr, dim: IntExpr) -> IntExpr:
    a, b = first.constant, dim.constant
    return dim if a is not None and b is not None and a > b else first


@converts("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_(
    ctx: Context, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    """``x[start:end:step]`` along a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    return part(ctx, x, axis, _first(start, dims_of(x)[axis]), ctx.dims[axis], step)


@converts("aten.narrow.default")
def narrow(ctx: Context, x: Value, dim: int, start: Any, length: Any) -> Value:
    """`length` elements along a dim."""
    return slice_(ctx, x, dim, start)


@converts("aten.select.int", "aten.select_copy.int")
def select(ctx: Context, x: Value, dim: int, index: Any) -> Value:
    """The part at one place of a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    return _selected(ctx, x, axis, _first(index, dims_of(x)[axis]))


def _selected(ctx: Context, x: Value, axis: int, index: IntExpr) -> Value:
    chosen = part(ctx, x, axis, index, IntExpr.of(1))
    return ctx.op("squeeze", chosen, axis=[axis])


@converts("aten.unbind.int")
def unbind(ctx: Context, x: Value, dim: int = 0) -> tuple[Value, ...]:
    """The parts at all places of a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    return tuple(_selected(ctx, x, axis, IntExpr.of(i)) for i in range(len(ctx.result)))


@converts(
    "aten.split.Tensor",
    "aten.split.sizes",
    "aten.split_with_sizes.default",
    "aten.chunk.default",
    "aten.tensor_split.sections",
    "aten.tensor_split.indices",
)
def split(ctx: Context, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
    """Parts one after the other along a dim, of the sizes that PyTorch gives the results."""
    axis = axis_of(dim, len(dims_of(x)))
    start, parts = ZERO, list[Value]()
    for result in ctx.result:
        length = ctx.symbols.expr(result.shape[axis])
        parts.append(part(ctx, x, axis, start, length))
        start = start + length
    return tuple(parts)


@converts("aten.slice_scatter.default")
def slice_scatter(
    ctx: Context, x: Value, src: Value, dim: int = 0, start: Any = None, end: Any = None,
    step: int = 1,
) -> Value:  # fmt: skip
    """`x` with `src` in the place of a slice."""
    if step != 1:
        raise Unsupported(f"expected an assignment to a slice of step 1, got {step}")
    axis = axis_of(dim, len(dims_of(x)))
    return _replaced(ctx, x, src, axis, _first(start, dims_of(x)[axis]))


@converts("aten.select_scatter.default")
def select_scatter(ctx: Context, x: Value, src: Value, dim: int, index: Any) -> Value:
    """`x` with `src` at one place of a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    src = ctx.op("expand_dims", src, axis=[axis])
    return _replaced(ctx, x, src, axis, _first(index, dims_of(x)[axis]))


def _replaced(ctx: Context, x: Value, src: Value, axis: int, start: IntExpr) -> Value:
    dim, length = dims_of(x)[axis], dims_of(src)[axis]
    after = start + length
    pieces: list[Value] = []
    if start != ZERO:
        pieces.append(part(ctx, x, axis, ZERO, start))
    pieces.append(src)
    if after != dim:
        pieces.append(part(ctx, x, axis, after, dim - after))
    return pieces[0] if len(pieces) == 1 else ctx.op("concat", *pieces, axis=axis)


@converts("aten.diff.default")
def diff(
    ctx: Context, x: Value, n: int = 1, dim: int = -1, prepend: Value | None = None,
    append: Value | None = None,
) -> Value:  # fmt: skip
    """The differences of neighbours along a dim, `n` times over."""
    axis = axis_of(dim, len(dims_of(x)))
    around = [t for t in (prepend, x, append) if t is not None]
    x = x if len(around) == 1 else ctx.op("concat", *around, axis=axis)
    operator = "not_equal" if ctx.dtype == "bool" else "subtract"
    for _ in range(n):
        length = dims_of(x)[axis] - 1
        later = part(ctx, x, axis, IntExpr.of(1), length)
        x = ctx.op(operator, later, part(ctx, x, axis, ZERO, length))
    return x

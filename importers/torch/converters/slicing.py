"""Slices, selections and splits of tensors, and their inverses, scatters."""

from __future__ import annotations

from typing import Any

from ....dialects import relax
from ....dialects.bounds import is_non_negative
from ....dialects.dtypes import element_type
from ....dialects.int_expr import ZERO, IntExpr
from ....dialects.relax.operators.slicing import FAR, slice_range
from ...emitter import Value, axis_of, dims_of, dtype_of
from ..context import Context
from ..registry import converts


def part(
    ctx: Context, x: Value, axis: int, start: IntExpr, length: IntExpr, step: int = 1
) -> Value:
    """`length` elements along an axis, which PyTorch has verified to be in bounds."""
    if (start, length, step) == (ZERO, dims_of(x)[axis], 1):
        return x
    ends = [start + length * step]
    strides = None if step == 1 else [step]
    return ctx.op(
        "strided_slice", x, axes=[axis], begin=[start], end=ends, strides=strides,
        assume_inbound=True,
    )  # fmt: skip


def _first(start: Any, dim: IntExpr) -> IntExpr:
    """The start of a slice as a non-negative index, clamped to the dim if that is provable."""
    first = IntExpr.of(0 if start is None else start)
    if is_non_negative(first):
        return _at_most(first, dim)
    if not first.is_constant:  # its sign may differ between calls
        return slice_range(first, dim, dim)[0]
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
    whole, length = dims_of(x)[axis], ctx.dims[axis]
    if step == 1 and _is_end(end, whole):
        return part(ctx, x, axis, whole - length, length)
    return part(ctx, x, axis, _first(start, whole), length, step)


def _is_end(end: Any, dim: IntExpr) -> bool:
    """Whether a slice ends where the dim does."""
    return end is None or IntExpr.of(end) == dim or (isinstance(end, int) and end >= FAR)


@converts("aten.narrow.default", "aten.narrow_copy.default")
def narrow(ctx: Context, x: Value, dim: int, start: Any, length: Any) -> Value:
    """`length` elements along a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    return part(ctx, x, axis, _first(start, dims_of(x)[axis]), ctx.dims[axis])


@converts("aten.select.int", "aten.select_copy.int")
def select(ctx: Context, x: Value, dim: int, index: Any) -> Value:
    """The slice at one index of a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    return _selected(ctx, x, axis, _first(index, dims_of(x)[axis]))


def _selected(ctx: Context, x: Value, axis: int, index: IntExpr) -> Value:
    chosen = part(ctx, x, axis, index, IntExpr.of(1))
    return ctx.op("squeeze", chosen, axis=[axis])


@converts("aten.unfold.default", "aten.unfold_copy.default")
def unfold(ctx: Context, x: Value, dimension: int, size: int, step: int) -> Value:
    """Windows of `size` elements along a dim, `step` elements apart, as a last dim."""
    if not dims_of(x):
        return ctx.reshape(x, ctx.dims)
    rank = len(dims_of(x))
    axis = axis_of(dimension, rank)
    first = _range(ctx, ZERO, ctx.dims[axis] * step, step)
    places = ctx.op("add", ctx.op("expand_dims", first, axis=[1]), _range(ctx, ZERO, size))
    windows = ctx.op("take", x, places, axis=axis)
    order = [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1]
    return ctx.permute(windows, order)


def _range(ctx: Context, start: Any, end: Any, step: Any = 1) -> Value:
    return ctx.op("arange", start=start, end=end, step=step, dtype="int64")


@converts("aten.diagonal.default", "aten.diagonal_copy.default")
def diagonal(ctx: Context, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """The elements of two dims whose indices differ by `offset`, as a last dim."""
    flat = _matrices(ctx, x, dim1, dim2)
    return ctx.op("take", flat, _diagonal_places(ctx, x, offset, dim1, dim2), axis=-1)


@converts("aten.diagonal_scatter.default")
def diagonal_scatter(
    ctx: Context, x: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Value:
    """`x` with `src` on a diagonal of two dims."""
    flat, rank = _matrices(ctx, x, dim1, dim2), len(dims_of(x))
    places = _diagonal_places(ctx, x, offset, dim1, dim2, dims_of(src)[-1])
    places = ctx.broadcast(places, dims_of(src))
    flat = ctx.op("scatter_elements", flat, places, src, axis=-1)
    order = _with_last(rank, dim1, dim2)
    whole = ctx.reshape(flat, [dims_of(x)[a] for a in order])
    return ctx.permute(whole, [order.index(a) for a in range(rank)])


def _with_last(rank: int, dim1: int, dim2: int) -> list[int]:
    last = [axis_of(d, rank) for d in (dim1, dim2)]
    return [*(a for a in range(rank) if a not in last), *last]


def _matrices(ctx: Context, x: Value, dim1: int, dim2: int) -> Value:
    """The tensor with two dims flattened to one, the last."""
    permuted = ctx.permute(x, _with_last(len(dims_of(x)), dim1, dim2))
    *batch, rows, columns = dims_of(permuted)
    return ctx.reshape(permuted, [*batch, rows * columns])


def _diagonal_places(
    ctx: Context, x: Value, offset: int, dim1: int, dim2: int, length: IntExpr | None = None
) -> Value:
    columns = dims_of(x)[dim2]
    first = IntExpr.of(offset) if offset >= 0 else columns * -offset
    step = columns + 1
    count = ctx.dims[-1] if length is None else length
    steps = ctx.op("multiply", _range(ctx, ZERO, count), ctx.number(step, "int64"))
    return ctx.op("add", steps, ctx.number(first, "int64"))


@converts("aten.unbind.int", "aten.unbind_copy.int")
def unbind(ctx: Context, x: Value, dim: int = 0) -> tuple[Value, ...]:
    """The slices at all indices of a dim."""
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
    """Consecutive parts along a dim, of the sizes of PyTorch's results."""
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
    """`x` with a slice replaced by `src`."""
    axis = axis_of(dim, len(dims_of(x)))
    first = _first(start, dims_of(x)[axis])
    _verify_length(ctx, x, src, axis, first, end, step)
    if step != 1:
        bounds = {"start": first, "end": FAR if end is None else end, "step": step}
        return ctx.op("slice_scatter", x, src, axis=axis, **bounds)
    return _replaced(ctx, x, src, axis, first)


def _verify_length(
    ctx: Context, x: Value, src: Value, axis: int, first: IntExpr, end: Any, step: int
) -> None:
    """Raise ValueError where `src` has another length than the slice, which exports do not see."""
    dims = dims_of(x)
    if not dims[axis].is_constant:  # which an end beyond it may mean
        return
    last = dims[axis] if end is None else _first(end, dims[axis])
    length = ((last - first + (step - 1)) // step).constant
    if length is not None:
        dims[axis] = IntExpr.of(max(length, 0))
        ctx.match(src, relax.TensorType.of(dims, element_type(dtype_of(src))))


@converts("aten.select_scatter.default")
def select_scatter(ctx: Context, x: Value, src: Value, dim: int, index: Any) -> Value:
    """`x` with `src` at one index of a dim."""
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
    """The `n`-th differences of adjacent elements along a dim."""
    axis = axis_of(dim, len(dims_of(x)))
    around = [t for t in (prepend, x, append) if t is not None]
    x = x if len(around) == 1 else ctx.op("concat", *around, axis=axis)
    operator = "not_equal" if ctx.dtype == "bool" else "subtract"
    for _ in range(n):
        length = dims_of(x)[axis] - 1
        later = part(ctx, x, axis, IntExpr.of(1), length)
        x = ctx.op(operator, later, part(ctx, x, axis, ZERO, length))
    return x

"""Data movement: reshapes, permutations, concatenation, repetition, padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum
from ...emitter import Value, axis_of, dims_of, type_of
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts


@converts(
    "aten._reshape_alias.default",
    "aten._unsafe_view.default",
    "aten.flatten.using_ints",
    "aten.reshape.default",
    "aten.reshape_as.default",
    "aten.unflatten.int",
    "aten.view.default",
    "aten.view_as.default",
    "aten.view_copy.default",
)
def reshape(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """The elements in the shape of the result."""
    return ctx.reshape(x, ctx.dims)


@converts("aten.permute.default", "aten.permute_copy.default")
def permute(ctx: Context, x: Value, dims: Sequence[int]) -> Value:
    """The dims in another order."""
    return ctx.permute(x, [axis_of(d, len(dims)) for d in dims])


@converts("aten.transpose.int")
def transpose(ctx: Context, x: Value, dim0: int, dim1: int) -> Value:
    """Two dims swapped."""
    order = list(range(len(dims_of(x))))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return ctx.permute(x, order)


@converts("aten.t.default", "aten.numpy_T.default", "aten.mT.default")
def transpose_last(ctx: Context, x: Value) -> Value:
    """The last two dims swapped."""
    rank = len(dims_of(x))
    return transpose(ctx, x, -2, -1) if rank > 1 else x


@converts("aten.unsqueeze.default")
def unsqueeze(ctx: Context, x: Value, dim: int) -> Value:
    """`x` with a new dim of size 1."""
    return ctx.op("expand_dims", x, axis=[dim])


@converts("aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims")
def squeeze(ctx: Context, x: Value, dim: Any = None) -> Value:
    """`x` without dims of size 1: all of them, or those of `dim` that are 1."""
    dims = dims_of(x)
    given = range(len(dims)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    axes = sorted({axis_of(d, len(dims)) for d in given}) if dims else []
    axes = [a for a in axes if dims[a] == ONE]
    return ctx.op("squeeze", x, axis=axes) if axes else x


@converts("aten.expand.default", "aten.expand_as.default", "aten.broadcast_to.default")
def expand(ctx: Context, x: Value, *_: Any, **__: Any) -> Value:
    """`x` broadcast to the shape of the result."""
    return ctx.broadcast(x, ctx.dims)


@converts("aten.cat.default", "aten.concat.default")
def cat(ctx: Context, tensors: Sequence[Value], dim: int = 0) -> Value:
    """Tensors concatenated along a dim; empty ones of rank 1 are skipped."""
    dtype, rank = ctx.dtype, len(ctx.dims)
    kept = [t for t in tensors if len(dims_of(t)) == rank and not (rank > 1 and _is_void(t))]
    parts = [ctx.astype(t, dtype) for t in kept]
    return parts[0] if len(parts) == 1 else ctx.op("concat", *parts, axis=axis_of(dim, rank))


def _is_void(tensor: Value) -> bool:
    return [d.constant for d in dims_of(tensor)] == [0]


@converts("aten.stack.default")
def stack(ctx: Context, tensors: Sequence[Value], dim: int = 0) -> Value:
    """Tensors stacked along a new dim."""
    parts = [ctx.astype(t, ctx.dtype) for t in tensors]
    return ctx.op("stack", *parts, axis=axis_of(dim, len(ctx.dims)))


@converts("aten.repeat.default", "aten.tile.default")
def repeat(ctx: Context, x: Value, repeats: Sequence[Any]) -> Value:
    """The tensor tiled along each dim."""
    dims = dims_of(x)
    counts = [IntExpr.of(r) for r in repeats]
    rank = max(len(dims), len(counts))
    dims = [ONE] * (rank - len(dims)) + dims
    counts = [ONE] * (rank - len(counts)) + counts
    pairs = list(zip(counts, dims, strict=True))
    apart = ctx.reshape(x, [d for _, dim in pairs for d in (ONE, dim)])
    wide = ctx.broadcast(apart, [d for pair in pairs for d in pair])
    return ctx.reshape(wide, [count * dim for count, dim in pairs])


@converts("aten.repeat_interleave.self_int")
def repeat_interleave(
    ctx: Context, x: Value, repeats: Any, dim: int | None = None, **_: Any
) -> Value:
    """Each element repeated along a dim."""
    if isinstance(repeats, IntExpr):
        raise Unsupported("expected a number of repeats that is known, got a symbol")
    axis = None if dim is None else axis_of(dim, len(dims_of(x)))
    return ctx.op("repeat", x, repeats=repeats, axis=axis)


@converts("aten.flip.default")
def flip(ctx: Context, x: Value, dims: Sequence[int]) -> Value:
    """The order of elements reversed along dims."""
    return ctx.op("flip", x, axis=[axis_of(d, len(dims_of(x))) for d in dims]) if dims else x


@converts("aten.roll.default")
def roll(ctx: Context, x: Value, shifts: Any, dims: Any = ()) -> Value:
    """Elements shifted cyclically along dims; without dims, in the flattened tensor."""
    counts = [shifts] if isinstance(shifts, int | IntExpr) else list(shifts)
    axes = [dims] if isinstance(dims, int) else list(dims)
    if not axes:
        return ctx.reshape(_rolled(ctx, ctx.flat(x), counts[0], 0), dims_of(x))
    for shift, axis in zip(counts, axes, strict=True):
        x = _rolled(ctx, x, shift, axis)
    return x


def _rolled(ctx: Context, x: Value, shift: int | IntExpr, axis: int) -> Value:
    """Elements shifted cyclically along a dim, by slices for a shift that is a symbol's."""
    if isinstance(shift, int):
        return ctx.op("roll", x, shift=shift, axis=axis)
    dim = dims_of(x)[axis]
    middle = dim - shift % maximum(dim, 1)
    parts = [
        ctx.op("strided_slice", x, axes=[axis], begin=[begin], end=[end], assume_inbound=True)
        for begin, end in ((middle, dim), (ZERO, middle))
    ]
    return ctx.match(ctx.op("concat", *parts, axis=axis), type_of(x))


@converts("aten.constant_pad_nd.default")
def constant_pad(ctx: Context, x: Value, pad: Sequence[Any], value: Any = 0) -> Value:
    """Padding of the last dims with a constant; negative padding crops."""
    return _padded(ctx, x, pad, "constant", value)


@converts(*(f"aten.reflection_pad{n}d.default" for n in (1, 2, 3)))
def reflection_pad(ctx: Context, x: Value, padding: Sequence[Any]) -> Value:
    """Padding with the reflection of the tensor."""
    return _padded(ctx, x, padding, "reflect")


@converts(*(f"aten.replication_pad{n}d.default" for n in (1, 2, 3)))
def replication_pad(ctx: Context, x: Value, padding: Sequence[Any]) -> Value:
    """Padding with the edge's elements."""
    return _padded(ctx, x, padding, "replicate")


@converts("aten.pad.default")
def pad(
    ctx: Context, x: Value, pad: Sequence[Any], mode: str = "constant", value: Any = None
) -> Value:
    """Padding of the last dims by one of PyTorch's modes."""
    return _padded(ctx, x, pad, mode, 0 if value is None else value)


def _padded(ctx: Context, x: Value, pad: Sequence[Any], mode: str, value: Any = 0) -> Value:
    widths = [IntExpr.of(p).constant for p in pad]
    known = [w for w in widths if w is not None]
    if len(known) < len(widths):
        raise Unsupported("expected widths that are known, got symbols")
    dims = dims_of(x)
    pairs = [(0, 0)] * (len(dims) - len(known) // 2)
    pairs += list(zip(known[::2], known[1::2], strict=True))[::-1]
    margins = [max(w, 0) for pair in pairs for w in pair]
    if mode == "circular":  # repeats what cropping leaves
        x = _cropped(ctx, x, pairs)
    if any(margins):
        x = ctx.op("nn.pad", x, pad_width=margins, pad_mode=mode, pad_value=_number(value))
    # Other padding may read cropped elements of the other side.
    return x if mode == "circular" else _cropped(ctx, x, pairs)


def _cropped(ctx: Context, x: Value, pairs: Sequence[tuple[int, int]]) -> Value:
    cut = [(max(-low, 0), max(-high, 0)) for low, high in pairs]
    if not any(low or high for low, high in cut):
        return x
    begins = [low for low, _ in cut]
    ends = [d - high for d, (_, high) in zip(dims_of(x), cut, strict=True)]
    axes = list(range(len(cut)))
    return ctx.op("strided_slice", x, axes=axes, begin=begins, end=ends, assume_inbound=True)


def _number(value: Any) -> float:
    return float(value)


@converts("aten.pixel_shuffle.default")
def pixel_shuffle(ctx: Context, x: Value, upscale_factor: int) -> Value:
    """Channels rearranged to rows and columns."""
    *batch, channels, height, width = dims_of(x)
    r, n = upscale_factor, len(batch)
    apart = ctx.reshape(x, [*batch, channels // (r * r), *map(IntExpr.of, (r, r)), height, width])
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    return ctx.reshape(ctx.permute(apart, order), ctx.dims)

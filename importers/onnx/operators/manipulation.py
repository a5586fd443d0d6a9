"""Reshapes, permutations, repetition, joining and splitting."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.bounds import is_non_negative
from ....dialects.int_expr import ONE, ZERO, IntExpr, floordiv, maximum
from ..context import Context, broadcast_dims
from ..data_sizes import is_read, reshaped_dims, size_of, sizes_of
from ..parts import joined, parts, product
from ..registry import converts
from ..tensor import SizeDependent, Tensor, axes_of, axis_of


@converts("Reshape")
def reshape_by_attribute(
    ctx: Context, x: Tensor, *, shape: list[int], consumed_inputs: list[int] | None = None
) -> Tensor:
    """The elements in another shape, an attribute before opset 5."""
    return _reshaped(ctx, x, [IntExpr.of(d) for d in shape], False)


@converts("Reshape", since=5)
def reshape(ctx: Context, x: Tensor, shape: Tensor, *, allowzero: int = 0) -> Tensor:
    """The elements in another shape: 0 keeps a dim unless `allowzero`, -1 is inferred."""
    if shape.rank == 1 and is_read(ctx, shape):
        return _reshaped(ctx, x, reshaped_dims(ctx, x.dims, shape, bool(allowzero)), True)
    return _reshaped(ctx, x, shape.sizes("a shape"), bool(allowzero))


def _reshaped(ctx: Context, x: Tensor, shape: Sequence[IntExpr], allowzero: bool) -> Tensor:
    copied = [a for a, d in enumerate(shape) if d == ZERO and not allowzero]
    if any(a >= x.rank for a in copied):
        raise ValueError(f"expected copies of dims of {_text(x.dims)}, got {_text(shape)}")
    dims = [x.dims[a] if a in copied else d for a, d in enumerate(shape)]
    free = [a for a, d in enumerate(dims) if d.is_constant and d.offset == -1]
    total = product(x.dims)
    if free:
        known = product([d for a, d in enumerate(dims) if a not in free])
        if len(free) > 1 or known == ZERO:
            raise ValueError(f"expected one dim to infer, got {_text(dims)} for {_text(x.dims)}")
        dims[free[0]] = floordiv(total, known)
    wanted = product(dims)
    if wanted != total:  # not provably equal: checked on calls
        if wanted.is_constant and total.is_constant:
            raise ValueError(f"expected the elements of {_text(x.dims)}, got {_text(dims)}")
        x = ctx.fitted(ctx.reshape(x, [total]), [wanted])
    return ctx.reshape(x, dims)


def _text(dims: Sequence[IntExpr]) -> str:
    return f"({', '.join(map(str, dims))})"


@converts("Flatten")
def flatten(ctx: Context, x: Tensor, *, axis: int = 1) -> Tensor:
    """A matrix: the dims before an axis, and those from it on."""
    if not -x.rank <= axis <= x.rank:
        raise ValueError(f"expected an axis from {-x.rank} to {x.rank}, got {axis}")
    axis = axis + x.rank if axis < 0 else axis
    return ctx.reshape(x, [product(x.dims[:axis]), product(x.dims[axis:])])


@converts("Squeeze")
def squeeze_by_attribute(ctx: Context, x: Tensor, *, axes: list[int] | None = None) -> Tensor:
    """The tensor without dims of 1; axes are an attribute before opset 13."""
    given = axes
    if axes is None:
        if symbols := {s for d in x.dims for s in d.symbols()}:
            raise SizeDependent(symbols, "which dims are 1")
        axes = [a for a, d in enumerate(x.dims) if d == ONE]
    removed = axes_of(axes, x.rank)
    x = ctx.fitted(x, [ONE if a in removed else d for a, d in enumerate(x.dims)])
    if x.known is not None or not removed:
        return ctx.reshape(x, [d for a, d in enumerate(x.dims) if a not in removed])
    return ctx.emit("squeeze", x, axis=given)


@converts("Squeeze", since=13)
def squeeze(ctx: Context, x: Tensor, axes: Tensor | None = None) -> Tensor:
    """The tensor without dims of 1."""
    return squeeze_by_attribute(ctx, x, axes=None if axes is None else axes.ints("axes"))


@converts("Unsqueeze")
def unsqueeze_by_attribute(ctx: Context, x: Tensor, *, axes: list[int]) -> Tensor:
    """The tensor with dims of 1 at axes of the result, an attribute before opset 13."""
    rank, dims = x.rank + len(axes), iter(x.dims)
    added = axes_of(axes, rank)
    if len(set(added)) < len(added):
        raise ValueError(f"expected different axes, got {axes}")
    if x.known is not None or not added:
        return ctx.reshape(x, [ONE if a in added else next(dims) for a in range(rank)])
    return ctx.emit("expand_dims", x, axis=axes)


@converts("Unsqueeze", since=13)
def unsqueeze(ctx: Context, x: Tensor, axes: Tensor) -> Tensor:
    """The tensor with dims of 1 at axes of the result."""
    return unsqueeze_by_attribute(ctx, x, axes=axes.ints("axes"))


@converts("Transpose")
def transpose(ctx: Context, x: Tensor, *, perm: list[int] | None = None) -> Tensor:
    """The dims in another order, by default reversed."""
    order = list(range(x.rank))[::-1] if perm is None else axes_of(perm, x.rank)
    if sorted(order) != list(range(x.rank)):
        raise ValueError(f"expected a permutation of {x.rank} dims, got {perm}")
    return ctx.permute(x, order)


@converts("Concat")
def concat(ctx: Context, *inputs: Tensor, axis: int = 1) -> Tensor:
    """Tensors in a row along an axis."""
    return joined(ctx, inputs, axis)


@converts("Split")
def split_by_attribute(
    ctx: Context,
    x: Tensor,
    lengths: Tensor | None = None,
    *,
    axis: int = 0,
    split: list[int] | None = None,
) -> tuple[Tensor, ...]:
    """Parts along an axis; lengths are an attribute before opset 13."""
    given = None if split is None else [IntExpr.of(s) for s in split]
    return _split(ctx, x, axis, given if lengths is None else sizes_of(ctx, lengths, "lengths"))


@converts("Split", since=13)
def split(
    ctx: Context,
    x: Tensor,
    lengths: Tensor | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> tuple[Tensor, ...]:
    """Parts along an axis: of given lengths, or equal ones of which the last may be shorter."""
    axis = axis_of(axis, x.rank)
    if lengths is None and num_outputs is not None:
        x, given = _nearly_equal(ctx, x, axis, num_outputs)
        return _split(ctx, x, axis, given)
    return _split(ctx, x, axis, None if lengths is None else sizes_of(ctx, lengths, "lengths"))


def _nearly_equal(
    ctx: Context, x: Tensor, axis: int, count: int
) -> tuple[Tensor, Sequence[IntExpr]]:
    """The lengths of equal parts, of which the last may be shorter, which calls check."""
    if count < 1:
        raise ValueError(f"expected at least 1 part, got {count}")
    length = floordiv(x.dims[axis] + (count - 1), IntExpr.of(count))
    first = length * (count - 1)
    if not is_non_negative(x.dims[axis] - first):
        whole = maximum(x.dims[axis], first)  # the dim itself, unless a part would be negative
        x = ctx.fitted(x, [whole if a == axis else d for a, d in enumerate(x.dims)])
    return x, [*[length] * (count - 1), x.dims[axis] - first]


def _split(
    ctx: Context, x: Tensor, axis: int, lengths: Sequence[IntExpr] | None
) -> tuple[Tensor, ...]:
    axis, count, is_even = axis_of(axis, x.rank), len(ctx.outputs), lengths is None
    if lengths is None:
        lengths = [floordiv(x.dims[axis], IntExpr.of(count))] * count
    total = sum(lengths, ZERO)
    negative = any(n.is_constant and n.offset < 0 for n in lengths)
    apart = total.is_constant and x.dims[axis].is_constant and total != x.dims[axis]
    if len(lengths) != count or negative or apart:
        raise ValueError(f"expected {count} parts of a dim of {x.dims[axis]}, got {_text(lengths)}")
    x = ctx.fitted(x, [total if a == axis else d for a, d in enumerate(x.dims)])
    return tuple(parts(ctx, x, axis, lengths, is_even=is_even))


@converts("Expand")
def expand(ctx: Context, x: Tensor, shape: Tensor) -> Tensor:
    """The tensor broadcast with a shape."""
    return ctx.broadcast(x, broadcast_dims(sizes_of(ctx, shape, "a shape"), x.dims))


@converts("Tile")
def tile_axis(ctx: Context, x: Tensor, tiles: Tensor, axis: Tensor) -> Tensor:
    """The tensor repeated along one axis, before opset 6."""
    counts = [ONE] * x.rank
    counts[axis_of(int(axis.number("an axis")), x.rank)] = size_of(ctx, tiles, "a number of tiles")
    return _tiled(ctx, x, counts)


@converts("Tile", since=6)
def tile(ctx: Context, x: Tensor, repeats: Tensor) -> Tensor:
    """The tensor repeated along each axis."""
    return _tiled(ctx, x, sizes_of(ctx, repeats, "repeats"))


def _tiled(ctx: Context, x: Tensor, repeats: Sequence[IntExpr]) -> Tensor:
    if len(repeats) != x.rank:
        raise ValueError(f"expected {x.rank} repeats, got {_text(repeats)}")
    if all(r == ONE for r in repeats):
        return x
    if all(r.is_constant for r in repeats):
        return ctx.emit("tile", x, repeats=[r.offset for r in repeats])
    pairs = list(zip(repeats, x.dims, strict=True))
    split_dims = [d for _, own in pairs for d in (ONE, own)]
    repeated = ctx.broadcast(ctx.reshape(x, split_dims), [d for pair in pairs for d in pair])
    return ctx.reshape(repeated, [r * d for r, d in pairs])


@converts("DepthToSpace")
def depth_to_space(ctx: Context, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Channels moved to blocks of pixels: depth, column, row, or column, row, depth."""
    if x.rank != 4 or mode not in ("DCR", "CRD"):
        raise ValueError(f"expected 4 dims and mode DCR or CRD, got {x.rank} and {mode}")
    batch, channels, height, width = x.dims
    depth, b = floordiv(channels, IntExpr.of(blocksize**2)), IntExpr.of(blocksize)
    x = ctx.fitted(x, [batch, depth * b * b, height, width])
    if mode == "DCR":
        blocks = ctx.reshape(x, [batch, b, b, depth, height, width])
        moved = ctx.permute(blocks, [0, 3, 4, 1, 5, 2])
    else:
        blocks = ctx.reshape(x, [batch, depth, b, b, height, width])
        moved = ctx.permute(blocks, [0, 1, 4, 2, 5, 3])
    return ctx.reshape(moved, [batch, depth, height * b, width * b])


@converts("SpaceToDepth")
def space_to_depth(ctx: Context, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Blocks of pixels moved to channels."""
    if x.rank != 4 or mode not in ("DCR", "CRD"):
        raise ValueError(f"expected 4 dims and mode DCR or CRD, got {x.rank} and {mode}")
    batch, depth, height, width = x.dims
    b = IntExpr.of(blocksize)
    rows, columns = floordiv(height, b), floordiv(width, b)
    x = ctx.fitted(x, [batch, depth, rows * b, columns * b])
    blocks = ctx.reshape(x, [batch, depth, rows, b, columns, b])
    order = [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4]
    return ctx.reshape(ctx.permute(blocks, order), [batch, depth * b * b, rows, columns])

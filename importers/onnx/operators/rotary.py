"""Rotary embeddings of positions."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.bounds import is_non_negative
from ....dialects.int_expr import ONE, ZERO, IntExpr, maximum
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .attention import HEADS_FIRST, heads_of, joined_heads
from .linear import equal_dim
from .slicing import part


@dataclass(frozen=True)
class Rotation:
    """Cosines and sines ``(batch, length, size / 2)``; numbers of a pair are apart or neighbors."""

    cosines: Tensor
    sines: Tensor
    interleaved: bool

    @staticmethod
    def of(
        ctx: Context, cosines: Tensor, sines: Tensor, positions: Tensor | None, interleaved: int
    ) -> Rotation:
        """The rows of tables ``(positions, size / 2)``, or the tables of all positions."""
        if positions is not None:
            cosines, sines = (ctx.emit("take", t, positions, axis=0) for t in (cosines, sines))
        for table in (cosines, sines):
            if table.rank != 3:
                raise ValueError(f"expected a table of rank 3, got rank {table.rank}")
        return Rotation(cosines, sines, bool(interleaved))

    def rotate(self, ctx: Context, x: Tensor) -> Tensor:
        """Rotate the first numbers of heads ``(batch, length, heads, size)``."""
        batch, length, half = self.cosines.dims
        if batch != ONE:
            batch = equal_dim(x.dims[0], batch)
            x = ctx.fitted(x, [batch, *x.dims[1:]])
        length = equal_dim(x.dims[1], length)
        x = ctx.fitted(x, [x.dims[0], length, *x.dims[2:]])
        cosines, sines = (ctx.fitted(t, [batch, length, half]) for t in (self.cosines, self.sines))
        return Rotation(cosines, sines, self.interleaved)._of_heads(ctx, x)

    def _of_heads(self, ctx: Context, x: Tensor) -> Tensor:
        """The heads, whose dims are those of the tables, or wider ones, which calls check."""
        count = self.cosines.dims[2] * 2
        if not is_non_negative(x.dims[3] - count):
            x = ctx.fitted(x, [*x.dims[:3], maximum(x.dims[3], count)])
        pairs = part(ctx, x, 3, ZERO, count) if x.dims[3] != count else x
        result = self._rotated(ctx, pairs, count)
        rest = x.dims[3] - count
        if rest == ZERO:
            return result
        return ctx.emit("concat", result, part(ctx, x, 3, count, rest), axis=3)

    def _rotated(self, ctx: Context, x: Tensor, count: IntExpr) -> Tensor:
        half, dims = count // IntExpr.of(2), x.dims
        first, second = self._halves(ctx, x, half)
        batch, length, _ = self.cosines.dims
        cosine, sine = (
            Formula(ctx, ctx.reshape(t, [batch, length, ONE, half]))
            for t in (self.cosines, self.sines)
        )
        real = (first * cosine - second * sine).tensor
        imaginary = (first * sine + second * cosine).tensor
        if not self.interleaved:
            return ctx.emit("concat", real, imaginary, axis=3)
        return ctx.reshape(ctx.emit("stack", real, imaginary, axis=4), dims)

    def _halves(self, ctx: Context, x: Tensor, half: IntExpr) -> tuple[Formula, Formula]:
        """The first and second numbers of all pairs."""
        if not self.interleaved:
            pair = (part(ctx, x, 3, start, half) for start in (ZERO, half))
        else:
            pairs = ctx.reshape(x, [*x.dims[:3], half, 2])
            pair = (
                ctx.reshape(part(ctx, pairs, 4, IntExpr.of(n), ONE), pairs.dims[:4]) for n in (0, 1)
            )
        first, second = pair
        return Formula(ctx, first), Formula(ctx, second)


def _rotated_heads(ctx: Context, x: Tensor, rotation: Rotation, count: int | None) -> Tensor:
    """The tensor, whose heads are second or joined, with its heads rotated."""
    rotated = rotation.rotate(ctx, heads_of(ctx, x, count))
    return joined_heads(ctx, rotated) if x.rank == 3 else ctx.permute(rotated, HEADS_FIRST)


@converts("RotaryEmbedding")
def rotary_embedding(
    ctx: Context,
    x: Tensor,
    cosines: Tensor,
    sines: Tensor,
    positions: Tensor | None = None,
    *,
    interleaved: int = 0,
    num_heads: int | None = None,
    rotary_embedding_dim: int = 0,
) -> Tensor:
    """Heads rotated by angles of their positions."""
    rotation = Rotation.of(ctx, cosines, sines, positions, interleaved)
    _require_width(rotation, rotary_embedding_dim)
    return _rotated_heads(ctx, x, rotation, num_heads)


def _require_width(rotation: Rotation, width: int) -> None:
    own = rotation.cosines.dims[2] * 2
    if width and own.is_constant and own.offset != width:
        raise ValueError(f"expected tables for {width} numbers of a head, got {own}")


@converts("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding_of_positions(
    ctx: Context,
    x: Tensor,
    positions: Tensor,
    cosines: Tensor,
    sines: Tensor,
    *,
    interleaved: int = 0,
    is_packed_batching: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
) -> Tensor:
    """Heads rotated by angles of their positions, or of all positions from a first one on."""
    if is_packed_batching or scale != 1:
        raise Unsupported("packed batches, or a scale")
    batch, length = x.dims[0], x.dims[2 if x.rank == 4 else 1]
    if positions.rank == 1:
        positions = all_positions(ctx, positions, batch, length)
    rotation = Rotation.of(ctx, cosines, sines, positions, interleaved)
    _require_width(rotation, rotary_embedding_dim)
    count = num_heads or None
    if count is None and x.rank == 3:
        count = (x.dims[2] // (cosines.dims[1] * 2)).constant
    return _rotated_heads(ctx, x, rotation, count)


def all_positions(ctx: Context, start: Tensor, batch: IntExpr, length: IntExpr) -> Tensor:
    """Positions ``(batch, length)`` from a first one on, one for all or one for each batch."""
    numbers = ctx.emit("arange", start=ZERO, end=length, step=ONE, dtype="int64")
    first = ctx.reshape(ctx.astype(start, "int64"), [start.dims[0], ONE])
    places = Formula(ctx, ctx.reshape(numbers, [ONE, length])) + first
    return ctx.broadcast(places.tensor, [batch, length])

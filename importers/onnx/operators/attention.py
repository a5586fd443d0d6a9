"""Attention: ONNX's operator, and what ONNX Runtime's operators share with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ....dialects.int_expr import ONE, ZERO, IntExpr
from ....dialects.relax.operators.slicing import FAR
from ...unsupported import Unsupported
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor
from ..weights import dtype_of_element
from .linear import equal_dim, matmul
from .slicing import padded

NEVER = -float("inf")
"""What is added to the products of keys that a query does not see."""

HEADS_FIRST = (0, 2, 1, 3)
"""The order of dims in which heads come before positions, or after them."""


@dataclass(frozen=True)
class Heads:
    """Queries ``(batch, queries, heads, size)``, and keys and values of as many or fewer heads."""

    query: Tensor
    key: Tensor
    value: Tensor

    @staticmethod
    def of(ctx: Context, query: Tensor, key: Tensor, value: Tensor) -> Heads:
        """Tensors that fit; dims that are not provably equal are checked on calls."""
        batch = reduce(equal_dim, (t.dims[0] for t in (query, key, value)))
        keys, size = equal_dim(key.dims[1], value.dims[1]), equal_dim(query.dims[3], key.dims[3])
        return Heads(
            ctx.fitted(query, [batch, *query.dims[1:3], size]),
            ctx.fitted(key, [batch, keys, key.dims[2], size]),
            ctx.fitted(value, [batch, keys, key.dims[2], value.dims[3]]),
        )

    @property
    def queries(self) -> IntExpr:
        """The number of queries."""
        return self.query.dims[1]

    @property
    def keys(self) -> IntExpr:
        """The number of keys."""
        return self.key.dims[1]

    @property
    def scores(self) -> list[IntExpr]:
        """The dims of the products of queries and keys."""
        batch, queries, heads, _ = self.query.dims
        return [batch, heads, queries, self.keys]


def heads_of(ctx: Context, x: Tensor, count: int | None) -> Tensor:
    """A tensor of heads ``(batch, heads, length, size)``, or of joined ones, with heads third."""
    if x.rank == 4:
        return ctx.permute(x, HEADS_FIRST)
    if x.rank != 3 or not count or count < 0:
        raise ValueError(f"expected rank 4, or 3 and a number of heads, got rank {x.rank}")
    width = x.dims[2]
    if width.is_constant and width.offset % count:
        raise ValueError(f"expected a width of {count} equal heads, got {width}")
    return ctx.reshape(x, [*x.dims[:2], count, width // IntExpr.of(count)])


def joined_heads(ctx: Context, x: Tensor) -> Tensor:
    """``(batch, length, heads * size)``."""
    batch, length, heads, size = x.dims
    return ctx.reshape(x, [batch, length, heads * size])


def with_past(ctx: Context, past: Tensor | None, x: Tensor) -> tuple[Tensor, Tensor]:
    """A tensor ``(batch, length, heads, size)`` behind past positions; also with heads second."""
    present = ctx.permute(x, HEADS_FIRST)
    if past is None:
        return x, present
    batch, heads, _, size = present.dims
    past = ctx.fitted(past, [batch, heads, past.dims[2], size])
    present = ctx.emit("concat", past, present, axis=2)
    return ctx.permute(present, HEADS_FIRST), present


@dataclass
class Visibility:
    """Which keys the queries see: query `i` is at position ``i + offset`` of the keys.

    `offset` is a size, or a number for each batch. Conditions are broadcast to the products.
    """

    heads: Heads
    offset: IntExpr | Formula
    conditions: list[Formula]

    def _places(self, ctx: Context) -> tuple[Formula, Formula]:
        """The positions of queries, and those of keys."""
        rows = _range(ctx, self.heads.queries, [ONE, ONE, self.heads.queries, ONE])
        return rows + self.offset, _range(ctx, self.heads.keys, [ONE, ONE, ONE, self.heads.keys])

    def hide_later(self, ctx: Context, most: int = 0) -> None:
        """Hide the keys more than `most` positions after a query."""
        queries, keys = self._places(ctx)
        self.conditions.append(keys < queries + (min(most, FAR) + 1))

    def hide_earlier(self, ctx: Context, most: int) -> None:
        """Hide the keys more than `most` positions before a query."""
        queries, keys = self._places(ctx)
        self.conditions.append(queries < keys + (min(most, FAR) + 1))

    def hide_from(self, ctx: Context, counts: Formula) -> None:
        """Hide all but the first keys, so many for each batch."""
        _, keys = self._places(ctx)
        self.conditions.append(keys < counts)

    def causal(self) -> str | None:
        """The name of a causal mask with this offset; `None` if there is none."""
        if self.offset == ZERO:
            return "TopLeft"
        is_last = self.offset == self.heads.keys - self.heads.queries
        return "BottomRight" if is_last else None

    def bias(self, ctx: Context, given: Tensor | None) -> Tensor | None:
        """What is added to the products: a given bias, and for hidden keys `NEVER`."""
        if not self.conditions:
            return given
        seen = reduce(lambda a, b: a & b, self.conditions)
        start = ctx.number(0, self.heads.query.dtype) if given is None else given
        return Formula(ctx, start).where(seen, NEVER).tensor


def _range(ctx: Context, count: IntExpr, dims: Sequence[IntExpr]) -> Formula:
    numbers = ctx.emit("arange", start=ZERO, end=count, step=ONE, dtype="int64")
    return Formula(ctx, ctx.reshape(numbers, dims))


def attend(
    ctx: Context,
    heads: Heads,
    bias: Tensor | None = None,
    causal: str | None = None,
    scale: float | None = None,
    softcap: float = 0.0,
) -> Tensor:
    """Attention: ``(batch, queries, heads, size)``."""
    operands = [heads.query, heads.key, heads.value]
    if bias is not None:
        operands.append(_for_scores(ctx, bias, heads.scores))
    return ctx.emit(
        "nn.attention", *operands, scale=scale, causal_mask=causal, softcap=softcap or None
    )


def _for_scores(ctx: Context, bias: Tensor, scores: Sequence[IntExpr]) -> Tensor:
    """A bias whose dims are those of the products, or 1."""
    if bias.rank > 4:
        raise ValueError(f"expected a mask of rank 4 or less, got rank {bias.rank}")
    own = scores[4 - bias.rank :]
    return ctx.fitted(bias, [d if d == ONE else s for d, s in zip(bias.dims, own, strict=True)])


def widened_mask(ctx: Context, mask: Tensor, keys: IntExpr) -> Tensor:
    """A mask whose last dim has all keys; those that it lacks are hidden."""
    missing = keys - mask.dims[-1]
    if missing == ZERO or mask.dims[-1] == ONE:
        return mask
    fill = ctx.array(False, "bool") if mask.dtype == "bool" else ctx.number(NEVER, mask.dtype)
    after = [*[ZERO] * (mask.rank - 1), missing]
    return padded(ctx, mask, [*[ZERO] * mask.rank, *after], "constant", fill)


@dataclass(frozen=True)
class Steps:
    """The steps of attention one by one, for models that want the products as well."""

    heads: Heads
    bias: Tensor | None
    scale: float | None
    softcap: float
    precision: str

    def run(self, ctx: Context, wanted: int) -> tuple[Tensor, Tensor]:
        """The result, and the products after a number of steps."""
        query, key, value = (
            ctx.permute(t, HEADS_FIRST)
            for t in (self.heads.query, self.heads.key, self.heads.value)
        )
        key, value = (self._repeated(ctx, t) for t in (key, value))
        product = Formula(ctx, matmul(ctx, query, ctx.permute(key, [0, 1, 3, 2])))
        steps = [product * self._factor(ctx)]
        capped = steps[0]
        if self.softcap:
            capped = (capped / self.softcap).apply("tanh") * self.softcap
        steps.append(capped)
        biased = capped if self.bias is None else capped + self.bias
        steps += [biased, self._softmax(biased)]
        result = matmul(ctx, steps[3].tensor, value)
        return ctx.permute(result, HEADS_FIRST), steps[wanted].tensor

    def _factor(self, ctx: Context) -> Formula:
        query = self.heads.query
        if self.scale is not None:
            return Formula(ctx, ctx.number(self.scale, query.dtype))
        size = Formula(ctx, ctx.number(query.dims[3], "float32")).apply("rsqrt")
        return size.to(query.dtype)

    def _repeated(self, ctx: Context, x: Tensor) -> Tensor:
        count = self.heads.query.dims[2]
        if x.dims[1] == count:
            return x
        times = count // x.dims[1]
        if not times.is_constant:
            raise Unsupported("a number of heads that is unknown", "give it as a number")
        return ctx.emit("repeat", x, repeats=times.offset, axis=1)

    def _softmax(self, scores: Formula) -> Formula:
        """The weights of keys, 0 for a query that sees none."""
        ctx, dtype = scores.context, scores.dtype
        weights = scores.to(self.precision).apply("nn.softmax", axis=-1).to(dtype)
        if self.bias is None:
            return weights
        most = Formula(ctx, self.bias).apply("max", axis=[-1], keepdims=True)
        return weights.where(most.differs(NEVER), 0)


@converts("Attention")
def attention(
    ctx: Context,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    counts: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Any:
    """Scaled dot product attention, the keys and values with past ones, and the products."""
    if (past_key is None) != (past_value is None):
        raise ValueError("expected both past keys and past values, got one of them")
    rank, dtype = query.rank, query.dtype
    key, present_key = with_past(ctx, past_key, heads_of(ctx, key, kv_num_heads))
    value, present_value = with_past(ctx, past_value, heads_of(ctx, value, kv_num_heads))
    heads = Heads.of(ctx, heads_of(ctx, query, q_num_heads), key, value)
    seen = _visibility(ctx, heads, past_key, counts)
    steps = ctx.outputs[3:4] == [True]
    causal = seen.causal() if is_causal and not steps else None
    if is_causal and causal is None:
        seen.hide_later(ctx)
    if left_window_size >= 0:
        seen.hide_earlier(ctx, left_window_size)
    if right_window_size >= 0:
        seen.hide_later(ctx, right_window_size)
    bias = _masked(ctx, seen, mask)
    if steps:
        precision = dtype if softmax_precision is None else dtype_of_element(softmax_precision)
        parts = Steps(heads, bias, scale, softcap, precision)
        result, products = parts.run(ctx, qk_matmul_output_mode)
    else:
        result, products = attend(ctx, heads, bias, causal, scale, softcap), None
    result = joined_heads(ctx, result) if rank == 3 else ctx.permute(result, HEADS_FIRST)
    return result, present_key, present_value, products


def _visibility(
    ctx: Context, heads: Heads, past: Tensor | None, counts: Tensor | None
) -> Visibility:
    """Where queries stand among the keys: behind past ones, or at the end of the valid ones."""
    if counts is None:
        return Visibility(heads, ZERO if past is None else past.dims[2], [])
    if past is not None:
        raise ValueError("expected past keys or a number of valid keys, got both")
    valid = ctx.reshape(ctx.astype(counts, "int64"), [heads.scores[0], ONE, ONE, ONE])
    seen = Visibility(heads, Formula(ctx, valid) - heads.queries, [])
    seen.hide_from(ctx, Formula(ctx, valid))
    return seen


def _masked(ctx: Context, seen: Visibility, mask: Tensor | None) -> Tensor | None:
    """What is added to the products: a mask of numbers, and for keys that are hidden `NEVER`."""
    if mask is None:
        return seen.bias(ctx, None)
    added = mask if mask.dtype == "bool" else ctx.astype(mask, seen.heads.query.dtype)
    added = widened_mask(ctx, added, seen.heads.keys)
    if added.dtype != "bool":
        return seen.bias(ctx, added)
    seen.conditions.append(Formula(ctx, added))
    return seen.bias(ctx, None)

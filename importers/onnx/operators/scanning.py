"""Indices of extrema, cumulative sums and products, and the largest elements along an axis."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects.int_expr import IntExpr
from ..context import Context
from ..data_sizes import size_of
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor, axis_of


def _argument(operator: str) -> Callable[..., Tensor]:
    def convert(
        ctx: Context, x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Tensor:
        if not x.rank:
            return ctx.number(0, "int64")
        place = axis_of(axis, x.rank)
        data = ctx.emit("flip", x, axis=[place]) if select_last_index else x
        found = ctx.emit(operator, data, axis=place, keepdims=bool(keepdims))
        if not select_last_index:
            return found
        return (-Formula(ctx, found) + (x.dims[place] - 1)).tensor

    return convert


for _name, _operator in {"ArgMax": "argmax", "ArgMin": "argmin"}.items():
    converts(_name)(_argument(_operator))


def _cumulative(operator: str) -> Callable[..., Tensor]:
    def convert(
        ctx: Context, x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0
    ) -> Tensor:
        place = axis_of(int(axis.number("an axis")), x.rank)
        data = ctx.emit("flip", x, axis=[place]) if reverse else x
        found = ctx.emit(operator, data, axis=place, exclusive=bool(exclusive))
        return ctx.emit("flip", found, axis=[place]) if reverse else found

    return convert


for _name, _operator in {"CumSum": "cumsum", "CumProd": "cumprod"}.items():
    converts(_name)(_cumulative(_operator))


@converts("TopK")
def top_k_of_number(ctx: Context, x: Tensor, *, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along an axis, and their indices."""
    return top_k(ctx, x, ctx.array(k, "int64"), axis=axis)


@converts("TopK", since=10)
def top_k(
    ctx: Context, x: Tensor, k: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Tensor, Tensor]:
    """The largest or smallest elements along an axis in order, and their indices."""
    place, count = axis_of(axis, x.rank), size_of(ctx, k, "k")
    if count.is_constant and count.offset < 0:
        raise ValueError(f"expected k of at least 0, got {count}")
    if count.is_constant and count.offset > 0:
        values, indices = ctx.emit_fields(
            "topk", x, k=count.offset, axis=place, largest=bool(largest), dtype="int64"
        )
        return values, indices
    return _first_of_sorted(ctx, x, count, place, bool(largest))


def _first_of_sorted(
    ctx: Context, x: Tensor, count: IntExpr, axis: int, largest: bool
) -> tuple[Tensor, Tensor]:
    order = ctx.emit("argsort", x, axis=axis, descending=largest, dtype="int64")
    indices = ctx.emit("strided_slice", order, axes=[axis], begin=[0], end=[count])
    dims = [count if a == axis else d for a, d in enumerate(x.dims)]
    indices = ctx.fitted(indices, dims)
    return ctx.emit("gather_elements", x, indices, axis=axis), indices

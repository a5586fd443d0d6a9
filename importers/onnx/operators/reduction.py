"""Reductions over axes, which are an attribute in old opsets and an input in new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ....dialects.dtypes import FLOATS, integer_range
from ....dialects.int_expr import ONE, ZERO
from ..context import Context
from ..formula import Formula
from ..registry import converts
from ..tensor import Tensor, axes_of

Reduction: TypeAlias = Callable[[Formula, list[int], bool], Formula]
"""A reduction of a formula over axes, which are kept as dims of 1 or not; axes may be none."""


class AllAxes(list[int]):
    """The axes of a reduction that has none as an attribute or an input."""


def folded(operator: str) -> Reduction:
    """A reduction that is an operator, and keeps the dtype."""

    def reduce(x: Formula, axes: list[int], keepdims: bool) -> Formula:
        if not axes:
            return x
        given = None if isinstance(axes, AllAxes) else axes
        return x.apply(operator, axis=given, keepdims=keepdims).to(x.dtype)

    return reduce


total, product = folded("sum"), folded("prod")


def extremum(operator: str) -> Reduction:
    """The largest or smallest element, or the identity of an empty set."""

    def reduce(x: Formula, axes: list[int], keepdims: bool) -> Formula:
        dims = x.tensor.dims
        if not any(dims[a] == ZERO for a in axes):
            return folded(operator)(x, axes, keepdims)
        kept = [ONE if a in axes else d for a, d in enumerate(dims) if keepdims or a not in axes]
        identity = x.context.number(_identity(operator, x.dtype), x.dtype)
        return Formula(x.context, x.context.broadcast(identity, kept))

    return reduce


def _identity(operator: str, dtype: str) -> float:
    if dtype in FLOATS:
        return -float("inf") if operator == "max" else float("inf")
    low, high = integer_range(dtype)
    return low if operator == "max" else high


largest = extremum("max")


def mean(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The mean; of integers in float64, rounded towards 0."""
    if x.dtype in FLOATS:
        return folded("mean")(x, axes, keepdims)
    return folded("mean")(x.to("float64"), axes, keepdims).to(x.dtype)


def absolute_sum(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The sum of absolute values."""
    return total(x.apply("abs"), axes, keepdims)


def square_sum(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The sum of squares."""
    wide = Formula.wide(x.context, x.tensor)
    return total(wide * wide, axes, keepdims)


def norm(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The square root of the sum of squares."""
    return square_sum(_float(x), axes, keepdims).apply("sqrt")


def log_sum(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The logarithm of the sum."""
    return total(_float(x), axes, keepdims).apply("log")


def log_sum_exp(x: Formula, axes: list[int], keepdims: bool) -> Formula:
    """The logarithm of the sum of exponentials, which does not overflow."""
    x = _float(x)
    top = largest(x, axes, True)
    finite = top.where(top.apply("isfinite"), 0)
    found = total((x - finite).apply("exp"), axes, keepdims).apply("log")
    return found + x.context.reshape(finite.tensor, found.tensor.dims)


def _float(x: Formula) -> Formula:
    return Formula.wide(x.context, x.tensor) if x.dtype in FLOATS else x.to("float64")


def converted(
    reduction: Reduction, ctx: Context, data: Tensor, axes: Sequence[int] | None, keepdims: int
) -> Tensor:
    """A reduction over all axes, or those that are given, in the dtype of the data."""
    every = AllAxes(range(data.rank))
    chosen = every if axes is None else sorted(axes_of(axes, data.rank))
    found = reduction(Formula(ctx, data), chosen if data.rank else [], bool(keepdims))
    return ctx.astype(found.tensor, data.dtype)


def _by_attribute(reduction: Reduction) -> Callable[..., Tensor]:
    def convert(
        ctx: Context, data: Tensor, *, axes: Sequence[int] | None = None, keepdims: int = 1
    ) -> Tensor:
        return converted(reduction, ctx, data, axes, keepdims)

    return convert


def _by_input(reduction: Reduction) -> Callable[..., Tensor]:
    def convert(
        ctx: Context,
        data: Tensor,
        axes: Tensor | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:
        chosen: Any = None if axes is None else axes.ints("axes of a reduction")
        if not chosen:
            chosen = [] if noop_with_empty_axes else None
        return converted(reduction, ctx, data, chosen, keepdims)

    return convert


REDUCTIONS: dict[str, Reduction] = {
    "ReduceL1": absolute_sum,
    "ReduceL2": norm,
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": largest,
    "ReduceMean": mean,
    "ReduceMin": extremum("min"),
    "ReduceProd": product,
    "ReduceSum": total,
    "ReduceSumSquare": square_sum,
}

for _name, _reduction in REDUCTIONS.items():
    converts(_name)(_by_attribute(_reduction))
    converts(_name, since=13 if _name == "ReduceSum" else 18)(_by_input(_reduction))

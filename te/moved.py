"""Tensors whose elements are those of another one at other indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects.bounds import interval_of, is_non_negative, simplify
from ..dialects.index_map import IndexExprs, ranges_of_dims
from ..dialects.int_expr import Arg, Atom, IntExpr, arg
from ..lowering.schedule.index_map import IndexMap
from .arithmetic import const, dim_expr, index_value
from .intrinsics import if_then_else
from .tensor import Tensor, compute, shape_of


def moved(
    tensor: Tensor,
    index_map: IndexExprs,
    pad: int | float = 0,
    shape: Sequence[IntExpr] | None = None,
) -> Tensor:
    """The tensor with the element at each index ``i`` of `tensor` at ``index_map(i)``.

    `shape` is by default the smallest that holds all new indices; other elements are `pad`. Raises
    ValueError for maps that are not injective.
    """
    forward = IndexMap(index_map.names, index_map.results)
    old = [dim_expr(d) for d in tensor.shape]
    new = forward.shape(old) if shape is None else list(shape)
    inverse, ranges = forward.inverse(old), ranges_of_dims(new)
    places = [arg(i) for i in range(len(new))]
    conditions: list[tuple[IntExpr, IntExpr]] = []
    for lhs, rhs in forward.conditions(inverse, places, old):
        span = interval_of(simplify(rhs - lhs - 1, ranges), ranges)
        if span is None or not is_non_negative(span.lower):
            conditions.append((simplify(lhs, ranges), simplify(rhs, ranges)))

    def element(*i: Any) -> Any:
        value: Any = tensor(*(_value(simplify(e, ranges), i) for e in inverse.results))
        for lhs, rhs in conditions:
            test = _value(lhs, i) < _value(rhs, i)
            value = if_then_else(test, value, const(pad, tensor.dtype))
        return value

    return compute(shape_of(new), element, name="T_layout_trans")


def _value(expr: IntExpr, indices: Sequence[Any]) -> Any:
    """The value of an index expression on tensor expressions."""

    def value(atom: Atom) -> Any:
        return indices[atom.index] if isinstance(atom, Arg) else index_value(IntExpr.of(atom))

    return expr.evaluate(value)

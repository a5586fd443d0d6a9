"""The order of a tensor's axes in memory, as `convert-layout` tracks it.

An order has the original axis at each place: ``(0, 2, 3, 1)`` is NHWC of a tensor that was NCHW.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects import relax

AxisOrder: TypeAlias = tuple[int, ...]
"""The original axis at each place."""

Orders: TypeAlias = "AxisOrder | list[Orders] | None"
"""The order of a tensor, `None` for an unknown rank, or those of the fields of a tuple."""


def original_order(rank: int) -> AxisOrder:
    """The order of a tensor that was not permuted."""
    return tuple(range(rank))


def original_orders(type_: Attribute) -> Orders:
    """The orders of a value that was not permuted."""
    if isinstance(type_, TupleType):
        return [original_orders(field) for field in type_.types.data]
    if isinstance(type_, relax.TensorType) and type_.rank is not None:
        return original_order(type_.rank)
    return None


def order_between(layout: str, wanted: str) -> AxisOrder:
    """The order of a tensor of one layout that gets another one.

    Raises ValueError if the letters are not the same.
    """
    if sorted(layout) != sorted(wanted) or len(set(layout)) != len(layout):
        raise ValueError(f"expected a permutation of layout {layout}, got {wanted}")
    return tuple(layout.index(letter) for letter in wanted)


def reordered_layout(layout: str, order: AxisOrder) -> str:
    """The layout of a tensor of `layout` in another order: NHWC for NCHW and ``(0, 2, 3, 1)``."""
    return "".join(layout[axis] for axis in order)


def permutation(old: AxisOrder, new: AxisOrder) -> list[int]:
    """The axes of ``permute_dims`` from one order to another."""
    return [old.index(axis) for axis in new]


def place_of(order: AxisOrder, axis: int) -> int:
    """Where an original axis is."""
    return order.index(axis % len(order))


def places_of(order: AxisOrder, axes: Iterable[int]) -> list[int]:
    """Where original axes are."""
    return [place_of(order, axis) for axis in axes]


def without_axes(order: AxisOrder, removed: Sequence[int]) -> AxisOrder:
    """The order of what is left of a tensor without some of its original axes."""
    gone = {axis % len(order) for axis in removed}
    number = {axis: i for i, axis in enumerate(a for a in range(len(order)) if a not in gone)}
    return tuple(number[axis] for axis in order if axis not in gone)


def with_new_axes(order: AxisOrder, places: Sequence[int]) -> AxisOrder:
    """The order of a tensor with new axes at these places of the result."""
    rank = len(order) + len(places)
    new = {place % rank for place in places}
    old = [place for place in range(rank) if place not in new]
    own = iter(old[axis] for axis in order)
    return tuple(place if place in new else next(own) for place in range(rank))


def widened(order: AxisOrder, rank: int) -> AxisOrder:
    """The order of a larger rank that a broadcast operand of this order has in its last axes."""
    more = rank - len(order)
    return (*range(more), *(axis + more for axis in order))

"""The order of a tensor's axes in memory, as `convert-layout` tracks it.

An order has the original axis at each place: ``(0, 2, 3, 1)`` is NHWC of a tensor that was NCHW. An
axis may be split, with the inner part elsewhere: ``(0, 1, 2, 3, Block(1, 4))`` is NCHW4c.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...dialects import relax
from ...dialects.index_map import IndexExprs
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.layouts import axes_of


class Block(NamedTuple):
    """The inner part of an original axis that is split."""

    axis: int
    size: int


AxisOrder: TypeAlias = "tuple[int | Block, ...]"
"""The original axis, or the inner part of one, at each place."""

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


def rank_of(order: AxisOrder) -> int:
    """The original rank."""
    return sum(isinstance(entry, int) for entry in order)


def block_sizes(order: AxisOrder) -> dict[int, int]:
    """The sizes of the inner parts by axis."""
    return {e.axis: e.size for e in order if isinstance(e, Block)}


def axis_of(entry: int | Block) -> int:
    """The original axis of an entry."""
    return entry.axis if isinstance(entry, Block) else entry


def divides(order: AxisOrder, dims: Sequence[IntExpr] | None) -> bool:
    """Whether the sizes of inner parts divide original dims."""
    sizes = block_sizes(order)
    if not sizes:
        return True
    if dims is None:
        return False
    known = [(dims[axis].constant, size) for axis, size in sizes.items()]
    return all(dim is not None and dim % size == 0 for dim, size in known)


def ordered_dims(order: AxisOrder, dims: Sequence[IntExpr]) -> list[IntExpr]:
    """The dims of a tensor in an order whose inner parts divide the original ones."""
    sizes = block_sizes(order)
    return [
        IntExpr.of(entry.size) if isinstance(entry, Block) else dims[entry] // sizes.get(entry, 1)
        for entry in order
    ]


def order_between(layout: str, wanted: str) -> AxisOrder:
    """The order of a tensor of one layout, without blocks, that gets another one.

    Raises ValueError if the letters are not the same.
    """
    axes, letters = axes_of(wanted), [axis.letter for axis in axes_of(layout)]
    own = [axis.letter for axis in axes if axis.block is None]
    if sorted(own) != sorted(letters) or len(set(letters)) < len(letters):
        raise ValueError(f"expected a permutation of layout {layout}, got {wanted}")
    places = [(letters.index(axis.letter), axis.block) for axis in axes]
    return tuple(axis if size is None else Block(axis, size) for axis, size in places)


def reordered_layout(layout: str, order: AxisOrder) -> str:
    """The layout of a tensor of `layout` in another order: NHWC for NCHW and ``(0, 2, 3, 1)``."""
    return "".join(
        f"{entry.size}{layout[entry.axis].lower()}" if isinstance(entry, Block) else layout[entry]
        for entry in order
    )


def permutation(old: AxisOrder, new: AxisOrder) -> list[int] | None:
    """The axes of ``permute_dims`` from one order to another; `None` if axes are split."""
    if block_sizes(old) != block_sizes(new):
        return None
    return [old.index(entry) for entry in new]


def index_map(old: AxisOrder, new: AxisOrder) -> IndexExprs:
    """The map of ``layout_transform`` from one order to another."""

    def moved(indices: Sequence[IntExpr]) -> list[IntExpr]:
        sizes = block_sizes(old)
        at = dict(zip(old, indices, strict=True))
        whole = {
            axis: at[axis] * sizes[axis] + at[Block(axis, sizes[axis])] if axis in sizes else index
            for axis, index in at.items()
            if isinstance(axis, int)
        }
        wanted = block_sizes(new)
        return [
            whole[entry.axis] % entry.size
            if isinstance(entry, Block)
            else whole[entry] // wanted.get(entry, 1)
            for entry in new
        ]

    return IndexExprs.of(moved, len(old))


def place_of(order: AxisOrder, axis: int) -> int:
    """Where an original axis is, or its outer part."""
    return order.index(axis % rank_of(order))


def places_of(order: AxisOrder, axes: Iterable[int]) -> list[int]:
    """Where original axes are."""
    return [place_of(order, axis) for axis in axes]


def all_places_of(order: AxisOrder, axes: Iterable[int]) -> list[int]:
    """Where original axes are, with their inner parts, in order of place."""
    wanted = {axis % rank_of(order) for axis in axes}
    return [place for place, entry in enumerate(order) if axis_of(entry) in wanted]


def without_axes(order: AxisOrder, removed: Sequence[int]) -> AxisOrder:
    """The order of what is left of a tensor without some of its original axes."""
    rank = rank_of(order)
    gone = {axis % rank for axis in removed}
    number = {axis: i for i, axis in enumerate(a for a in range(rank) if a not in gone)}
    return tuple(
        Block(number[entry.axis], entry.size) if isinstance(entry, Block) else number[entry]
        for entry in order
        if axis_of(entry) not in gone
    )


def with_new_axes(order: AxisOrder, places: Sequence[int]) -> AxisOrder:
    """The order of a tensor that is not split, with new axes at these places of the result."""
    rank = len(order) + len(places)
    new = {place % rank for place in places}
    old = [place for place in range(rank) if place not in new]
    own = iter(old[axis_of(entry)] for entry in order)
    return tuple(place if place in new else next(own) for place in range(rank))


def widened(order: AxisOrder, rank: int) -> AxisOrder:
    """The order of a larger rank that a broadcast operand of this order has in its last axes."""
    more = rank - rank_of(order)
    return (
        *range(more),
        *(Block(e.axis + more, e.size) if isinstance(e, Block) else e + more for e in order),
    )

"""Places in buffers: whether two accesses are to the same elements, or provably disjoint."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ...dialects import loops
from ...dialects.int_expr import IntExpr
from ...dialects.sym import exprs_of
from ..scope import Scope

Access: TypeAlias = "loops.LoadOp | loops.StoreOp"


@dataclass(frozen=True)
class Place:
    """An element of a buffer, or a vector of elements, with its mask."""

    buffer: SSAValue
    indices: tuple[IntExpr, ...]
    type: Attribute
    mask: SSAValue | IntExpr | None
    """The mask, or how many first lanes it has."""

    @property
    def lanes(self) -> int:
        """How many elements the place has."""
        return self.type.get_shape()[0] if isa(self.type, VectorType) else 1


def place_of(op: Access, scope: Scope) -> Place:
    """The place that a load or store accesses, over the values of `scope`."""
    type_ = op.result.type if isinstance(op, loops.LoadOp) else op.value.type
    indices = tuple(scope.exprs(exprs_of(op.indices), op.operands_))
    return Place(op.buffer, indices, type_, _mask_of(op.mask, scope))


def _mask_of(mask: SSAValue | None, scope: Scope) -> SSAValue | IntExpr | None:
    made = None if mask is None else mask.owner
    if isinstance(made, loops.MaskOp):
        return scope.expr(made.active.data, made.operands)
    return mask


def are_disjoint(places: Collection[Place]) -> bool:
    """Whether all of these places of one buffer are provably disjoint.

    They must differ by constants only, as in ``[%i * 4, %j]`` and ``[%i * 4 + 1, %j]``.
    """
    if len({tuple(i - i.offset for i in p.indices) for p in places}) > 1:
        return False
    rows: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for place in places:
        *row, column = (i.offset for i in place.indices) if place.indices else (0,)
        rows.setdefault(tuple(row), []).append((column, place.lanes))
    return all(_are_apart(sorted(spans)) for spans in rows.values())


def _are_apart(spans: list[tuple[int, int]]) -> bool:
    pairs = pairwise(spans)
    return all(start + lanes <= following for (start, lanes), (following, _) in pairs)

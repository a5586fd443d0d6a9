"""How operators follow the order of their operands' axes: one rule for each family.

A rule gets the orders that the operands have, and returns those that the operator reads, the order
of its result, and its attributes then. Operators without a rule read and give the original order,
and so do those of split axes unless their rule is in `SPLIT_RULES`. TVM's ``FRelaxInferLayout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import TupleType

from ...dialects.relax.operators.activation import NormalizedExponentialOp, PreluOp
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.batch_norm import BatchNormOp
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp, EwiseFMAOp
from ...dialects.relax.operators.indexing import GatherElementsOp
from ...dialects.relax.operators.joining import ConcatOp, SplitOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.manipulation import FlipOp, PermuteDimsOp
from ...dialects.relax.operators.normalization import (
    AffineNormOp,
    GroupNormOp,
    InstanceNormOp,
    RMSNormOp,
)
from ...dialects.relax.operators.pooling import PoolOp
from ...dialects.relax.operators.reduction import ReductionOp
from ...dialects.relax.operators.repetition import RepeatOp, TileOp
from ...dialects.relax.operators.resizing import ResizeOp
from ...dialects.relax.operators.scattering import ScatterElementsOp
from ...dialects.relax.operators.selection import ClipOp
from ...dialects.relax.operators.slicing import StridedSliceOp
from ...dialects.relax.operators.unary import ElementFunctionOp
from ...dialects.relax.operators.unit_dims import ExpandDimsOp, SqueezeOp
from ...dialects.relax.types import TensorType
from .axis_orders import (
    AxisOrder,
    Orders,
    all_places_of,
    axis_of,
    block_sizes,
    divides,
    original_order,
    place_of,
    places_of,
    rank_of,
    widened,
    with_new_axes,
    without_axes,
)
from .graph_builder import dims_of
from .order_following import Following, Rule, fits, own_order
from .window_order_rules import convolution, pool, resize


def _elementwise(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    return Following(orders[:1], orders[0], attributes)


def _binary(
    op: BinaryElementwiseOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following | None:
    """The operand of fewer axes decides, but for a scalar; if they have as many, the first.

    Of operands of one rank, one with split axes decides if the other can be split too.
    """
    lhs, rhs = orders
    ranks = [rank_of(lhs), rank_of(rhs)]
    if ranks[0] == ranks[1] and (block_sizes(lhs) or block_sizes(rhs)):
        order, other = (lhs, op.rhs) if len(lhs) >= len(rhs) else (rhs, op.lhs)
        return Following([order, order], order, attributes) if fits(order, other) else None
    if ranks[0] <= ranks[1]:
        wide = widened(lhs, ranks[1]) if lhs else rhs
        return Following([lhs, wide], wide, attributes)
    wide = widened(rhs, ranks[0]) if rhs else lhs
    return Following([wide, rhs], wide, attributes)


def _fma(op: EwiseFMAOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following | None:
    order = orders[1] if orders[1] == orders[2] else orders[0]
    if not all(fits(order, value) for value in op.operands):
        return None
    return Following([order] * 3, order, attributes)


def _concat(op: ConcatOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following | None:
    """The first order with split axes if all operands can have it; else the first without them."""
    plain = [order for order in orders if not block_sizes(order)]
    split = next((order for order in orders if block_sizes(order)), None)
    order = split
    if split is None or not all(fits(split, value) for value in op.operands):
        order = plain[0] if plain else None
    if order is None:
        return None
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order] * len(orders), order, moved)


def _split(op: SplitOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following | None:
    (order,) = orders
    assert isinstance(op.result.type, TupleType)
    types = [t for t in op.result.type.types.data if isinstance(t, TensorType)]
    is_cut = attributes["axis"] % rank_of(order) in block_sizes(order)
    if is_cut and not isinstance(attributes["indices_or_sections"], int):
        return None  # the indices would count blocks
    if not all(divides(order, t.dims) for t in types):
        return None
    fields = list[Orders]([order]) * len(op.result.type.types.data)
    return Following(orders, fields, attributes | {"axis": place_of(order, attributes["axis"])})


def _along_axis(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    """The first operand's order; the others, along the axis, have their own."""
    order, *others = orders
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order, *map(own_order, others)], order, moved)


def _batch_norm(op: BatchNormOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    found = _along_axis(op, orders, attributes)
    return Following(found.operands, [orders[0], *found.operands[3:]], found.attributes)


def _norm(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following | None:
    order, *others = orders
    own = [
        *attributes["axes"],
        *([attributes["channel_axis"]] if "channel_axis" in attributes else []),
    ]
    if any(axis % rank_of(order) in block_sizes(order) for axis in own):
        return None
    moved = attributes | {"axes": places_of(order, attributes["axes"])}
    if isinstance(op, GroupNormOp | InstanceNormOp):
        moved["channel_axis"] = place_of(order, attributes["channel_axis"])
    return Following([order, *map(own_order, others)], order, moved)


def _reduction(
    op: ReductionOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following | None:
    (order,), rank = orders, rank_of(orders[0])
    given = cast("Sequence[int] | None", attributes["axis"])
    axes = [a % rank for a in (range(rank) if given is None else given)]
    if attributes["keepdims"] and any(axis in block_sizes(order) for axis in axes):
        return None  # a dim of 1 cannot be split
    result = order if attributes["keepdims"] else without_axes(order, axes)
    return Following(orders, result, attributes | {"axis": all_places_of(order, axes)})


def _permute_dims(
    op: PermuteDimsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    (order,) = orders
    axes = places_of(order, op.order(len(order), attributes))
    return Following(orders, original_order(len(order)), attributes | {"axes": axes})


def _expand_dims(
    op: ExpandDimsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    return Following(orders, with_new_axes(orders[0], attributes["axis"]), attributes)


def _squeeze(
    op: SqueezeOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following | None:
    (order,), dims = orders, dims_of(op.operands[0])
    if dims is None:
        return None
    axes = op.removed(dims, attributes["axis"])
    moved = attributes | {"axis": sorted(places_of(order, axes))}
    return Following(orders, without_axes(order, axes), moved)


def _axes(name: str) -> Rule:
    """The rule of an operator of one tensor with a list of axes."""

    def rule(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
        moved = attributes | {name: places_of(orders[0], attributes[name])}
        return Following(orders, orders[0], moved)

    return rule


def _repeat(op: RepeatOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following | None:
    # The elements of a flattened tensor have their original order.
    return None if attributes["axis"] is None else _along_axis(op, orders, attributes)


def _tile(op: TileOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    (order,), repeats = orders, cast("Sequence[int]", attributes["repeats"])
    rank = len(order)
    full = [1] * (rank - len(repeats)) + list(repeats)
    own = full[len(full) - rank :]
    moved = [*full[: len(full) - rank], *(own[axis_of(entry)] for entry in order)]
    return Following(orders, widened(order, len(full)), attributes | {"repeats": moved})


def _gather_elements(
    op: GatherElementsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, indices = orders
    order = indices if data == own_order(data) else data
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order, order], order, moved)


def _scatter_elements(
    op: ScatterElementsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, indices, updates = orders
    order = indices if indices == updates else data
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order] * 3, order, moved)


RULES: dict[type[OperatorOp], Rule] = {
    AffineNormOp: _norm,
    AstypeOp: _elementwise,
    BatchNormOp: _batch_norm,
    BinaryElementwiseOp: _binary,
    ClipOp: _elementwise,
    ConcatOp: _concat,
    ConvolutionOp: convolution,
    ElementFunctionOp: _elementwise,
    EwiseFMAOp: _fma,
    ExpandDimsOp: _expand_dims,
    FlipOp: _axes("axis"),
    GatherElementsOp: _gather_elements,
    NormalizedExponentialOp: _along_axis,
    PermuteDimsOp: _permute_dims,
    PoolOp: pool,
    PreluOp: _along_axis,
    RMSNormOp: _norm,
    ReductionOp: _reduction,
    RepeatOp: _repeat,
    ResizeOp: resize,
    ScatterElementsOp: _scatter_elements,
    SplitOp: _split,
    SqueezeOp: _squeeze,
    StridedSliceOp: _axes("axes"),
    TileOp: _tile,
}
"""The rules by class of operators."""

SPLIT_RULES: tuple[Rule, ...] = (
    _binary,
    _concat,
    convolution,
    _elementwise,
    _fma,
    _norm,
    pool,
    _reduction,
    _split,
)
"""The rules that know what to do with split axes."""


def following(op: OperatorOp, orders: list[AxisOrder]) -> Following | None:
    """How an operator follows its operands, which have these orders; `None` if it does not."""
    rule = next((rule for kind, rule in RULES.items() if isinstance(op, kind)), None)
    if rule is None or not has_plain_layouts(op):
        return None
    if any(map(block_sizes, orders)) and rule not in SPLIT_RULES:
        return None
    found = rule(op, orders, op.attribute_values())
    return found if found is not None and _exists(op, found) else None


def _exists(op: OperatorOp, found: Following) -> bool:
    """Whether the operator has the layouts that it would follow with."""
    try:
        op.encode(found.attributes)
    except ValueError:
        return False
    return True

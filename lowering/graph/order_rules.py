"""How operators follow the order of their operands' axes: one rule for each family.

A rule gets the orders that the operands have, and returns those that the operator reads, the order
of its result, and its attributes then. Operators without a rule read and give the original order.
TVM's ``FRelaxInferLayout``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import TupleType

from ...dialects.int_expr import ONE
from ...dialects.relax.operators.activation import NormalizedExponentialOp, PreluOp
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.batch_norm import BatchNormOp
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp, EwiseFMAOp
from ...dialects.relax.operators.indexing import GatherElementsOp
from ...dialects.relax.operators.joining import ConcatOp, SplitOp
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
from ...dialects.relax.operators.reshaping import ExpandDimsOp, SqueezeOp
from ...dialects.relax.operators.resizing import ResizeOp
from ...dialects.relax.operators.scattering import ScatterElementsOp
from ...dialects.relax.operators.selection import ClipOp
from ...dialects.relax.operators.slicing import StridedSliceOp
from ...dialects.relax.operators.unary import ElementFunctionOp
from .axis_orders import (
    AxisOrder,
    Orders,
    order_between,
    original_order,
    place_of,
    places_of,
    reordered_layout,
    widened,
    with_new_axes,
    without_axes,
)
from .graph_builder import dims_of


@dataclass(frozen=True)
class Following:
    """An operator that follows its operands."""

    operands: list[AxisOrder]
    """The orders that it reads."""

    result: Orders
    attributes: dict[str, Any]


Rule: TypeAlias = "Callable[[Any, list[AxisOrder], dict[str, Any]], Following | None]"


def _elementwise(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    return Following(orders[:1], orders[0], attributes)


def _binary(
    op: BinaryElementwiseOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    """The operand of fewer axes decides, but for a scalar; if they have as many, the first."""
    lhs, rhs = orders
    if len(lhs) <= len(rhs):
        wide = widened(lhs, len(rhs)) if lhs else rhs
        return Following([lhs, wide], wide, attributes)
    wide = widened(rhs, len(lhs)) if rhs else lhs
    return Following([wide, rhs], wide, attributes)


def _fma(op: EwiseFMAOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    order = orders[1] if orders[1] == orders[2] else orders[0]
    return Following([order] * 3, order, attributes)


def _concat(op: ConcatOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    order, axis = orders[0], place_of(orders[0], attributes["axis"])
    return Following([order] * len(orders), order, attributes | {"axis": axis})


def _split(op: SplitOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    (order,) = orders
    assert isinstance(op.result.type, TupleType)
    fields = list[Orders]([order]) * len(op.result.type.types.data)
    return Following(orders, fields, attributes | {"axis": place_of(order, attributes["axis"])})


def _along_axis(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    """The first operand's order; the others, along the axis, have their own."""
    order, *others = orders
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order, *map(_own, others)], order, moved)


def _own(order: AxisOrder) -> AxisOrder:
    return original_order(len(order))


def _batch_norm(op: BatchNormOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    found = _along_axis(op, orders, attributes)
    return Following(found.operands, [orders[0], *found.operands[3:]], found.attributes)


def _norm(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    order, *others = orders
    moved = attributes | {"axes": places_of(order, attributes["axes"])}
    if isinstance(op, GroupNormOp | InstanceNormOp):
        moved["channel_axis"] = place_of(order, attributes["channel_axis"])
    return Following([order, *map(_own, others)], order, moved)


def _reduction(op: ReductionOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    (order,) = orders
    axes = cast("Sequence[int] | None", attributes["axis"])
    axes = range(len(order)) if axes is None else axes
    result = order if attributes["keepdims"] else without_axes(order, axes)
    return Following(orders, result, attributes | {"axis": sorted(places_of(order, axes))})


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
    axes = cast("Sequence[int] | None", attributes["axis"])
    if axes is None:
        if dims is None:
            return None
        axes = [axis for axis, dim in enumerate(dims) if dim == ONE]
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
    moved = [*full[: len(full) - rank], *(own[axis] for axis in order)]
    return Following(orders, widened(order, len(full)), attributes | {"repeats": moved})


def _gather_elements(
    op: GatherElementsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, indices = orders
    order = indices if data == _own(data) else data
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order, order], order, moved)


def _scatter_elements(
    op: ScatterElementsOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, indices, updates = orders
    order = indices if indices == updates else data
    moved = attributes | {"axis": place_of(order, attributes["axis"])}
    return Following([order] * 3, order, moved)


def _convolution(
    op: ConvolutionOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, kernel, out = op.layouts(attributes)
    layouts = [reordered_layout(t, o) for t, o in zip((data, kernel), orders, strict=True)]
    return with_layouts(op, [*layouts, reordered_layout(out, orders[0])], attributes)


def _pool(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    (order,) = orders
    layout = reordered_layout(attributes["layout"], order)
    out = reordered_layout(attributes["out_layout"] or attributes["layout"], order)
    return Following(orders, order, attributes | {"layout": layout, "out_layout": out})


def _resize(op: ResizeOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    return with_layouts(op, [reordered_layout(attributes["layout"], orders[0])], attributes)


RULES: dict[type[OperatorOp], Rule] = {
    AffineNormOp: _norm,
    AstypeOp: _elementwise,
    BatchNormOp: _batch_norm,
    BinaryElementwiseOp: _binary,
    ClipOp: _elementwise,
    ConcatOp: _concat,
    ConvolutionOp: _convolution,
    ElementFunctionOp: _elementwise,
    EwiseFMAOp: _fma,
    ExpandDimsOp: _expand_dims,
    FlipOp: _axes("axis"),
    GatherElementsOp: _gather_elements,
    NormalizedExponentialOp: _along_axis,
    PermuteDimsOp: _permute_dims,
    PoolOp: _pool,
    PreluOp: _along_axis,
    RMSNormOp: _norm,
    ReductionOp: _reduction,
    RepeatOp: _repeat,
    ResizeOp: _resize,
    ScatterElementsOp: _scatter_elements,
    SplitOp: _split,
    SqueezeOp: _squeeze,
    StridedSliceOp: _axes("axes"),
    TileOp: _tile,
}
"""The rules by class of operators."""


def following(op: OperatorOp, orders: list[AxisOrder]) -> Following | None:
    """How an operator follows its operands, which have these orders; `None` if it does not."""
    rule = next((rule for kind, rule in RULES.items() if isinstance(op, kind)), None)
    found = None if rule is None else rule(op, orders, op.attribute_values())
    return found if found is not None and _exists(op, found) else None


def _exists(op: OperatorOp, found: Following) -> bool:
    """Whether the operator has the layouts that it would follow with."""
    try:
        op.encode(found.attributes)
    except ValueError:
        return False
    return True


def with_layouts(
    op: ConvolutionOp | ResizeOp, layouts: Sequence[str], attributes: dict[str, Any]
) -> Following:
    """An operator that gets layouts: those of data, weight and result of a convolution.

    The result of a convolution has by default the layout of the data. Raises ValueError for a
    number of layouts that the operator has not, or other letters.
    """
    count = "1 layout" if isinstance(op, ResizeOp) else "2 or 3 layouts"
    if len(layouts) not in ((1,) if isinstance(op, ResizeOp) else (2, 3)):
        raise ValueError(f"expected {count} of '{op.name}', got {len(layouts)}")
    if isinstance(op, ResizeOp):
        order = order_between(attributes["layout"], layouts[0])
        return Following([order], order, attributes | {"layout": layouts[0]})
    old, new = op.layouts(attributes), (*layouts, layouts[0])[:3]
    data, weight, out = (order_between(o, n) for o, n in zip(old, new, strict=True))
    names = ("data_layout", "kernel_layout", "out_layout")
    return Following([data, weight], out, attributes | dict(zip(names, new, strict=True)))

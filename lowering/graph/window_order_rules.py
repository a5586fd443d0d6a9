"""How convolutions, pools and resizes follow the order of axes: by their layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.resizing import ResizeOp
from .axis_orders import AxisOrder, order_between, reordered_layout
from .order_following import Following, fits, own_order


def convolution(
    op: ConvolutionOp, orders: list[AxisOrder], attributes: dict[str, Any]
) -> Following:
    data, kernel, out = op.layouts(attributes)
    layouts = [reordered_layout(t, o) for t, o in zip((data, kernel), orders, strict=True)]
    return with_layouts(op, [*layouts, reordered_layout(out, orders[0])], attributes)


def pool(op: OperatorOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    (order,) = orders
    layout = reordered_layout(attributes["layout"], order)
    out = reordered_layout(attributes["out_layout"] or attributes["layout"], order)
    return Following(orders, order, attributes | {"layout": layout, "out_layout": out})


def resize(op: ResizeOp, orders: list[AxisOrder], attributes: dict[str, Any]) -> Following:
    return with_layouts(op, [reordered_layout(attributes["layout"], orders[0])], attributes)


def with_layouts(
    op: ConvolutionOp | ResizeOp, layouts: Sequence[str], attributes: dict[str, Any]
) -> Following:
    """An operator that gets layouts: those of data, weight and result of a convolution.

    The result of a convolution has by default the layout of the data. Where blocks do not divide
    the dims, or these are not known, the operator keeps its layouts. Raises ValueError for a number
    of layouts that the operator has not, or other letters.
    """
    is_resize = isinstance(op, ResizeOp)
    if len(layouts) not in ((1,) if is_resize else (2, 3)):
        count = "1 layout" if is_resize else "2 or 3 layouts"
        raise ValueError(f"expected {count} of '{op.name}', got {len(layouts)}")
    new = (*layouts, layouts[0])[: 1 if is_resize else 3]
    old = (attributes["layout"],) if isinstance(op, ResizeOp) else op.layouts(attributes)
    names = ("layout",) if is_resize else ("data_layout", "kernel_layout", "out_layout")
    values = (op.operands[0],) if is_resize else (*op.operands, op.result)
    orders = [order_between(o, n) for o, n in zip(old, new, strict=True)]
    if not all(fits(order, v) for order, v in zip(orders, values, strict=True)):
        orders, new = [own_order(order) for order in orders], old
    operands = orders[:1] if is_resize else orders[:2]
    return Following(operands, orders[-1], attributes | dict(zip(names, new, strict=True)))

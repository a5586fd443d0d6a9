"""What an operator reads and gives if it follows the order of its operands' axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from .axis_orders import AxisOrder, Orders, divides, original_order, rank_of
from .graph_builder import dims_of


@dataclass(frozen=True)
class Following:
    """An operator that follows its operands."""

    operands: list[AxisOrder]
    """The orders that it reads."""

    result: Orders
    attributes: dict[str, Any]


Rule: TypeAlias = "Callable[[Any, list[AxisOrder], dict[str, Any]], Following | None]"
"""A rule of operators: the operator, the orders that its operands have, and its attributes."""


def fits(order: AxisOrder, value: SSAValue) -> bool:
    """Whether a value, by its original dims, can have an order."""
    return divides(order, dims_of(value))


def own_order(order: AxisOrder) -> AxisOrder:
    return original_order(rank_of(order))

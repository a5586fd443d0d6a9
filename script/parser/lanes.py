"""Elements of slices, ramps and broadcasts, where a store of several is read for one of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ...te.arithmetic import convert
from ...te.expr import PrimExpr
from .expr_reader import ExprReader

RAMPS = ("T.Ramp", "T.ramp")
BROADCASTS = ("T.Broadcast", "T.broadcast")


@dataclass(frozen=True)
class Lane:
    """One of `count` elements, the one of number `index`; `known` is a constant's value."""

    index: PrimExpr
    count: int
    known: Callable[[PrimExpr], int | None]


def ramp(exprs: ExprReader, node: ast.expr) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
    """The first index of ``a:b:c`` or ``T.Ramp(base, stride, lanes)``, the stride, and the number.

    Raises ScriptError for a slice without both ends.
    """
    match node:
        case ast.Slice(lower=lower, upper=ast.expr() as upper, step=step):
            first = convert(0) if lower is None else exprs.expr(lower)
            stride = convert(1) if step is None else exprs.expr(step)
            return first, stride, (exprs.expr(upper) - first + stride - 1) // stride
        case ast.Call(args=[base, stride, lanes], keywords=[]):
            return exprs.expr(base), exprs.expr(stride), exprs.expr(lanes)
        case _:
            raise exprs.error(
                node, "expected a slice with both ends, or T.Ramp(base, stride, lanes)"
            )


def lane_value(exprs: ExprReader, node: ast.expr, path: str = "T.Ramp") -> PrimExpr:
    """The element of a slice, a ramp or a broadcast that the current lane takes.

    Raises ScriptError outside of stores of several elements, and for another number of them.
    """
    lane = exprs.lane
    if not isinstance(lane, Lane):
        raise exprs.error(node, f"expected '{path}' in a store of several elements")
    if path in BROADCASTS:
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            raise exprs.error(node, f"expected {path}(value, lanes)")
        value, count = exprs.expr(node.args[0]), exprs.expr(node.args[1])
    else:
        first, stride, count = ramp(exprs, node)
        value = first + lane.index * stride
    if (given := lane.known(count)) != lane.count:
        shown = "an unknown number" if given is None else given
        raise exprs.error(node, f"expected {lane.count} lanes, got {shown}")
    return value

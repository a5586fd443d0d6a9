"""The ranges of loops in print: ``range(n)``, ``T.parallel(0, n)``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import ExtSIOp, ExtUIOp, IndexCastOp, SubiOp
from xdsl.ir import SSAValue

from ...dialects.int_expr import Arg, IntExpr
from ...dialects.tir import ForOp
from .expressions import Expressions
from .literals import call_text, dictionary_text, quote

LOOP_FUNCTIONS = {
    "serial": "T.serial",
    "parallel": "T.parallel",
    "vectorized": "T.vectorized",
    "unrolled": "T.unroll",
    "thread_binding": "T.thread_binding",
}


def loop_range(expressions: Expressions, op: ForOp) -> str:
    """What one loop iterates over."""
    kind = op.kind.data
    bounds = _bounds(expressions, op)
    annotations = None if op.annotations is None else op.annotations.data
    if kind == "serial" and not annotations:
        return f"range({', '.join(bounds)})"
    return call_text(
        LOOP_FUNCTIONS[kind],
        *bounds,
        thread=None if op.thread_tag is None else quote(op.thread_tag.data),
        annotations=dictionary_text(annotations) if annotations else None,
    )


def _bounds(expressions: Expressions, op: ForOp) -> list[str]:
    """The extent, or the first value and the one after the last."""
    lower, extent, operands = op.min.data, op.extent.data, op.operands_
    if not lower.terms:
        return [expressions.index(extent, operands)]
    first = expressions.index(lower, operands)
    difference = _read(extent, operands)
    if isinstance(difference, SubiOp) and expressions.value(difference.rhs).text == first:
        return [first, expressions.value(difference.lhs).text]  # the bounds are data
    return [first, expressions.index(lower + extent, operands)]


def _read(expr: IntExpr, operands: Sequence[SSAValue]) -> object:
    """The operation whose result an expression is, without its conversion to an index."""
    atom = expr.as_atom
    op = operands[atom.index].owner if isinstance(atom, Arg) else None
    while isinstance(op, IndexCastOp | ExtSIOp | ExtUIOp):
        op = op.input.owner
    return op

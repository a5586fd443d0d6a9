"""Comparisons of indices as the sign of one expression."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType

from ...dialects.int_expr import IntExpr
from ..scope import Scope

_FORMS = {
    arith.CMPI_COMPARISON_OPERATIONS.index(name): (shift, holds_below)
    for name, shift, holds_below in (
        ("slt", 0, True),
        ("sle", -1, True),
        ("sge", 0, False),
        ("sgt", -1, False),
    )
}
"""For each comparison what to add to ``lhs - rhs``, and whether it holds where that is below 0."""


def below_zero(op: arith.CmpiOp, scope: Scope) -> tuple[IntExpr, bool] | None:
    """An expression, and whether a comparison holds where, and only where, that is below 0.

    If not, it holds everywhere else. `None` for data, and other than ``<``, ``<=``, ``>``, ``>=``.
    """
    form = _FORMS.get(op.predicate.value.data)
    if form is None or not isinstance(op.lhs.type, IndexType):
        return None
    shift, holds_below = form
    return scope.index(op.lhs) - scope.index(op.rhs) + shift, holds_below

"""Conditions on indices, as expressions that are at least 0."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, SSAValue

from ..int_expr import IntExpr
from ..sym import Values
from .loop import ApplyOp


def conjuncts(condition: SSAValue, values: Values) -> list[IntExpr] | None:
    """Expressions over `values` that are all at least 0 if and only if a condition holds.

    `None` for a condition that is no conjunction of ``<``, ``<=``, ``>`` and ``>=`` of indices.
    """
    op = condition.owner
    if isinstance(op, arith.AndIOp):
        sides = [conjuncts(side, values) for side in (op.lhs, op.rhs)]
        return None if None in sides else [e for side in sides for e in side or ()]
    if not isinstance(op, arith.CmpiOp):
        return None
    lhs, rhs = (_index(side, values) for side in (op.lhs, op.rhs))
    name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if lhs is None or rhs is None or name not in ("slt", "sle", "sgt", "sge"):
        return None
    low, high = (lhs, rhs) if name in ("slt", "sle") else (rhs, lhs)
    return [high - low - (1 if name in ("slt", "sgt") else 0)]


def facts_in_arm(excesses: Sequence[IntExpr] | None, arm: int) -> list[IntExpr]:
    """Expressions that are at least 0 in an arm of an `scf.if`, from its `conjuncts`."""
    if arm == 0:
        return list(excesses or ())
    return [-excesses[0] - 1] if excesses is not None and len(excesses) == 1 else []


def _index(value: SSAValue, values: Values) -> IntExpr | None:
    """An index as an expression: of `tir.apply`, an axis or a constant."""
    op = value.owner
    if not isinstance(value.type, IndexType):
        return None
    if isinstance(op, ApplyOp):
        return values.rebase(op.expr.data, op.operands)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return IntExpr.of(op.value.value.data)
    return values.expr(value) if isinstance(op, Block) else None

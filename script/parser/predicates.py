"""Predicates of blocks, ``T.where(i < n)``, as bounds of integer expressions."""

from __future__ import annotations

import ast
from itertools import product

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...te.expr import Imm
from .statement_reader import StatementReader

Bound = tuple[IntExpr, IntExpr]
"""``lhs < rhs``."""


def bounds_of(statements: StatementReader, node: ast.expr) -> list[Bound]:
    """The bounds that a predicate is the conjunction of; raises ScriptError for any other one.

    One of several, joined by ``or``, is a bound of their minimum.
    """
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [b for n in node.values for b in bounds_of(statements, n)]
    if isinstance(node, ast.Call) and statements.called(node) == "T.And":
        return [b for n in node.args for b in bounds_of(statements, n)]
    if isinstance(node, ast.BoolOp):
        sides = [bounds_of(statements, n) for n in node.values]
        return [tir.any_of(bounds) for bounds in product(*sides)]
    if isinstance(node, ast.Compare):
        exprs = [statements.exprs.expr(n) for n in (node.left, *node.comparators)]
        indices = [statements.emitter.index(e) for e in exprs]
        pairs = zip(node.ops, indices, indices[1:], strict=False)
        return [b for op, lhs, rhs in pairs for b in _bounds(statements, node, op, lhs, rhs)]
    value = statements.exprs.expr(node)
    if isinstance(value, Imm) and value.value:
        return []
    message = "expected comparisons of integer expressions, joined by 'and' and 'or'"
    raise statements.error(node, message)


def _bounds(
    statements: StatementReader, node: ast.expr, op: ast.cmpop, lhs: IntExpr, rhs: IntExpr
) -> list[Bound]:
    match op:
        case ast.Lt():
            return [(lhs, rhs)]
        case ast.LtE():
            return [(lhs, rhs + 1)]
        case ast.Gt():
            return [(rhs, lhs)]
        case ast.GtE():
            return [(rhs, lhs + 1)]
        case ast.Eq():
            return [(lhs, rhs + 1), (rhs, lhs + 1)]
        case _:
            message = "expected one of the comparisons < <= > >= =="
            raise statements.error(node, message)

"""Predicates of blocks: bounds of integers, as in ``T.where(i < n)``, and conditions on data."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...te.predicates import Bound
from ...te.predicates import bounds_of as bounds_of_expression
from .statement_reader import StatementReader


def bounds_of(statements: StatementReader, node: ast.expr) -> list[Bound]:
    """The bounds that a predicate is the conjunction of; raises ScriptError for any other one."""
    try:
        return bounds_of_expression(statements.exprs.expr(node), statements.emitter.index)
    except ValueError as error:
        raise statements.error(node, str(error)) from None


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """The conditions that ``and`` joins."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [c for value in node.values for c in conjuncts(value)]
    return [node]


def reads_data(statements: StatementReader, node: ast.expr) -> bool:
    """Whether a condition loads elements of buffers; a dim, ``X.shape[0]``, is none."""
    has_elements = any(isinstance(n, ast.Subscript) for n in ast.walk(node))
    return has_elements and statements.exprs.expr(node).reads_memory()


def guarded(
    conditions: Sequence[ast.expr], axes: Mapping[str, str], body: list[ast.stmt]
) -> list[ast.stmt]:
    """The statements of a body under conditions, in which axes replace the loops bound to them."""
    for condition in reversed(conditions if body else ()):
        test = _Renamed(axes).visit(condition)
        body = [ast.copy_location(ast.If(test, body, []), condition)]
    return body


class _Renamed(ast.NodeTransformer):
    """Replaces names in an expression."""

    def __init__(self, names: Mapping[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

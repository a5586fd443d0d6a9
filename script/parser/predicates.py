"""Predicates of blocks, ``T.where(i < n)``, as bounds of integer expressions."""

from __future__ import annotations

import ast

from ...te.predicates import Bound
from ...te.predicates import bounds_of as bounds_of_expression
from .statement_reader import StatementReader


def bounds_of(statements: StatementReader, node: ast.expr) -> list[Bound]:
    """The bounds that a predicate is the conjunction of; raises ScriptError for any other one."""
    try:
        return bounds_of_expression(statements.exprs.expr(node), statements.emitter.index)
    except ValueError as error:
        raise statements.error(node, str(error)) from None

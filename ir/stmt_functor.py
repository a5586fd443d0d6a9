"""Walks over the statements and expressions of kernels; TVM's ``tir.stmt_functor``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..dialects.int_expr import IntExpr, Sym
from ..te.arithmetic import Index, PrimExpr
from ..te.expr import ValueVar
from .statements import Statement


def post_order_visit(stmt: Any, fvisit: Callable[[Any], Any]) -> None:
    """Call a function with each statement and expression in `stmt`, and then with it.

    A variable counts once.
    """
    _visit_after(stmt, fvisit, set())


def pre_order_visit(stmt: Any, fvisit: Callable[[Any], bool]) -> None:
    """Call a function with `stmt`, and then with what is in it where the function returns True.

    A variable counts once.
    """
    _visit_before(stmt, fvisit, set())


def _visit_after(node: Any, fvisit: Callable[[Any], Any], seen: set[Any]) -> None:
    if _is_new(node, seen):
        for part in _parts(node):
            _visit_after(part, fvisit, seen)
        fvisit(node)


def _visit_before(node: Any, fvisit: Callable[[Any], bool], seen: set[Any]) -> None:
    if _is_new(node, seen) and fvisit(node):
        for part in _parts(node):
            _visit_before(part, fvisit, seen)


def _is_new(node: Any, seen: set[Any]) -> bool:
    """Whether a node is not a variable that was there before."""
    match node:
        case Index(expr=IntExpr(as_atom=Sym() as variable)) | ValueVar(ssa=variable):
            is_new = variable not in seen
            seen.add(variable)
            return is_new
        case _:
            return True


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, Statement):
        yield from node.children()
    elif isinstance(node, PrimExpr):
        yield from node.sides()[1] or node.children()

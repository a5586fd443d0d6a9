"""Walks over the statements and expressions of kernels; TVM's ``tir.stmt_functor``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..te.arithmetic import PrimExpr
from .statements import Statement


def post_order_visit(stmt: Any, fvisit: Callable[[Any], Any]) -> None:
    """Call a function with each statement and expression in `stmt`, and then with it."""
    for part in _parts(stmt):
        post_order_visit(part, fvisit)
    fvisit(stmt)


def pre_order_visit(stmt: Any, fvisit: Callable[[Any], bool]) -> None:
    """Call a function with `stmt`, and then with what is in it where the function returns True."""
    if fvisit(stmt):
        for part in _parts(stmt):
            pre_order_visit(part, fvisit)


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, Statement):
        yield from node.children()
    elif isinstance(node, PrimExpr):
        yield from node.sides()[1] or node.children()

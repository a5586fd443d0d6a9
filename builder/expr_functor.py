"""Rewriters and visitors of graph functions with one method for each kind of expression.

::

    @relax.expr_functor.mutator
    class Rewriter(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return call if call.op != ADD else relax.op.multiply(*call.args)

    new = Rewriter().visit_expr(mod["main"])
"""

from __future__ import annotations

from typing import TypeVar

from .mutator import PyExprMutator as PyExprMutator
from .visitor import PyExprVisitor as PyExprVisitor

Class = TypeVar("Class", bound=type)


def mutator(cls: Class) -> Class:
    """Class decorator of subclasses of `PyExprMutator`; raises TypeError for other classes."""
    return _derived(cls, PyExprMutator)


def visitor(cls: Class) -> Class:
    """Class decorator of subclasses of `PyExprVisitor`; raises TypeError for other classes."""
    return _derived(cls, PyExprVisitor)


def _derived(cls: Class, base: type) -> Class:
    if not issubclass(cls, base):
        raise TypeError(f"expected a subclass of {base.__name__}, got {cls.__name__}")
    return cls

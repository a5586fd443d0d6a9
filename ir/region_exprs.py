"""Expressions with bodies of their own: choices and local functions."""

from __future__ import annotations

from xdsl.ir import Operation

from ..dialects import relax
from .blocks import SeqExpr
from .expr import Expr, owner_of, view


class If(Expr):
    """The value of one of two branches."""

    @property
    def cond(self) -> Expr:
        """The condition."""
        return view(owner_of(self, relax.IfOp).condition)

    @property
    def true_branch(self) -> SeqExpr:
        """The branch where the condition holds."""
        return SeqExpr(owner_of(self, relax.IfOp).branches[0])

    @property
    def false_branch(self) -> SeqExpr:
        """The other branch."""
        return SeqExpr(owner_of(self, relax.IfOp).branches[1])


class LocalFunction(Expr):
    """A function inside of another one, as a value."""

    @property
    def params(self) -> list[Expr]:
        """The parameters."""
        return [view(p) for p in owner_of(self, relax.LocalFuncOp).params]

    @property
    def body(self) -> SeqExpr:
        """The blocks of bindings and the result."""
        return SeqExpr(owner_of(self, relax.LocalFuncOp).body.block)


REGION_KINDS: dict[type[Operation], type[Expr]] = {
    relax.IfOp: If,
    relax.LocalFuncOp: LocalFunction,
}

"""A plugin of `xrelax-opt`: `drop-negations` replaces a negation of a negation by its operand."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xrelax.dialects.relax import OPERATORS
from xrelax.pipeline import register_pass

NegativeOp = OPERATORS["relax.negative"]


@register_pass()
@dataclass(frozen=True)
class DropNegationsPass(ModulePass):
    """Replace a negation of a negation by its operand."""

    name = "drop-negations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for outer in list(op.walk()):
            inner = outer.operands[0].owner if isinstance(outer, NegativeOp) else None
            if isinstance(inner, NegativeOp):
                Rewriter.replace_op(outer, [], [inner.operands[0]])

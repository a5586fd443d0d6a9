"""`use-silu`: compute ``x * sigmoid(x)`` as one operator.

::

    %1 = relax.sigmoid %x
    %2 = relax.multiply %x, %1        ⇒        %2 = relax.nn.silu %x

It divides ``x`` by ``1 + exp(-x)``, where the product divides 1 and multiplies: an operation less,
rounded once less. Exporters of ONNX write it as a product. A sigmoid with other uses stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects.relax.operators.activation import SiluOp
from ...dialects.relax.operators.elementwise import MultiplyOp
from ...dialects.relax.operators.float_functions import SigmoidOp
from .written import Written, touches, written_values


@dataclass
class UseSilu(RewritePattern):
    """Replace a product with the sigmoid of the other factor."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        for x, y in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            sigmoid = y.owner
            if not isinstance(sigmoid, SigmoidOp) or sigmoid.operands[0] is not x:
                continue
            if touches(op, self.written) or not y.has_one_use():
                continue
            silu = SiluOp.of([x], {})
            silu.location = op.location
            silu.result.name_hint = op.result.name_hint
            if silu.result.type == op.result.type:
                rewriter.replace(op, silu)
                rewriter.erase(sigmoid)
            return


@dataclass(frozen=True)
class UseSiluPass(ModulePass):
    """Compute products of values with their sigmoids as one operator."""

    name = "use-silu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(UseSilu(written_values(op))).rewrite_module(op)

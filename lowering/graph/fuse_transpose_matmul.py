"""`fuse-transpose-matmul`: fold a transpose of the second operand into the matmul.

::

    %1 = relax.permute_dims %w {axes = array<i64: 1, 0>} : …
    %2 = relax.matmul %x, %1 : …

⇒

    %2 = relax.matmul %x, %w {transpose_rhs = true} : …

This applies to any permutation that swaps the last two dims only. Dead code elimination removes a
permutation without other uses. TVM's ``FuseTransposeMatmul``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import relax
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from .written import Written, written_values


def transposed(value: SSAValue) -> SSAValue | None:
    """The operand of a permutation that swaps the last two dims; `None` for other values."""
    op = value.owner
    if not isinstance(op, PermuteDimsOp) or not isinstance(op.data.type, relax.TensorType):
        return None
    rank = op.data.type.rank
    if rank is None or rank < 2:
        return None
    order = op.order(rank, op.attribute_values())
    return op.data if order == [*range(rank - 2), rank - 1, rank - 2] else None


@dataclass
class FuseTranspose(RewritePattern):
    """Multiply by the operand of the transpose, unless calls may write either."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        source = transposed(op.rhs)
        if source is None or source in self.written or op.rhs in self.written:
            return
        attributes = op.attribute_values()
        attributes["transpose_rhs"] = not attributes["transpose_rhs"]
        product = MatmulOp.of([op.lhs, source], attributes)
        product.location = op.location
        if product.result.type == op.result.type:
            rewriter.replace(op, product)


@dataclass(frozen=True)
class FuseTransposeMatmulPass(ModulePass):
    """Fuse transposes of operands into matmuls, which read them in place."""

    name = "fuse-transpose-matmul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(FuseTranspose(written_values(op))).rewrite_module(op)

"""`reorder-permute-dims-after-concat`: concatenate before a permutation that all tensors have.

::

    %0 = relax.permute_dims %a : …
    %1 = relax.permute_dims %b : …                    %0 = relax.concat %a, %b : …
    %2 = relax.concat %0, %1 {axis = 1} : …    ⇒      %2 = relax.permute_dims %0 : …

The concatenation is along the dim that the permutation puts at its axis. TVM's
``ReorderPermuteDimsAfterConcat``.
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
from ...dialects.relax.operators.joining import ConcatOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from .graph_builder import GraphBuilder, erase_unused, replace_result
from .written import Written, touches, written_values


def _order(value: SSAValue) -> list[int] | None:
    """The permutation that makes a value of one of its rank; `None` for other values."""
    op = value.owner
    if not isinstance(op, PermuteDimsOp) or not isinstance(op.data.type, relax.TensorType):
        return None
    rank = op.data.type.rank
    return None if rank is None else list(op.order(rank, op.attribute_values()))


@dataclass
class ReorderPermuteDims(RewritePattern):
    """Permute the concatenation of what one permutation is of."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        permuted = [o.owner for o in op.operands if isinstance(o.owner, PermuteDimsOp)]
        orders = [_order(o) for o in op.operands]
        first = orders[0] if orders else None
        if len(orders) < 2 or first is None or any(order != first for order in orders):
            return
        if touches(op, self.written) or any(touches(p, self.written) for p in permuted):
            return
        build = GraphBuilder(op)
        axis = first[op.attribute_values()["axis"] or 0]
        joined = build("concat", *(p.data for p in permuted), axis=axis)
        result = build("permute_dims", joined, **permuted[0].attribute_values())
        replace_result(op, result)
        erase_unused(p.result for p in permuted)


@dataclass(frozen=True)
class ReorderPermuteDimsAfterConcatPass(ModulePass):
    """Concatenate tensors before a permutation that all of them have."""

    name = "reorder-permute-dims-after-concat"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = ReorderPermuteDims(written_values(op))
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)

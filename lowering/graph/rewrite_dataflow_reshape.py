"""`rewrite-dataflow-reshape`: replace reshapes by views, which copy nothing.

    %y = relax.reshape %x shape = [n, 12, 64] : !relax.tensor<[n, 768], f32> -> …

becomes

    %y = relax.memory.view %x shape = [n, 12, 64] : !relax.tensor<[n, 768], f32> -> …

as do flatten, expand_dims and squeeze, and `pack_words` of vectors of whole words. A view shares
the memory of its operand. Impure functions keep the copies: they may pass tensors to functions that
write them. So do reshapes that split dims of a slice: it is a copy, which is then fused with what
reads the result. TVM's
``RewriteDataflowReshape``.
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

from ...dialects import relax
from ...dialects.relax.operators.reshaping import MemoryViewOp, ReshapingOp, only_splits
from ...dialects.relax.operators.slicing import StridedSliceOp
from ...dialects.relax.operators.words import PackWordsOp
from .graph_builder import dims_of


class ViewReshape(RewritePattern):
    """Replace an operator that keeps the elements and their order by a view."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapingOp, rewriter: PatternRewriter) -> None:
        source, result = op.x.type, op.result.type
        assert isinstance(source, relax.TensorType) and isinstance(result, relax.TensorType)
        known = source.dims is not None and source.dtype is not None and result.dims is not None
        if known and not isinstance(op, MemoryViewOp) and not _is_part_of_copy(op):
            _replace(op, MemoryViewOp.of([op.x], {"shape": result.dims}), rewriter)


class ViewWords(RewritePattern):
    """Replace words of numbers that follow each other in memory by a view."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PackWordsOp, rewriter: PatternRewriter) -> None:
        source, result = op.x.type, op.result.type
        assert isinstance(source, relax.TensorType) and isinstance(result, relax.TensorType)
        if not op.is_whole():
            return
        attributes = {"shape": result.dims, "dtype": result.dtype}
        _replace(op, MemoryViewOp.of([op.x], attributes), rewriter)


def _replace(op: relax.OperatorOp, view: relax.OperatorOp, rewriter: PatternRewriter) -> None:
    view.location = op.location
    view.result.name_hint = op.result.name_hint
    rewriter.replace(op, view)


def _is_part_of_copy(op: ReshapingOp) -> bool:
    """Whether an operator splits dims of a slice that nothing else reads."""
    source, target = dims_of(op.x), dims_of(op.result)
    if not isinstance(op.x.owner, StridedSliceOp) or not op.x.has_one_use():
        return False
    return source is not None and target is not None and only_splits(source, target)


@dataclass(frozen=True)
class RewriteDataflowReshapePass(ModulePass):
    """Replace reshapes in pure graph functions by views."""

    name = "rewrite-dataflow-reshape"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, relax.FuncOp) and function.impure is None:
                for pattern in (ViewReshape(), ViewWords()):
                    PatternRewriteWalker(pattern).rewrite_region(function.body)

"""`rewrite-dataflow-reshape`: replace reshapes by views, which copy nothing.

    %y = relax.reshape %x shape = [n, 12, 64] : !relax.tensor<[n, 768], f32> -> …

becomes

    %y = relax.memory.view %x shape = [n, 12, 64] : !relax.tensor<[n, 768], f32> -> …

as do flatten, expand_dims and squeeze, and `pack_words` of vectors of whole words. A view shares
the memory of its operand. Impure functions keep the copies: they may pass tensors to functions that
write them. So do reshapes that split dims of a slice: it is a copy, which is then fused with what
reads the result. With `kernels`, calls of PrimFuncs that copy an argument's elements in order
become ``relax.reshape``, except for outputs of dataflow blocks. TVM's ``RewriteDataflowReshape``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import relax, tir
from ...dialects.relax.operators.reshaping import ReshapeOp, ReshapingOp, only_splits
from ...dialects.relax.operators.slicing import StridedSliceOp
from ...dialects.relax.operators.views import MemoryViewOp
from ...dialects.relax.operators.words import PackWordsOp
from ..functions import functions_by_name
from .graph_builder import dims_of
from .reshape_pattern import reshaped_argument


class ViewReshape(RewritePattern):
    """Replace an operator that keeps the elements and their order by a view."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapingOp, rewriter: PatternRewriter) -> None:
        source, result = op.x.type, op.result.type
        assert isinstance(source, relax.TensorType) and isinstance(result, relax.TensorType)
        known = source.dims is not None and source.dtype is not None and result.dims is not None
        if known and not _is_part_of_copy(op):
            _replace(op, MemoryViewOp.of([op.x], {"shape": result.dims}), rewriter)


class ViewWords(RewritePattern):
    """Read words of numbers that follow each other where these are."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PackWordsOp, rewriter: PatternRewriter) -> None:
        if op.is_whole and not op.is_view:
            attributes = {**op.attribute_values(), "view": True}
            _replace(op, PackWordsOp.of([op.x], attributes), rewriter)


def _replace(
    op: relax.OperatorOp | relax.CallTIROp, view: relax.OperatorOp, rewriter: PatternRewriter
) -> None:
    view.location = op.location
    view.result.name_hint = op.result.name_hint
    rewriter.replace(op, view)


@dataclass
class ReshapeKernel(RewritePattern):
    """Replace a call of a kernel that only reshapes by the operator."""

    functions: Mapping[str, Operation]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relax.CallTIROp, rewriter: PatternRewriter) -> None:
        callee, block = self.functions.get(op.callee_name), op.parent_op()
        if not isinstance(callee, tir.PrimFuncOp) or not isinstance(block, relax.DataflowOp):
            return
        if op.result in block.output.values or not isinstance(op.result.type, relax.TensorType):
            return
        position = reshaped_argument(callee)
        source = None if position is None or position >= len(op.args) else op.args[position]
        target = dims_of(op.result)
        if source is None or target is None or dims_of(source) is None:
            return
        _replace(op, ReshapeOp.of([source], {"shape": target}), rewriter)


def _is_part_of_copy(op: ReshapingOp) -> bool:
    """Whether an operator splits dims of a slice that nothing else reads."""
    source, target = dims_of(op.x), dims_of(op.result)
    if not isinstance(op.x.owner, StridedSliceOp) or not op.x.has_one_use():
        return False
    return source is not None and target is not None and only_splits(source, target)


@dataclass(frozen=True)
class RewriteDataflowReshapePass(ModulePass):
    """Replace reshapes in pure graph functions by views.

    With `kernels` calls of PrimFuncs that reshape become reshapes.
    """

    name = "rewrite-dataflow-reshape"
    kernels: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernel = ReshapeKernel(functions_by_name(op))
        for function in op.body.block.ops:
            if isinstance(function, relax.FuncOp) and function.impure is None:
                patterns = [ViewReshape(), ViewWords(), *([kernel] if self.kernels else [])]
                for pattern in patterns:
                    PatternRewriteWalker(pattern).rewrite_region(function.body)

"""`remove-redundant-reshape`: reshape once where several reshapes follow each other.

::

    %1 = relax.reshape %x {shape = [1, n]} : …
    %2 = relax.reshape %1 {shape = [n]} : …        ⇒       %2 = relax.reshape %x {shape = [n]} : …

A reshape to the shape that a tensor has is the tensor. TVM's ``RemoveRedundantReshape``.
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

from ...dialects.relax.operators.reshaping import ReshapeOp
from ..functions import graph_functions
from .canonicalize_bindings import canonicalize_bindings
from .graph_builder import dims_of


class FoldReshape(RewritePattern):
    """Reshape what the operand is a reshape of; drop a reshape that changes nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        source = op.x
        while isinstance(source.owner, ReshapeOp):
            source = source.owner.x
        if (dims := dims_of(op.result)) is None:
            return
        if dims == dims_of(source):
            rewriter.replace(op, [], [source])
        elif source is not op.x:
            new = ReshapeOp.of([source], {"shape": dims})
            new.result.name_hint = op.result.name_hint
            rewriter.replace(op, new)


@dataclass(frozen=True)
class RemoveRedundantReshapePass(ModulePass):
    """Reshape once where several reshapes follow each other, and not to the same shape."""

    name = "remove-redundant-reshape"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            if PatternRewriteWalker(FoldReshape()).rewrite_region(func.body):
                canonicalize_bindings(func)

"""`pack-weights`: transform constant weights of convolutions to the layout of their kernels.

::

    relax.nn.conv2d %x, %w : …

⇒

    %1 = relax.permute_dims %w {axes = array<i64: 2, 3, 1, 0>} : …
    relax.nn.conv2d %x, %1 {kernel_layout = "HWIO"} : …

The permutation runs once: `fold-constant` folds it, or for large weights, it runs on load.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from ...dialects.relax.operators.convolution import ForwardConvolutionOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from .known_values import is_computed_from_constants


class PackWeight(RewritePattern):
    """Permute a weight to spatial dims, input channels, output channels."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ForwardConvolutionOp) or not is_computed_from_constants(op.weight):
            return
        if not has_plain_layouts(op):
            return
        attributes = op.attribute_values()
        layout, wanted = attributes["kernel_layout"], f"{op.SPATIAL}IO"
        if layout == wanted:
            return
        axes = [layout.index(letter) for letter in wanted]
        packed = PermuteDimsOp.of([op.weight], {"axes": axes})
        attributes["kernel_layout"] = wanted
        convolution = type(op).of([op.data, packed.result], attributes)
        convolution.location = packed.location = op.location
        rewriter.insert(packed)  # a replacement would have the name of the result
        rewriter.replace(op, convolution)


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Transform constant weights of convolutions to layouts with their channels last."""

    name = "pack-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(PackWeight(), apply_recursively=False).rewrite_module(op)

"""`pack-weights`: transform constant weights of convolutions to the layout of their kernels.

::

    relax.nn.conv2d %x, %w : …

⇒

    %1 = relax.permute_dims %w {axes = array<i64: 2, 3, 1, 0>} : …
    relax.nn.conv2d %x, %1 {kernel_layout = "HWIO"} : …

Depthwise convolutions of planes read theirs as ``OIHW``. The permutation runs once: `fold-constant`
folds it, or for large weights, it runs on load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.windows import in_order
from .graph_builder import dims_of
from .known_values import is_computed_from_constants


class PackWeight(RewritePattern):
    """Permute a weight, as a rule to spatial dims, input channels, output channels."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ForwardConvolutionOp) or not is_computed_from_constants(op.weight):
            return
        if not has_plain_layouts(op):
            return
        attributes = op.attribute_values()
        layout, wanted = attributes["kernel_layout"], _kernel_layout(op, attributes)
        if layout == wanted:
            return
        axes = [layout.index(letter) for letter in wanted]
        packed = PermuteDimsOp.of([op.weight], {"axes": axes})
        attributes["kernel_layout"] = wanted
        convolution = type(op).of([op.data, packed.result], attributes)
        convolution.location = packed.location = op.location
        rewriter.insert(packed)  # a replacement would have the name of the result
        rewriter.replace(op, convolution)


def _kernel_layout(op: ForwardConvolutionOp, attributes: dict[str, Any]) -> str:
    """The layout that the kernel of a convolution reads its weight in."""
    _, kernel, out = op.layouts(attributes)
    dims, sizes, own = dims_of(op.result), dims_of(op.weight), f"OI{op.SPATIAL}"
    if dims is not None and sizes is not None:
        counts, weight = in_order(dims, out, op.SPATIAL), in_order(sizes, kernel, own)
        if op.filters_planes(counts, weight, attributes):
            return own
    return f"{op.SPATIAL}IO"


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Transform constant weights of convolutions to layouts with their channels last."""

    name = "pack-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(PackWeight(), apply_recursively=False).rewrite_module(op)

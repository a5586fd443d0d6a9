"""`optimize-layout-transform`: a layout transform and its inverse cancel, and equal ones merge.

::

    %1 = relax.layout_transform %0 {index_map = "lambda i0, i1: (i0 * 4 + i1,)"} : …
    %2 = relax.layout_transform %1 {index_map = "lambda i0: (i0 // 4, i0 % 4)"} : …

⇒ the users of ``%2`` use ``%0``, if it has the shape of ``%2``. `relax.transform.AlterOpImpl` makes
such pairs between kernels. TVM's ``OptimizeLayoutTransform``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.bounds import simplify
from ...dialects.index_map import IndexExprs, index_args, ranges_of_dims
from ...dialects.relax.operators.layout_transforms import LayoutTransformOp
from ..functions import graph_functions
from .graph_builder import dims_of, erase_unused
from .written import Written, touches, written_values


def optimize_layout_transforms(block: Block, written: Written) -> None:
    """Remove the layout transforms of a block and its regions that undo others, or repeat them.

    Those of tensors that calls may write, which `written` has, stay.
    """
    known: dict[object, LayoutTransformOp] = {}
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                optimize_layout_transforms(inner, written)
        if not isinstance(op, LayoutTransformOp) or touches(op, written):
            continue
        first = op.operands[0].owner
        if isinstance(first, LayoutTransformOp) and _is_undone(first, op, written):
            op.result.replace_all_uses_with(first.operands[0])
            erase_unused([op.result])
            continue
        key = (op.operands[0], tuple(sorted(op.properties.items(), key=lambda item: item[0])))
        same = known.setdefault(key, op)
        if same is not op:
            Rewriter.replace_op(op, [], [same.result])


def _is_undone(first: LayoutTransformOp, second: LayoutTransformOp, written: Written) -> bool:
    """Whether the second transform moves every element to where it was before the first one."""
    before = dims_of(first.operands[0])
    if before is None or touches(first, written) or first.operands[0].type != second.result.type:
        return False
    forward, back = (op.attribute_values()["index_map"] for op in (first, second))
    assert isinstance(forward, IndexExprs) and isinstance(back, IndexExprs)
    indices, ranges = index_args(len(before)), ranges_of_dims(before)
    return [simplify(e, ranges) for e in back(forward(indices))] == indices


@dataclass(frozen=True)
class OptimizeLayoutTransformPass(ModulePass):
    """Remove layout transforms that undo others, and those that are there twice."""

    name = "optimize-layout-transform"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            optimize_layout_transforms(func.body.block, written)

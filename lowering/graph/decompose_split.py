"""`decompose-split`: a split of which each part is read alone becomes slices.

::

    %0 = relax.split %x {indices_or_sections = 2} : …      %1 = relax.strided_slice %x … : …
    %1 = relax.tuple_get_item %0[0]                   ⇒    %2 = relax.strided_slice %x … : …
    %2 = relax.tuple_get_item %0[1]

A kernel with several results is not fused. Slices are fused with what reads them, such as rotations
of queries by halves, and parts that nothing reads are not computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.joining import SplitOp
from ..functions import graph_functions
from .graph_builder import GraphBuilder, dims_of, erase_unused, replace_result


def _decompose(op: SplitOp) -> None:
    readers = [use.operation for use in op.result.uses]
    parts = [r for r in readers if isinstance(r, relax.TupleGetItemOp)]
    dims, attributes = dims_of(op.x), op.attribute_values()
    if dims is None or len(parts) < len(readers):
        return
    build = GraphBuilder(op)
    axis: int = attributes["axis"] % len(dims)
    ranges = SplitOp.parts(dims[axis], attributes["indices_or_sections"])
    slices = [_slice(build, op, axis, *ranges[part.index.data]) for part in parts]
    if all(s.type == part.result.type for s, part in zip(slices, parts, strict=True)):
        for part, value in zip(parts, slices, strict=True):
            replace_result(part, value)
    erase_unused([op.result, *slices])


def _slice(
    build: GraphBuilder, op: SplitOp, axis: int, begin: IntExpr, length: IntExpr
) -> SSAValue:
    return build("strided_slice", op.x, axes=[axis], begin=[begin], end=[begin + length])


@dataclass(frozen=True)
class DecomposeSplitPass(ModulePass):
    """Replace splits by slices where their parts are read one by one."""

    name = "decompose-split"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in graph_functions(op):
            for split in [o for o in func.walk() if isinstance(o, SplitOp)]:
                _decompose(split)

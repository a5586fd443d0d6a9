"""`reorder-take-after-matmul`: multiply by a table of weights, and then take what is selected.

::

    %0 = relax.take %table, %i {axis = 1} : …         %0 = relax.matmul %x, %table : …
    %1 = relax.matmul %x, %0 : …                ⇒     %1 = relax.take %0, %i {axis = …} : …

A batch of matrices that is selected from a table, one for each batch of ``x``, becomes one matrix
of all of them. No weight is copied, and the table can be combined with other weights. TVM's
``ReorderTakeAfterMatmul``.
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

from ...dialects.relax.operators.indexing import TakeOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from .graph_builder import GraphBuilder, dims_of, erase_unused, replace_result
from .written import Written, touches, written_values


@dataclass
class ReorderTake(RewritePattern):
    """Multiply by the table that a weight is taken from."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp, rewriter: PatternRewriter) -> None:
        take = op.rhs.owner
        if not isinstance(take, TakeOp) or op.attribute_values()["transpose_rhs"]:
            return
        dims = [dims_of(v) for v in (op.lhs, take.x, take.indices)]
        if any(d is None for d in dims) or touches(take, self.written):
            return
        lhs, table, indices = (len(d or ()) for d in dims)
        axis = take.axis_of(table, take.attribute_values())
        result = None
        if (table, indices, axis) == (2, 1, 1):
            result = _from_columns(op, take)
        elif (lhs, table, indices, axis) == (3, 3, 1, 0):
            result = _from_matrices(op, take)
        if result is not None:
            replace_result(op, result)
            erase_unused([take.result])


def _from_columns(op: MatmulOp, take: TakeOp) -> SSAValue:
    """Columns of the weight are columns of the product."""
    build = GraphBuilder(op)
    product = build("matmul", op.lhs, take.x, **op.attribute_values())
    last = len(dims_of(product) or ()) - 1
    return build("take", product, take.indices, **(take.attribute_values() | {"axis": last}))


def _from_matrices(op: MatmulOp, take: TakeOp) -> SSAValue | None:
    """Matrix number ``indices[b]`` is for batch b of the operand."""
    lhs, table, indices = (dims_of(v) for v in (op.lhs, take.x, take.indices))
    assert lhs is not None and table is not None and indices is not None
    if lhs[0] != indices[0]:
        return None
    build = GraphBuilder(op)
    count, inner, outer = table
    matrix = build("permute_dims", take.x, axes=[1, 0, 2])
    matrix = build("reshape", matrix, shape=[inner, count * outer])
    product = build("matmul", op.lhs, matrix, **op.attribute_values())
    product = build("reshape", product, shape=[lhs[0], lhs[1], count, outer])
    taken = build("take", product, take.indices, **(take.attribute_values() | {"axis": 2}))
    return build("einsum", taken, subscripts="ijik->ijk")


@dataclass(frozen=True)
class ReorderTakeAfterMatmulPass(ModulePass):
    """Take from the product with a table of weights, and not from the table."""

    name = "reorder-take-after-matmul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = ReorderTake(written_values(op))
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)

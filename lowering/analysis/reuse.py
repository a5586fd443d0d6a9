"""Whether a reduction is a product: one that uses elements of an operand for several results."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE
from ...dialects.nesting import operations_in
from ...dialects.sym import exprs_of


def has_reuse(block: tir.BlockOp) -> bool:
    """Whether a reduction uses an operand's elements for several results, as a product does."""
    kinds = dict[SSAValue, str](zip(block.axis_vars, block.axis_kinds, strict=True))
    wide: set[SSAValue] = {
        var
        for var, axis in zip(block.axis_vars, block.axes.data, strict=True)
        if axis.extent.data != ONE
    }
    spatial = {v for v in wide if kinds[v] == "spatial"}
    written = set(block.write_buffers)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp) and op.buffer not in written:
            used = _axes_used(op, wide)
            if used - spatial and spatial - used:
                return True
    return False


def _axes_used(load: tir.LoadOp, axes: set[SSAValue]) -> set[SSAValue]:
    return {
        load.operands_[i]
        for e in exprs_of(load.indices)
        for i in e.args()
        if load.operands_[i] in axes
    }

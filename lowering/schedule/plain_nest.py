"""Nests as they are written: one plain loop from 0 for each axis of a block."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg
from ...dialects.nesting import ancestors
from ...dialects.sym import exprs_of
from .blocks import perfect_nest


def plain_loops(block: tir.BlockOp) -> dict[int, tir.ForOp] | None:
    """The loop of each axis, where the block's nest is one plain loop from 0 for each axis."""
    nest = perfect_nest(block)
    around = [op for op in ancestors(block) if isinstance(op, tir.ForOp)]
    own = around[: around.index(nest) + 1] if isinstance(nest, tir.ForOp) else []
    numbering: list[SSAValue] = block.numbering()
    found: dict[int, tir.ForOp] = {}
    for axis, binding in enumerate(exprs_of(block.bindings)):
        bounds, atom = block.axes.data[axis], binding.as_atom
        if not isinstance(atom, Arg):
            if bounds.extent.data != ONE:
                return None
            continue
        loop = next((op for op in own if op.loop_var is numbering[atom.index]), None)
        if loop is None or loop in found.values() or not _is_over(loop, bounds):
            return None
        found[axis] = loop
    return found if set(own) == set(found.values()) else None


def _is_over(loop: tir.ForOp, axis: tir.AxisAttr) -> bool:
    return (
        loop.kind.data == "serial"
        and not (loop.annotations is not None and loop.annotations.data)
        and loop.min.data == axis.min.data == ZERO
        and loop.extent.data == axis.extent.data
        and not loop.extent.data.args()
    )

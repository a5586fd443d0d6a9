"""Copies of right operands in panels as wide as a tile, which a schedule makes where they are read.

::

    K: [keys, size]  ⇒  panels: [keys / width, size, width]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import tir
from ....dialects.int_expr import ZERO, IntExpr
from ...analysis.block_accesses import dim_axes
from ..blocks import blocks_in, loop_of, loops_around, loops_between
from ..index_map import IndexMap
from ..primitives.schedule import Schedule
from .loop_partition import trim_remainder
from .match_contraction import Contraction
from .storage import compact_scratch
from .tiles import Tile


@dataclass(frozen=True)
class Panels:
    """The copy of a right operand in panels as wide as a tile: axes of the copy, and the width."""

    copy: tir.BlockOp
    column: int
    step: int
    width: int

    @staticmethod
    def of(sch: Schedule, contraction: Contraction, tile: Tile, lanes: int) -> Panels:
        """Make the copy, before all that use it."""
        (load,), block, width = contraction.rhs, contraction.block, tile.vectors * lanes
        column, step = (dim_axes(block, load).index(a) for a in (contraction.n, *contraction.k))
        number = list(block.read_buffers).index(load.buffer)
        copy = sch.block(sch.cache_read(sch.rv(block), number, "global"))
        return Panels(copy, column, step, width)

    def nest(self, sch: Schedule, loop: tir.ForOp | None, lanes: int) -> None:
        """Make the copy in each iteration of a loop, by vectors."""
        if loop is not None:
            sch.compute_at(sch.rv(self.copy), sch.rv(loop))
        compact_scratch(sch, self.copy.write_buffers[0])
        self._lay_out(sch)
        made = loops_around(self.copy) if loop is None else loops_between(self.copy, loop)
        column, step = (loop_of(self.copy, axis, made) for axis in (self.column, self.step))
        assert column is not None and step is not None
        count, parts = column.extent.data, [column]
        sch.reorder(sch.rv(column), sch.rv(step))
        if count % self.width != ZERO and count.constant not in range(self.width):
            whole = count // self.width * self.width
            parts = list(map(sch.loop, sch.loop_partition(sch.rv(column), [whole, None])))
        for part in parts:
            self._vectorize(sch, part, lanes)

    def _vectorize(self, sch: Schedule, column: tir.ForOp, lanes: int) -> None:
        """Copy rows, or squares that are transposed in registers."""
        (copy,) = blocks_in(column)
        steps = [sch.rv(loops_around(copy)[-1])]
        panel, vector, lane = sch.split(sch.rv(column), [None, self.width // lanes, lanes])
        if self.column > self.step:  # contiguous
            sch.reorder(panel, *steps, vector, lane)
            sch.unroll(vector)
        else:
            if sch.loop(steps[0]).extent.data % lanes == ZERO:
                steps = sch.split(steps[0], [None, lanes])
            sch.reorder(panel, vector, *steps, lane)
        sch.vectorize(lane)
        trim_remainder(sch, sch.loop(panel))

    def _lay_out(self, sch: Schedule) -> None:
        """Let the copy be (…, panel, step, column in the panel)."""
        type_, width = self.copy.write_buffers[0].type, self.width
        column, step = self.column, self.step
        assert isinstance(type_, tir.BufferType)
        rest = [dim for dim in range(type_.rank) if dim not in (column, step)]

        def panels(e: Sequence[IntExpr]) -> list[IntExpr]:
            return [*(e[dim] for dim in rest), e[column] // width, e[step], e[column] % width]

        dims = type_.dims
        count = (dims[column] + width - 1) // width
        shape = [*(dims[dim] for dim in rest), count, dims[step], width]
        places = IndexMap.of(panels, type_.rank)
        sch.transform_layout(sch.rv(self.copy), ("write", 0), places, shape=shape)

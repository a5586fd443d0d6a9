"""Regions of buffers: those that blocks declare, inferred again after a change, and boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from ...dialects import tir
from ...dialects.bounds import never_negative
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import calls_on_memory, infer_regions
from ..scope import Bound


def refresh_around(ops: Iterable[Operation]) -> None:
    """Infer the regions of every block around the operations again, inner blocks first.

    A root block without declared regions is unchanged, and so are blocks that pass memory to
    functions.
    """
    seen: dict[tir.BlockOp, int] = {}
    for op in ops:
        around = [p for p in (op, *ancestors(op)) if isinstance(p, tir.BlockOp)]
        for depth, block in enumerate(reversed(around)):
            seen[block] = depth
    for block in sorted(seen, key=lambda b: -seen[b]):
        if (block.reads.data or block.writes.data) and not calls_on_memory(block):
            refresh_regions(block)


def refresh_regions(block: tir.BlockOp) -> None:
    """Declare what the block's body accesses; the operation stays the same one."""
    values = Values()
    for value in block.numbering():
        values.expr(value)
    reads, writes = infer_regions(block.body.block, values)
    if reads == block.regions_of("reads") and writes == block.regions_of("writes"):
        return
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    replace_header(block, axes_of(block), values, reads, writes, bounds)


def axes_of(block: tir.BlockOp) -> list[tir.Axis]:
    """The axes with their bindings, in the block's numbering."""
    return [
        tir.Axis(a.kind.data, a.min.data, a.extent.data, binding)
        for a, binding in zip(block.axes.data, exprs_of(block.bindings), strict=True)
    ]


def contains(
    outer: tir.BufferRegion,
    inner: tir.BufferRegion,
    values: Values,
    dims: Iterable[int] | None = None,
) -> bool:
    """Whether one box over `values` is certainly inside of another of the same buffer.

    With `dims`, only these are compared.
    """
    ranges = ranges_of(values.list)
    for dim in range(len(outer.mins)) if dims is None else dims:
        low, first = outer.mins[dim], inner.mins[dim]
        gaps = (first - low, low + outer.extents[dim] - first - inner.extents[dim])
        if not all(never_negative(gap, ranges) for gap in gaps):
            return False
    return True


def replace_header(
    block: tir.BlockOp,
    axes: Sequence[tir.Axis],
    values: Values,
    reads: Sequence[tir.BufferRegion],
    writes: Sequence[tir.BufferRegion],
    predicates: Sequence[Bound] = (),
) -> None:
    """Give a block these axes, regions and predicates, in the numbering of `values`.

    The operation and its body stay the same.
    """
    operands, properties = tir.BlockOp.header(
        axes, block.axis_vars, values.list, predicates, reads, writes
    )
    block.operands = [value for segment in operands for value in segment]
    block.properties |= properties

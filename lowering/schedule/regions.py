"""Regions of buffers: those that blocks declare, inferred again after a change, and boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.attributes import to_attribute
from ...dialects.bounds import never_negative, simplify
from ...dialects.int_expr import ZERO
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import (
    EXPLICIT,
    buffers_in_calls,
    explicit_regions,
    infer_regions,
)
from ..scope import Bound
from .annotations import annotate


def refresh_around(ops: Iterable[Operation]) -> None:
    """Infer the regions of every block around the operations again, inner blocks first.

    A root block without declared regions is unchanged, and so is what a block declares of memory
    that it passes to functions.
    """
    seen: dict[tir.BlockOp, int] = {}
    for op in ops:
        around = [p for p in (op, *ancestors(op)) if isinstance(p, tir.BlockOp)]
        for depth, block in enumerate(reversed(around)):
            seen[block] = depth
    for block in sorted(seen, key=lambda b: -seen[b]):
        if block.reads.data or block.writes.data:
            refresh_regions(block)


def refresh_regions(block: tir.BlockOp) -> None:
    """Declare what the block's body accesses; the operation stays the same one."""
    values = Values()
    for value in block.numbering():
        values.expr(value)
    reads, writes = regions_in(block, values)
    if reads == block.regions_of("reads") and writes == block.regions_of("writes"):
        return
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    replace_regions(block, axes_of(block), values, bounds)


def regions_in(
    block: tir.BlockOp, values: Values
) -> tuple[list[tir.BufferRegion], list[tir.BufferRegion]]:
    """The regions over `values` that a block accesses, as it would declare them.

    A reduction that declares the reads of its own results goes on to do so, or not to, also where
    it is in a block inside. Regions of `annotate_buffer_access` are kept, and those of memory that
    functions get. The order of buffers is kept unless there are other ones.
    """
    with_results = any(b in block.write_buffers for b in block.read_buffers)
    found = infer_regions(block.body.block, values, with_results=with_results)
    found = [r for r in found[0] if not _is_own_result(r.buffer, block)], found[1]
    passed = buffers_in_calls(block)
    reads, writes = (
        in_order(
            _kept(
                _with_calls(
                    regions, _rebased(block.regions_of(kind), block, values), passed, values
                ),
                _rebased(explicit_regions(block, kind), block, values),
            ),
            buffers,
        )
        for regions, kind, buffers in zip(
            found, EXPLICIT, (block.read_buffers, block.write_buffers), strict=True
        )
    )
    return reads, writes


def _is_own_result(buffer: SSAValue, block: tir.BlockOp) -> bool:
    """Whether only reductions in a block, which start there, load a buffer, all undeclared."""
    if buffer in block.read_buffers or buffer not in block.write_buffers:
        return False
    loads = [o for o in operations_in(block) if isinstance(o, tir.LoadOp) and o.buffer is buffer]
    readers = [enclosing(op, tir.BlockOp) for op in loads]
    return bool(loads) and all(
        b is not None and b is not block and b.init is not None and buffer not in b.read_buffers
        for b in readers
    )


def in_order(
    regions: Sequence[tir.BufferRegion], buffers: Sequence[SSAValue]
) -> list[tir.BufferRegion]:
    """The regions in the order of these buffers, if they are of the same ones."""
    of_buffer = {r.buffer: r for r in regions}
    if of_buffer.keys() != set(buffers):
        return list(regions)
    return [of_buffer[buffer] for buffer in buffers]


def replace_regions(
    block: tir.BlockOp, axes: Sequence[tir.Axis], values: Values, predicates: Sequence[Bound]
) -> None:
    """Give a block these axes and predicates over `values`, and the regions that it accesses."""
    reads, writes = regions_in(block, values)
    explicit = {kind: {r.buffer for r in explicit_regions(block, kind)} for kind in EXPLICIT}
    replace_header(block, axes, values, reads, writes, predicates)
    for kind, regions in (("reads", reads), ("writes", writes)):
        if explicit[kind]:
            numbers = [n for n, r in enumerate(regions) if r.buffer in explicit[kind]]
            annotate(block, EXPLICIT[kind], to_attribute(numbers))


def _with_calls(
    inferred: Sequence[tir.BufferRegion],
    declared: Sequence[tir.BufferRegion],
    passed: set[SSAValue],
    values: Values,
) -> list[tir.BufferRegion]:
    """The inferred regions, and what is declared of the memory that is passed to functions.

    A buffer that is also accessed outside of what is declared counts as a whole.
    """
    known = {r.buffer: r for r in declared if r.buffer in passed}
    known |= {r.buffer: r for r in inferred}
    for region in declared:
        if region.buffer in passed:
            own, type_ = known.get(region.buffer), region.buffer.type
            if own is not None and not contains(region, own, values):
                assert isinstance(type_, tir.BufferType)
                region = tir.BufferRegion(region.buffer, (ZERO,) * type_.rank, tuple(type_.dims))
            known[region.buffer] = region
    return list(known.values())


def _rebased(
    regions: Sequence[tir.BufferRegion], block: tir.BlockOp, values: Values
) -> list[tir.BufferRegion]:
    """The regions that a block declares over `values`."""
    return [
        tir.BufferRegion(
            r.buffer,
            tuple(values.rebase(e, block.numbering()) for e in r.mins),
            tuple(values.rebase(e, block.numbering()) for e in r.extents),
        )
        for r in regions
    ]


def _kept(
    inferred: Sequence[tir.BufferRegion], explicit: Sequence[tir.BufferRegion]
) -> list[tir.BufferRegion]:
    """The inferred regions, with those that are declared in their place."""
    known = {r.buffer: r for r in explicit}
    return [known.get(r.buffer, r) for r in inferred]


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
        ahead = simplify(inner.mins[dim] - outer.mins[dim], ranges)
        gaps = (ahead, outer.extents[dim] - ahead - inner.extents[dim])
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

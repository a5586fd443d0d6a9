"""The parts of a producer's axes that one iteration of a loop needs."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, interval_of, never_negative
from ...dialects.int_expr import Atom, minimum
from ...dialects.nesting import ancestors
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from .blocks import ScheduleError, uses_of
from .regions import axes_of
from .required_ranges import RequiredRange, stored_axes_of

SHARED_BY = {"shared": ("threadIdx", "vthread")}
"""The tags of threads that share the memory of a scope."""


def needed_parts(
    block: tir.BlockOp, loop: tir.ForOp, buffer: SSAValue, values: Values
) -> dict[int, RequiredRange]:
    """The part of each axis of a block whose results one iteration of the loop loads.

    Raises ScheduleError where it loads none.
    """
    reads, _ = infer_regions(loop.body.block, values)
    found = [r for r in reads if r.buffer is buffer]
    if not found:
        raise ScheduleError(
            f"expected the loop to use the result of block '{block.block_name.data}'",
            block,
        )
    parts: dict[int, RequiredRange] = {}
    wholes, ranges = axes_of(block), ranges_of(values.list)
    for store in uses_of(buffer).stores:
        axes = stored_axes_of(store, block)
        for axis, low, extent in zip(axes, found[0].mins, found[0].extents, strict=True):
            is_like_whole = extent.has_compounds and not extent.args()  # simpler than what it needs
            if axis is not None and not is_like_whole:
                part = _of_threads(RequiredRange(low, extent), loop, buffer, values)
                parts[axis] = _clipped(part, wholes[axis], ranges)
    return parts


def _of_threads(
    part: RequiredRange, loop: tir.ForOp, buffer: SSAValue, values: Values
) -> RequiredRange:
    """A part for all threads that share a buffer, if the loop runs in threads."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    shared = SHARED_BY.get(type_.scope.data.split(".")[0], ())
    around = [op for op in (loop, *ancestors(loop)) if isinstance(op, tir.ForOp)]
    threads = [o for o in around if o.thread_tag and o.thread_tag.data.startswith(shared)]
    spans = zip(threads, ranges_of([op.loop_var for op in threads]).values(), strict=True)
    span = interval_of(part.min, {values.atom(op.loop_var): r for op, r in spans})
    if not shared or not threads or span is None or not span.lower.args() <= part.min.args():
        return part
    return RequiredRange(span.lower, span.upper - span.lower + part.extent)


def _clipped(
    part: RequiredRange, whole: tir.Axis, ranges: Mapping[Atom, Interval]
) -> RequiredRange:
    """A part of symbolic size without what is after its axis' end, if both have the same start.

    A constant part, such as a tile, keeps its size, and the block has a predicate.
    """
    is_inside = never_negative(whole.extent - part.extent, ranges)
    if part.min != whole.min or is_inside or part.extent.constant is not None:
        return part
    return RequiredRange(part.min, minimum(part.extent, whole.extent))

"""The parts of a producer's axes that one iteration of a loop needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, interval_of, never_negative, simplify
from ...dialects.int_expr import ONE, ZERO, Arg, Atom, IntExpr, minimum
from ...dialects.nesting import ancestors, enclosing
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..analysis.block_accesses import accessed_axes
from .blocks import ScheduleError, uses_of
from .regions import axes_of
from .required_ranges import RequiredRange

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
        axes = _stored_axes(store, block)
        for axis, low, extent in zip(axes, found[0].mins, found[0].extents, strict=True):
            is_like_whole = extent.has_compounds and not extent.args()  # simpler than what it needs
            if axis is not None and not is_like_whole:
                number, size, end = axis
                first = low if end is None else end - low - extent
                part = _of_threads(RequiredRange(first, extent), loop, buffer, values)
                part = _in_tiles(part, size, ranges)
                parts[number] = _clipped(part, wholes[number], ranges)
    return parts


class _Indexed(NamedTuple):
    """The axis that indexes a dim, the elements that a value of it stores, and from which end.

    `end` is the extent of the dim where the axis counts from there: ``Y[n - 1 - i]``.
    """

    axis: int
    size: IntExpr
    end: IntExpr | None


def _stored_axes(store: tir.StoreOp, block: tir.BlockOp) -> list[_Indexed | None]:
    """For each dim the axis of the block that indexes the store, which runs over all of it.

    A block with blocks inside stores tiles. Raises ScheduleError for other stores.
    """
    type_ = store.buffer.type
    assert isinstance(type_, tir.BufferType)
    if enclosing(store, tir.BlockOp) is not block:
        return _stored_tiles(store.buffer, block)
    indices, ends = list(exprs_of(store.indices)), list[IntExpr | None]()
    for position, dim in enumerate(type_.dims):
        from_end = dim - 1 - indices[position]
        is_mirrored = indices[position].as_atom is None and isinstance(from_end.as_atom, Arg)
        ends.append(dim if is_mirrored else None)
        if is_mirrored:
            indices[position] = from_end
    axes = accessed_axes(block, store, indices)
    if axes is None:
        raise _stores_elsewhere(store.buffer, block)
    pairs = zip(axes, ends, strict=True)
    return [None if a is None else _Indexed(a, ONE, end) for a, end in pairs]


def _stored_tiles(buffer: SSAValue, block: tir.BlockOp) -> list[_Indexed | None]:
    """`_stored_axes` by the region that a block declares to write: tiles of constant sizes."""
    assert isinstance(buffer.type, tir.BufferType)
    found: list[_Indexed | None] = []
    (region,) = (r for r in block.regions_of("writes") if r.buffer is buffer)
    numbering = block.numbering()
    for low, size, dim in zip(region.mins, region.extents, buffer.type.dims, strict=True):
        if low == ZERO and size == dim:
            found.append(None)
            continue
        used = [a for a, v in enumerate(block.axis_vars) if v in [numbering[i] for i in low.args()]]
        if len(used) != 1 or len(low.args()) != 1 or size.constant is None:
            raise _stores_elsewhere(buffer, block)
        bounds, is_tile = block.axes.data[used[0]], low.split_on(Arg(*low.args())) == (size, ZERO)
        if not is_tile or bounds.min.data != ZERO or bounds.extent.data * size != dim:
            raise _stores_elsewhere(buffer, block)
        found.append(_Indexed(used[0], size, None))
    axes = [i.axis for i in found if i is not None]
    if len(axes) != len(set(axes)):
        raise _stores_elsewhere(buffer, block)
    return found


def _stores_elsewhere(buffer: SSAValue, block: tir.BlockOp) -> ScheduleError:
    return ScheduleError(
        f"expected block '{block.block_name.data}' to store each element of "
        f"{buffer_text(buffer)} at its axes",
        block,
    )


def _in_tiles(part: RequiredRange, size: IntExpr, ranges: Mapping[Atom, Interval]) -> RequiredRange:
    """The tiles of `size` elements that a part is in."""
    if size == ONE:
        return part
    first = simplify(part.min // size, ranges)
    count = simplify((part.min + part.extent + size - 1) // size - first, ranges)
    if count.args():  # where a part begins within a tile, as many as it can be in
        count = (part.extent + size - 2) // size + 1
    return RequiredRange(first, count)


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

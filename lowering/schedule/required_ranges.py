"""The ranges of a consumer's axes for which one iteration of a loop produces the operands.

Operands are complete if reductions end within the iteration and every element of a box is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.ir import Block, Operation

from ...dialects import tir
from ...dialects.bounds import Interval, cases_of_minimum, interval_of, is_less, is_non_negative
from ...dialects.int_expr import ONE, ZERO, Arg, Atom, Compound, IntExpr
from ...dialects.nesting import ancestors, enclosing
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from ..analysis.iter_map import fills, is_box, used_in
from .blocks import ScheduleError, loaded_buffers, stored_buffers, uses_of
from .iterator_map import IteratorMap


@dataclass(frozen=True)
class RequiredRange:
    """The values ``[min, min + extent)`` of an axis, over values outside of the new loops.

    `is_inside` says that they are in the range of the axis, whatever is known of symbols.
    """

    min: IntExpr
    extent: IntExpr
    is_inside: bool = field(default=False, compare=False)


def required_ranges(
    block: tir.BlockOp, loop: tir.ForOp, statement: Operation, values: Values
) -> dict[int, RequiredRange]:
    """The range of each axis of a block whose operands an iteration of `loop` produces.

    `loop` is in `statement`. Axes that index nothing that the iteration stores are left out: they
    run over their whole range. Raises ScheduleError if the iteration leaves an operand incomplete,
    or if the block would run several times for one element.
    """
    where = f"block '{block.block_name.data}'"
    produced = loaded_buffers(block) & stored_buffers(statement)
    if not produced:
        raise ScheduleError(f"expected {where} to load what the loop stores", block)
    _, written = infer_regions(loop.body.block, values)
    regions = {r.buffer: r for r in written}
    parts: dict[int, RequiredRange] = {}
    told: list[set[int]] = []
    for buffer in produced:
        uses = uses_of(buffer)
        if uses.others or any(loop not in ancestors(s) for s in uses.stores):
            raise ScheduleError(
                f"expected {buffer_text(buffer)} to be stored to in the loop only", block
            )
        is_exact = True
        for store in uses.stores:
            iterators = _verify_complete(store, loop, statement)
            _verify_exact(store, iterators, regions[buffer], values)
            is_exact = is_exact and not any(b.predicates.data for b in iterators.blocks)
        for load in [op for op in uses.loads if block in ancestors(op)]:
            told.append(_add_parts(parts, block, load, regions[buffer], values, is_exact))
    if not any(axes >= set().union(*told) for axes in told):
        raise ScheduleError(
            f"expected {where} to load at the same axes all that the loop stores in parts: "
            "other instances need what several iterations store",
            block,
        )
    return parts


def _add_parts(
    parts: dict[int, RequiredRange],
    block: tir.BlockOp,
    load: tir.LoadOp,
    region: tir.BufferRegion,
    values: Values,
    is_exact: bool,
) -> set[int]:
    """Add the ranges of axes for a load; returns the axes with partial ranges.

    `is_exact` says that all of the region is stored.
    """
    type_ = load.buffer.type
    assert isinstance(type_, tir.BufferType)
    name, partial = buffer_text(load.buffer), set[int]()
    message = f"expected block '{block.block_name.data}' to load {name} at its axes"
    for position, index in enumerate(exprs_of(load.indices)):
        atom, size = _quotient(index, ranges_of(load.operands_))
        variable = load.operands_[atom.index] if isinstance(atom, Arg) else None
        dim = type_.dims[position]
        stored = RequiredRange(region.mins[position], region.extents[position])
        axis = block.axis_vars.index(variable) if variable in block.axis_vars else None
        bounds = None if axis is None else block.axes.data[axis]
        is_inside = bounds is not None and is_non_negative(dim * size - bounds.extent.data)
        if bounds is None or bounds.min.data != ZERO or not is_inside:
            if stored == RequiredRange(ZERO, dim) or dim == ONE:
                continue  # all of the dim is complete, at whatever index
            raise ScheduleError(message if axis is None else f"{message}, from 0 on", block)
        assert axis is not None
        whole = RequiredRange(bounds.min.data, bounds.extent.data)
        stored = RequiredRange(stored.min * size, stored.extent * size)
        part = _within(stored, whole, values)
        if is_exact and part is stored and whole.extent == dim * size:
            part = replace(part, is_inside=True)
        is_spatial = block.axis_kinds[axis] == "spatial"
        if not is_spatial and part != whole and not _is_continued(block, part, whole, values):
            raise ScheduleError(f"{message}, its reductions over all of it", block)
        if part.extent.args() or parts.setdefault(axis, part) != part:
            raise ScheduleError(f"{message}, one part in each iteration of the loop", block)
        if part != whole:
            partial.add(axis)
    return partial


def _is_continued(
    block: tir.BlockOp, part: RequiredRange, whole: RequiredRange, values: Values
) -> bool:
    """Whether a reduction over parts of an axis, one after the other, begins with the first one."""
    rest = part.min - whole.min
    for number in sorted(rest.args()):
        owner = values.list[number].owner
        loop = owner.parent_op() if isinstance(owner, Block) else None
        factor, rest = rest.split_on(Arg(number)) or (ZERO, rest)
        if not isinstance(loop, tir.ForOp) or loop.min.data != ZERO or (factor.constant or 0) <= 0:
            return False
        tag = "" if loop.thread_tag is None else loop.thread_tag.data
        if loop.kind.data not in ("serial", "unrolled") and not tag.startswith("threadIdx"):
            return False
    return rest == ZERO and block.init is not None


def _quotient(index: IntExpr, ranges: Mapping[Atom, Interval]) -> tuple[Atom | None, IntExpr]:
    """``(a, c)`` of an index ``a floordiv c`` with a constant c, or of ``a``, for which c is 1.

    ``(a * 8 + b) floordiv 16`` is ``a floordiv 2`` for b in [0, 8).
    """
    atom = index.as_atom
    size = atom.rhs.constant if isinstance(atom, Compound) and atom.op == "floordiv" else None
    if not isinstance(atom, Compound) or size is None or size <= 0:
        return atom, ONE
    for part in map(Arg, sorted(atom.lhs.args())):
        factor, rest = atom.lhs.split_on(part) or (ZERO, ZERO)
        step, span = factor.constant or 0, interval_of(rest, ranges)
        if step > 0 and size % step == 0 and span is not None and is_non_negative(span.lower):
            if is_less(span.upper, factor):
                return part, IntExpr.of(size // step)
    return atom, ONE


def _within(part: RequiredRange, whole: RequiredRange, values: Values) -> RequiredRange:
    """A range clipped to the whole one, if both have the same start."""
    extent, most = part.extent.constant, whole.extent.constant
    if extent is None or most is None or extent <= most:
        return part
    span = interval_of(part.min, ranges_of(values.list))
    return whole if span is not None and span.lower == span.upper == whole.min else part


def is_complete_in(store: tir.StoreOp, loop: tir.ForOp) -> bool:
    """Whether one iteration of the loop completes the elements that it stores: a dense box."""
    try:
        _complete_digits(store, loop, loop, is_shared=True)
    except ScheduleError:
        return False
    return True


def _verify_complete(store: tir.StoreOp, loop: tir.ForOp, statement: Operation) -> IteratorMap:
    """Raise ScheduleError unless an iteration completes elements that no other one stores."""
    iterators = _complete_digits(store, loop, statement)
    indexed = {a for b in iterators.stored(store) for a in used_in(b, iterators.extents)}
    if any(iterators.extents[a] != ONE and a not in indexed for a in iterators.outside):
        raise ScheduleError(
            f"expected every loop out of which {_name(iterators.blocks[0])} comes to index its "
            "result",
            store,
        )
    return iterators


def _verify_exact(
    store: tir.StoreOp, iterators: IteratorMap, region: tir.BufferRegion, values: Values
) -> None:
    """Raise ScheduleError unless the stores cover the region, which may be an overestimate.

    Its start must use each outer loop that the index uses, and it must be no longer than the inner
    loops.
    """
    for position, index in enumerate(iterators.stored(store)):
        used = used_in(index, iterators.extents)
        around = {
            iterators.loop_var(a) for a in used & iterators.outside if iterators.extents[a] != ONE
        }
        named = {values.list[i] for i in region.mins[position].args()}
        count = prod((iterators.extents[a] for a in used & iterators.inside), start=ONE)
        if around and not (around <= named and is_non_negative(count - region.extents[position])):
            raise ScheduleError(
                f"expected {_name(iterators.blocks[0])} to store a known part of "
                f"{buffer_text(store.buffer)} in each iteration of the loop",
                store,
            )


def _complete_digits(
    store: tir.StoreOp, loop: tir.ForOp, statement: Operation, is_shared: bool = False
) -> IteratorMap:
    """The iterator map of a store of which one iteration of the loop completes a box.

    With `is_shared`, several iterations may store the same element, and all of them a part of the
    buffer. Raises ScheduleError if an iteration does not complete a box.
    """

    def expect(holds: bool, what: str) -> None:
        if not holds:
            raise ScheduleError(f"expected {what}", store)

    buffer, writer = buffer_text(store.buffer), enclosing(store, tir.BlockOp)
    if writer is None or loop not in ancestors(writer):
        raise ScheduleError(f"expected {buffer} to be stored to in a block of the loop", store)
    name = _name(writer)
    has_loops = any(isinstance(p, tir.ForOp) and writer in ancestors(p) for p in ancestors(store))
    expect(not has_loops, f"{name} to store without loops")
    iterators = IteratorMap.of(writer, loop, statement)
    used = {a for b in iterators.stored(store) for a in used_in(b, iterators.extents)}
    indexing = used & iterators.inside if is_shared else used
    variables = {iterators.loop_var(a) for a in indexing}
    fixed = [op for op in iterators.loops if op.loop_var in variables]
    depends = any(variables & set(op.operands_) for op in fixed)
    expect(not depends, f"bounds of loops around {name} not to depend on each other")
    is_known = iterators.knows(store, in_part=is_shared)
    expect(is_known, f"{name} to store each element of {buffer} at its axes")
    for block in iterators.blocks:
        is_plain = keeps_in_range(block, in_part=is_shared) and not (
            block.predicates.data and len(iterators.blocks) > 1
        )
        expect(is_plain, f"predicates of {_name(block)} to keep axes in range only")
    spatial = iterators.stored(store)
    inside = {a: e for a, e in iterators.extents.items() if a in iterators.inside}
    assert isinstance(store.buffer.type, tir.BufferType)
    is_whole = is_box(spatial, inside) and (
        is_shared
        or is_box(spatial, iterators.extents)
        or fills(spatial, iterators.extents, store.buffer.type.dims)
    )
    expect(is_whole, f"{name} to store a box of {buffer} in each iteration of the loop")
    return iterators


def _name(block: tir.BlockOp) -> str:
    return f"block '{block.block_name.data}'"


def keeps_in_range(writer: tir.BlockOp, in_part: bool = False) -> bool:
    """Whether axes take all values of their ranges, and predicates say no more than that.

    With `in_part`, axes may take some of the values.
    """
    if not in_part and uncovered_axis(writer) is not None:
        return False
    room = {
        case - binding
        for binding, a in zip(exprs_of(writer.bindings), writer.axes.data, strict=True)
        for case in cases_of_minimum(a.min.data + a.extent.data)
    }
    return all(b.rhs.data - b.lhs.data in room for b in writer.predicates.data)


def extents_run(block: tir.BlockOp) -> list[IntExpr] | None:
    """How many values of each axis a block runs for, from the first one on.

    `None` where predicates do more than to end axes.
    """
    extents = [a.extent.data for a in block.axes.data]
    for bound in block.predicates.data:
        room = bound.rhs.data - bound.lhs.data
        ends = [room + binding for binding in exprs_of(block.bindings)]
        ended = [i for i, end in enumerate(ends) if not end.args()]
        if not ended:
            return None
        for number in ended:
            axis = block.axes.data[number]
            count = ends[number] - axis.min.data
            if ends[number] in cases_of_minimum(axis.min.data + axis.extent.data):
                continue
            if is_non_negative(count) and is_non_negative(extents[number] - count):
                extents[number] = count
            elif not is_non_negative(count - extents[number]):
                return None
    return extents

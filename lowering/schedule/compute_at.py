"""`reverse_compute_at` and `compute_at`: move a block into a loop of its producer or consumer.

::

    for i, j, k: T[i, j] += X[i, k] * W[j, k]            for i:
    for i, j: Y[i, j] = max(T[i, j], 0)           ⇒        for j, k: T[i, j] += X[i, k] * W[j, k]
                                                           for j: Y[i, j] = max(T[i, j], 0)

The block gets a new loop for each axis, over the part that one iteration of the loop produces or
needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, never_negative, simplify
from ...dialects.int_expr import ONE, Atom, IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from ..scope import Bound
from .blocks import (
    ScheduleError,
    common_block,
    insert_before,
    loaded_buffers,
    perfect_nest,
    statement_in,
    stored_buffers,
    uses_of,
)
from .copy_block import new_loops
from .index_values import fixed_values
from .loop_checks import verify_covered, verify_unordered
from .needed_parts import needed_parts
from .regions import axes_of, refresh_around, replace_regions
from .reorder_checks import verify_instances_apart
from .required_ranges import RequiredRange, required_ranges


@dataclass(frozen=True)
class _Move:
    """The move of a block into a loop: its nest and the loop's statement, both in `parent`."""

    block: tir.BlockOp
    loop: tir.ForOp
    parent: Block
    nest: Operation
    target: Operation


LAST, FIRST = -1, -2
"""The position of a block among the statements of a loop: the last and the first possible one."""


def reverse_compute_at(
    block: tir.BlockOp, loop: tir.ForOp, preserve_unit_loops: bool = False, index: int = LAST
) -> list[tir.ForOp]:
    """Compute a block in each iteration of a loop, for the elements that the iteration produces.

    The block must come after the loop and load what is stored in it at its own axes, complete at
    the end of each iteration. It goes to the end of the loop, or right after its last producer
    (`FIRST`), or before the statement of number `index`. Returns the block's new loops, in the
    order of its axes, those of one iteration only with `preserve_unit_loops`. Raises ScheduleError
    with one line where that is not so; then nothing has changed.
    """
    move = _plan(block, loop)
    between = _between(move, move.target, move.nest)
    _verify_apart(move, between, loaded_buffers(block))
    _verify_apart(move, [move.target], set())
    values = Values()
    parts = required_ranges(block, loop, move.target, values)
    order = _statements_of(loop)
    producers = [i for i, op in enumerate(order) if stored_buffers(op) & loaded_buffers(block)]
    before = _place(move, index, max(producers) + 1, len(order))
    for op in between:  # a buffer that the block stores to must be there before the loop
        if isinstance(op, tir.AllocBufferOp):
            op.detach()
            move.parent.insert_op_before(op, move.target)
    loops = _apply(move, parts, values, before, preserve_unit_loops)
    refresh_around([block])
    return loops


def compute_at(
    block: tir.BlockOp, loop: tir.ForOp, preserve_unit_loops: bool = False, index: int = LAST
) -> list[tir.ForOp]:
    """Compute a block in each iteration of a loop, for the elements that the iteration loads.

    The block must come before the loop and store each element of a scratch buffer that only the
    loop loads. What several iterations need is computed several times. It goes right before its
    first consumer, or to the beginning of the loop (`FIRST`), or before the statement of number
    `index`. Returns the block's new loops, in the order of its axes, those of one iteration only
    with `preserve_unit_loops`. Raises ScheduleError with one line where that is not so.
    """
    move = _plan(block, loop)
    buffer = _scratch_of(move)
    between = _between(move, move.nest, move.target)
    _verify_apart(move, between, loaded_buffers(block))
    for changed in stored_buffers(move.target):
        _verify_disjoint(move, changed, loaded_buffers(block))
    values = Values()
    parts = needed_parts(block, loop, buffer, values)
    order = _statements_of(loop)
    first = next(i for i, op in enumerate(order) if buffer in loaded_buffers(op))
    before = _place(move, index, 0, first)
    loops = _apply(move, parts, values, before, preserve_unit_loops)
    refresh_around([block])
    return loops


def _statements_of(loop: tir.ForOp) -> list[Operation]:
    return [op for op in loop.body.block.ops if not isinstance(op, tir.AllocBufferOp)]


def _place(move: _Move, index: int, first: int, last: int) -> Operation | None:
    """The statement of the loop that the block goes before, `None` for the end."""
    order = _statements_of(move.loop)
    number = {LAST: last, FIRST: first}.get(index, index)
    if not first <= number <= last:
        raise ScheduleError(
            f"expected an index from {first} to {last} for block '{move.block.block_name.data}' "
            f"in the loop, got {index}",
            move.block,
        )
    return order[number] if number < len(order) else None


def _plan(block: tir.BlockOp, loop: tir.ForOp) -> _Move:
    where = f"block '{block.block_name.data}'"
    if loop in ancestors(block):
        raise ScheduleError(f"expected the loop not to be an ancestor of {where}", block)
    nest = perfect_nest(block)
    parent = common_block([nest, loop])
    target = statement_in(parent, loop)
    if nest.parent is not parent or target is None:
        raise ScheduleError(
            f"expected {where} to be a complete block, the only statement in its loops", block
        )
    if block.predicates.data:
        raise ScheduleError(f"expected {where} to have no predicates", block)
    if any(a.min.data.args() or a.extent.data.args() for a in block.axes.data):
        raise ScheduleError(f"expected axes of {where} not to depend on loops", block)
    verify_unordered(block)
    if isinstance(nest, tir.ForOp) and stored_buffers(block) & loaded_buffers(block):
        verify_instances_apart(block, nest)
    verify_covered(block)
    variables = {
        op.loop_var
        for op in ancestors(block)
        if isinstance(op, tir.ForOp) and (op is nest or nest in ancestors(op))
    }
    for op in operations_in(block):
        if op is not block and variables & set(op.operands):
            raise ScheduleError(f"expected {where} to use its axes instead of its loops", block)
    return _Move(block, loop, parent, nest, target)


def _between(move: _Move, first: Operation, last: Operation) -> list[Operation]:
    order = list(move.parent.ops)
    start, end = order.index(first), order.index(last)
    if start >= end:
        side = "after" if last is move.nest else "before"
        raise ScheduleError(
            f"expected block '{move.block.block_name.data}' to come {side} the loop", move.block
        )
    return order[start + 1 : end]


def _verify_apart(move: _Move, ops: list[Operation], read: set[SSAValue]) -> None:
    """The operations must not change what the block reads, nor access what it writes."""
    for op in ops:
        stored = stored_buffers(op)
        for buffer in stored:
            _verify_disjoint(move, buffer, read)
        for buffer in stored | loaded_buffers(op):
            _verify_disjoint(move, buffer, stored_buffers(move.block))


def _verify_disjoint(move: _Move, buffer: SSAValue, others: set[SSAValue]) -> None:
    for other in others:
        if may_share_memory(buffer, other):
            raise ScheduleError(
                f"expected nothing to use {buffer_text(buffer)} between block "
                f"'{move.block.block_name.data}' and its new position",
                move.block,
            )


def _scratch_of(move: _Move) -> SSAValue:
    """The scratch buffer that the block stores to and only the loop loads."""
    where = f"block '{move.block.block_name.data}'"
    stored = stored_buffers(move.block)
    buffer = next(iter(stored), None)
    if len(stored) != 1 or buffer is None or not isinstance(buffer.owner, tir.AllocBufferOp):
        got = "an output block" if len(stored) == 1 else f"{len(stored)} buffers"
        raise ScheduleError(
            f"expected {where} to store to one scratch buffer, got {got}", move.block
        )
    uses = uses_of(buffer)
    outside = [
        op
        for op in (*uses.loads, *uses.stores, *uses.others)
        if move.block not in ancestors(op) and move.loop not in ancestors(op)
    ]
    if uses.others or any(move.block not in ancestors(s) for s in uses.stores):
        raise ScheduleError(
            f"expected {buffer_text(buffer)} to be stored to only by {where}", move.block
        )
    if outside:
        raise ScheduleError(
            f"compute_at requires all the consumers of {where} to be in the loop, got one that "
            f"uses {buffer_text(buffer)} elsewhere",
            move.block,
        )
    return buffer


def _apply(
    move: _Move,
    parts: Mapping[int, RequiredRange],
    values: Values,
    before: Operation | None,
    preserve_unit_loops: bool,
) -> list[tir.ForOp]:
    """Move the block into new loops in the loop's body."""
    block, place = move.block, move.loop.body.block
    block.detach()
    if move.nest is not block:
        move.nest.detach()
        move.nest.erase()
    axes = axes_of(block)
    bindings: dict[int, IntExpr] = {}
    bounds: list[Bound] = []
    ranges = ranges_of(values.list)
    loops: list[tir.ForOp] = []
    current = place
    for position, axis in enumerate(axes):
        part = parts.get(position, RequiredRange(axis.min, axis.extent))
        first = binding = _without_unit_loops(axis, part, ranges)
        if part.extent != ONE or preserve_unit_loops:
            (loop,) = new_loops([_loop_name(block.axis_vars[position])], [part.extent], values)
            loop.location = block.location
            insert_before(loop, current, before if current is place else None)
            loops.append(loop)
            current = loop.body.block
            binding = binding + values.expr(loop.loop_var)
        bindings[position] = binding
        if position in parts and not part.is_inside:
            bounds += _bounds_of(axis, part, first if part.extent == ONE else binding, ranges)
    insert_before(block, current, before if current is place else None)
    moved = [tir.Axis(a.kind, a.min, a.extent, bindings[i]) for i, a in enumerate(axes)]
    replace_regions(block, moved, values, bounds)
    return loops


def _without_unit_loops(
    axis: tir.Axis, part: RequiredRange, ranges: Mapping[Atom, Interval]
) -> IntExpr:
    """The start of a part, with the value of each loop of one iteration for the loop's variable.

    In a part that may leave the range of the axis, only a loop that is the start is replaced.
    """
    start = simplify(part.min, ranges)
    fixed = fixed_values(start, ranges)
    moved = start.substitute(fixed)
    is_inside = part.is_inside or not _bounds_of(axis, replace(part, min=moved), moved, ranges)
    return moved if is_inside or start.as_atom in fixed else start


def _bounds_of(
    axis: tir.Axis, part: RequiredRange, binding: IntExpr, ranges: Mapping[Atom, Interval]
) -> list[Bound]:
    """Predicates that keep a part of an axis in range, unless it provably is."""
    bounds: list[Bound] = []
    end = axis.min + axis.extent
    if not never_negative(part.min - axis.min, ranges):
        bounds.append((axis.min - 1, binding))
    if not never_negative(end - part.min - part.extent, ranges):
        bounds.append((binding, end))
    return bounds


def _loop_name(axis: BlockArgument) -> str:
    name = axis.name_hint or "i"
    stem = name.removeprefix("v").removeprefix("_") or name
    return name if stem[0].isdigit() else stem

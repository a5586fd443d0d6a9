"""`cache_read` and `cache_write`: let a block access a scratch copy of a buffer.

::

    for i, k: Y[i] += X[i, k]            ⇒       for i, k: Y_local[i] += X[i, k]
                                                 for i: Y[i] = Y_local[i]

The copies are blocks of their own, which other primitives can move and schedule.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of, is_non_negative
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    common_block,
    function_of,
    loaded_buffers,
    loops_around,
    perfect_nest,
    statement_in,
    stored_buffers,
    uses_of,
)
from .copy_block import buffer_of, copy_box, new_scratch, redirect, verify_direct, verify_scope
from .regions import contains, refresh_around
from .stored_box import verify_stores_box


def cache_write(
    block: tir.BlockOp, buffer: int | str, scope: str, consumers: Sequence[tir.BlockOp] = ()
) -> tir.BlockOp:
    """Let a block write a buffer, given by its number or name, to a scratch buffer in `scope`.

    Returns the new block, after the block's loops, that copies the scratch buffer; `consumers` read
    the scratch buffer itself. TVM's ``cache_write``. Raises ScheduleError unless the block alone
    writes the buffer, namely every element of a box and without reading old ones, and consumers
    come later and read only that box.
    """
    verify_scope(scope, block)
    old = buffer_of(block, "write", buffer)
    nest = scope_statement(block)
    _verify_together([block, *consumers])
    verify_sole_writer(block, old, nest)
    verify_stores_box(block, old)
    assert nest.parent is not None
    values = Values()
    region = _region_of(old, infer_regions(nest.parent, values, [nest])[1], block)
    for consumer in consumers:
        _verify_consumer(consumer, block, nest, region, values)
    box = _inside(region, values, block)
    new = new_scratch(_name(old, scope), _dims(old), old, scope, nest.parent)
    for user in (block, *consumers):
        redirect(user, old, new)
    copy = copy_box(new, old, box, _name(old, scope), values)
    copy.location = block.location
    nest.parent.insert_op_after(perfect_nest(copy), nest)
    refresh_around([block, *consumers])
    return copy


def cache_read(
    block: tir.BlockOp,
    buffer: int | str,
    scope: str,
    consumers: Sequence[tir.BlockOp] | None = None,
) -> tir.BlockOp:
    """Let blocks read a buffer, given by its number or name in `block`, from a copy in `scope`.

    Those are `consumers`, or all blocks beside `block` that read it. Returns the new block that
    makes the copy, before the first of them. TVM's ``cache_read``. Raises ScheduleError where one
    of them, or what runs between them, changes the buffer.
    """
    verify_scope(scope, block)
    old = buffer_of(block, "read", buffer)
    readers = list(dict.fromkeys(_readers(block, old) if consumers is None else consumers))
    _verify_together([block, *readers])
    for reader in readers or [block]:
        if old not in reader.read_buffers:
            raise ScheduleError(
                f"expected block '{reader.block_name.data}' to read {buffer_text(old)}", reader
            )
        verify_direct(reader, old)
    parent, statements = _statements_of(readers or [block])
    verify_unchanged(old, parent, statements, block)
    values = Values()
    region = _region_of(old, infer_regions(parent, values, statements)[0], block)
    new = new_scratch(_name(old, scope), _dims(old), old, scope, parent)
    for reader in readers:
        redirect(reader, old, new)
    copy = copy_box(old, new, _inside(region, values), _name(old, scope), values)
    copy.location = block.location
    parent.insert_op_before(perfect_nest(copy), statements[0])
    refresh_around(readers)
    return copy


def scope_statement(block: tir.BlockOp) -> Operation:
    """The outermost loop around a block in the block or function that holds it."""
    loops = loops_around(block)
    return loops[0] if loops else block


def verify_sole_writer(block: tir.BlockOp, buffer: SSAValue, nest: Operation) -> None:
    """Raise ScheduleError if other statements store to a buffer, or use it in the block's loops."""
    uses = uses_of(buffer)
    users = [*uses.loads, *uses.stores, *uses.others]
    foreign = [op for op in users if block not in ancestors(op)]
    if uses.others or any(op in uses.stores or nest in ancestors(op) for op in foreign):
        raise ScheduleError(
            f"expected only block '{block.block_name.data}' to store to {buffer_text(buffer)}, and "
            "to use it in its loops",
            block,
        )


def verify_unchanged(
    buffer: SSAValue, parent: Block, statements: Sequence[Operation], block: tir.BlockOp
) -> None:
    """Raise ScheduleError if a statement between these changes a buffer."""
    order = list(parent.ops)
    for op in order[order.index(statements[0]) : order.index(statements[-1]) + 1]:
        if any(may_share_memory(buffer, stored) for stored in stored_buffers(op)):
            raise ScheduleError(
                f"expected nothing to store to {buffer_text(buffer)} while its copy is read",
                block,
            )


def _verify_together(blocks: Sequence[tir.BlockOp]) -> None:
    """Raise ScheduleError for blocks of different functions."""
    func = function_of(blocks[0])
    for block in blocks:
        if function_of(block) is not func:
            raise ScheduleError(
                f"expected block '{block.block_name.data}' to be in function "
                f"'{func.sym_name.data}'",
                block,
            )


def _statements_of(blocks: Sequence[tir.BlockOp]) -> tuple[Block, list[Operation]]:
    """The innermost block around loops of blocks, and its statements that hold these, in order."""
    parent = common_block([scope_statement(b) for b in blocks])
    places = {statement_in(parent, b) for b in blocks}
    return parent, [op for op in parent.ops if op in places]


def _readers(block: tir.BlockOp, buffer: SSAValue) -> list[tir.BlockOp]:
    """The blocks in the same block or function as `block` that read a buffer."""
    scope = enclosing(block, tir.BlockOp)
    around = scope or function_of(block)
    blocks = [o for o in operations_in(around) if isinstance(o, tir.BlockOp) and o is not around]
    return [b for b in blocks if enclosing(b, tir.BlockOp) is scope and buffer in loaded_buffers(b)]


def _verify_consumer(
    consumer: tir.BlockOp,
    block: tir.BlockOp,
    nest: Operation,
    region: tir.BufferRegion,
    values: Values,
) -> None:
    parent = nest.parent
    assert parent is not None
    statement = statement_in(parent, consumer)
    order = list(parent.ops)
    where = f"block '{consumer.block_name.data}'"
    if statement is None or order.index(statement) <= order.index(nest):
        raise ScheduleError(
            f"expected {where} to come after block '{block.block_name.data}'", consumer
        )
    found = [r for r in infer_regions(parent, values, [statement])[0] if r.buffer is region.buffer]
    if region.buffer not in consumer.read_buffers or not found:
        raise ScheduleError(f"expected {where} to read {buffer_text(region.buffer)}", consumer)
    if not contains(region, found[0], values):
        raise ScheduleError(
            f"expected {where} to read from {buffer_text(region.buffer)} only what block "
            f"'{block.block_name.data}' writes",
            consumer,
        )


def _region_of(
    buffer: SSAValue, regions: Sequence[tir.BufferRegion], block: tir.BlockOp
) -> tir.BufferRegion:
    """The region of a buffer; raises ScheduleError for views."""
    if isinstance(buffer.owner, tir.MatchBufferOp):
        raise ScheduleError(f"expected {buffer_text(buffer)} not to be a view", block)
    return next(r for r in regions if r.buffer is buffer)


def _inside(
    region: tir.BufferRegion, values: Values, writer: tir.BlockOp | None = None
) -> tir.BufferRegion:
    """The region, over the whole of each dim that it may leave: predicates are not in regions.

    Raises ScheduleError where iterations around a `writer` would do so.
    """
    mins, extents = list(region.mins), list(region.extents)
    ranges = ranges_of(values.list)
    for position, dim in enumerate(_dims(region.buffer)):
        low, size = mins[position], extents[position]
        moves = bool(low.args() or size.args())
        first, end = interval_of(low, ranges), interval_of(low + size - dim, ranges)
        if first is None or end is None:
            if moves:  # by values that are computed
                continue
        elif is_non_negative(first.lower) and is_non_negative(-end.upper):
            continue
        if moves and writer is not None:
            raise ScheduleError(
                f"expected block '{writer.block_name.data}' to store in bounds of "
                f"{buffer_text(region.buffer)} in all iterations",
                writer,
            )
        mins[position], extents[position] = ZERO, dim
    return tir.BufferRegion(region.buffer, tuple(mins), tuple(extents))


def _dims(buffer: SSAValue) -> Sequence[IntExpr]:
    assert isinstance(buffer.type, tir.BufferType)
    return buffer.type.dims


def _name(buffer: SSAValue, scope: str) -> str:
    return f"{buffer.name_hint or 'buffer'}_{scope}"

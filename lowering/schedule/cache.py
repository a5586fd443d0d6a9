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
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    common_block,
    function_of,
    loaded_buffers,
    perfect_nest,
    statement_in,
    stored_buffers,
    uses_of,
)
from .box_copy import scratch_copies
from .copy_block import buffer_of, verify_direct, verify_scope
from .copy_place import (
    last_consumer,
    reading_statements,
    statement_of,
    statements_after,
    users_of,
)
from .regions import contains, refresh_around
from .required_ranges import keeps_in_range
from .stored_box import verify_stores_box


def cache_write(
    block: tir.BlockOp, buffer: int | str, scope: str, consumers: Sequence[tir.BlockOp] = ()
) -> tir.BlockOp:
    """Let a block write a buffer, given by its number or name, to a scratch buffer in `scope`.

    Returns the new block, after the block's loops, that copies the scratch buffer; `consumers` read
    the scratch buffer itself. It is inside of loops that hold other blocks which use the buffer.
    TVM's ``cache_write``. Raises ScheduleError unless the block alone writes the buffer, namely
    every element of a box and without reading old ones, and consumers come later and read only that
    box.
    """
    verify_scope(scope, block)
    old = buffer_of(block, "write", buffer)
    _verify_together([block, *consumers])
    users = users_of(block, uses_of(old).loads)
    others = [user for user in users if user not in consumers]
    nest = statement_of(block, others)
    verify_sole_writer(block, old, nest, consumers)
    verify_stores_box(block, old)
    assert nest.parent is not None
    values = Values()
    region = _written(block, old, nest.parent, [nest], values)
    for consumer in consumers:
        _verify_consumer(consumer, block, old)
    box = region_inside(region, values, block)
    changed = [block, *consumers]
    (copy,) = scratch_copies(box, nest.parent, changed, block, scope, values, [False])
    copy.location = block.location
    nest.parent.insert_op_after(perfect_nest(copy), last_consumer(nest, consumers, others))
    refresh_around(changed)
    return copy


def _verify_box_is_stored(box: tir.BufferRegion, copied: Operation, block: tir.BlockOp) -> None:
    """Raise ScheduleError for a copy of whole dims that a loop around it stores in parts."""
    old = box.buffer
    assert isinstance(old.type, tir.BufferType)
    if not isinstance(old.owner, tir.AllocBufferOp):
        return
    sizes = zip(box.extents, old.type.dims, strict=True)
    whole = [d for d, (extent, dim) in enumerate(sizes) if extent == dim != IntExpr.of(1)]
    outer = [op.loop_var for op in ancestors(copied) if isinstance(op, tir.ForOp)]
    for store in uses_of(old).stores:
        writer = enclosing(store, tir.BlockOp)
        if writer is None or writer is block:
            continue
        numbering, indices = writer.numbering(), exprs_of(store.indices)
        used = {store.operands_[n] for d in whole for n in indices[d].args()}
        axes = zip(writer.axis_vars, exprs_of(writer.bindings), strict=True)
        if any(numbering[n] in outer for v, e in axes if v in used for n in e.args()):
            raise ScheduleError(
                f"expected what '{block.block_name.data}' reads of {buffer_text(old)} to be "
                f"stored before, got a loop that stores it in parts",
                block,
            )


def cache_read(
    block: tir.BlockOp,
    buffer: int | str,
    scope: str,
    consumers: Sequence[tir.BlockOp] | None = None,
) -> tir.BlockOp:
    """Let blocks read a buffer, given by its number or name in `block`, from a copy in `scope`.

    Those are `consumers`, or all blocks beside `block` that read it. Returns the new block that
    copies a box of it, before the first of them, inside of a loop that writes the buffer. The box
    holds what they read where predicates are true. TVM's ``cache_read``. Blocks may view the buffer
    or pass it to calls if it is dense, as its copy has the same layout. Raises ScheduleError where
    one of them, or what runs between them, changes the buffer.
    """
    verify_scope(scope, block)
    old = buffer_of(block, "read", buffer)
    assert isinstance(old.type, tir.BufferType)
    readers = list(dict.fromkeys(_readers(block, old) if consumers is None else consumers))
    _verify_together([block, *readers])
    for reader in readers or [block]:
        if old not in reader.read_buffers:
            raise ScheduleError(
                f"expected block '{reader.block_name.data}' to read {buffer_text(old)}", reader
            )
        if not old.type.is_dense:
            verify_direct(reader, old)
    values = Values()
    inside = statements_after(old, readers or [block], users_of(block, uses_of(old).stores))
    if inside is None:
        parent, statements = reading_statements(readers or [block])
        is_cut = any(_is_cut(reader) for reader in readers or [block])
        copied = infer_regions(parent, values, statements, by_predicates=is_cut)[0]
    else:
        parent, statements, writing = inside
        copied = infer_regions(parent, values, writing)[1]
    verify_unchanged(old, parent, statements, block, readers or [block])
    box = region_inside(region_of(old, copied, block), values)
    _verify_box_is_stored(box, statements[0], block)
    first = (readers or [block])[0]
    (copy,) = scratch_copies(box, parent, readers, first, scope, values, [True])
    copy.location = block.location
    parent.insert_op_before(perfect_nest(copy), statements[0])
    refresh_around(readers)
    return copy


def verify_sole_writer(
    block: tir.BlockOp, buffer: SSAValue, nest: Operation, consumers: Sequence[tir.BlockOp] = ()
) -> None:
    """Raise ScheduleError if other statements store to a buffer, or use it in the block's loops.

    There, only `consumers` may load it.
    """
    uses = uses_of(buffer)
    users = [*uses.loads, *uses.stores, *uses.others]
    own = {block, *consumers}
    foreign = [op for op in users if own.isdisjoint(ancestors(op))]
    stores = [op for op in (*uses.stores, *uses.others) if block not in ancestors(op)]
    if stores or any(nest in ancestors(op) for op in foreign):
        raise ScheduleError(
            f"expected only block '{block.block_name.data}' to store to {buffer_text(buffer)}, and "
            "to use it in its loops",
            block,
        )


def verify_unchanged(
    buffer: SSAValue,
    parent: Block,
    statements: Sequence[Operation],
    block: tir.BlockOp,
    readers: Sequence[tir.BlockOp],
) -> None:
    """Raise ScheduleError if a statement between these changes a buffer before the last reader."""
    order = list(parent.ops)
    first, last = order.index(statements[0]), order.index(statements[-1])
    for op in (*order[first:last], *_until_read(order[last], readers)):
        if any(may_share_memory(buffer, stored) for stored in stored_buffers(op)):
            raise ScheduleError(
                f"expected nothing to store to {buffer_text(buffer)} while its copy is read",
                block,
            )


def _until_read(op: Operation, readers: Sequence[tir.BlockOp]) -> list[Operation]:
    """An operation, or those in a loop of one iteration up to the last one that holds a reader."""
    if not isinstance(op, tir.ForOp) or op.extent.data != ONE:
        return [op]
    inner = list(op.body.block.ops)
    held = {statement_in(op.body.block, reader) for reader in readers} - {None}
    last = max(i for i, o in enumerate(inner) if o in held)
    return [*inner[:last], *_until_read(inner[last], readers)]


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


def _readers(block: tir.BlockOp, buffer: SSAValue) -> list[tir.BlockOp]:
    """The blocks in the same scope as `block` that read a buffer, without others that write it."""
    scope = enclosing(block, tir.BlockOp)
    around = scope or function_of(block)
    blocks = [o for o in operations_in(around) if isinstance(o, tir.BlockOp) and o is not around]
    own = [b for b in blocks if enclosing(b, tir.BlockOp) is scope and buffer in loaded_buffers(b)]
    return [b for b in own if b is block or buffer not in stored_buffers(b)]


def _verify_consumer(consumer: tir.BlockOp, block: tir.BlockOp, buffer: SSAValue) -> None:
    """Raise ScheduleError unless a block reads of a buffer only what `block` has written before."""
    parent = common_block([block, consumer])
    own, statement = (statement_in(parent, b) for b in (block, consumer))
    order = list(parent.ops)
    where = f"block '{consumer.block_name.data}'"
    if own is None or statement is None or order.index(statement) <= order.index(own):
        raise ScheduleError(
            f"expected {where} to come after block '{block.block_name.data}'", consumer
        )
    values = Values()
    written = _written(block, buffer, parent, [own], values)
    found = [r for r in infer_regions(parent, values, [statement])[0] if r.buffer is buffer]
    if buffer not in consumer.read_buffers or not found:
        raise ScheduleError(f"expected {where} to read {buffer_text(buffer)}", consumer)
    if not contains(written, found[0], values):
        raise ScheduleError(
            f"expected {where} to read from {buffer_text(buffer)} only what block "
            f"'{block.block_name.data}' writes",
            consumer,
        )


def _written(
    block: tir.BlockOp,
    buffer: SSAValue,
    parent: Block,
    statements: Sequence[Operation],
    values: Values,
) -> tir.BufferRegion:
    """The region of a buffer that a block writes in statements, as far as predicates let it run."""
    _, written = infer_regions(parent, values, statements, by_predicates=True)
    return region_of(buffer, written, block)


def _is_cut(block: tir.BlockOp) -> bool:
    """Whether predicates of a block, or of those in it, do more than to keep axes in range."""
    inner = [o for o in operations_in(block) if isinstance(o, tir.BlockOp) and o is not block]
    return not keeps_in_range(block) or any(o.predicates.data for o in inner)


def region_of(
    buffer: SSAValue, regions: Sequence[tir.BufferRegion], block: tir.BlockOp
) -> tir.BufferRegion:
    """The region of a buffer; raises ScheduleError for views."""
    if isinstance(buffer.owner, tir.MatchBufferOp):
        raise ScheduleError(f"expected {buffer_text(buffer)} not to be a view", block)
    return next(r for r in regions if r.buffer is buffer)


def region_inside(
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

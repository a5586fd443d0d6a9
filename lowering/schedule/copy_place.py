"""Where a copy of a buffer belongs: the statements around blocks that use the buffer."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.nesting import ancestors, enclosing
from .blocks import common_block, loops_around, statement_in, uses_of


def scope_statement(block: tir.BlockOp) -> Operation:
    """The outermost loop around a block in the block or function that holds it."""
    loops = loops_around(block)
    return loops[0] if loops else block


def scope_body(block: tir.BlockOp) -> Block:
    """The body of the block or function around a block."""
    parent = scope_statement(block).parent
    assert parent is not None
    return parent


def users_of(block: tir.BlockOp, accesses: Sequence[Operation]) -> list[tir.BlockOp]:
    """The other blocks in the same scope as `block` that have these accesses."""
    scope = enclosing(block, tir.BlockOp)
    found = [enclosing(op, tir.BlockOp) for op in accesses]
    users = [b for b in found if b is not None and enclosing(b, tir.BlockOp) is scope]
    return [b for b in dict.fromkeys(users) if b is not block]


def statement_of(block: tir.BlockOp, users: Sequence[tir.BlockOp]) -> Operation:
    """The outermost loop around a block that is around no `users`, in the block's scope."""
    nest = scope_statement(block)
    inside = [user for user in users if nest in ancestors(user)]
    statement = statement_in(common_block([block, *inside]), block) if inside else nest
    return block if statement is None else statement


def reading_statements(blocks: Sequence[tir.BlockOp]) -> tuple[Block, list[Operation]]:
    """The innermost block around loops of blocks, and its statements that hold these, in order."""
    parent = common_block([scope_statement(b) for b in blocks])
    places = {statement_in(parent, b) for b in blocks}
    return parent, [op for op in parent.ops if op in places]


def statements_after(
    buffer: SSAValue, readers: Sequence[tir.BlockOp], writers: Sequence[tir.BlockOp]
) -> tuple[Block, list[Operation], list[Operation]] | None:
    """Where to copy all that `writers` store, in a loop that they share with readers.

    Returns the body of that loop, its statements with readers, and those with writers, which are
    before. `None` if there is no such loop, or if others store to the buffer.
    """
    stores = uses_of(buffer).stores
    nest = scope_statement(readers[0])
    inside = [reader for reader in readers if nest in ancestors(reader)]
    known = all(any(w in ancestors(op) for w in writers) for op in stores)
    if not (writers and inside and known) or any(nest not in ancestors(w) for w in writers):
        return None
    parent = common_block([*inside, *writers])
    order = list(parent.ops)
    reading, writing = ({statement_in(parent, b) for b in found} for found in (inside, writers))
    first = min(order.index(op) for op in reading if op is not None)
    if any(op is None or order.index(op) >= first for op in writing):
        return None
    return parent, [op for op in order if op in reading], [op for op in order if op in writing]


def last_consumer(
    nest: Operation, consumers: Sequence[tir.BlockOp], others: Sequence[tir.BlockOp]
) -> Operation:
    """The last statement from a nest on that holds a consumer, before those that hold others."""
    last = current = nest
    while (current := current.next_op) is not None:
        if any(current in (b, *ancestors(b)) for b in others):
            break
        if any(current in (b, *ancestors(b)) for b in consumers):
            last = current
    return last

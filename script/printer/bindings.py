"""Which scalar values of a function get a line of their own; the others are written in place."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from ...dialects.tir import CallExternOp
from ...dialects.tir.scalar_ops import (
    epochs,
    is_expression,
    is_index_arithmetic,
    reads_memory,
    users,
)


def live_operations(root: Operation) -> set[Operation]:
    """Operations inside `root` that a statement depends on, and the statements."""
    live: set[Operation] = set()
    for op in reversed(list(root.walk())):
        if not is_expression(op) or any(u.operation in live for r in op.results for u in r.uses):
            live.add(op)
    return live


def bound_operations(block: Block, live: set[Operation]) -> set[Operation]:
    """The operations of the block whose result needs a name.

    These are results used more than once or in another block, and loads and calls that would have
    to cross an effect to reach the statement that uses them.
    """
    before = epochs(block)
    statement_of: dict[Operation, Operation] = {}
    bound: set[Operation] = set()
    for op in reversed(list(block.ops)):
        is_call = isinstance(op, CallExternOp) and op.result is not None
        if op not in live or is_index_arithmetic(op) or not (is_expression(op) or is_call):
            continue
        using = [u for u in users(op.results[0]) if u in live]
        if is_call and not using:
            continue
        if len(using) == 1 and using[0].parent is block:
            statement = statement_of.get(using[0], using[0])
            moment = before[op] + is_call
            if not (is_call or reads_memory(op)) or moment == before[statement]:
                # What a call takes is computed before the call, wherever its result goes.
                statement_of[op] = op if is_call else statement
                continue
        bound.add(op)
    return bound

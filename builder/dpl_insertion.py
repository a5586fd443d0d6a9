"""Detached operations that replace others: which they are, and what they may use where they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation

from ..lowering.graph.values import visible


def bring(detached: Operation, op: Operation, made: Sequence[Operation]) -> bool:
    """Let an operation use values as they are seen at `op`; whether all of them are."""
    for index, operand in enumerate(detached.operands):
        if operand.owner in made:
            continue
        value = visible(operand, op)
        if value is None:
            return False
        if value is not operand:
            detached.operands[index] = value
    return True


def detached_operations(owner: Any) -> list[Operation]:
    """The operations that wait to be emitted for a value, operands first."""
    order: dict[Operation, None] = {}
    work = [(owner, False)]
    while work:
        op, done = work.pop()
        if not isinstance(op, Operation) or op.parent is not None or op in order:
            continue
        if done:
            order[op] = None
            continue
        work.append((op, True))
        work += [(o.owner, False) for o in reversed(op.operands)]
    return list(order)

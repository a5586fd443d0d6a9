"""Detached operations that replace others: which they are, and what they may use where they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..dialects.diagnostics import BuilderError
from ..ir.expr import Expr, expression
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


def insert_detached(made: Sequence[Operation], place: Operation) -> None:
    """Put operations before another one; raises BuilderError where their operands are not seen."""
    block = place.parent
    assert block is not None
    for op in made:
        if not bring(op, place, made):
            raise BuilderError(f"expected the operands of '{op.name}' to be seen in the block")
        block.insert_op_before(op, place)


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


class ReplaceMatch(RewritePattern):
    """Replace values that a pattern matches, as a rewrite pattern of xDSL."""

    def __init__(self, pattern: Any, rewriter: Callable[[Any, Any], Any]):
        self.pattern = pattern
        self.rewriter = rewriter

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if len(op.results) != 1 or op.regions:
            return
        found = self.pattern.core.match_value(op.results[0])
        if found is None:
            return
        old = expression(op)
        new: Expr = self.rewriter(old, self.pattern.views(found))
        if new == old:
            return
        value = new.ssa
        operations = detached_operations(value.owner)
        if not all(bring(o, op, operations) for o in operations):
            return
        for detached in operations:
            rewriter.insert(detached)
        result = value if operations else visible(value, op)
        if result is not None:
            rewriter.replace(op, [], [result])

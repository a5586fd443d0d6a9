"""`rewrite_bindings`: replace values of a dataflow block that linked patterns match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects import relax
from ..ir.blocks import DataflowBlock
from ..ir.function import Function
from ..ir.operators import to_value
from ..lowering.graph.values import canonical
from .analysis import get_var2val, remove_all_unused
from .dpl_context import PatternContext
from .dpl_insertion import detached_operations, insert_detached


def rewrite_bindings(
    ctx: PatternContext,
    rewriter: Callable[[dict[Any, Any], dict[Any, Any]], Mapping[Any, Any]],
    func: Function,
) -> Function:
    """A copy of a function in which matches of the context are rewritten, until there are none.

    `rewriter` gets what the patterns match, and the values by variables. It returns the new values
    of some variables, or nothing to keep the match. What is not used any more is removed. Raises
    ValueError where a new value would be needed before it is computed (BuilderError where it uses
    what is not seen in the block), and for a rewriter whose results match again and again: more
    often than the block has lines.
    """
    copy = Function(func.op.clone())
    for block in [op for op in copy.op.walk() if isinstance(op, relax.DataflowOp)]:
        limit = len(list(block.body.block.ops))
        for _ in range(limit):
            found = ctx.match_dfb(DataflowBlock(block))
            new: Mapping[Any, Any] = {}
            if found is not None:
                new = rewriter(found, get_var2val(copy))
            if not new:
                break
            _replace(block.body.block, {to_value(k): to_value(v) for k, v in new.items()})
        else:
            raise ValueError(
                f"expected at most {limit} matches in a block of as many lines, got more"
            )
    return remove_all_unused(copy)


def _replace(block: Block, new: Mapping[SSAValue, SSAValue]) -> None:
    made = list(dict.fromkeys(op for v in new.values() for op in detached_operations(v.owner)))
    place = _after(block, made, [canonical(old).owner for old in new])
    insert_detached(made, place)
    for old, value in new.items():
        _replace_value(canonical(old), value, place, made)
    for owner in {canonical(old).owner for old in new}:
        if isinstance(owner, Operation) and not any(r.first_use for r in owner.results):
            Rewriter.erase_op(owner)


def _replace_value(
    old: SSAValue, new: SSAValue, place: Operation, made: Sequence[Operation]
) -> None:
    """Let all that use a value use another one, except for the operations that make it."""
    uses = [use for use in old.uses if use.operation not in made]
    block = place.parent
    assert block is not None
    early = _before(block, place)
    if any(use.operation in early for use in uses):
        name = old.name_hint or "a value"
        raise ValueError(f"expected the new value of '{name}' to be computed before its uses")
    new.name_hint = new.name_hint or old.name_hint
    for use in uses:
        use.operation.operands[use.index] = new


def _after(block: Block, made: Sequence[Operation], old: Sequence[Operation | Block]) -> Operation:
    """The first operation that is replaced, or if new ones use later results, the one after."""
    owners = {canonical(o).owner for op in made for o in op.operands}
    lines = list(block.ops)
    last = max((i for i, op in enumerate(lines) if op in owners), default=-1)
    first = min((i for i, op in enumerate(lines) if op in old), default=0)
    return lines[max(last + 1, first)]


def _before(block: Block, place: Operation) -> list[Operation]:
    lines = list(block.ops)
    return lines[: lines.index(place)]

"""Loops that compute the same in every iteration of a loop around them, which stay loops.

LLVM's loop vectorizer asks of each value in a loop whether all lanes have the same one, and of the
operands in turn (`vputils::isSingleScalar`), without keeping the answers. Where an unrolled loop
has become a chain of values that are each used twice, as by a minimum, and are all the same, that
takes 2ⁿ steps. What is outside of loops, LLVM hoists before; loops it unrolls too late for that.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import llvm
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import loops
from ...dialects.nesting import ancestors, operations_in
from ..scope import is_inside


def forks(carried: Iterable[SSAValue]) -> bool:
    """Whether something is used twice that a lowered loop computes of the values it carries."""
    own = list(carried)
    work, seen = list(own), set[SSAValue]()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        uses = list(value.uses)
        is_inner = value not in own and isinstance(value.owner, Block)
        if len(uses) > (2 if is_inner else 1):  # inner loops carry it, and it is used after them
            return True
        for use in uses:
            op = use.operation
            work += op.results
            if isinstance(op, llvm.BrOp):
                work.append(op.successor.args[use.index])
    return False


def is_repeated(loop: loops.ForOp) -> bool:
    """Whether a loop computes the same in every iteration of one of the loops around it."""
    around = [p for p in ancestors(loop) if isinstance(p, loops.ForOp)]
    return any(not _depends(loop, p) for p in around)


def _depends(loop: loops.ForOp, around: loops.ForOp) -> bool:
    """Whether what a loop computes may differ between iterations of the one around it."""
    stored = {op.buffer for op in operations_in(around) if isinstance(op, loops.StoreOp)}
    work, seen = [loop], set[Operation]()
    while work:
        op = work.pop()
        if op in seen:
            continue
        seen.add(op)
        if isinstance(op, loops.LoadOp) and op.buffer in stored:
            return True
        for value in op.operands:
            if value.owner is around.body.block:
                return True
            if is_inside(value, around):
                work += _sources(value)
        work += [inner for r in op.regions for b in r.blocks for inner in b.ops]
    return False


def _sources(value: SSAValue) -> list[Operation]:
    """The operations that a value comes from."""
    owner = value.owner
    found = owner.parent_op() if isinstance(owner, Block) else owner
    return [] if found is None else [found]

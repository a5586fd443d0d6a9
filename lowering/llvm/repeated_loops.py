"""Find loops that must not be unrolled: invariant in an enclosing loop, or fills of many rows.

LLVM's loop vectorizer asks for each value in a loop whether it is uniform, and recursively for its
operands (`vputils::isSingleScalar`), without memoization. If an unrolled loop has become a chain of
uniform values that are each used twice, as by a minimum, that takes 2ⁿ steps. LLVM hoists invariant
straight-line code before; it unrolls loops too late for that.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith, llvm
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import loops
from ...dialects.nesting import ancestors, operations_in
from ..scope import is_inside


def forks(carried: Iterable[SSAValue]) -> bool:
    """Whether a value that a lowered loop computes from carried values is used twice."""
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
    """Whether a loop is invariant in one of the loops around it."""
    around = [p for p in ancestors(loop) if isinstance(p, loops.ForOp)]
    return any(not _depends(loop, p) for p in around)


MAX_ROWS = 64
"""The most rows of a fill that LLVM may unroll."""


def fills_rows(loop: loops.ForOp) -> bool:
    """Whether a loop only stores one value to many rows.

    LLVM calls `memset` for a row, which it takes for one instruction. It unrolls the loops around,
    and instruction selection takes quadratic time for the stores.
    """
    rows, nest = 1, loop
    while inner := [op for op in nest.body.block.ops if isinstance(op, loops.ForOp)]:
        rows *= nest.extent.data.constant or 1
        nest = inner[0]
    return rows > MAX_ROWS and all(_fills(op, loop) for op in loop.walk())


def _fills(op: Operation, loop: loops.ForOp) -> bool:
    if isinstance(op, loops.StoreOp):
        return isinstance(op.value.owner, arith.ConstantOp) or not is_inside(op.value, loop)
    return isinstance(op, loops.ForOp | loops.YieldOp | arith.ConstantOp)


def _depends(loop: loops.ForOp, around: loops.ForOp) -> bool:
    """Whether the results of a loop may depend on the iteration of the loop around it."""
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

"""`hoist-invariants`: loop-invariant code motion of pure operations on data, and of scalar loads.

::

    loops.for %j in (0, n) {                       %m = arith.divf %s, %count : f32
      %m = arith.divf %s, %count : f32             %v = vector.broadcast %m : …
      %v = vector.broadcast %m : …           ⇒     loops.for %j in (0, n) {
      %x = loops.load %X[%j * 16] : …                %x = loops.load %X[%j * 16] : …
      %d = arith.subf %x, %v : …                     %d = arith.subf %x, %v : …
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import IndexType, ModuleOp, VectorType
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from ...dialects import loops
from ..scope import is_inside


def hoist_invariants(block: Block) -> None:
    """Move operations out of the loops in a block, inner loops first.

    The body of a parallel loop, which becomes a function, keeps its own.
    """
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                hoist_invariants(inner)
        if isinstance(op, loops.ForOp) and op.kind.data != "parallel":
            for candidate in list(op.body.block.ops):
                movable = _can_move(candidate) or _is_fixed(candidate, op)
                if movable and not any(is_inside(v, op) for v in candidate.operands):
                    candidate.detach()
                    block.insert_op_before(candidate, op)


def _can_move(op: Operation) -> bool:
    """Whether an operation may run speculatively; operations without effects never trap.

    Indices in addresses are not hoisted, but indices that are only used as data are.
    """
    if not op.results or op.regions or not (is_side_effect_free(op) or op.name in loops.LANEWISE):
        return False
    indices = [r for r in op.results if isinstance(r.type, IndexType)]
    return all(isinstance(u.operation, IndexCastOp) for r in indices for u in r.uses)


def _is_fixed(op: Operation, loop: loops.ForOp) -> bool:
    """Whether an operation loads a scalar of scratch memory that a loop, which runs, only loads.

    LLVM would hoist the load too, but after what is computed of it.
    """
    if not isinstance(op, loops.LoadOp) or not isinstance(op.buffer.owner, loops.AllocaOp):
        return False
    if isinstance(op.result.type, VectorType) or not (loop.extent.data.constant or 0) > 0:
        return False
    users = [use.operation for use in op.buffer.uses]
    return all(isinstance(u, loops.LoadOp) or not loop.is_ancestor(u) for u in users)


@dataclass(frozen=True)
class HoistInvariantsPass(ModulePass):
    """Move pure operations on data, and scalars in scratch memory, out of loops.

    They are invariant in the loop, and a load moves if the loop has a constant trip count.
    """

    name = "hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, loops.FuncOp):
                hoist_invariants(func.body.block)

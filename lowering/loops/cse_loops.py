"""`cse-loops`: merge equal operations, and equal loads without a write in between.

::

    %0 = loops.load %A[%i]
    %1 = loops.load %A[%i]
    %2 = arith.addf %0, %1      ⇒      %2 = arith.addf %0, %0

xDSL's ``cse``, but in linear time: that one visits all operations between two loads. Here writes
are counted in order, and nothing is written between loads of the same count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import MemoryEffectKind, get_effects
from xdsl.transforms.common_subexpression_elimination import CSEDriver
from xdsl.transforms.dead_code_elimination import is_trivially_dead


@dataclass
class _Driver(CSEDriver):
    """xDSL's driver with another way to merge operations that only read."""

    writes: int = 0
    """Operations so far that may write."""
    seen: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """For each load that others may be merged with, the writes before it."""
    writers: set[Operation] = field(default_factory=set[Operation])
    """Operations with regions that may write."""

    def _simplify_region(self, region: Region) -> None:
        before = self.writes
        super()._simplify_region(region)
        if self.writes > before and (op := region.parent_op()) is not None:
            self.writers.add(op)

    def _simplify_operation(self, op: Operation) -> None:
        if op in self.writers:
            return  # which is known without looking into it again
        effects = get_effects(op)
        kinds = None if effects is None else {effect.kind for effect in effects}
        if kinds is None or MemoryEffectKind.WRITE in kinds:
            self.writes += 1  # neither dead nor merged
        elif kinds == {MemoryEffectKind.READ} and not op.regions and not is_trivially_dead(op):
            self._simplify_load(op)
        else:
            super()._simplify_operation(op)

    def _simplify_load(self, op: Operation) -> None:
        known = self._known_ops.get(op)
        is_near = known is not None and known.parent_block() is op.parent_block()
        if known is not None and is_near and self.seen[known] == self.writes:
            self._replace_and_delete(op, known)
        else:
            self._known_ops[op] = op
            self.seen[op] = self.writes


@dataclass(frozen=True)
class CSELoopsPass(ModulePass):
    """Merge equal operations, and loads between which nothing is written."""

    name = "cse-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Driver().simplify(op)

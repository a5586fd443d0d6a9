"""The bindings of a block, and of blocks around it, over the loops of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import Arg, Atom, IntExpr, IntLike
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from ..analysis.block_accesses import accessed_axes
from .blocks import ScheduleError


@dataclass(frozen=True)
class IteratorMap:
    """The bindings of a block, and of blocks around it in a statement, over the loops between."""

    loops: list[tir.ForOp]
    blocks: list[tir.BlockOp]
    extents: dict[Atom, IntExpr]
    inside: set[Atom]
    outside: set[Atom]
    values: Values
    meaning: dict[SSAValue, IntExpr]

    @staticmethod
    def of(writer: tir.BlockOp, loop: tir.ForOp, statement: Operation) -> IteratorMap:
        """`inside` are the loops within `loop`, `outside` that loop and those around it."""
        values = Values()
        loops, blocks = _between(writer, statement)
        extents = {
            values.atom(op.loop_var): values.rebase(op.extent.data, op.operands_) for op in loops
        }
        inside = {values.atom(op.loop_var) for op in loops if loop in ancestors(op)}
        iterators = IteratorMap(loops, blocks, extents, inside, set(extents) - inside, values, {})
        for block in reversed(blocks):
            for var, binding in zip(block.axis_vars, exprs_of(block.bindings), strict=True):
                iterators.meaning[var] = iterators.over_loops(binding, block.numbering())
        return iterators

    def loop_var(self, atom: Atom) -> SSAValue:
        """The variable of a loop."""
        assert isinstance(atom, Arg)
        return self.values.list[atom.index]

    def over_loops(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr:
        """An expression with axes replaced by their bindings."""
        mapping: dict[Atom, IntLike] = {}
        for number in expr.args():
            value = operands[number]
            known = self.meaning.get(value)
            mapping[Arg(number)] = self.values.expr(value) if known is None else known
        return expr.substitute(mapping)

    def knows(self, store: tir.StoreOp, in_part: bool = False) -> bool:
        """Whether a block stores at its axes, or in blocks around it at what all their axes say.

        With `in_part`, the axes may run over a part of the buffer.
        """
        if len(self.blocks) == 1:
            return accessed_axes(self.blocks[0], store, in_part=in_part) is not None
        return all(v in self.meaning for v in store.operands_)

    def stored(self, store: tir.StoreOp) -> list[IntExpr]:
        """The indices of a store over the loops."""
        return [self.over_loops(e, store.operands_) for e in exprs_of(store.indices)]


def _between(
    writer: tir.BlockOp, statement: Operation
) -> tuple[list[tir.ForOp], list[tir.BlockOp]]:
    """The loops around a block, out to a statement, and the block with those around it there."""
    loops: list[tir.ForOp] = []
    blocks = [writer]
    for parent in ancestors(writer):
        if isinstance(parent, tir.ForOp):
            loops.append(parent)
        elif isinstance(parent, tir.BlockOp):
            blocks.append(parent)
        elif not isinstance(parent, tir.InitOp):
            raise ScheduleError(
                f"expected block '{writer.block_name.data}' to be in loops and blocks alone", writer
            )
        if parent is statement:
            return loops, blocks
    raise ScheduleError(
        f"expected block '{writer.block_name.data}' to be in the loop's statement", writer
    )

"""Perfect loop nests around one block, and what rearranges them: split, reorder, unroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike
from ...dialects.sym import exprs_of


@dataclass(eq=False)
class Loop:
    """A loop from 0 of a nest; `extent` is over symbols."""

    name: str
    extent: IntExpr
    kind: str = "serial"


class Nest:
    """Loops, outermost first, each around the next alone, and a block inside that they drive alone.

    `bindings` are the block's, with ``arg(i)`` for the i-th of `known` loops. Nothing changes in
    the IR until `replace`.
    """

    def __init__(self, block: tir.BlockOp, loops: Sequence[Loop], outermost: tir.ForOp):
        self.block = block
        self.loops = list(loops)
        self.outermost = outermost
        self.known = list(loops)
        count = len(block.axes.data)
        shift: dict[Atom, IntLike] = {Arg(count + i): Arg(i) for i in range(len(loops))}
        self.bindings = [b.substitute(shift) for b in exprs_of(block.bindings)]

    @staticmethod
    def around(block: tir.BlockOp) -> Nest | None:
        """The nest of serial, unannotated loops from 0 around a block; `None` for any other."""
        nest: list[tir.ForOp] = []
        parent = block.parent_op()
        while isinstance(parent, tir.ForOp) and _is_plain(parent):
            nest.insert(0, parent)
            parent = parent.parent_op()
        loop_vars: list[SSAValue] = [loop.loop_var for loop in nest]
        if not nest or any(v not in loop_vars for v in block.operands_):
            return None
        loops = [Loop(loop.loop_var.name_hint or "i", loop.extent.data) for loop in nest]
        found = Nest(block, loops, nest[0])
        count = len(block.axes.data)
        renumber: dict[Atom, IntLike] = {
            Arg(count + i): Arg(loop_vars.index(v)) for i, v in enumerate(block.operands_)
        }
        found.bindings = [b.substitute(renumber) for b in exprs_of(block.bindings)]
        return found

    def loop_of_axis(self, axis: int) -> Loop | None:
        """The loop that an axis is bound to, where it is bound to one over the axis's range."""
        atom, bounds = self.bindings[axis].as_atom, self.block.axes.data[axis]
        if not isinstance(atom, Arg):
            return None
        loop = self.known[atom.index]
        whole = bounds.min.data == ZERO and bounds.extent.data == loop.extent
        return loop if whole else None

    def split(self, loop: Loop, factor: int) -> tuple[Loop, Loop]:
        """Replace a loop by an outer and an inner one of `factor` steps, which must divide it."""
        extent = loop.extent.constant
        assert extent is not None and extent % factor == 0
        outer, inner = (
            Loop(loop.name, IntExpr.of(extent // factor)),
            Loop(loop.name, IntExpr.of(factor)),
        )
        position = len(self.known)
        self.known += [outer, inner]
        value = IntExpr.of(Arg(position)) * factor + Arg(position + 1)
        mapping: dict[Atom, IntLike] = {Arg(self.known.index(loop)): value}
        self.bindings = [b.substitute(mapping) for b in self.bindings]
        at = self.loops.index(loop)
        self.loops[at : at + 1] = [outer, inner]
        return outer, inner

    def reorder(self, order: Sequence[Loop]) -> None:
        """Put all loops in this order, outermost first."""
        assert sorted(map(id, order)) == sorted(map(id, self.loops))
        self.loops = list(order)

    def replace(self) -> None:
        """Write the nest into the IR, in place of the loops that it came from."""
        place = self.outermost.parent
        assert place is not None
        bodies = [Block(arg_types=[IndexType()]) for _ in self.loops]
        for loop, body in zip(self.loops, bodies, strict=True):
            body.args[0].name_hint = loop.name
        values = [
            bodies[self.loops.index(k)].args[0] if k in self.loops else None for k in self.known
        ]
        block = self._block([v if v is not None else bodies[0].args[0] for v in values])
        inner: tir.ForOp | tir.BlockOp = block
        for loop, body in zip(reversed(self.loops), reversed(bodies), strict=True):
            body.add_op(inner)
            inner = tir.ForOp(ZERO, loop.extent, [], Region(body), loop.kind)
            inner.location = self.outermost.location
        place.insert_op_before(inner, self.outermost)
        self.outermost.detach()
        self.outermost.erase()

    def _block(self, values: Sequence[SSAValue]) -> tir.BlockOp:
        old = self.block
        args: list[SSAValue] = list(old.axis_vars)
        count = len(args)
        numbered: dict[Atom, IntLike] = {Arg(i): Arg(i + count) for i in range(len(values))}
        axes = [
            tir.Axis(a.kind.data, a.min.data, a.extent.data, b.substitute(numbered))
            for a, b in zip(old.axes.data, self.bindings, strict=True)
        ]
        reads, writes = old.regions_of("reads"), old.regions_of("writes")
        body = old.detach_region(old.body)
        new = tir.BlockOp.build_from(
            old.block_name.data, axes, body, [*args, *values], (), reads, writes, old.annotations
        )
        new.location = old.location
        return new


def _is_plain(loop: tir.ForOp) -> bool:
    body = loop.body.block
    return (
        body.first_op is body.last_op
        and loop.kind.data == "serial"
        and loop.annotations is None
        and loop.min.data == ZERO
        and not loop.extent.data.args()
    )

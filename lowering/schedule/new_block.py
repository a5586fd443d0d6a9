"""Build blocks from another block, with some of its axes and a new body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike
from ...dialects.parameters import value_name
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import infer_regions
from ..scope import Bound
from .regions import in_order


class NewBlock:
    """Builds a block with spatial axes of another one, bound to `loops`."""

    def __init__(self, old: tir.BlockOp, loops: Mapping[SSAValue, SSAValue]):
        self.old = old
        self.values = Values()
        self.loops = loops
        self.body = Block(arg_types=[])
        self.meaning: dict[SSAValue, IntExpr] = {}
        self.axes: list[tir.Axis] = []
        for number, kind in enumerate(old.axis_kinds):
            if kind == "spatial":
                self.keep_axis(number)

    def keep_axis(self, number: int) -> None:
        """Another axis, the last one: that of the old block of this number."""
        var, old = self.old.axis_vars[number], self.old.axes.data[number]
        binding = exprs_of(self.old.bindings)[number]
        arg = self.body.insert_arg(IndexType(), len(self.body.args))
        arg.name_hint = var.name_hint
        bounds = (self.over_loops(e) for e in (old.min.data, old.extent.data, binding))
        self.axes.append(tir.Axis(old.kind.data, *bounds))
        self.meaning[var] = self.values.expr(arg)

    def over_loops(self, expr: IntExpr, by: Mapping[SSAValue, IntExpr] | None = None) -> IntExpr:
        """An expression of the old block over the new numbering; `by` replaces variables."""
        mapping: dict[Atom, IntLike] = {}
        numbering = self.old.numbering()
        for i in expr.args():
            value = numbering[i]
            known = None if by is None else by.get(value)
            known = self.meaning.get(value) if known is None else known
            value = self.loops.get(value, value)
            mapping[Arg(i)] = self.values.expr(value) if known is None else known
        return expr.substitute(mapping)

    def add_axis(self, kind: str, loop: tir.ForOp, is_first: bool = False) -> IntExpr:
        """Another axis, the last one or the first, bound to a loop; returns what it is inside."""
        position = 0 if is_first else len(self.body.args)
        var = self.body.insert_arg(IndexType(), position)
        var.name_hint = value_name(f"v_{loop.loop_var.name_hint or 'k'}")
        own, bound = self.values.expr(var), self.values.expr(loop.loop_var)
        self.axes.insert(position, tir.Axis(kind, ZERO, loop.extent.data, bound))
        return own

    def add(self, ops: Block) -> None:
        """Put operations at the end of the body."""
        for op in list(ops.ops):
            op.detach()
            self.body.add_op(op)

    def finish(self, name: str, predicates: Sequence[Bound]) -> tir.BlockOp:
        """The block, detached; it reads the buffers of the old one in the same order."""
        reads, writes = infer_regions(self.body, self.values)
        reads = in_order(reads, self.old.read_buffers)
        block = tir.BlockOp.build_from(
            name,
            self.axes,
            Region(self.body),
            self.values.list,
            predicates,
            reads,
            writes,
            self.old.annotations,
        )
        block.location = self.old.location
        return block


def take_over(block: tir.BlockOp, new: tir.BlockOp) -> None:
    """Move the body, operands and properties of another block, which is erased, to a block."""
    for op in list(block.body.block.ops)[::-1]:
        op.detach()
        op.erase()
    block.detach_region(block.body)
    block.add_region(new.detach_region(new.body))
    block.operands = list(new.operands)
    block.properties = dict(new.properties)
    new.erase()

"""The heads of TensorIR blocks: axes and bindings, predicate, access regions, annotations."""

from __future__ import annotations

from xdsl.ir import BlockArgument

from ...dialects.int_expr import Arg, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir import AxisAttr, BlockOp, ForOp
from .buffers import region_text
from .expressions import Expressions
from .literals import dictionary_text
from .names import Names
from .writer import Writer

AXIS_LETTERS = {"spatial": "S", "reduce": "R"}


class BlockPrinter:
    """Writes what one block declares."""

    def __init__(self, writer: Writer, expressions: Expressions, names: Names, op: BlockOp):
        self.writer = writer
        self.expressions = expressions
        self.names = names
        self.op = op
        self._operands = op.numbering()

    def write(self) -> None:
        """Write the axes, the predicate, the regions and the annotations."""
        op = self.op
        for axis_var in op.axis_vars:
            name = self.names.fresh(axis_var.name_hint or "v")
            self.expressions.names[axis_var] = name
        self._axes()
        if op.predicates.data:
            bounds = [
                f"{self._index(b.lhs.data)} < {self._index(b.rhs.data)}" for b in op.predicates.data
            ]
            self.writer.line(f"T.where({' and '.join(bounds)})")
        self._regions("reads")
        self._regions("writes")
        if op.annotations is not None and op.annotations.data:
            self.writer.line(f"T.block_attr({dictionary_text(op.annotations.data)})")

    def _index(self, expr: IntExpr) -> str:
        return self.expressions.index(expr, self._operands)

    def _axes(self) -> None:
        """Neighbouring axes that just follow a loop share one line, as in TVM."""
        together: list[int] = []
        for position in range(len(self.op.axes.data)):
            if self._follows_loop(position):
                together.append(position)
                continue
            self._write_axes(together)
            self._write_axis(position)
            together = []
        self._write_axes(together)

    def _write_axes(self, positions: list[int]) -> None:
        if len(positions) == 1:
            self._write_axis(positions[0])
        elif positions:
            bindings = exprs_of(self.op.bindings)
            names = ", ".join(self.expressions.names[self.op.axis_vars[p]] for p in positions)
            letters = "".join(AXIS_LETTERS[self.op.axis_kinds[p]] for p in positions)
            loops = ", ".join(self._index(bindings[p]) for p in positions)
            self.writer.line(f'{names} = T.axis.remap("{letters}", [{loops}])')

    def _write_axis(self, position: int) -> None:
        axis, binding = self.op.axes.data[position], exprs_of(self.op.bindings)[position]
        lower, extent = axis.min.data, axis.extent.data
        domain = self._index(extent)
        if lower.terms:
            domain = f"({self._index(lower)}, {self._index(lower + extent)})"
        name = self.expressions.names[self.op.axis_vars[position]]
        self.writer.line(f"{name} = T.axis.{axis.kind.data}({domain}, {self._index(binding)})")

    def _follows_loop(self, position: int) -> bool:
        axis, binding = self.op.axes.data[position], exprs_of(self.op.bindings)[position]
        atom = binding.as_atom
        if axis.kind.data not in AXIS_LETTERS or not isinstance(atom, Arg):
            return False
        value = self._operands[atom.index]
        loop = value.owner.parent_op() if isinstance(value, BlockArgument) else None
        return isinstance(loop, ForOp) and self._same_range(loop, axis)

    def _same_range(self, loop: ForOp, axis: AxisAttr) -> bool:
        """Names are unique, so ranges are the same when they read the same."""
        pairs = ((loop.min.data, axis.min.data), (loop.extent.data, axis.extent.data))
        return all(self.expressions.index(a, loop.operands_) == self._index(b) for a, b in pairs)

    def _regions(self, which: str) -> None:
        texts = [
            region_text(self.expressions, r.buffer, r.mins, r.extents, self._operands)
            for r in self.op.regions_of(which)
        ]
        self.writer.line(f"T.{which}({', '.join(texts)})")

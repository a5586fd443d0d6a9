"""The heads of TensorIR blocks, and buffers: axes, predicate, regions, annotations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import BlockArgument, SSAValue

from ...dialects.int_expr import ONE, Arg, IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir import AxisAttr, BlockOp, BoundAttr, BufferType, ForOp, alternatives
from ...dialects.tir.types import GLOBAL
from .expressions import Expressions
from .literals import call_text, dictionary_text, quote, tuple_text
from .writer import Names, Writer

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
            bounds = [self._bound(b) for b in op.predicates.data]
            if len(bounds) > 1:
                bounds = [f"({b})" if " or " in b else b for b in bounds]
            self.writer.line(f"T.where({' and '.join(bounds)})")
        self._regions("reads")
        self._regions("writes")
        if op.annotations is not None and op.annotations.data:
            self.writer.line(f"T.block_attr({dictionary_text(op.annotations.data)})")

    def _bound(self, bound: BoundAttr) -> str:
        cases = [f"{self._index(a)} < {self._index(b)}" for a, b in alternatives(bound)]
        return " or ".join(cases)

    def _index(self, expr: IntExpr) -> str:
        return self.expressions.index(expr, self._operands)

    def _axes(self) -> None:
        """Neighbouring axes that just follow a loop share one line, as in TVM."""
        together: list[int] = []
        for position in range(len(self.op.axes.data)):
            if self.writer.options.syntax_sugar and self._follows_loop(position):
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


def shape_text(expressions: Expressions, dims: Sequence[IntExpr]) -> str:
    """``(1, n)``."""
    return tuple_text([expressions.dim(d) for d in dims])


def declare_buffer(
    expressions: Expressions,
    function: str,
    type_: BufferType,
    *source: str,
    data: str | None = None,
) -> str:
    """``T.alloc_buffer((1, n), "int32")``: defaults are left out."""
    strides = type_.strides
    return call_text(
        function,
        *source,
        shape_text(expressions, type_.dims),
        *([] if type_.dtype == "float32" else [quote(type_.dtype)]),
        data=data,
        strides=None
        if isinstance(strides, NoneAttr)
        else shape_text(expressions, exprs_of(strides)),
        elem_offset=expressions.dim(type_.offset.data) if type_.offset.data.terms else None,
        scope=quote(type_.scope.data) if type_.scope.data != GLOBAL else None,
    )


def region_text(
    expressions: Expressions,
    buffer: SSAValue,
    mins: Sequence[IntExpr],
    extents: Sequence[IntExpr],
    operands: Sequence[SSAValue],
) -> str:
    """``X[vi * 4:vi * 4 + 4, j]``: a slice for each extent other than 1."""
    ranges: list[str] = []
    for lower, extent in zip(mins, extents, strict=True):
        first = expressions.index(lower, operands)
        last = expressions.index(lower + extent, operands)
        ranges.append(first if extent == ONE else f"{first}:{last}")
    return expressions.element(buffer, ranges)


def symbols_in_order(type_: BufferType) -> list[str]:
    """The symbols of a buffer's shape and layout as they appear."""
    strides = () if isinstance(type_.strides, NoneAttr) else exprs_of(type_.strides)
    exprs = (*type_.dims, *strides, type_.offset.data)
    return list(dict.fromkeys(s for expr in exprs for s in sorted(expr.symbols())))

"""Sizes that a function reads from tensors while it runs, and results whose dims depend on them.

::

    %s = relax.tensor_to_shape %c at_most [n]
    relax.match_cast %s : !relax.shape<rank 1> -> !relax.shape<[k]>
    …
    relax.return %y : !relax.tensor<[k], f32>

⇒

::

    rt.func @main(…, %y: !tir.buffer<[n * 4], i8>, %0: !tir.buffer<[1], i64>) … reported [k] {
      rt.read_sizes %c [k at_most n]
      rt.assert …
      …
      %1 = rt.view %y[0] : !tir.buffer<[n * 4], i8> to !tir.buffer<[k], f32>
      rt.copy %2, %1 : !tir.buffer<[k], f32>, !tir.buffer<[k], f32>
      rt.copy %c, %0 : !tir.buffer<[1], i64>, !tir.buffer<[1], i64>
"""

from __future__ import annotations

from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from ...dialects import relax, rt, tir
from ...dialects.bounds import limited
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr, Sym, sym
from ...dialects.relax.symbols import dims_in
from ...dialects.relax.tuple import Leaf, leaves, tensor_type
from ...dialects.relax.types import type_symbols
from ..functions import unique_name
from .convert_calls import CallConverter
from .function_memory import buffer_type
from .memory_plan import largest


class SizeConverter(CallConverter):
    """Converts the sizes that one function reads."""

    def sized_result(self, leaf: Leaf) -> SSAValue | None:
        """An argument of bytes for a result whose dims depend on data; None for other results."""
        own = tensor_type(leaf)
        if own.dims is None or not type_symbols(own) & self.sizes.keys():
            return None
        if self.private:
            raise Diagnostic(
                f"expected the dims of the result of {self.label}, which other functions call, "
                f"to depend on those of its parameters, got {own}"
            )
        type_ = buffer_type(own, f"result of {self.label}")
        limits = limited(self.sizes.items())
        size = largest(type_.size_in_bytes(), limits, f"the size of {own}")
        arg = self.entry.insert_arg(tir.BufferType.of([size], i8), len(self.entry.args))
        arg.name_hint = leaf[0].name_hint
        self.sized[arg] = type_
        return arg

    def report_sizes(self) -> None:
        """Copy the sizes that results depend on to results of their own."""
        wanted = type_symbols(self.func.returned.type)
        for read in self.reads:
            if wanted.intersection(name for name, _ in read.symbols):
                arg = self.entry.insert_arg(read.source.type, len(self.entry.args))
                self.reported.append(read)
                self.current.add_op(rt.CopyOp(read.source, arg))

    def read_sizes(self, op: relax.MatchCastOp, shape: relax.TensorToShapeOp) -> None:
        """Declare the symbols of a cast, and check their values and the other dims."""
        source, dims = self.memory[leaves(shape.tensor)[0]], list(dims_in(op.result.type))
        names = [self._size_name(dim, i) for i, dim in enumerate(dims)]
        read = rt.ReadSizesOp(source, names, shape.limits)
        self.reads.append(read)
        checks: list[Operation] = []
        for (name, limit), dim in zip(read.symbols, dims, strict=True):
            size, what = sym(name), f"tensor_to_shape in {self.label}: expected a dim"
            checks.append(rt.AssertOp(size, "ge", 0, f"{what} of at least 0, got {{0}}"))
            if shape.at_most is not None:
                message = f"{what} of at most {{0}}, got {{1}}"
                checks.append(rt.AssertOp(limit, "ge", size, message))
            if dim != size:
                checks.append(rt.AssertOp(size, "eq", dim, f"{what} of {{1}}, got {{0}}"))
        self.current.add_ops([read, *checks])

    def _size_name(self, dim: IntExpr, position: int) -> str:
        """The new symbol that a dim of a cast declares; a fresh one for other dims."""
        atom = dim.as_atom
        if isinstance(atom, Sym) and atom.name in self.sizes and atom.name not in self.declared:
            name = atom.name
        else:
            name = unique_name(f"size_{position}", self.declared | self.sizes.keys())
        self.declared.add(name)
        return name

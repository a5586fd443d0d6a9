"""What of a graph function depends on parameters alone, which are known before its inputs are.

The attribute `num_input` of a function says how many of its first parameters are inputs; the others
are parameters of a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.relax.closure import is_pure
from ...dialects.relax.operators.markers import StopLiftParamsOp
from ...dialects.relax.symbols import determined_symbols
from ...dialects.relax.types import type_symbols
from .values import canonical

NUM_INPUT = "num_input"


def num_input(func: relax.FuncOp | relax.LocalFuncOp) -> int | None:
    """The number of inputs of a function, if it says."""
    attr = None if func.attrs is None else func.attrs.data.get(NUM_INPUT)
    return attr.value.data if isinstance(attr, IntegerAttr) else None


@dataclass
class CompileTime:
    """Values of a function that are known before its inputs, in order; see `of`."""

    values: dict[SSAValue, bool] = field(default_factory=lambda: {})
    """The values, and whether they depend on a parameter; a constant of the program does not."""

    symbols: set[str] = field(default_factory=lambda: set())

    @staticmethod
    def of(func: relax.FuncOp | relax.LocalFuncOp) -> CompileTime:
        """What is known; only what depends on nothing in a function without `num_input`."""
        found, count = CompileTime(), num_input(func)
        for param in func.params[count:] if count is not None else ():
            found._add(param, True)
        for op in func.body.block.ops:
            inner = op.body.block.ops if isinstance(op, relax.DataflowOp) else (op,)
            for line in inner:
                found._visit(line)
        return found

    def __contains__(self, value: SSAValue) -> bool:
        return canonical(value) in self.values

    def uses_parameters(self, value: SSAValue) -> bool:
        """Whether a value is known, and depends on parameters."""
        return self.values.get(canonical(value), False)

    def _add(self, value: SSAValue, depends: bool) -> None:
        self.values[value] = depends
        self.symbols |= set(determined_symbols([value.type]))

    def _visit(self, op: Operation) -> None:
        if len(op.results) != 1 or op.regions or not is_pure(op):
            return
        if isinstance(op, StopLiftParamsOp) or any(o not in self for o in op.operands):
            return
        used = {s for a in op.properties.values() for s in type_symbols(a)}
        if not isinstance(op, relax.MatchCastOp):
            used |= type_symbols(op.results[0].type)
        if used <= self.symbols:
            self._add(op.results[0], any(self.uses_parameters(o) for o in op.operands))

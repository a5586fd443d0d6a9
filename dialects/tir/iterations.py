"""Single iterations of a loop nest, as numbers.

Intervals over-approximate: the hull of ``i - i floordiv 4 * 4`` is not its set of values. A rule
that an interval seems to break is broken only if some iteration breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.ir import Operation, SSAValue

from ..int_expr import Arg, IntExpr, Sym
from ..sym import exprs_of
from .access import ApplyOp
from .block import BlockOp, InitOp
from .func import PrimFuncOp
from .loop import ForOp

BUDGET = 4096
"""How many iterations are looked at, at most."""


class UnknownValue(Exception):
    """An expression depends on data."""


@dataclass
class Iteration:
    """The values of loop variables and axes in one iteration, and a number for each symbol."""

    values: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    symbols: dict[str, int] = field(default_factory=dict[str, int])
    numbers: Iterator[int] = field(default_factory=lambda: count(37, 4))

    def evaluate(self, expr: IntExpr, operands: Sequence[SSAValue]) -> int:
        """The value of an expression; raises UnknownValue where it depends on data."""

        def value_of(atom: Sym | Arg) -> int:
            if isinstance(atom, Arg):
                return self.value_of(operands[atom.index])
            if atom.name not in self.symbols:
                self.symbols[atom.name] = next(self.numbers)
            return self.symbols[atom.name]

        try:
            return expr.evaluate(value_of)
        except ZeroDivisionError:
            raise UnknownValue from None

    def value_of(self, value: SSAValue) -> int:
        """The value of an index; raises UnknownValue where it depends on data."""
        if value in self.values:
            return self.values[value]
        if isinstance(value.owner, ApplyOp):
            return self.evaluate(value.owner.expr.data, value.owner.operands)
        raise UnknownValue


def happens(op: Operation, breaks: Callable[[Iteration], bool]) -> bool:
    """Whether an iteration is found in which `op` runs and `breaks` holds.

    Looks at the first, the last, and as many others as the budget allows, of each enclosing loop;
    false where whether `op` runs depends on data.
    """
    nest = _nest_of(op)
    if nest is None:
        return False
    loops = sum(isinstance(o, ForOp) for o in nest)
    each = max(2, int(BUDGET ** (1 / loops))) if loops else 1
    search = _Search(nest, each, breaks)
    try:
        return search.visit(0, Iteration())
    except UnknownValue:
        return False


def _nest_of(op: Operation) -> list[Operation] | None:
    nest: list[Operation] = [op] if isinstance(op, BlockOp) else []
    parent = op.parent_op()
    while isinstance(parent, ForOp | BlockOp | InitOp):
        nest.append(parent)
        parent = parent.parent_op()
    return nest[::-1] if isinstance(parent, PrimFuncOp | None) else None


@dataclass
class _Search:
    nest: list[Operation]
    each: int
    breaks: Callable[[Iteration], bool]
    steps: int = 0

    def visit(self, depth: int, iteration: Iteration) -> bool:
        self.steps += 1
        if self.steps > 4 * BUDGET:
            return False
        if depth == len(self.nest):
            return self.breaks(iteration)
        match self.nest[depth]:
            case ForOp() as op:
                return self._loop(op, depth, iteration)
            case BlockOp() as op:
                return _enter(op, iteration) and self.visit(depth + 1, iteration)
            case op:
                return _starts(op, iteration) and self.visit(depth + 1, iteration)

    def _loop(self, op: ForOp, depth: int, iteration: Iteration) -> bool:
        first = iteration.evaluate(op.min.data, op.operands_)
        extent = iteration.evaluate(op.extent.data, op.operands_)
        for step in _samples(extent, self.each):
            iteration.values[op.loop_var] = first + step
            if self.visit(depth + 1, iteration):
                return True
        return False


def _samples(extent: int, number: int) -> Sequence[int]:
    if extent <= number:
        return range(extent)
    return sorted({step * (extent - 1) // (number - 1) for step in range(number)}, reverse=True)


def _enter(op: BlockOp, iteration: Iteration) -> bool:
    """Bind the axes; whether the block's predicates hold."""
    numbering = op.numbering()
    for bound in op.predicates.data:
        lhs = iteration.evaluate(bound.lhs.data, numbering)
        if lhs >= iteration.evaluate(bound.rhs.data, numbering):
            return False
    bindings = [iteration.evaluate(b, numbering) for b in exprs_of(op.bindings)]
    iteration.values.update(zip(op.axis_vars, bindings, strict=True))
    return True


def _starts(op: Operation, iteration: Iteration) -> bool:
    """Whether a `tir.init` runs: all reduction axes of its block are at their first value."""
    block = op.parent_op()
    assert isinstance(block, BlockOp)
    return all(
        iteration.values[var] == iteration.evaluate(axis.min.data, block.numbering())
        for var, axis in zip(block.axis_vars, block.axes.data, strict=True)
        if axis.kind.data == "reduce"
    )

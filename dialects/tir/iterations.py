"""Concrete iterations of a loop nest.

Intervals over-approximate: the hull of ``i - i floordiv 4 * 4`` is larger than its set of values. A
violation that an interval suggests is real only if some iteration has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ..int_expr import Arg, IntExpr, Sym
from ..sym import exprs_of
from .block_attributes import BlockLike, InitOp
from .func import PrimFuncOp
from .loop import ApplyOp, ForOp

BUDGET = 4096
"""The maximum number of iterations to inspect."""


class UnknownValue(Exception):
    """Raised for an expression that depends on data."""


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


class _Loop(NamedTuple):
    """The properties of a loop, read once for all its iterations."""

    variable: SSAValue
    first: IntExpr
    extent: IntExpr
    operands: Sequence[SSAValue]


class _Block(NamedTuple):
    """A block: its predicates and its bindings."""

    bounds: list[tuple[IntExpr, IntExpr]]
    bindings: Sequence[tuple[SSAValue, IntExpr]]
    operands: Sequence[SSAValue]

    def runs(self, iteration: Iteration) -> bool:
        """Bind the axes; returns whether the predicates hold."""
        for lhs, rhs in self.bounds:
            if iteration.evaluate(lhs, self.operands) >= iteration.evaluate(rhs, self.operands):
                return False
        values = [iteration.evaluate(e, self.operands) for _, e in self.bindings]
        iteration.values.update(zip((v for v, _ in self.bindings), values, strict=True))
        return True


class Start(NamedTuple):
    """The condition of a block's `tir.init`: its reduction axes, and their first values."""

    firsts: Sequence[tuple[SSAValue, IntExpr]]
    operands: Sequence[SSAValue]

    @classmethod
    def of(cls, block: BlockLike) -> Start:
        axes = zip(block.axis_vars, block.axes.data, strict=True)
        firsts = [(v, a.min.data) for v, a in axes if a.kind.data == "reduce"]
        return cls(firsts, tuple(block.numbering()))

    def runs(self, iteration: Iteration) -> bool:
        """Whether all reduction axes are at their first value."""
        return all(
            iteration.values[v] == iteration.evaluate(e, self.operands) for v, e in self.firsts
        )


def _read(op: Operation) -> _Loop | _Block | Start:
    match op:
        case ForOp():
            return _Loop(op.loop_var, op.min.data, op.extent.data, tuple(op.operands_))
        case BlockLike():
            bounds = [(b.lhs.data, b.rhs.data) for b in op.predicates.data]
            bindings = list(zip(op.axis_vars, exprs_of(op.bindings), strict=True))
            return _Block(bounds, bindings, tuple(op.numbering()))
        case _:
            block = op.parent_op()
            assert isinstance(block, BlockLike)
            return Start.of(block)


def happens(
    op: Operation,
    breaks: Callable[[Iteration], bool],
    start: Iteration | None = None,
    budget: int = BUDGET,
) -> bool | None:
    """Search for an iteration in which `op` runs and `breaks` holds; returns whether there is one.

    Inspects the first and the last iteration of each enclosing loop, and others up to the budget.
    `None` if the search stopped early because whether `op` runs depends on data. `start` has
    numbers for symbols.
    """
    nest = _nest_of(op)
    if nest is None:
        return None
    loops = sum(isinstance(o, ForOp) for o in nest)
    each = max(2, int(budget ** (1 / loops))) if loops else 1
    search = _Search([_read(o) for o in nest], each, breaks, 4 * budget)
    try:
        found = search.visit(0, start or Iteration())
    except UnknownValue:
        return None
    return found if found or search.steps <= search.most else None


def _nest_of(op: Operation) -> list[Operation] | None:
    nest: list[Operation] = [op] if isinstance(op, BlockLike) else []
    parent = op.parent_op()
    while isinstance(parent, ForOp | BlockLike | InitOp):
        nest.append(parent)
        parent = parent.parent_op()
    return nest[::-1] if isinstance(parent, PrimFuncOp | None) else None


@dataclass
class _Search:
    nest: list[_Loop | _Block | Start]
    each: int
    breaks: Callable[[Iteration], bool]
    most: int
    steps: int = 0

    def visit(self, depth: int, iteration: Iteration) -> bool:
        self.steps += 1
        if self.steps > self.most:
            return False
        if depth == len(self.nest):
            return self.breaks(iteration)
        match self.nest[depth]:
            case _Loop() as loop:
                return self._loop(loop, depth, iteration)
            case around:
                return around.runs(iteration) and self.visit(depth + 1, iteration)

    def _loop(self, loop: _Loop, depth: int, iteration: Iteration) -> bool:
        first = iteration.evaluate(loop.first, loop.operands)
        extent = iteration.evaluate(loop.extent, loop.operands)
        for step in _samples(extent, self.each):
            iteration.values[loop.variable] = first + step
            if self.visit(depth + 1, iteration):
                return True
        return False


def _samples(extent: int, number: int) -> Sequence[int]:
    """The first and the last iteration of a loop, some between, and two adjacent ones."""
    if extent <= number:
        return range(extent)
    spread = {step * (extent - 1) // (number - 1) for step in range(number)}
    return sorted(spread | {1} if number > 2 else spread, reverse=True)

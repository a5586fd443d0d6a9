"""Which loops of a kernel may be run for all iterations at once, as an array axis.

A loop may when no two of its iterations access the same element of a buffer, unless both only read
it. Accesses are compared as integer expressions over loop variables, with numbers for symbols:
either one dim tells iterations apart by its coefficient, or the addresses are enumerated. What
depends on data is not proven, and such loops run one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ..dialects import loops, tir
from ..dialects.bounds import Interval, interval_of, simplify
from ..dialects.int_expr import Arg, Atom, IntExpr
from ..dialects.sym import Values, exprs_of
from .disjoint import Access, Loop, are_apart, span_of
from .expressions import substitute_symbols
from .values import lanes_of


def independent_loops(
    body: Block, symbols: Mapping[str, int], known: Mapping[SSAValue, int]
) -> set[Operation]:
    """The loops in `body` whose iterations are provably independent, given numbers for symbols.

    `known` are the values of index parameters. Buffers of the function are taken not to overlap.
    """
    analysis = _Analysis(symbols)
    analysis.meaning.update({value: IntExpr.of(n) for value, n in known.items()})
    analysis.visit(body)
    return analysis.independent


class _Analysis:
    def __init__(self, symbols: Mapping[str, int]) -> None:
        self.symbols = symbols
        self.values = Values()
        self.ranges: dict[Atom, Interval] = {}
        self.meaning: dict[SSAValue, IntExpr | None] = {}
        self.views: dict[SSAValue, tuple[SSAValue, list[IntExpr | None]]] = {}
        self.stack: list[Loop] = []
        self.independent: set[Operation] = set()
        self.ordered: set[Operation] = set()
        """Loops with calls of registered functions, which have any effect."""

    def visit(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case tir.ForOp():
                    self._loop(op, op.loop_var, op.min.data, op.extent.data, op.operands_)
                    continue
                case loops.ForOp():
                    self._loop(op, op.loop_var, op.lower.data, op.extent.data, op.operands_)
                    continue
                case tir.BlockOp():
                    for axis, binding in zip(op.axis_vars, exprs_of(op.bindings), strict=True):
                        self.meaning[axis] = self._rebase(binding, op.numbering())
                case tir.ApplyOp():
                    self.meaning[op.result] = self._rebase(op.expr.data, op.operands)
                case tir.AllocBufferOp() | loops.AllocaOp():
                    for loop in self.stack:
                        loop.local.add(op.result)
                case tir.MatchBufferOp():
                    starts = [self._rebase(e, op.operands_) for e in exprs_of(op.starts)]
                    self.views[op.result] = (op.source, starts)
                case tir.LoadOp() | tir.StoreOp() | loops.LoadOp() | loops.StoreOp():
                    self._access(op)
                case tir.CallIntrinOp() if op.packed_callee is not None:
                    self.ordered |= {loop.op for loop in self.stack}
                case _:
                    pass
            for region in op.regions:
                for inner in region.blocks:
                    self.visit(inner)

    def _loop(
        self,
        op: Operation,
        var: SSAValue,
        lower: IntExpr,
        extent: IntExpr,
        operands: Sequence[SSAValue],
    ) -> None:
        atom = self.values.atom(var)
        first, size = self._rebase(lower, operands), self._rebase(extent, operands)
        if first is not None and size is not None:
            low, high = interval_of(first, self.ranges), interval_of(first + size - 1, self.ranges)
            if low is not None and high is not None:
                self.ranges[atom] = Interval(low.lower, high.upper)
        self.meaning[var] = self.values.expr(var)
        loop = Loop(op, atom)
        for outer in self.stack:
            outer.inner.add(atom)
        self.stack.append(loop)
        for region in op.regions:
            for block in region.blocks:
                self.visit(block)
        self.stack.pop()
        if not op.results and op not in self.ordered and self._is_independent(loop):
            self.independent.add(op)

    def _rebase(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr | None:
        mapping: dict[Atom, IntExpr] = {}
        for index in expr.args():
            meaning = self.meaning.get(operands[index])
            if meaning is None:
                return None
            mapping[Arg(index)] = meaning
        return simplify(substitute_symbols(expr.substitute(mapping), self.symbols), self.ranges)

    def _access(self, op: tir.LoadOp | tir.StoreOp | loops.LoadOp | loops.StoreOp) -> None:
        is_store = isinstance(op, tir.StoreOp | loops.StoreOp)
        lanes = lanes_of(op.value.type if is_store else op.result.type) or 1
        memory: SSAValue = op.buffer
        indices = [self._rebase(e, op.operands_) for e in exprs_of(op.indices)]
        while memory in self.views:
            memory, starts = self.views[memory]
            outer = len(starts) - len(indices)
            moved = [
                None if s is None or i is None else s + i
                for s, i in zip(starts[outer:], indices, strict=True)
            ]
            indices = [*starts[:outer], *moved]
        access = Access(memory, tuple(indices), is_store, lanes)
        for loop in self.stack:
            loop.accesses.append(access)

    def _is_independent(self, loop: Loop) -> bool:
        span = span_of(IntExpr.of(loop.atom), self.ranges)
        if span is not None and span[0] >= span[1]:
            return True
        groups: dict[SSAValue, list[Access]] = {}
        for access in loop.accesses:
            if access.memory not in loop.local:
                groups.setdefault(access.memory, []).append(access)
        written = [g for g in groups.values() if any(a.is_store for a in g)]
        return all(are_apart(loop, g, self.ranges) for g in written)

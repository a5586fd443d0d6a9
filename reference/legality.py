"""Which loops of a kernel may be run for all iterations at once, as an array axis.

A loop may when no two of its iterations touch the same element of a buffer, unless both only read it.
Accesses are compared as integer expressions over loop variables, with numbers for symbols: either one
dim tells iterations apart by its coefficient, or the addresses are enumerated. What depends on data is
not proven, and such loops run one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ..dialects import loops, tir
from ..dialects.bounds import Interval, interval_of
from ..dialects.int_expr import ZERO, Arg, Atom, IntExpr
from ..dialects.sym import Values, exprs_of
from .expressions import compile_expr, with_symbols
from .values import Array, lanes_of

MAX_ENUMERATED = 1 << 20
"""Addresses of one access that are enumerated at most."""

Span = tuple[int, int]


@dataclass(frozen=True)
class _Access:
    """A load or store of `memory`; an index is `None` where it depends on data, `lanes` widen the last one."""

    memory: SSAValue
    indices: tuple[IntExpr | None, ...]
    is_store: bool
    lanes: int


@dataclass
class _Loop:
    op: Operation
    atom: Atom
    accesses: list[_Access] = field(default_factory=lambda: [])
    local: set[SSAValue] = field(default_factory=lambda: set())
    inner: set[Atom] = field(default_factory=lambda: set())


def independent_loops(
    body: Block, symbols: Mapping[str, int], known: Mapping[SSAValue, int]
) -> set[Operation]:
    """The loops in `body` whose iterations are provably independent, given symbols and index parameters.

    Parameters of the function are taken not to overlap.
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
        self.stack: list[_Loop] = []
        self.independent: set[Operation] = set()

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
        atom = self.values.expr(var).as_atom
        assert atom is not None
        first, size = self._rebase(lower, operands), self._rebase(extent, operands)
        if first is not None and size is not None:
            low, high = interval_of(first, self.ranges), interval_of(first + size - 1, self.ranges)
            if low is not None and high is not None:
                self.ranges[atom] = Interval(low.lower, high.upper)
        self.meaning[var] = self.values.expr(var)
        loop = _Loop(op, atom)
        for outer in self.stack:
            outer.inner.add(atom)
        self.stack.append(loop)
        for region in op.regions:
            for block in region.blocks:
                self.visit(block)
        self.stack.pop()
        if not op.results and self._is_independent(loop):
            self.independent.add(op)

    def _rebase(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr | None:
        mapping: dict[Atom, IntExpr] = {}
        for index in expr.args():
            meaning = self.meaning.get(operands[index])
            if meaning is None:
                return None
            mapping[Arg(index)] = meaning
        return with_symbols(expr.substitute(mapping), self.symbols)

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
        access = _Access(memory, tuple(indices), is_store, lanes)
        for loop in self.stack:
            loop.accesses.append(access)

    def _is_independent(self, loop: _Loop) -> bool:
        span = self._span(IntExpr.of(loop.atom))
        if span is not None and span[0] >= span[1]:
            return True
        groups: dict[SSAValue, list[_Access]] = {}
        for access in loop.accesses:
            if access.memory not in loop.local:
                groups.setdefault(access.memory, []).append(access)
        written = [g for g in groups.values() if any(a.is_store for a in g)]
        return all(self._are_apart(loop, g) for g in written)

    def _span(self, expr: IntExpr) -> Span | None:
        found = interval_of(expr, self.ranges)
        if (
            found is None
            or (low := found.lower.constant) is None
            or (high := found.upper.constant) is None
        ):
            return None
        return low, high

    def _are_apart(self, loop: _Loop, group: Sequence[_Access]) -> bool:
        rank = len(group[0].indices)
        if any(self._dim_is_apart(loop, group, d) for d in range(rank)):
            return True
        dims = [d for d in range(rank) if self._is_enumerable(loop, group, d)]
        return bool(dims) and self._addresses_are_apart(loop, group, dims)

    def _dim_is_apart(self, loop: _Loop, group: Sequence[_Access], dim: int) -> bool:
        """Whether the dim's index moves further in one iteration than it varies inside of one."""
        coefficients: set[int] = set()
        outers: set[IntExpr] = set()
        spans: list[Span] = []
        for access in group:
            index = access.indices[dim]
            if index is None or (split := index.split_on(loop.atom)) is None:
                return False
            coefficient, rest = split[0].constant, split[1]
            outer, inner = _split_terms(rest, loop)
            span = self._span(inner)
            if coefficient is None or coefficient == 0 or span is None:
                return False
            lanes = access.lanes if dim == len(access.indices) - 1 else 1
            spans.append((span[0], span[1] + lanes - 1))
            coefficients.add(coefficient)
            outers.add(outer)
        width = max(s[1] for s in spans) - min(s[0] for s in spans)
        return len(coefficients) == 1 and len(outers) == 1 and width < abs(coefficients.pop())

    def _is_enumerable(self, loop: _Loop, group: Sequence[_Access], dim: int) -> bool:
        """Whether the index is one outer part, the same for all accesses, plus a part of this loop's own."""
        outers: set[IntExpr] = set()
        for access in group:
            index = access.indices[dim]
            if index is None:
                return False
            outer, own = _split_terms(index, loop)
            if any(a != loop.atom and a not in loop.inner for a in own.atoms()):
                return False
            outers.add(outer)
        return len(outers) == 1

    def _addresses_are_apart(
        self, loop: _Loop, group: Sequence[_Access], dims: Sequence[int]
    ) -> bool:
        keys: list[Array] = []
        iterations: list[Array] = []
        for access in group:
            found = self._enumerate(loop, access, dims)
            if found is None:
                return False
            keys.append(found[0])
            iterations.append(found[1])
        places, iteration = np.concatenate(keys), np.concatenate(iterations)
        order = np.lexsort(places.T)
        places, iteration = places[order], iteration[order]
        same = (places[1:] == places[:-1]).all(axis=1)
        return not bool((same & (iteration[1:] != iteration[:-1])).any())

    def _enumerate(
        self, loop: _Loop, access: _Access, dims: Sequence[int]
    ) -> tuple[Array, Array] | None:
        """The places that an access touches, one row each, and the iteration that does."""
        own = [_split_terms(cast(IntExpr, access.indices[d]), loop)[1] for d in dims]
        atoms = list(dict.fromkeys([loop.atom, *(a for e in own for a in e.atoms())]))
        spans = [self._span(IntExpr.of(a)) for a in atoms]
        sizes = [0 if s is None else s[1] - s[0] + 1 for s in spans]
        if None in spans or int(np.prod(sizes, dtype=np.float64)) * access.lanes > MAX_ENUMERATED:
            return None
        axes = [np.arange(s[0], s[1] + 1) for s in spans if s is not None]
        grid = np.meshgrid(*axes, np.arange(access.lanes), indexing="ij")
        numbered = {a: IntExpr.of(Arg(i)) for i, a in enumerate(atoms)}
        columns = [compile_expr(e.substitute(numbered))(grid) + np.zeros_like(grid[0]) for e in own]
        if dims[-1] == len(access.indices) - 1:
            columns[-1] = columns[-1] + grid[-1]
        return np.stack([c.reshape(-1) for c in columns], axis=1), grid[0].reshape(-1)


def _split_terms(expr: IntExpr, loop: _Loop) -> tuple[IntExpr, IntExpr]:
    """The terms over enclosing loops alone, and the others with the constant."""
    outer, own = ZERO, ZERO
    for term in expr.terms:
        piece = IntExpr((term,))
        atoms = list(piece.atoms())
        is_outer = bool(atoms) and not any(a == loop.atom or a in loop.inner for a in atoms)
        outer, own = (outer + piece, own) if is_outer else (outer, own + piece)
    return outer, own

"""Whether the iterations of a loop access different elements, from the indices of accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..dialects.bounds import Interval, interval_of
from ..dialects.int_expr import ZERO, Arg, Atom, Compound, IntExpr, floordiv
from .expressions import compile_expr
from .values import Array

MAX_ENUMERATED = 1 << 20
"""Addresses of one access that are enumerated at most."""

Span: TypeAlias = tuple[int, int]
Ranges: TypeAlias = Mapping[Atom, Interval]


@dataclass(frozen=True)
class Access:
    """A load or store; an index is `None` where it depends on data, `lanes` widen the last one."""

    memory: SSAValue
    indices: tuple[IntExpr | None, ...]
    is_store: bool
    lanes: int


@dataclass
class Loop:
    """A loop, the atom that stands for its variable, and what happens inside."""

    op: Operation
    atom: Atom
    accesses: list[Access] = field(default_factory=lambda: [])
    local: set[SSAValue] = field(default_factory=lambda: set())
    inner: set[Atom] = field(default_factory=lambda: set())

    def owns(self, atom: Atom) -> bool:
        """Whether the atom is the variable of this loop or of one inside."""
        return atom == self.atom or atom in self.inner

    def split(self, expr: IntExpr) -> tuple[IntExpr, IntExpr]:
        """The terms over enclosing loops alone, and the others with the constant."""
        outer, own = ZERO, ZERO
        for term in expr.terms:
            piece = IntExpr((term,))
            atoms = list(piece.atoms())
            is_outer = bool(atoms) and not any(self.owns(a) for a in atoms)
            outer, own = (outer + piece, own) if is_outer else (outer, own + piece)
        return outer, own


def span_of(expr: IntExpr, ranges: Ranges) -> Span | None:
    """The smallest and the largest value of an expression, if they are known."""
    found = interval_of(expr, ranges)
    if found is None:
        return None
    low, high = found.lower.constant, found.upper.constant
    return None if low is None or high is None else (low, high)


def are_apart(loop: Loop, group: Sequence[Access], ranges: Ranges) -> bool:
    """Whether these accesses to one buffer access no element in two iterations of the loop."""
    group = _merge_fused(group)
    rank = len(group[0].indices)
    if any(_dim_is_apart(loop, group, d, ranges) for d in range(rank)):
        return True
    dims = [d for d in range(rank) if _is_enumerable(loop, group, d)]
    return bool(dims) and _addresses_are_apart(loop, group, dims, ranges)


def _merge_fused(group: Sequence[Access]) -> Sequence[Access]:
    """Write ``[e floordiv c, e mod c]`` as ``[e, 0]``, which tells the same elements apart."""
    rank = len(group[0].indices)
    if any(a.lanes > 1 for a in group):
        return group
    for low in reversed(range(rank)):
        for high in range(rank):
            merged = [m for a in group if (m := _merge_pair(a, high, low)) is not None]
            if len(merged) == len(group) and len({divisor for _, divisor in merged}) == 1:
                group = [access for access, _ in merged]
    return group


def _merge_pair(access: Access, high: int, low: int) -> tuple[Access, int] | None:
    quotient, remainder = access.indices[high], access.indices[low]
    if quotient is None or remainder is None or not isinstance(atom := remainder.as_atom, Compound):
        return None
    divisor = atom.rhs.constant
    if atom.op != "mod" or divisor is None or divisor <= 0:
        return None
    if quotient not in (floordiv(atom.lhs, atom.rhs), _nested_quotient(atom.lhs, divisor)):
        return None
    indices = list(access.indices)
    indices[high], indices[low] = atom.lhs, ZERO
    return replace(access, indices=tuple(indices)), divisor


def _nested_quotient(expr: IntExpr, divisor: int) -> IntExpr | None:
    """``(e floordiv m) floordiv divisor`` as one division."""
    atom = expr.as_atom
    if not isinstance(atom, Compound) or atom.op != "floordiv" or atom.rhs.constant is None:
        return None
    return floordiv(atom.lhs, atom.rhs * divisor) if atom.rhs.constant > 0 else None


def _dim_is_apart(loop: Loop, group: Sequence[Access], dim: int, ranges: Ranges) -> bool:
    """Whether the dim's index moves further in one iteration than it varies inside of one."""
    coefficients: set[int] = set()
    outers: set[IntExpr] = set()
    spans: list[Span] = []
    for access in group:
        index = access.indices[dim]
        if index is None or (parts := index.split_on(loop.atom)) is None:
            return False
        coefficient = parts[0].constant
        outer, inner = loop.split(parts[1])
        span = span_of(inner, ranges)
        if not coefficient or span is None:
            return False
        spans.append((span[0], span[1] + _lanes_along(access, dim) - 1))
        coefficients.add(coefficient)
        outers.add(outer)
    width = max(s[1] for s in spans) - min(s[0] for s in spans)
    return len(coefficients) == 1 and len(outers) == 1 and width < abs(coefficients.pop())


def _lanes_along(access: Access, dim: int) -> int:
    return access.lanes if dim == len(access.indices) - 1 else 1


def _is_enumerable(loop: Loop, group: Sequence[Access], dim: int) -> bool:
    """Whether the index is known, and enclosing loops add the same to it in all accesses."""
    parts = [None if (i := a.indices[dim]) is None else loop.split(i)[0] for a in group]
    return None not in parts and len(set(parts)) == 1


def _addresses_are_apart(
    loop: Loop, group: Sequence[Access], dims: Sequence[int], ranges: Ranges
) -> bool:
    own = [[loop.split(cast(IntExpr, a.indices[d]))[1] for d in dims] for a in group]
    outer = {a: None for exprs in own for e in exprs for a in e.atoms() if not loop.owns(a)}
    keys: list[Array] = []
    iterations: list[Array] = []
    for access, exprs in zip(group, own, strict=True):
        lanes = access.lanes if dims[-1] == len(access.indices) - 1 else 1
        found = _enumerate([loop.atom, *outer], exprs, lanes, ranges)
        if found is None:
            return False
        keys.append(np.concatenate([found[0][:, 1 : 1 + len(outer)], found[1]], axis=1))
        iterations.append(found[0][:, 0])
    places, iteration = np.concatenate(keys), np.concatenate(iterations)
    order = np.lexsort(places.T)
    places, iteration = places[order], iteration[order]
    same = (places[1:] == places[:-1]).all(axis=1)
    return not bool((same & (iteration[1:] != iteration[:-1])).any())


def _enumerate(
    first: Sequence[Atom], exprs: Sequence[IntExpr], lanes: int, ranges: Ranges
) -> tuple[Array, Array] | None:
    """Values of all atoms, `first` ones first, and of the expressions there: one row each."""
    atoms = list(dict.fromkeys([*first, *(a for e in exprs for a in e.atoms())]))
    spans = [s for a in atoms if (s := span_of(IntExpr.of(a), ranges)) is not None]
    size = float(np.prod([s[1] - s[0] + 1 for s in spans], dtype=np.float64)) * lanes
    if len(spans) < len(atoms) or size > MAX_ENUMERATED:
        return None
    axes = [np.arange(s[0], s[1] + 1) for s in spans]
    grid = np.meshgrid(*axes, np.arange(lanes), indexing="ij")
    numbered: dict[Atom, IntExpr] = {a: IntExpr.of(Arg(i)) for i, a in enumerate(atoms)}
    zero = np.zeros_like(grid[0])
    columns = [compile_expr(e.substitute(numbered))(grid) + zero for e in exprs]
    columns[-1] = columns[-1] + grid[-1]
    return _rows(grid), _rows(columns)


def _rows(columns: Sequence[Array]) -> Array:
    return np.stack([c.reshape(-1) for c in columns], axis=1)

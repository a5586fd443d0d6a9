"""Whether boxes of accessed elements are disjoint, in different iterations or in any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...dialects.bounds import Interval, interval_of, is_less, is_non_negative
from ...dialects.int_expr import ZERO, Arg, Atom, Compound, IntExpr, Sym, maximum, minimum
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.regions import Access
from .iter_map import IterMap, moving_part

Ranges: TypeAlias = "Mapping[Atom, Interval]"
Box: TypeAlias = "list[Interval | None]"


class Boxes:
    """Compares accesses over `values` of two iterations that differ in one of `variables`.

    Without variables, of any two. Values in `free` may differ too; all others are equal.
    """

    def __init__(
        self, values: Values, variables: Sequence[SSAValue], free: Sequence[SSAValue] = ()
    ):
        self.values = values
        self.variables = self.atoms(variables)
        self.free = self.atoms(free)

    def atoms(self, values: Sequence[SSAValue]) -> list[Atom]:
        """The atoms of values in expressions."""
        return [self.values.atom(value) for value in values]

    @cached_property
    def _ranges(self) -> dict[Atom, Interval]:
        """The known ranges of all values; to be used after all accesses are numbered."""
        return ranges_of(self.values.list)

    def simplified(self, accesses: Sequence[Access]) -> list[Access]:
        """The same accesses, with indices simplified by the ranges of values."""
        return [access.substitute({}, self._ranges) for access in accesses]

    def split_digits(self, accesses: Sequence[Access]) -> list[Access]:
        """The same accesses, with ``q * c + r`` for each variable whose ``r`` is in a guard.

        ``q`` and ``r`` replace it among the variables: this splits fused loops.
        """
        current: list[Access] = list(accesses)
        found = {a for access in accesses for guard in access.guards for a in _compounds(guard)}
        for variable in list(self.variables):
            sizes = {a.rhs for a in found if a.op == "mod" and a.lhs == IntExpr.of(variable)}
            size = sizes.pop().constant if len(sizes) == 1 else None
            known = self._ranges.get(variable)
            if not size or size < 1 or known is None or not is_non_negative(known.lower):
                continue
            high, low = (Sym(f"{variable} {op} {size}") for op in ("floordiv", "mod"))
            self._ranges[high] = Interval(known.lower // size, known.upper // size)
            self._ranges[low] = Interval.range(0, size)
            position = self.variables.index(variable)
            self.variables[position : position + 1] = [high, low]
            whole = IntExpr.of(high) * size + IntExpr.of(low)
            digits: dict[Atom, IntExpr] = {variable: whole}
            current = [access.substitute(digits, self._ranges) for access in current]
        return current

    def are_apart(self, first: Access, second: Access) -> bool:
        """Whether two accesses to one buffer provably share no element."""
        if first.region.buffer is not second.region.buffer:
            return False
        ours, theirs = self._existing(first), self._existing(second)
        if ours is None or theirs is None:
            return True
        differing = [v for v in self.variables if not _are_one(ours.get(v), theirs.get(v))]
        if self.variables and not differing:
            return True
        boxes = list(zip(self._box(first), self._box(second), strict=True))
        if any(self._are_dims_apart(a, b, ours, theirs) for a, b in boxes):
            return True
        parts = [self._part(a, b, ours, theirs) for a, b in boxes]
        told = [part for part in parts if part is not None]
        if told and IterMap(told, differing, self._ranges).tells(differing):
            return True
        return bool(differing) and self._are_points_apart(first, second, differing)

    def _are_points_apart(self, first: Access, second: Access, differing: Sequence[Atom]) -> bool:
        """Whether two accesses have equal indices, which differ in different iterations."""
        points = self._point(first)
        if points is None or points != self._point(second):
            return False
        indices, inner = points
        free = {*self.free, *inner}
        found = IterMap(indices, {*differing, *free}, {**self._ranges, **inner})
        return found.tells(differing)

    def _point(self, access: Access) -> tuple[list[IntExpr], dict[Atom, Interval]] | None:
        """The indices of an access and the ranges of loops inside, numbered as they occur."""
        if access.indices is None:
            return None
        names: dict[Atom, Atom] = {a: Arg(-1 - i) for i, (a, _) in enumerate(access.inner)}
        ranges: dict[Atom, Interval] = {}
        for atom, range_ in access.inner:
            lower, upper = (interval_of(e, self._ranges) for e in (range_.lower, range_.upper))
            if lower is None or upper is None:
                return None
            if {*self.variables, *self.free} & {*lower.lower.atoms(), *upper.upper.atoms()}:
                return None
            ranges[names[atom]] = Interval(lower.lower, upper.upper)
        return [index.substitute(names) for index in access.indices], ranges

    def _box(self, access: Access) -> Box:
        """The first and last index in each dim, over the ranges of `free` variables."""
        free = {a: self._ranges[a] for a in self.free if a in self._ranges}
        box: Box = []
        for low, extent in zip(access.region.mins, access.region.extents, strict=True):
            ends = [interval_of(end, free) for end in (low, low + extent - 1)]
            atoms = {*low.atoms(), *extent.atoms()}
            if ends[0] is None or ends[1] is None or atoms & (set(self.free) - set(free)):
                box.append(None)
            else:
                box.append(Interval(ends[0].lower, ends[1].upper))
        return box

    def _existing(self, access: Access) -> dict[Atom, Interval] | None:
        """The ranges in iterations with the access, by its guards; `None` if there are none."""
        ranges = dict(self._ranges)
        for guard in access.guards:
            for condition in _conditions(guard, ranges):
                for atom in set(self.variables) & set(condition.atoms()):
                    narrowed = _narrow(atom, ranges.get(atom), condition)
                    if narrowed is not None:
                        ranges[atom] = narrowed
        if any(is_less(r.upper, r.lower) for a, r in ranges.items() if a in self.variables):
            return None
        return ranges

    def _are_dims_apart(
        self, a: Interval | None, b: Interval | None, ours: Ranges, theirs: Ranges
    ) -> bool:
        """Whether indices of one dim differ in any two iterations."""
        if a is None or b is None:
            return False
        others: dict[Atom, Atom] = {v: Arg(-1 - i) for i, v in enumerate(self.variables)}
        ranges = {**ours, **{others[v]: theirs[v] for v in self.variables if v in theirs}}
        low, high = b.lower.substitute(others), b.upper.substitute(others)
        return is_at_least_zero(low - a.upper - 1, ranges) or is_at_least_zero(
            a.lower - high - 1, ranges
        )

    def _part(
        self, a: Interval | None, b: Interval | None, ours: Ranges, theirs: Ranges
    ) -> IntExpr | None:
        """The expression that moves a dim by steps at least as long as its box; else `None`."""
        variables = set(self.variables)
        if a is None or b is None:
            return None
        step, part = moving_part(a.lower, variables)
        if part == ZERO or moving_part(b.lower, variables) != (step, part):
            return None
        gap = b.lower - a.lower
        after = is_at_least_zero(step + gap - a.extent, ours)
        before = is_at_least_zero(step - gap - b.extent, theirs)
        return part if after and before else None


def _are_one(ours: Interval | None, theirs: Interval | None) -> bool:
    """Whether two values are provably equal."""
    return ours is not None and ours == theirs and ours.extent.constant == 1


def is_at_least_zero(expr: IntExpr, ranges: Ranges) -> bool:
    """Whether an expression is at least 0 over `ranges`."""
    span = interval_of(expr, ranges)
    if span is not None and is_non_negative(span.lower):
        return True
    for monomial, coefficient in expr.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Compound) and (atom.op, coefficient < 0) in (
            ("min", True),
            ("max", False),
        ):
            rest = expr - IntExpr.of(atom) * coefficient
            sides = (rest + side * coefficient for side in (atom.lhs, atom.rhs))
            return any(is_at_least_zero(side, ranges) for side in sides)
    return False


def _compounds(expr: IntExpr) -> Iterator[Compound]:
    for monomial, _ in expr.terms:
        for atom in monomial:
            if isinstance(atom, Compound):
                yield atom
                yield from _compounds(atom.lhs)
                yield from _compounds(atom.rhs)


def _conditions(guard: IntExpr, ranges: Ranges) -> Iterator[IntExpr]:
    """Expressions that are at least 0 if a guard is, without minima and decided maxima."""
    for monomial, coefficient in guard.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if coefficient != 1 or not isinstance(atom, Compound) or atom.op not in ("min", "max"):
            continue
        rest = guard - IntExpr.of(atom)
        sides = [atom.lhs + rest, atom.rhs + rest]
        if atom.op == "max":
            sides = [side for side in sides if not is_at_least_zero(-side - 1, ranges)]
        if atom.op == "min" or len(sides) == 1:
            for side in sides:
                yield from _conditions(side, ranges)
            return
    yield guard


def _narrow(variable: Atom, known: Interval | None, condition: IntExpr) -> Interval | None:
    """The values of a variable for which ``c * variable + rest``, of numbers, is at least 0."""
    split = condition.split_on(variable)
    factor, rest = (None, None) if split is None else (split[0].constant, split[1].constant)
    if known is None or not factor or rest is None:
        return None
    if factor > 0:
        return Interval(maximum(known.lower, -(rest // factor)), known.upper)
    return Interval(known.lower, minimum(known.upper, rest // -factor))

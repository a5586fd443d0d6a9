"""Whether values of index expressions tell which iteration they are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import gcd

from ...dialects.bounds import Interval, interval_of, is_less
from ...dialects.int_expr import Atom, Compound, IntExpr, split_quotient


def determines(
    exprs: Sequence[IntExpr],
    variables: Collection[Atom],
    ranges: Mapping[Atom, Interval],
    free: Collection[Atom] = (),
) -> bool:
    """Whether expressions have other values together for other values of variables.

    Those of `free` may differ too, all else is equal.

    They do where one is linear in a variable and moves with it further than with those that are
    not known yet, over `ranges`; and where quotient and remainder of such a one are there.
    """
    known, unknown = list(exprs), {*variables, *free}
    while not unknown.isdisjoint(variables):
        before = len(unknown)
        for expr in known:  # grows
            part = moving_part(expr, unknown)[1]
            for variable in unknown & set(part.atoms()):
                rest = _rest_behind(part, variable, unknown, ranges)
                if rest is not None:
                    unknown.discard(variable)
                    known.append(rest)
                    break
            if isinstance(part.as_atom, Compound) and part not in known:
                known.append(part)
            known += [whole for whole in _joined(known) if whole not in known]
        if len(unknown) == before:
            return False
    return True


def moving_part(expr: IntExpr, variables: AbstractSet[Atom]) -> tuple[IntExpr, IntExpr]:
    """``(step, part)``: the terms that depend on variables are ``step * part``.

    The step is a positive number, times what one term alone has of other atoms.
    """
    part = IntExpr.from_terms(
        {m: c for m, c in expr.terms if any(_mentions(a, variables) for a in m)}
    )
    step = gcd(*(c for _, c in part.terms)) or 1
    part = IntExpr.from_terms({m: c // step for m, c in part.terms})
    if len(part.terms) != 1:
        return IntExpr.of(step), part
    ((monomial, sign),) = part.terms
    own = tuple(a for a in monomial if _mentions(a, variables))
    others = tuple(a for a in monomial if not _mentions(a, variables))
    return IntExpr.from_terms({others: step}), IntExpr.from_terms({own: sign})


def _rest_behind(
    part: IntExpr, variable: Atom, unknown: AbstractSet[Atom], ranges: Mapping[Atom, Interval]
) -> IntExpr | None:
    """``rest`` of ``c * variable + rest`` if its values are closer to each other than ``c``."""
    split = part.split_on(variable)
    if split is None:
        return None
    coefficient, rest = split
    if any(atom in unknown and atom not in ranges for atom in rest.atoms()):
        return None
    span = interval_of(rest, ranges)
    size = coefficient if coefficient.constant is None else abs(coefficient.constant)
    if span is None or not is_less(span.upper - span.lower, size):
        return None
    return rest


def _mentions(atom: Atom, wanted: AbstractSet[Atom]) -> bool:
    if isinstance(atom, Compound):
        return not wanted.isdisjoint((*atom.lhs.atoms(), *atom.rhs.atoms()))
    return atom in wanted


def _joined(known: Sequence[IntExpr]) -> list[IntExpr]:
    """What expressions say of another one by giving its quotient and its remainder."""
    atoms = [a for e in known for a in [e.as_atom] if isinstance(a, Compound)]
    whole: list[IntExpr] = []
    for remainder in atoms:
        if remainder.op != "mod":
            continue
        base, divisor = split_quotient(remainder.lhs)
        for quotient in atoms:
            if quotient.op == "floordiv":
                dividend, by = split_quotient(IntExpr.of(quotient))
                if dividend == base and by == divisor * remainder.rhs:
                    whole.append(remainder.lhs)
    return whole

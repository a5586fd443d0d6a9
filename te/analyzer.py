"""`arith.Analyzer`: what is known of integer expressions; a view of the analyses in `dialects`."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from ..dialects.bounds import Interval
from ..dialects.int_expr import Atom, IntExpr, maximum, minimum
from ..dialects.residues import Residue
from .arithmetic import Binary, Call, Imm, PrimExpr, as_int_expr, binary, convert
from .expr import Var
from .knowledge import Knowledge
from .ranges import ConstIntBound, IntervalSet, ModularSet, Range
from .rewriting import Rewriter
from .scalar_facts import CHOICES


class Analyzer:
    """Simplifies and proves, from ranges and values of variables; TVM's ``arith.Analyzer``.

    A variable is a symbol of `tir.Var` or `te.var`, which others of its name are equal to. It may
    have any value of its dtype as long as nothing is known of it.
    """

    def __init__(self) -> None:
        self._known = Knowledge()

    def clone(self) -> Analyzer:
        """A copy that learns by itself."""
        new = type(self)()
        new._known = self._known.copy()
        return new

    def bind(self, var: PrimExpr, expr: Any, allow_override: bool = False) -> None:
        """From now on a variable is in a `Range`, or equal to an expression.

        TVM needs `allow_override` to change it. Raises TypeError for what is no variable or no
        integer expression.
        """
        if isinstance(expr, Range):
            self._known.set_range(_variable(var), expr.interval)
        else:
            self._known.set_value(_variable(var), self.int_expr(expr))

    def update(
        self,
        var: PrimExpr,
        info: ConstIntBound | ModularSet | IntervalSet,
        override: bool = False,
    ) -> None:
        """From now on a variable has these bounds, or is in this set.

        TVM needs `override` to change it. Raises TypeError for any other `info`.
        """
        match info:
            case ConstIntBound() if isinstance(var, Var):
                self._known.facts.variables[var] = info.bounds
            case ConstIntBound():
                self._known.set_bounds(_variable(var), info.bounds)
            case ModularSet():
                self._known.facts.residues[_variable(var)] = Residue.of(*info)
            case IntervalSet():
                self._known.set_range(_variable(var), info.interval)
            case _:
                raise TypeError(
                    "expected a ConstIntBound, ModularSet or IntervalSet, "
                    f"got {type(info).__name__}"
                )

    @contextmanager
    def constraint_scope(self, constraint: PrimExpr) -> Generator[None]:
        """Inside, comparisons of expressions hold, joined by ``&``; what is not known is kept."""
        before, self._known = self._known, self._known.copy()
        self._known.assume(constraint)
        try:
            yield
        finally:
            self._known = before

    def simplify(self, expr: Any, steps: int = 2) -> PrimExpr:
        """An expression that is equal, with what is known folded, in canonical form.

        Of an and, an or and a choice, each part is simplified for where it matters.
        """
        return Rewriter(self._known).simplify(convert(expr))

    rewrite_simplify = simplify
    canonical_simplify = simplify

    def can_prove(self, cond: Any, strength: object = None) -> bool:
        """Whether a condition is known to hold; `strength` is TVM's, and has no effect."""
        result = self.simplify(cond)
        if isinstance(result, Binary) and result.op == "bitwise_and":
            return self.can_prove(result.lhs) and self.can_prove(result.rhs)
        return isinstance(result, Imm) and bool(result.value)

    def can_prove_equal(self, lhs: Any, rhs: Any) -> bool:
        """Whether two expressions are known to be equal."""
        return self.can_prove(binary("eq", lhs, rhs))

    def can_prove_greater_equal(self, expr: Any, lower: int) -> bool:
        """Whether an expression is known to be at least a number."""
        return self.can_prove(binary("ge", expr, lower))

    def can_prove_less(self, expr: Any, upper: int) -> bool:
        """Whether an expression is known to be less than a number."""
        return self.can_prove(binary("lt", expr, upper))

    def const_int_bound(self, expr: Any) -> ConstIntBound:
        """The least and largest value that an expression is known to have."""
        return ConstIntBound.of(self._known.facts.bounds_of(self._canonical(expr)))

    def const_int_bound_is_bound(self, var: PrimExpr) -> bool:
        """Whether a variable has bounds."""
        if isinstance(var, Var):
            return var in self._known.facts.variables
        return _variable(var) in self._known.facts.bounds

    def modular_set(self, expr: Any) -> ModularSet:
        """A number that an expression is a multiple of, after a constant is taken off."""
        return ModularSet(*self._known.facts.residue_of(self._canonical(expr)))

    def int_set(self, expr: Any, dom_map: Mapping[PrimExpr, IntervalSet] | None = None) -> Any:
        """The set of an expression if variables are in these sets, by default in their ranges.

        Other variables are kept; sets over variables that have one are of all their values. Raises
        ValueError where no bounds are known.
        """
        inside = self.clone()
        if dom_map is not None:
            inside._known.ranges = {}
            for var, found in dom_map.items():
                inside.update(var, found)
        value = inside.simplify(expr)
        if isinstance(value, Call) and value.op in CHOICES:
            first, second = (self.int_set(part, dom_map).interval for part in value.args[1:])
            lower = minimum(first.lower, second.lower)
            return IntervalSet.of(Interval(lower, maximum(first.upper, second.upper)))
        span = Interval.point(self.int_expr(value))
        for _ in inside._known.ranges or [None]:
            lower, upper = (inside._known.interval(end, expr) for end in span)
            if span == (span := Interval(lower.lower, upper.upper)):
                break
        return IntervalSet.of(span)

    def _canonical(self, expr: Any) -> PrimExpr:
        """An expression over symbols in canonical form; others are not simplified, as in TVM."""
        value = convert(expr)
        return value if as_int_expr(value) is None else self.simplify(value)

    def int_expr(self, expr: Any) -> IntExpr:
        """An expression with the values of variables; raises TypeError for other expressions."""
        number = as_int_expr(convert(expr))
        if number is None:
            raise TypeError(f"expected an integer expression of symbols, got {expr}")
        return self._known.bound(number)


def _variable(var: PrimExpr) -> Atom:
    number = as_int_expr(var)
    atom = None if number is None else number.as_atom
    if atom is None:
        raise TypeError(f"expected a variable of integers, got {var}")
    return atom

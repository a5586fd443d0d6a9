"""Bounds and residues of scalar expressions, by those of their variables.

Parts over symbols alone are integer expressions, whose analyses are in `dialects`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, gcd, isfinite, isinf
from typing import NamedTuple

from ..dialects import constant_bounds, residues
from ..dialects.constant_bounds import UNBOUNDED, Bounds
from ..dialects.dtypes import integer_range, is_float
from ..dialects.int_expr import Atom, IntExpr
from ..dialects.residues import ANY, Residue
from .arithmetic import Binary, Call, Cast, Imm, PrimExpr, as_int_expr, round_to
from .expr import Let, Var

CHOICES = ("select", "if_then_else")


class Fact(NamedTuple):
    """What is known of a scalar."""

    bounds: Bounds
    residue: Residue = ANY


@dataclass
class ScalarFacts:
    """What is known of variables: symbols and compounds as atoms, variables of other dtypes."""

    bounds: dict[Atom, Bounds] = field(default_factory=lambda: {})
    residues: dict[Atom, Residue] = field(default_factory=lambda: {})
    variables: dict[Var, PrimExpr | Bounds] = field(default_factory=lambda: {})

    def copy(self) -> ScalarFacts:
        """A copy that further facts may be added to."""
        return ScalarFacts(dict(self.bounds), dict(self.residues), dict(self.variables))

    def int_bounds(self, expr: IntExpr) -> Bounds:
        """The bounds of an integer expression."""
        return constant_bounds.constant_bounds(expr, self.bounds, self.residues)

    def bounds_of(self, expr: PrimExpr) -> Bounds:
        """The bounds of a scalar of any dtype; of floats those of whole numbers.

        Floats that are computed have none, since they may be NaN.
        """
        return self._of(expr).bounds

    def residue_of(self, expr: PrimExpr) -> Residue:
        """The residue of a scalar."""
        return self._of(expr).residue

    def _of(self, expr: PrimExpr) -> Fact:
        """Both at once, as remainders ask for both: nested ones are visited once."""
        if (number := as_int_expr(expr)) is not None:
            return Fact(self.int_bounds(number), residues.residue_of(number, self.residues))
        found = self._unwrapped(expr)
        if expr.dtype == "bool" or (expr.dtype in INDEX_DTYPES and not _is_other_cast(expr)):
            return Fact(found.bounds.intersection(_range_of(expr.dtype)), found.residue)
        return _wrapped(found, expr.dtype)

    def _unwrapped(self, expr: PrimExpr) -> Fact:
        match expr:
            case Imm(value=value) if isfinite(value):
                return Fact(Bounds(floor(value), ceil(value)))
            case Var():
                return self._of_variable(expr)
            case Cast(value=value, dtype=dtype) if dtype != "bool":
                return self._of(value)
            case Binary(dtype=dtype) if dtype != "bool" and not is_float(dtype):
                return self._of_binary(expr)
            case Call(op=op, args=(_, on_true, on_false)) if op in CHOICES:
                a, b = self._of(on_true), self._of(on_false)
                return Fact(a.bounds.union(b.bounds), a.residue.union(b.residue))
            case Let():
                return self._inside(expr)._of(expr.body)
            case _:
                return Fact(_range_of(expr.dtype))

    def _of_variable(self, var: Var) -> Fact:
        known = self.variables.get(var, UNBOUNDED)
        found = Fact(known) if isinstance(known, Bounds) else self._of(known)
        return Fact(found.bounds.intersection(_range_of(var.dtype)), found.residue)

    def _of_binary(self, expr: Binary) -> Fact:
        op, (lhs, rhs) = expr.op, (self._of(expr.lhs), self._of(expr.rhs))
        bounds, residue = _range_of(expr.dtype), ANY
        if op in constant_bounds.OPERATIONS:
            bounds = constant_bounds.OPERATIONS[op](lhs.bounds, rhs.bounds)
        divisor = as_int_expr(expr.rhs)
        number = None if divisor is None else divisor.constant
        if op in ("floormod", "truncmod") and number is not None and number > 0:
            bounds = constant_bounds.remainder_bounds(op, lhs.bounds, lhs.residue, number)
        if op in ("truncdiv", "truncmod"):
            residue = residues.truncated(op, lhs.residue, rhs.residue, lhs.bounds.lower >= 0)
        elif op in residues.OPERATIONS:
            residue = residues.OPERATIONS[op](lhs.residue, rhs.residue)
        return Fact(bounds, residue)

    def _inside(self, expr: Let) -> ScalarFacts:
        """The facts in the body of a let."""
        inside, number = self.copy(), as_int_expr(expr.var)
        if number is None or (atom := number.as_atom) is None:
            inside.variables[expr.var] = expr.value
        else:
            inside.bounds[atom] = self.bounds_of(expr.value)
            inside.residues[atom] = self.residue_of(expr.value)
        return inside


def _range_of(dtype: str) -> Bounds:
    if dtype == "bool":
        return Bounds(0, 1)
    return UNBOUNDED if is_float(dtype) or dtype == "int64" else Bounds(*integer_range(dtype))


INDEX_DTYPES = ("int32", "int64")
"""Dtypes of indices, whose operations are assumed not to wrap."""


def _is_other_cast(expr: PrimExpr) -> bool:
    """Whether it is a cast of what is no index, which may wrap."""
    return isinstance(expr, Cast) and expr.value.dtype not in INDEX_DTYPES


def _wrapped(found: Fact, dtype: str) -> Fact:
    """What is known of a result that is wrapped, or rounded, where the dtype does not have it.

    A multiple of a power of 2 is added where it wraps.
    """
    if is_float(dtype):
        is_exact = all(isinf(end) or round_to(dtype, end) == end for end in found.bounds)
        return Fact(found.bounds if is_exact else UNBOUNDED)
    low, high = integer_range(dtype)
    if low <= found.bounds.lower and found.bounds.upper <= high:
        return found
    residue = Residue.of(gcd(found.residue.coeff, high - low + 1), found.residue.base)
    return Fact(_range_of(dtype), residue)

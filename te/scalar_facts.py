"""Bounds and residues of scalar expressions, by those of their variables.

Parts over symbols alone are integer expressions, whose analyses are in `dialects`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from ..dialects import constant_bounds, residues
from ..dialects.constant_bounds import UNBOUNDED, Bounds
from ..dialects.dtypes import integer_range, is_float
from ..dialects.int_expr import Atom, IntExpr
from ..dialects.residues import ANY, Residue
from .arithmetic import COMPARISONS, Binary, Call, Cast, Imm, PrimExpr, as_int_expr
from .expr import Let, Var

CHOICES = ("select", "if_then_else")


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
        """The bounds of a scalar of any dtype, of floats those of whole numbers."""
        if (number := as_int_expr(expr)) is not None:
            return self.int_bounds(number)
        match expr:
            case Imm(value=value):
                return Bounds(value, value)
            case Var():
                found = self.variables.get(expr, UNBOUNDED)
                known = found if isinstance(found, Bounds) else self.bounds_of(found)
                return known.intersection(_range_of(expr.dtype))
            case Cast(value=value) if is_float(value.dtype):
                return self.bounds_of(value).intersection(_range_of(expr.dtype))
            case Cast(value=value):
                return _wrapped_bounds(self.bounds_of(value), expr.dtype)
            case Binary(op=op) if op in COMPARISONS:
                return Bounds(0, 1)
            case Binary():
                return _wrapped_bounds(self._binary_bounds(expr), expr.dtype)
            case Call(op=op, args=(_, on_true, on_false)) if op in CHOICES:
                return self.bounds_of(on_true).union(self.bounds_of(on_false))
            case Let():
                return self._inside(expr).bounds_of(expr.body)
            case _:
                return _range_of(expr.dtype)

    def _binary_bounds(self, expr: Binary) -> Bounds:
        if expr.op not in constant_bounds.OPERATIONS:
            return _range_of(expr.dtype)
        lhs, rhs = self.bounds_of(expr.lhs), self.bounds_of(expr.rhs)
        divisor = as_int_expr(expr.rhs)
        number = None if divisor is None else divisor.constant
        if expr.op in ("floormod", "truncmod") and number is not None and number > 0:
            residue = self.residue_of(expr.lhs)
            return constant_bounds.remainder_bounds(expr.op, lhs, residue, number)
        return constant_bounds.OPERATIONS[expr.op](lhs, rhs)

    def residue_of(self, expr: PrimExpr) -> Residue:
        """The residue of a scalar."""
        if (number := as_int_expr(expr)) is not None:
            return residues.residue_of(number, self.residues)
        return _wrapped_residue(self._unwrapped_residue(expr), expr.dtype)

    def _unwrapped_residue(self, expr: PrimExpr) -> Residue:
        match expr:
            case Cast(value=value) if not is_float(value.dtype):
                return self.residue_of(value)
            case Binary(op=op) if op in ("truncdiv", "truncmod"):
                sides = self.residue_of(expr.lhs), self.residue_of(expr.rhs)
                return residues.truncated(op, *sides, self.bounds_of(expr.lhs).lower >= 0)
            case Binary(op=op) if op in residues.OPERATIONS:
                return residues.OPERATIONS[op](self.residue_of(expr.lhs), self.residue_of(expr.rhs))
            case Call(op=op, args=(_, on_true, on_false)) if op in CHOICES:
                return self.residue_of(on_true).union(self.residue_of(on_false))
            case Let():
                return self._inside(expr).residue_of(expr.body)
            case Var() if isinstance(value := self.variables.get(expr), PrimExpr):
                return self.residue_of(value)
            case _:
                return ANY

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


def _wrapped_bounds(found: Bounds, dtype: str) -> Bounds:
    """The bounds of a result that wraps where it is not in the range of its dtype."""
    limits = _range_of(dtype)
    if dtype in INDEX_DTYPES or is_float(dtype):
        return found.intersection(limits)
    return found if found.intersection(limits) == found else limits


def _wrapped_residue(found: Residue, dtype: str) -> Residue:
    """The residue of a result that wraps: a multiple of a power of 2 is added."""
    if dtype in INDEX_DTYPES or is_float(dtype) or dtype == "bool":
        return found
    low, high = integer_range(dtype)
    if found.coeff == 0 and low <= found.base <= high:
        return found
    return Residue.of(gcd(found.coeff, high - low + 1), found.base)

"""Integer expressions as i64 arithmetic, each part in the outermost region with its operands.

A sum is emitted outer parts first, so that an inner loop adds only its own part: ``X[i, j]`` of row
length n is ``&X + (i * n) + j`` with the product before the loop over j. Equal parts are emitted
once per region. Division by a symbol that is 0 gives 0, and does not trap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext, tir
from ...dialects.int_expr import Arg, Atom, Compound, IntExpr
from .builder import FunctionBuilder, Lowering
from .types import EQ, NSW, PLAIN, SLT, Properties, string

Placed: TypeAlias = tuple[SSAValue, int]
"""A value and the level that knows it."""

_AND, _ASHR = llvm.AndOp, llvm.AShrOp


def index_value(f: FunctionBuilder, expr: IntExpr, operands: Sequence[SSAValue]) -> SSAValue:
    """The value of an expression whose ``arg(i)`` is ``operands[i]`` of the source."""
    return place_sum(f, expr.terms, operands)[0]


def place_sum(
    f: FunctionBuilder, terms: Iterable[tuple[tuple[Atom, ...], int]], operands: Sequence[SSAValue]
) -> Placed:
    """The value of a sum of products, and its level."""
    constant = 0
    parts: list[Placed] = []
    for monomial, coefficient in terms:
        if monomial:
            parts.append(_place_product(f, monomial, coefficient, operands))
        else:
            constant += coefficient
    if not parts:
        return f.integer(constant), 0
    if len(parts) > 1:
        parts.sort(key=_level)
    total, level = parts[0]
    for part, level in parts[1:]:
        total = compute(f, level, llvm.AddOp, total, part, NSW)
    if constant:
        total = compute(f, level, llvm.AddOp, total, f.integer(constant), NSW)
    return total, level


def _level(placed: Placed) -> int:
    return placed[1]


def _place_product(
    f: FunctionBuilder, monomial: tuple[Atom, ...], coefficient: int, operands: Sequence[SSAValue]
) -> Placed:
    factors = [_place_atom(f, atom, operands) for atom in monomial]
    if len(factors) > 1:
        factors.sort(key=_level)
    product, level = factors[0]
    if coefficient != 1:
        product = compute(f, level, llvm.MulOp, product, f.integer(coefficient), NSW)
    for factor, level in factors[1:]:
        product = compute(f, level, llvm.MulOp, product, factor, NSW)
    return product, level


def _place_atom(f: FunctionBuilder, atom: Atom, operands: Sequence[SSAValue]) -> Placed:
    if isinstance(atom, Arg):
        return f.find(operands[atom.index])
    if isinstance(atom, Compound):
        return _place_compound(f, atom, operands)
    return f.find(atom)


def _place_compound(f: FunctionBuilder, atom: Compound, operands: Sequence[SSAValue]) -> Placed:
    lhs, left = place_sum(f, atom.lhs.terms, operands)
    if atom.op in ("floordiv", "mod") and (divisor := atom.rhs.constant) is not None:
        return _divide_by_constant(f, left, atom.op, lhs, divisor), left
    rhs, right = place_sum(f, atom.rhs.terms, operands)
    level = max(left, right)
    if atom.op in ("min", "max"):
        intrinsic: Properties = {"intrinsic": string(f"llvm.s{atom.op}")}
        return compute(f, level, llvm_ext.IntrinsicOp, lhs, rhs, intrinsic), level
    return _divide(f, level, atom.op, lhs, rhs), level


def _divide_by_constant(
    f: FunctionBuilder, level: int, op: str, lhs: SSAValue, divisor: int
) -> SSAValue:
    if divisor == 0:
        return f.integer(0)
    if divisor > 0 and divisor.bit_count() == 1:
        if op == "mod":
            return compute(f, level, _AND, lhs, f.integer(divisor - 1))
        return compute(f, level, _ASHR, lhs, f.integer(divisor.bit_length() - 1))
    return _floor(f, level, op, lhs, f.integer(divisor))


def _divide(f: FunctionBuilder, level: int, op: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    zero = f.integer(0)
    is_zero = compute(f, level, llvm.ICmpOp, rhs, zero, EQ, i1)
    safe = choose(f, level, is_zero, f.integer(1), rhs)
    return choose(f, level, is_zero, zero, _floor(f, level, op, lhs, safe))


def _floor(f: FunctionBuilder, level: int, op: str, lhs: SSAValue, divisor: SSAValue) -> SSAValue:
    """Floor division by a divisor that is not 0, or its remainder."""
    rest = compute(f, level, llvm.SRemOp, lhs, divisor)
    zero = f.integer(0)
    # Where truncation rounded up, the signs of remainder and divisor differ: correct both.
    differs = compute(f, level, llvm.XOrOp, rest, divisor)
    opposite = compute(f, level, llvm.ICmpOp, differs, zero, SLT, i1)
    exact = compute(f, level, llvm.ICmpOp, rest, zero, EQ, i1)
    if op == "mod":
        moved = compute(f, level, llvm.AddOp, rest, divisor)
        return choose(f, level, exact, rest, choose(f, level, opposite, moved, rest))
    quotient = compute(f, level, llvm.SDivOp, lhs, divisor)
    lower = compute(f, level, llvm.AddOp, quotient, f.integer(-1))
    return choose(f, level, exact, quotient, choose(f, level, opposite, lower, quotient))


def compute(
    f: FunctionBuilder,
    level: int,
    kind: type[Operation],
    lhs: SSAValue,
    rhs: SSAValue,
    properties: Properties = PLAIN,
    type_: Attribute = i64,
) -> SSAValue:
    """A value of two others in the region at `level`, once for each pair of operands."""
    here = f.levels[level]
    key = (kind, lhs, rhs, id(properties) if kind is llvm.ICmpOp else properties.get("intrinsic"))
    found = here.memo.get(key)
    if found is None:
        op = kind.create(operands=(lhs, rhs), result_types=(type_,), properties=properties)
        f.add(op, here)
        found = here.memo[key] = op.results[0]
    return found


def choose(
    f: FunctionBuilder, level: int, condition: SSAValue, then: SSAValue, otherwise: SSAValue
) -> SSAValue:
    """One of two values in the region at `level`."""
    here = f.levels[level]
    key = (llvm_ext.SelectOp, condition, then, otherwise)
    found = here.memo.get(key)
    if found is None:
        op = llvm_ext.SelectOp.create(
            operands=(condition, then, otherwise), result_types=(then.type,)
        )
        f.add(op, here)
        found = here.memo[key] = op.results[0]
    return found


def _lower_apply(f: FunctionBuilder, op: tir.ApplyOp) -> None:
    value, level = place_sum(f, op.expr.data.terms, op.operands)
    f.levels[level].values[op.result] = value


INDICES: dict[type[Operation], Lowering] = {tir.ApplyOp: _lower_apply}
"""How index arithmetic of the source is lowered."""

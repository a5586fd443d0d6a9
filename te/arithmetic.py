"""What operators on scalar expressions mean: conversion, dtype promotion, folding.

Trees of integers over symbols alone fold into `IntExpr` at once, so that
``A.shape[1] == B.shape[0]`` is decided when it is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects.dtypes import (
    check_dtype,
    common_dtype,
    integer_range,
    is_float,
    wrap_to,
)
from ..dialects.int_expr import IntExpr, Sym, maximum, minimum
from ..dialects.python_operators import Operators
from ..runtime.dtype import bfloat16_to_float32, to_bfloat16
from .constant_dim import ConstantDim
from .nodes import PRECEDENCE as PRECEDENCE
from .nodes import Binary as Binary
from .nodes import Call as Call
from .nodes import Cast as Cast
from .nodes import ExprLike as ExprLike
from .nodes import Imm as Imm
from .nodes import Index as Index
from .nodes import PrimExpr as PrimExpr
from .nodes import as_int_expr as as_int_expr
from .nodes import index_expr as index_expr
from .nodes import is_same as is_same

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
INTEGER_ONLY = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")
BOOL_TOO = ("bitwise_and", "bitwise_or", "bitwise_xor", "min", "max", *COMPARISONS)


def index_value(expr: IntExpr, dtype: str = "int64") -> Any:
    """A dim as users see it: an int where it is constant, else an expression."""
    constant = expr.constant
    return Index(expr, dtype) if constant is None else ConstantDim(constant)


def symbol(name: str) -> Index:
    """A symbolic dim."""
    return Index(IntExpr.of(Sym(name)))


def dim_expr(dim: PrimExpr | int) -> IntExpr:
    """A dim as an integer expression; raises TypeError for anything else."""
    if isinstance(dim, Index):
        return dim.expr
    if isinstance(dim, Imm) and not is_float(dim.dtype):
        return IntExpr.of(int(dim.value))
    if hasattr(dim, "__index__") and not isinstance(dim, bool):
        return IntExpr.of(int(dim))  # pyright: ignore[reportArgumentType]
    raise TypeError(f"expected a dim to be an int or an expression of symbols, got {dim!r}")


def round_to(dtype: str, value: float) -> float:
    """The float of the dtype that is nearest to a number."""
    if dtype == "float64":
        return float(value)
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            return float(bfloat16_to_float32(to_bfloat16(np.array(value, np.float64))))
        return float(np.float16(value) if dtype == "float16" else np.float32(value))


def const(value: int | float | bool, dtype: str | None = None) -> Imm:
    """A number of a dtype (int32, float32 or bool by the value's type when not given).

    Floats are rounded to the dtype; raises ValueError for an integer that it cannot hold.
    """
    if dtype is None:
        dtype = convert(value).dtype
    check_dtype(dtype)
    if is_float(dtype):
        return Imm(round_to(dtype, float(value)), dtype)
    if dtype == "bool":
        return Imm(bool(value), dtype)
    low, high = integer_range(dtype)
    if not low <= (number := int(value)) <= high:
        raise ValueError(f"expected a number of {dtype} in [{low}, {high}], got {number}")
    return Imm(number, dtype)


def convert(value: Any) -> PrimExpr:
    """A Python number as a weak literal, an expression as it is; raises TypeError otherwise."""
    match value:
        case PrimExpr():
            return value
        case bool():
            return Imm(value, "bool", weak=True)
        case int():
            low, high = integer_range("int32")
            return Imm(int(value), "int32" if low <= value <= high else "int64", weak=True)
        case np.number() | np.bool_():
            scalar: Any = value  # pyright: ignore[reportUnknownVariableType]
            return const(scalar.item(), str(scalar.dtype))
        case float():
            return Imm(value, "float32", weak=True)
        case object(expr=IntExpr() as expr):  # a sampled number of a schedule
            return index_expr(expr)
        case _:
            raise TypeError(f"expected an expression or a number, got {type(value).__name__}")


def promote(lhs: PrimExpr, rhs: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Both sides in one dtype, by TVM's rules.

    Literals adapt, integers become floats, the wider dtype wins.
    """
    if lhs.dtype == rhs.dtype:
        return lhs, rhs
    if isinstance(lhs, Imm) and lhs.weak and (target := _adapted(lhs, rhs.dtype)) is not None:
        return target, rhs
    if isinstance(rhs, Imm) and rhs.weak and (target := _adapted(rhs, lhs.dtype)) is not None:
        return lhs, target
    dtype = common_dtype(lhs.dtype, rhs.dtype)
    return cast(dtype, lhs), cast(dtype, rhs)


def _adapted(literal: Imm, dtype: str) -> Imm | None:
    if is_float(literal.dtype) and not is_float(dtype):
        return None
    if dtype == "bool" and literal.dtype != "bool":
        return None
    return const(literal.value, dtype)


def cast(dtype: str, value: ExprLike) -> PrimExpr:
    """`value` converted to `dtype`; integers wrap; nothing where it has that dtype already.

    A constant is folded unless the integers of `dtype` do not have its whole part.
    """
    expr = convert(value)
    check_dtype(dtype)
    if isinstance(expr, Imm) and (is_float(dtype) or dtype == "bool"):
        return const(expr.value, dtype)
    if isinstance(expr, Imm) and not is_float(expr.dtype):
        return Imm(wrap_to(dtype, int(expr.value)), dtype)
    if isinstance(expr, Imm):
        low, high = integer_range(dtype)
        if low <= expr.value <= high:
            return Imm(int(expr.value), dtype)
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Index) and dtype in ("int32", "int64"):
        return Index(expr.expr, dtype)
    return Cast(dtype, expr)


def binary(op: str, lhs: Any, rhs: Any) -> PrimExpr:
    """An operation on two expressions after promotion; integer expressions over symbols fold.

    Raises TypeError for dtypes that the operation does not take.
    """
    a, b = promote(convert(lhs), convert(rhs))
    if op == "div" and not is_float(a.dtype):
        raise TypeError(
            f"expected floats on both sides of '/', got {a.dtype} (use '//' or T.truncdiv)"
        )
    if op in INTEGER_ONLY and is_float(a.dtype):
        raise TypeError(f"expected integers for '{op}', got {a.dtype}")
    if op not in BOOL_TOO and a.dtype == "bool":
        a, b = cast("int32", a), cast("int32", b)
    x, y = as_int_expr(a), as_int_expr(b)
    if op in COMPARISONS:
        return _fold_comparison(op, x, y) or Binary(op, a, b, "bool")
    if x is not None and y is not None and (folded := _fold(op, x, y)) is not None:
        return _folded(folded, a, b)
    return Binary(op, a, b, a.dtype)


def negate(value: ExprLike) -> PrimExpr:
    """``-value``."""
    expr = convert(value)
    return Call("neg", (expr,), expr.dtype) if is_float(expr.dtype) else binary("sub", 0, expr)


def bitwise_not(value: ExprLike) -> PrimExpr:
    """Every bit flipped; of a bool its negation. Raises TypeError for a float."""
    expr = convert(value)
    if is_float(expr.dtype):
        raise TypeError(f"expected an integer or bool for '~', got {expr.dtype}")
    return Call("bitwise_not", (expr,), expr.dtype)


def _folded(expr: IntExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    constant = expr.constant
    if constant is None:
        return Index(expr, a.dtype)
    if isinstance(a, Imm) and isinstance(b, Imm) and a.weak and b.weak:
        return convert(constant)
    return Imm(wrap_to(a.dtype, constant), a.dtype)


def _fold(op: str, x: IntExpr, y: IntExpr) -> IntExpr | None:
    a, b = x.constant, y.constant
    if op in ("floordiv", "floormod") and a is not None and b is not None:
        return None if b == 0 else IntExpr.of(a // b if op == "floordiv" else a % b)
    match op:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "floordiv" if y.constant != 0:
            return x // y
        case "floormod" if y.constant != 0:
            return x % y
        case "min":
            return minimum(x, y)
        case "max":
            return maximum(x, y)
        case _:
            return None


def _fold_comparison(op: str, x: IntExpr | None, y: IntExpr | None) -> Imm | None:
    if x is None or y is None or (difference := (x - y).constant) is None:
        return None
    outcomes = {
        "lt": difference < 0,
        "le": difference <= 0,
        "gt": difference > 0,
        "ge": difference >= 0,
        "eq": difference == 0,
        "ne": difference != 0,
    }
    return Imm(outcomes[op], "bool")


Operators.binary, Operators.negate = binary, negate
Operators.bitwise_not, Operators.cast = bitwise_not, cast

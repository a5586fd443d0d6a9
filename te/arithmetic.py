"""Scalar expressions and what operators on them mean: conversion, dtype promotion, folding.

Trees of integers over symbols alone fold into `IntExpr` at once, so that
``A.shape[1] == B.shape[0]`` is decided when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..dialects.dtypes import (
    check_dtype,
    common_dtype,
    integer_range,
    is_float,
    wrap_to,
)
from ..dialects.int_expr import IntExpr, Sym, maximum, minimum, outermost
from ..dialects.python_text import (
    ADD,
    AND,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    MULTIPLY,
    NOT,
    OR,
    PRIMARY,
    SHIFT,
    UNARY,
    Text,
    integer_precedence,
    integer_text,
)
from ..runtime.dtype import bfloat16_to_float32, to_bfloat16
from .constant_dim import ConstantDim
from .operators import Operators, Sides

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
INTEGER_ONLY = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")
BOOL_TOO = ("bitwise_and", "bitwise_or", "bitwise_xor", "min", "max", *COMPARISONS)

PRECEDENCE = {
    "add": ("+", ADD),
    "sub": ("-", ADD),
    "mul": ("*", MULTIPLY),
    "div": ("/", MULTIPLY),
    "floordiv": ("//", MULTIPLY),
    "floormod": ("%", MULTIPLY),
    "lt": ("<", COMPARE),
    "le": ("<=", COMPARE),
    "gt": (">", COMPARE),
    "ge": (">=", COMPARE),
    "eq": ("==", COMPARE),
    "ne": ("!=", COMPARE),
    "bitwise_and": ("&", BIT_AND),
    "bitwise_or": ("|", BIT_OR),
    "bitwise_xor": ("^", BIT_XOR),
    "shift_left": ("<<", SHIFT),
    "shift_right": (">>", SHIFT),
}
"""How operations are written, and how tightly they bind."""

_LOGICAL = {"bitwise_and": ("and", AND), "bitwise_or": ("or", OR)}
"""The same of bools."""


class PrimExpr(Operators, Sides):
    """An expression with a dtype. Operators build larger ones; nothing is computed."""

    type_of: ClassVar[Callable[..., Any]]
    dtype: str

    @property
    def ty(self) -> Any:
        """The type: that of numbers of this dtype; TVM's newer spelling."""
        return PrimExpr.type_of(self.dtype)

    @staticmethod
    def _binary(op: str, lhs: ExprLike, rhs: ExprLike) -> PrimExpr:
        return binary(op, lhs, rhs)

    def __neg__(self) -> PrimExpr:
        return negate(self)

    def __invert__(self) -> PrimExpr:
        return bitwise_not(self)

    def astype(self, dtype: str) -> PrimExpr:
        return cast(dtype, self)

    def same_as(self, other: object) -> bool:
        """Whether the other one is this expression, as TVM asks; equal ones may be others."""
        return self is other

    @property
    def text(self) -> Text:
        """The expression as TVMScript, and how tightly its outermost operator binds."""
        return Text(object.__repr__(self))

    def children(self) -> list[PrimExpr]:
        """The expressions that this one is made of."""
        return []

    def reads_memory(self) -> bool:
        """Whether there is an element of a buffer in it."""
        return any(part.reads_memory() for part in self.children())

    def declared(self) -> Iterator[tuple[str, str]]:
        """Names and dtypes of variables in it, in order; names may repeat."""
        for part in self.children():
            yield from part.declared()

    def script(self, *, verbose_expr: bool = False) -> str:
        """The expression as TVMScript; with `verbose_expr` below ``n = T.int64()`` lines."""
        declared = dict.fromkeys(self.declared()) if verbose_expr else ()
        return "\n".join([*(f"{name} = T.{kind}()" for name, kind in declared), self.text.text])

    def __str__(self) -> str:
        return self.script()

    __repr__ = __str__


ExprLike: TypeAlias = PrimExpr | int | float | bool


class Index(PrimExpr):
    """An integer expression over symbols, such as a tensor dim."""

    def __init__(self, expr: IntExpr, dtype: str = "int64"):
        self.expr = expr
        self.dtype = dtype

    def __hash__(self) -> int:
        return hash(self.expr)

    @property
    def text(self) -> Text:
        return Text(integer_text(self.expr), integer_precedence(self.expr))

    def declared(self) -> Iterator[tuple[str, str]]:
        for name in sorted(self.expr.symbols()):
            yield name, self.dtype

    @property
    def name(self) -> str:
        """The name, if it is a symbol; raises AttributeError for other expressions."""
        atom = self.expr.as_atom
        if not isinstance(atom, Sym):
            raise AttributeError(f"expected a symbol, which has a name, got {self}")
        return atom.name

    def sides(self) -> tuple[str, list[PrimExpr]]:
        """The operation that is done last, and what it is done with; "" and nothing of a symbol."""
        found = outermost(self.expr)
        if found is None:
            return "", []
        op, *sides = found
        return "floormod" if op == "mod" else op, [index_expr(s, self.dtype) for s in sides]

    def same_as(self, other: object) -> bool:
        """Whether the other one is this expression: symbols of one name are the same."""
        return isinstance(other, Index) and self.expr == other.expr


class Imm(PrimExpr):
    """A number. A `weak` one came from a Python literal and takes the dtype of what it meets."""

    def __init__(self, value: int | float | bool, dtype: str, weak: bool = False):
        self.value = value
        self.dtype = dtype
        self.weak = weak

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        if is_float(self.dtype):
            raise TypeError(f"expected an integer, got {self.dtype}")
        return int(self.value)

    __int__ = __index__

    @property
    def text(self) -> Text:
        if self.dtype == "bool":
            return Text(f"T.bool({bool(self.value)})")
        if is_float(self.dtype):
            value = float(self.value)
            shown = repr(value) if isfinite(value) else f'"{value}"'
            return Text(f"T.{self.dtype}({shown})")
        if self.dtype in ("int32", "int64") or self.weak:
            return Text(str(int(self.value)), PRIMARY if self.value >= 0 else UNARY)
        return Text(f"T.{self.dtype}({int(self.value)})")


class Binary(PrimExpr):
    """An operation on two expressions of one dtype."""

    def __init__(self, op: str, lhs: PrimExpr, rhs: PrimExpr, dtype: str):
        self.op = op
        self.lhs = lhs
        self.rhs = rhs
        self.dtype = dtype

    def __bool__(self) -> bool:
        if self.op not in ("eq", "ne"):
            return super().__bool__()
        return is_same(self.lhs, self.rhs) == (self.op == "eq")

    def children(self) -> list[PrimExpr]:
        return [self.lhs, self.rhs]

    def sides(self) -> tuple[str, list[PrimExpr]]:
        return self.op, self.children()

    @property
    def text(self) -> Text:
        lhs, rhs = self.lhs.text, self.rhs.text
        if self.dtype == "bool" and self.op == "bitwise_xor" and isinstance(self.rhs, Imm):
            return Text(f"not {lhs.within(NOT)}", NOT)
        is_logical = self.dtype == "bool" and self.op in _LOGICAL
        known = _LOGICAL if is_logical else PRECEDENCE
        if is_logical and self.rhs.reads_memory():  # Python's operator would guard the access
            return Text(f"T.{_LOGICAL[self.op][0].capitalize()}({lhs.text}, {rhs.text})")
        if self.op not in known:
            return Text(f"T.{self.op}({lhs.text}, {rhs.text})")
        symbol, level = known[self.op]
        left = level + 1 if level == COMPARE else level
        return Text(f"{lhs.within(left)} {symbol} {rhs.within(level + 1)}", level)


class Cast(PrimExpr):
    """A conversion to another dtype."""

    def __init__(self, dtype: str, value: PrimExpr):
        self.dtype = dtype
        self.value = value

    def children(self) -> list[PrimExpr]:
        return [self.value]

    @property
    def text(self) -> Text:
        return Text(f'T.Cast("{self.dtype}", {self.value.text.text})')


class Call(PrimExpr):
    """An intrinsic applied to arguments, such as ``exp(x)`` or ``if_then_else(c, a, b)``."""

    def __init__(self, op: str, args: tuple[PrimExpr, ...], dtype: str):
        self.op = op
        self.args = args
        self.dtype = dtype

    def children(self) -> list[PrimExpr]:
        return list(self.args)

    @property
    def text(self) -> Text:
        if self.op == "neg":
            return Text(f"-{self.args[0].text.within(UNARY)}", UNARY)
        name = "Select" if self.op == "select" else self.op
        return Text(f"T.{name}({', '.join(a.text.text for a in self.args)})")


def is_same(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two expressions are written the same."""
    if a is b:
        return True
    x, y = as_int_expr(a), as_int_expr(b)
    if x is not None and y is not None:
        return x == y
    return type(a) is type(b) and a.dtype == b.dtype and str(a) == str(b)


def as_int_expr(expr: PrimExpr) -> IntExpr | None:
    """The integer expression over symbols, if that is all there is in it."""
    if isinstance(expr, Index):
        return expr.expr
    if isinstance(expr, Imm) and not is_float(expr.dtype) and expr.dtype != "bool":
        return IntExpr.of(int(expr.value))
    return None


def index_value(expr: IntExpr, dtype: str = "int64") -> Any:
    """A dim as users see it: an int where it is constant, else an expression."""
    constant = expr.constant
    return Index(expr, dtype) if constant is None else ConstantDim(constant)


def index_expr(expr: IntExpr, dtype: str = "int64") -> PrimExpr:
    """An integer expression as a scalar: a number where it is constant."""
    constant = expr.constant
    return Index(expr, dtype) if constant is None else Imm(constant, dtype)


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
    if isinstance(expr, Imm) and not (is_float(expr.dtype) and not is_float(dtype)):
        if is_float(dtype) or dtype == "bool":
            return const(expr.value, dtype)
        return Imm(wrap_to(dtype, int(expr.value)), dtype)
    if isinstance(expr, Imm) and dtype != "bool":
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

"""The classes of scalar expressions, and how they are written. `arithmetic` makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any, ClassVar, TypeAlias

from ..dialects.dims import expr_of
from ..dialects.dtypes import is_float
from ..dialects.int_expr import IntExpr, Sym, outermost
from ..dialects.python_operators import Operators, Sides
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

    def has_calls(self) -> bool:
        """Whether a function from elsewhere is called in it, which may have effects."""
        return any(part.has_calls() for part in self.children())

    def declared(self) -> Iterator[tuple[str, str]]:
        """Names in it, with what declares them, ``T.int64()``, in order; names may repeat."""
        for part in self.children():
            yield from part.declared()

    def script(self, *, verbose_expr: bool = False) -> str:
        """The expression as TVMScript; with `verbose_expr` below ``n = T.int64()`` lines."""
        return below(self.declared() if verbose_expr else (), self.text.text)

    def __str__(self) -> str:
        return self.script()

    __repr__ = __str__


def below(declared: Iterable[tuple[str, str]], text: str) -> str:
    """A text below lines that declare the names in it, such as ``n = T.int64()``."""
    lines = (f"{name} = {declaration}" for name, declaration in dict.fromkeys(declared))
    return "\n".join([*lines, text])


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
            yield name, f"T.{self.dtype}()"

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
        """Whether the other one is this expression: symbols of one name are the same.

        A value of a graph may be it too, such as a parameter ``n`` that dims are made of.
        """
        return expr_of(other) == self.expr


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


def index_expr(expr: IntExpr, dtype: str = "int64") -> PrimExpr:
    """An integer expression as a scalar: a number where it is constant."""
    constant = expr.constant
    return Index(expr, dtype) if constant is None else Imm(constant, dtype)

"""Scalar expressions that people write in scripts and lambdas: trees with dtypes, emitted as operations later.

They follow TVM's ``PrimExpr`` in dtype promotion and operators. Trees of integers over symbols alone fold
into `IntExpr` at once, so that ``A.shape[1] == B.shape[0]`` is decided when it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..dialects.dtypes import DTYPES, bit_width, is_float, is_unsigned
from ..dialects.int_expr import IntExpr, Sym, maximum, minimum

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

ExprLike: TypeAlias = "PrimExpr | int | float | bool"

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "floormod": "%",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "shift_left": "<<",
    "shift_right": ">>",
}


class PrimExpr:
    """An expression with a dtype. Operators build larger ones; nothing is computed."""

    dtype: str

    def __add__(self, other: ExprLike) -> PrimExpr:
        return binary("add", self, other)

    def __radd__(self, other: ExprLike) -> PrimExpr:
        return binary("add", other, self)

    def __sub__(self, other: ExprLike) -> PrimExpr:
        return binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> PrimExpr:
        return binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> PrimExpr:
        return binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> PrimExpr:
        return binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> PrimExpr:
        return binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> PrimExpr:
        return binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> PrimExpr:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> PrimExpr:
        return binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> PrimExpr:
        return binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> PrimExpr:
        return binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> PrimExpr:
        return binary("bitwise_and", self, other)

    def __or__(self, other: ExprLike) -> PrimExpr:
        return binary("bitwise_or", self, other)

    def __xor__(self, other: ExprLike) -> PrimExpr:
        return binary("bitwise_xor", self, other)

    def __lshift__(self, other: ExprLike) -> PrimExpr:
        return binary("shift_left", self, other)

    def __rshift__(self, other: ExprLike) -> PrimExpr:
        return binary("shift_right", self, other)

    def __neg__(self) -> PrimExpr:
        return (
            binary("mul", self, const(-1, self.dtype))
            if not is_float(self.dtype)
            else Call("neg", (self,), self.dtype)
        )

    def __invert__(self) -> PrimExpr:
        return Call("bitwise_not", (self,), self.dtype)

    def __lt__(self, other: ExprLike) -> PrimExpr:
        return binary("lt", self, other)

    def __le__(self, other: ExprLike) -> PrimExpr:
        return binary("le", self, other)

    def __gt__(self, other: ExprLike) -> PrimExpr:
        return binary("gt", self, other)

    def __ge__(self, other: ExprLike) -> PrimExpr:
        return binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return (
            binary("eq", self, other)
            if isinstance(other, PrimExpr | int | float)
            else NotImplemented
        )

    def __ne__(self, other: object) -> Any:
        return (
            binary("ne", self, other)
            if isinstance(other, PrimExpr | int | float)
            else NotImplemented
        )

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise ValueError(
            "expected a Python bool, got an expression whose value is only known at run time"
        )

    def astype(self, dtype: str) -> PrimExpr:
        """The expression converted to another dtype."""
        return cast(dtype, self)


class Index(PrimExpr):
    """An integer expression over symbols, such as a tensor dim."""

    def __init__(self, expr: IntExpr, dtype: str = "int64"):
        self.expr = expr
        self.dtype = dtype

    def __str__(self) -> str:
        return str(self.expr)

    __repr__ = __str__


class Var(PrimExpr):
    """A variable: a loop variable, a block axis, a let binding or a symbolic dim, identified by the object."""

    def __init__(self, name: str = "v", dtype: str = "int32"):
        self.name = name
        self.dtype = dtype

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


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

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__


class Binary(PrimExpr):
    """An operation on two expressions of one dtype."""

    def __init__(self, op: str, lhs: PrimExpr, rhs: PrimExpr, dtype: str):
        self.op = op
        self.lhs = lhs
        self.rhs = rhs
        self.dtype = dtype

    def __bool__(self) -> bool:
        if self.op in ("eq", "ne"):
            same = _same(self.lhs, self.rhs)
            return same if self.op == "eq" else not same
        return super().__bool__()

    def __str__(self) -> str:
        if self.op in SYMBOLS:
            return f"({self.lhs} {SYMBOLS[self.op]} {self.rhs})"
        return f"{self.op}({self.lhs}, {self.rhs})"

    __repr__ = __str__


class Cast(PrimExpr):
    """A conversion to another dtype."""

    def __init__(self, dtype: str, value: PrimExpr):
        self.dtype = dtype
        self.value = value

    def __str__(self) -> str:
        return f"{self.dtype}({self.value})"

    __repr__ = __str__


class Call(PrimExpr):
    """An intrinsic applied to arguments, such as ``exp(x)``, ``select(c, a, b)`` or ``if_then_else(c, a, b)``."""

    def __init__(self, op: str, args: tuple[PrimExpr, ...], dtype: str):
        self.op = op
        self.args = args
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"

    __repr__ = __str__


class Load(PrimExpr):
    """One element of a buffer or of a tensor that is being defined; `source` says which."""

    def __init__(self, source: Any, indices: tuple[PrimExpr, ...], dtype: str):
        self.source = source
        self.indices = indices
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{self.source.name}[{', '.join(map(str, self.indices))}]"

    __repr__ = __str__


class Value(PrimExpr):
    """A value that has been emitted already."""

    def __init__(self, ssa: SSAValue, dtype: str):
        self.ssa = ssa
        self.dtype = dtype


class Reduce(PrimExpr):
    """A reduction over axes: `combine` folds `source` into the accumulator, which starts at `identity`."""

    def __init__(
        self,
        combine: Any,
        source: tuple[PrimExpr, ...],
        axes: Sequence[Any],
        identity: tuple[PrimExpr, ...],
        index: int = 0,
        condition: PrimExpr | None = None,
    ):
        self.combine = combine
        self.source = source
        self.axes = tuple(axes)
        self.identity = identity
        self.index = index
        self.condition = condition
        self.dtype = source[index].dtype


def _same(a: PrimExpr, b: PrimExpr) -> bool:
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
    return Index(expr, dtype) if constant is None else constant


def symbol(name: str) -> Index:
    """A symbolic dim."""
    return Index(IntExpr.of(Sym(name)))


def const(value: int | float | bool, dtype: str | None = None) -> Imm:
    """A number of a dtype (int32, float32 or bool by the value's type when not given)."""
    if dtype is None:
        dtype = (
            "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
        )
    if dtype not in DTYPES:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), got '{dtype}'")
    if is_float(dtype):
        return Imm(float(value), dtype)
    if dtype == "bool":
        return Imm(bool(value), dtype)
    return Imm(int(value), dtype)


def convert(value: ExprLike) -> PrimExpr:
    """A Python number as a weak literal, an expression as it is; raises TypeError for anything else."""
    if isinstance(value, PrimExpr):
        return value
    if isinstance(value, bool):
        return Imm(value, "bool", weak=True)
    if isinstance(value, int):
        return Imm(value, "int32", weak=True)
    if isinstance(value, float):
        return Imm(value, "float32", weak=True)
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a NumPy scalar
        return const(value.item(), str(value.dtype))
    raise TypeError(f"expected an expression or a number, got {type(value).__name__}")


def promote(lhs: PrimExpr, rhs: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
    """Both sides in one dtype, by TVM's rules: literals adapt, ints become floats, the wider one wins."""
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


def common_dtype(a: str, b: str) -> str:
    """The dtype that both convert to in arithmetic."""
    if a == b:
        return a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if bit_width(a) != bit_width(b):
        return a if bit_width(a) > bit_width(b) else b
    if is_float(a):
        return "float32"
    return a if is_unsigned(a) else b


def cast(dtype: str, value: ExprLike) -> PrimExpr:
    """`value` converted to `dtype`; nothing where it has that dtype already."""
    expr = convert(value)
    if dtype not in DTYPES:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), got '{dtype}'")
    if isinstance(expr, Imm) and not (is_float(expr.dtype) and not is_float(dtype)):
        return const(expr.value, dtype)
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Index) and dtype in ("int32", "int64"):
        return Index(expr.expr, dtype)
    return Cast(dtype, expr)


def binary(op: str, lhs: ExprLike, rhs: ExprLike) -> PrimExpr:
    """An operation on two expressions after promotion; integer expressions over symbols fold."""
    a, b = promote(convert(lhs), convert(rhs))
    if op == "div" and not is_float(a.dtype):
        raise TypeError(
            f"expected floats on both sides of '/', got {a.dtype} (use '//' or T.truncdiv)"
        )
    if (
        op not in COMPARISONS
        and a.dtype == "bool"
        and op not in ("bitwise_and", "bitwise_or", "bitwise_xor", "min", "max")
    ):
        a, b = cast("int32", a), cast("int32", b)
    x, y = as_int_expr(a), as_int_expr(b)
    if x is not None and y is not None:
        folded = _fold(op, x, y)
        if folded is not None:
            return _folded(folded, a, b)
    weak = isinstance(a, Imm) and isinstance(b, Imm) and a.weak and b.weak
    if op in COMPARISONS:
        return _fold_comparison(op, x, y) or Binary(op, a, b, "bool")
    if isinstance(a, Imm) and isinstance(b, Imm) and (value := _fold_numbers(op, a, b)) is not None:
        return Imm(value, a.dtype, weak)
    return Binary(op, a, b, a.dtype)


def _folded(expr: IntExpr, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    constant = expr.constant
    if constant is None:
        return Index(expr, a.dtype)
    weak = isinstance(a, Imm) and isinstance(b, Imm) and a.weak and b.weak
    return Imm(constant, a.dtype, weak)


def _fold(op: str, x: IntExpr, y: IntExpr) -> IntExpr | None:
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


def _fold_numbers(op: str, a: Imm, b: Imm) -> float | None:
    if a.dtype != "float64" and not (a.weak and b.weak):
        return None
    match op:
        case "add":
            return a.value + b.value
        case "sub":
            return a.value - b.value
        case "mul":
            return a.value * b.value
        case "div" if b.value:
            return a.value / b.value
        case _:
            return None

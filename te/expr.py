"""Scalar expressions that people write in scripts and lambdas: trees with dtypes, emitted later.

They follow TVM's ``PrimExpr``; a node holds its parts and its dtype, nothing is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..dialects.dtypes import is_float
from ..dialects.int_expr import IntExpr
from .prim_expr import ExprLike as ExprLike
from .prim_expr import PrimExpr as PrimExpr

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

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


class Index(PrimExpr):
    """An integer expression over symbols, such as a tensor dim."""

    def __init__(self, expr: IntExpr, dtype: str = "int64"):
        self.expr = expr
        self.dtype = dtype

    def __str__(self) -> str:
        return str(self.expr)

    __repr__ = __str__


class Var(PrimExpr):
    """A variable, identified by the object: a loop variable, an axis or a let binding."""

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
        if self.op not in ("eq", "ne"):
            return super().__bool__()
        from .arithmetic import is_same

        return is_same(self.lhs, self.rhs) == (self.op == "eq")

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
    """An intrinsic applied to arguments, such as ``exp(x)`` or ``if_then_else(c, a, b)``."""

    def __init__(self, op: str, args: tuple[PrimExpr, ...], dtype: str):
        self.op = op
        self.args = args
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"

    __repr__ = __str__


class Let(PrimExpr):
    """A value that is computed once, and an expression that uses it by a variable."""

    def __init__(self, var: Var, value: PrimExpr, body: PrimExpr):
        self.var = var
        self.value = value
        self.body = body
        self.dtype = body.dtype

    def __str__(self) -> str:
        return f"let({self.var} = {self.value}, {self.body})"

    __repr__ = __str__


class ExternCall(PrimExpr):
    """A call of a C function; `args` are expressions and buffers, which are passed as pointers."""

    def __init__(self, callee: str, args: tuple[Any, ...], dtype: str):
        self.callee = callee
        self.args = args
        self.dtype = dtype


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
    """A reduction over axes: `combine` folds `source` into what starts at `identity`."""

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


def children(expr: PrimExpr) -> list[PrimExpr]:
    """The expressions that an expression is made of."""
    match expr:
        case Binary():
            return [expr.lhs, expr.rhs]
        case Cast():
            return [expr.value]
        case Let():
            return [expr.value, expr.body]
        case Call() | ExternCall():
            return [a for a in expr.args if isinstance(a, PrimExpr)]
        case Load():
            return list(expr.indices)
        case Reduce():
            return [*expr.source, *(() if expr.condition is None else (expr.condition,))]
        case _:
            return []

"""TVM's classes of scalar expressions: ``tir.Add(a, b)`` is a sum, and `isinstance` knows one.

Integer expressions over symbols are canonical, ``a + b`` and ``b + a`` are one. They are of the
class of the operation that is done last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import te
from ..dialects.int_expr import Sym
from ..ir.block_views import BlockAxis
from ..ir.expr import Expr
from ..ir.expr import Var as GraphVar
from ..ir.struct_info import PrimStructInfo
from ..te.arithmetic import Imm, Index, PrimExpr, convert
from ..te.axes import ITER_TYPES, IterVar
from ..te.expr import Call as CallExpr
from ..te.expr import Cast as CastExpr
from ..te.expr import ExternCall, Load
from ..te.expr import Let as LetExpr
from ..te.expr import Var as VarExpr
from ..te.intrinsics import BINARY_FUNCTIONS, FUNCTIONS
from ..te.ranges import Range

_CHOICE = "select"


class ExprClass(type):
    """A class whose calls give expressions of `make`, and whose instances `shows` tells."""

    make: Callable[..., Any]
    shows: Callable[[Any], bool]

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return cls.make(*args, **named)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, PrimExpr) and cls.shows(instance)


def _class(name: str, doc: str, make: Callable[..., Any], shows: Callable[[Any], bool]) -> Any:
    members = {"__doc__": doc, "make": staticmethod(make), "shows": staticmethod(shows)}
    return ExprClass(name, (), members)


def _operation(name: str, op: str, only_bools: bool = False) -> Any:
    """The class of a binary operation, or of that operation on bools."""

    def shows(expr: PrimExpr) -> bool:
        return expr.sides()[0] == op and (expr.dtype == "bool" or not only_bools)

    make = FUNCTIONS[name if name in FUNCTIONS else op]
    return _class(name, f"An expression whose operation is `{op}`.", make, shows)


def _is_negation(expr: PrimExpr) -> bool:
    op, sides = expr.sides()
    is_bool = op == "bitwise_xor" and expr.dtype == "bool"
    return is_bool and isinstance(sides[1], Imm) and bool(sides[1])


def _is_variable(expr: PrimExpr) -> bool:
    if isinstance(expr, Index):
        return isinstance(expr.expr.as_atom, Sym)
    return isinstance(expr, VarExpr)


def _is_call(expr: PrimExpr) -> bool:
    return isinstance(expr, ExternCall) or (isinstance(expr, CallExpr) and expr.op != _CHOICE)


def _load(buffer: Any, indices: Any) -> PrimExpr:
    return Load(buffer, tuple(map(convert, indices)), buffer.dtype)


def _let(var: VarExpr, value: Any, body: Any) -> PrimExpr:
    return LetExpr(var, convert(value), convert(body))


def _axis(dom: Any, var: Any, iter_type: int, thread_tag: str = "") -> IterVar:
    ranged = dom if isinstance(dom, Range) else Range(*dom)
    kind = next((k for k, n in ITER_TYPES.items() if n == iter_type), None)
    if kind is None:
        raise ValueError(f"expected an iter_type of {sorted(ITER_TYPES.values())}, got {iter_type}")
    name = var if isinstance(var, str) else var.name
    return BlockAxis(name, ranged.min, ranged.extent, kind, "int64", thread_tag)


Var = _class("Var", "A variable: a symbol, which is an integer, or a scalar.", te.var, _is_variable)


def is_prim_expr(value: object) -> bool:
    """Whether a value is a scalar: an expression of kernels, or a number of the graph."""
    return isinstance(value, PrimExpr | Expr) and isinstance(value.ty, PrimStructInfo)


def is_prim_var(value: object) -> bool:
    """Whether a value is a variable that is a scalar."""
    return is_prim_expr(value) and isinstance(value, (Var, GraphVar))


CLASSES: dict[str, Any] = {
    "Var": Var,
    **{n: _operation(n, op) for n, op in BINARY_FUNCTIONS.items() if n[0].isupper()},
    "Mod": _operation("Mod", "truncmod"),
    "And": _operation("And", "bitwise_and", True),
    "Or": _operation("Or", "bitwise_or", True),
    "Not": _class("Not", "A negation of a bool.", FUNCTIONS["Not"], _is_negation),
    "Select": _class(
        "Select",
        "A choice of which both sides are computed.",
        FUNCTIONS["Select"],
        lambda e: isinstance(e, CallExpr) and e.op == _CHOICE,
    ),
    "Cast": _class("Cast", "A conversion.", FUNCTIONS["Cast"], lambda e: isinstance(e, CastExpr)),
    "Let": _class("Let", "A value with a name.", _let, lambda e: isinstance(e, LetExpr)),
    "Call": _class("Call", "A call of a function.", CallExpr, _is_call),
    "IterVar": _class("IterVar", "An axis of a block.", _axis, lambda e: isinstance(e, IterVar)),
    "BufferLoad": _class(
        "BufferLoad", "An element that is read.", _load, lambda e: isinstance(e, Load)
    ),
}
"""The classes, by name."""

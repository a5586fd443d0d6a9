"""Floats and conditions of sizes, such as ``1 / x.shape[0]``, as tensors of rank 0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, cast

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch

from ..emitter import Value
from ..unsupported import Unsupported
from .context import Context

_BINARY = {
    "Add": "add",
    "FloatPow": "power",
    "FloatTrueDiv": "divide",
    "IntTrueDiv": "divide",
    "Max": "maximum",
    "Min": "minimum",
    "Mul": "multiply",
    "Pow": "power",
    "PowByNatural": "power",
}
_UNARY = {f"OpaqueUnaryFn_{n}": n for n in ("cos", "exp", "log", "log2", "sin", "sqrt", "tanh")}
_CONVERSIONS = ("Identity", "ToFloat")
_RELATIONS = {
    "Equality": "equal",
    "GreaterThan": "greater_equal",
    "LessThan": "less_equal",
    "StrictGreaterThan": "greater",
    "StrictLessThan": "less",
    "Unequality": "not_equal",
}
_LOGIC = {"And": "logical_and", "Or": "logical_or"}


def real(context: Context, value: torch.SymFloat) -> Value:
    """The number as a float64 tensor of rank 0; raises Unsupported for functions without operator.

    Type promotion treats it as a Python float.
    """
    found = _real(context, cast(Any, value).node.expr)
    context.reals.add(found)
    return found


def _real(context: Context, expr: Any) -> Value:
    name = type(expr).__name__
    if not expr.free_symbols:
        return context.number(float(expr), "float64")
    if str(expr) in context.real_symbols:
        return context.astype(context.real_symbols[str(expr)], "float64")
    if name in _CONVERSIONS:
        return _real(context, expr.args[0])
    if name in _UNARY:
        return context.op(_UNARY[name], _real(context, expr.args[0]))
    if isinstance(expr, sympy.Symbol) or (expr.is_integer and name not in _BINARY):
        return context.number(context.symbols.expr(expr), "float64")
    if name not in _BINARY:
        raise Unsupported(f"expected a number of sizes by arithmetic, got {expr}")
    return _folded(context, _BINARY[name], [_real(context, a) for a in expr.args])


def truth(context: Context, value: torch.SymBool) -> Value:
    """The condition as a bool tensor of rank 0; raises Unsupported for other than comparisons."""
    return _truth(context, cast(Any, value).node.expr)


def _truth(context: Context, expr: Any) -> Value:
    name = type(expr).__name__
    if name in _LOGIC:
        return _folded(context, _LOGIC[name], [_truth(context, a) for a in expr.args])
    if name == "Not":
        return context.op("logical_not", _truth(context, *expr.args))
    if name not in _RELATIONS:
        raise Unsupported(f"expected a condition on sizes by comparisons, got {expr}")
    if all(a.is_integer for a in expr.args):
        sides = [context.number(context.symbols.expr(a), "int64") for a in expr.args]
    else:
        sides = [_real(context, a) for a in expr.args]
    return context.op(_RELATIONS[name], *sides)


def _folded(context: Context, operator: str, terms: Sequence[Value]) -> Value:
    return reduce(lambda x, y: context.op(operator, x, y), terms)

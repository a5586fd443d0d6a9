"""Reductions over axes: a combiner with its identity, and the usual ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from ..dialects.dtypes import is_float
from .arithmetic import binary, cast, const, convert
from .axes import IterVar
from .expr import ExprLike, PrimExpr, Reduce
from .intrinsics import boolean, logical_and, logical_or
from .limits import max_value, min_value


def _axes(axis: Any) -> list[IterVar] | None:
    axes = _items(axis)
    return list(axes) if not [a for a in axes if not isinstance(a, IterVar)] else None


def _items(value: Any) -> tuple[Any, ...]:
    """The fields of a tuple or list, or the value alone."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


Combiner: TypeAlias = Callable[[Any, Any], Any]
Identity: TypeAlias = Callable[..., Any]


def comm_reducer(fcombine: Combiner, fidentity: Identity, name: str = "reduce") -> Any:
    """A reduction from a commutative combiner and its identity; TVM's ``te.comm_reducer``.

    The result takes ``(expr, axis, where=None)``; called with two elements it combines them.
    Tuples of expressions reduce together: combiner and identity then work on tuples.
    """

    def reducer(expr: Any, axis: Any, where: ExprLike | None = None) -> Any:
        axes = _axes(axis)
        if axes is None:
            return fcombine(expr, axis)
        reduced = {a.name: a for a in axes if a.kind != "reduce"}
        if reduced:
            raise ValueError(f"expected axes of te.reduce_axis, got {', '.join(reduced)}")
        source = tuple(convert(e) for e in _items(expr))
        identity = tuple(convert(e) for e in _items(fidentity(*(e.dtype for e in source))))
        if len(identity) != len(source):
            raise ValueError(f"expected {len(source)} identities of '{name}', got {len(identity)}")
        condition = None if where is None else boolean(where)
        results = [
            Reduce(fcombine, source, axes, identity, i, condition) for i in range(len(source))
        ]
        return tuple(results) if len(results) > 1 else results[0]

    reducer.__name__ = name
    reducer.__doc__ = f"``{name}`` of an expression over reduction axes, or of two elements."
    return reducer


def _arithmetic_reducer(op: str, identity: int, name: str) -> Any:
    reducer = comm_reducer(partial(binary, op), partial(const, identity), name)

    def on_numbers(expr: Any, axis: Any, where: ExprLike | None = None) -> Any:
        value = convert(expr)
        return reducer(cast("int32", value) if value.dtype == "bool" else value, axis, where)

    on_numbers.__name__ = name
    on_numbers.__doc__ = f"{reducer.__doc__} A bool counts as an int32."
    return on_numbers


def _logical_reducer(function: Callable[..., PrimExpr], identity: bool, name: str) -> Any:
    reducer = comm_reducer(function, partial(const, identity), name)

    def on_truth(*values: Any, axis: Any = None, where: ExprLike | None = None) -> Any:
        if axis is None:
            return function(*values)
        (value,) = values
        return reducer(boolean(value), axis, where)

    on_truth.__name__ = name
    on_truth.__doc__ = f"``{name}`` of several truth values, or of one over reduction axes."
    return on_truth


def _lowest(dtype: str) -> PrimExpr:
    return const(float("-inf"), dtype) if is_float(dtype) else min_value(dtype)


def _highest(dtype: str) -> PrimExpr:
    return const(float("inf"), dtype) if is_float(dtype) else max_value(dtype)


sum = _arithmetic_reducer("add", 0, "sum")
prod = _arithmetic_reducer("mul", 1, "prod")
any = _logical_reducer(logical_or, False, "any")
all = _logical_reducer(logical_and, True, "all")
max = comm_reducer(partial(binary, "max"), _lowest, "max")
finite_max = comm_reducer(partial(binary, "max"), min_value, "max")
"""The maximum that is at least the lowest finite number, with which TVM's reductions start."""
min = comm_reducer(partial(binary, "min"), _highest, "min")

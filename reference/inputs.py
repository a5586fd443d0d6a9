"""Random arguments for a function: small sizes for symbols, moderate floats, small integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, TupleType
from xdsl.ir import Attribute, Operation

from ..dialects import relax, tir
from ..dialects.dtypes import dtype_name, is_float, is_unsigned
from ..dialects.int_expr import IntExpr
from ..dialects.relax.prim_values import is_open
from ..runtime.registry import registered_functions
from ..runtime.tensor import from_numpy
from .evaluate import parameters
from .expressions import number
from .values import Array, EvaluationError, Precision, number_in

ATTEMPTS = 64
"""Draws of symbol values until every dim of the parameters is at least 1."""


EQUAL = 2
"""The value of every symbol, and of every dim that is open, where they must be equal."""


def draw_symbols(
    op: Operation, rng: np.random.Generator, largest: int, equal: bool = False
) -> dict[str, int]:
    """Values from 1 to `largest` for the symbols of a function's parameters, or all `EQUAL`.

    Values outside of the ranges of a graph function's attributes are replaced by the nearest ones.
    Raises EvaluationError where some dim with symbols stays below 1.
    """
    params = parameters(op)
    dims = [d for _, type_ in params for d in _dims(type_) if not d.is_constant]
    names = sorted({s for d in dims for s in d.symbols()})
    indices = [name for name, type_ in params if isinstance(type_, IndexType)]
    ranges = op.symbol_ranges() if isinstance(op, relax.FuncOp) else {}
    most = EQUAL if equal else largest
    bounds = {name: _bounds(most, *ranges.get(name, (1, None))) for name in [*names, *indices]}
    if equal:
        return {name: high for name, (_, high) in bounds.items()}
    for _ in range(ATTEMPTS):
        symbols = {n: int(rng.integers(low, high + 1)) for n, (low, high) in bounds.items()}
        if all(number(d, symbols) >= 1 for d in dims):
            return symbols
    raise EvaluationError(f"expected dims of at least 1 for some symbols up to {largest}, got none")


def _bounds(largest: int, least: int, most: int | None) -> tuple[int, int]:
    low = max(1, least)
    return low, max(low, min(largest, most or largest))


def draw_arguments(
    op: Operation, rng: np.random.Generator, symbols: Mapping[str, int], integers: tuple[int, int]
) -> list[Any]:
    """Random arguments: floats in [-2, 2), integers in the half-open range `integers`."""
    return [_draw(name, type_, rng, symbols, integers) for name, type_ in parameters(op)]


def copy_arguments(args: Sequence[Any]) -> list[Any]:
    """The same arguments in memory of their own."""
    return [_copy(a) for a in args]


def _copy(arg: Any) -> Any:
    if isinstance(arg, tuple):
        return tuple(copy_arguments(cast(Sequence[Any], arg)))
    return cast(Array, arg).copy() if isinstance(arg, np.ndarray) else arg


def _dims(type_: Attribute) -> list[IntExpr]:
    if isinstance(type_, TupleType):
        return [d for t in cast(Sequence[Attribute], type_.types.data) for d in _dims(t)]
    if isinstance(type_, tir.BufferType | relax.TensorType | relax.ShapeType):
        return list(type_.dims or ())
    return [type_.expr] if isinstance(type_, relax.PrimType) and type_.expr is not None else []


def _draw(
    name: str,
    type_: Attribute,
    rng: np.random.Generator,
    symbols: Mapping[str, int],
    integers: tuple[int, int],
) -> Any:
    if isinstance(type_, TupleType):
        return tuple(
            _draw(name, t, rng, symbols, integers)
            for t in cast(Sequence[Attribute], type_.types.data)
        )
    if isinstance(type_, IndexType):
        return symbols[name]
    if isinstance(type_, tir.BufferType | relax.TensorType):
        shape = (
            (EQUAL,) * (type_.rank or 0)
            if type_.dims is None
            else tuple(number(d, symbols) for d in type_.dims)
        )
        return random_array(type_.dtype or "float32", shape, rng, integers)
    if isinstance(type_, relax.ShapeType):
        sizes = (EQUAL,) * (1 if type_.rank is None else type_.rank)
        return sizes if type_.dims is None else tuple(number(d, symbols) for d in type_.dims)
    if isinstance(type_, relax.PrimType):
        if is_open(type_) and is_float(type_.dtype):
            return number_in(type_.dtype, random_array(type_.dtype, (), rng, integers))
        open_value = int(rng.integers(2)) if type_.dtype == "bool" else EQUAL
        return open_value if type_.expr is None else number(type_.expr, symbols)
    if isinstance(type_, relax.ObjectType | relax.FuncType):
        raise EvaluationError(f"expected arguments that can be drawn, got an object as '{name}'")
    return random_array(dtype_name(type_), (), rng, integers)[()]


def random_array(
    dtype: str, shape: Sequence[int], rng: np.random.Generator, integers: tuple[int, int]
) -> Array:
    """A random array in the storage of a dtype."""
    exact = Precision()
    if is_float(dtype):
        return exact.store(dtype, exact.narrow(dtype, rng.uniform(-2, 2, tuple(shape))))
    low = max(0, integers[0]) if is_unsigned(dtype) else integers[0]
    values = rng.integers(low, max(low + 1, integers[1]), tuple(shape))
    return np.asarray(values & 1 if dtype == "bool" else values).astype(exact.storage(dtype))


def _as_tensors(value: Any) -> Any:
    """A value with tensors over the memory of its arrays."""
    if isinstance(value, tuple):
        return tuple(map(_as_tensors, cast("tuple[Any, ...]", value)))
    return from_numpy(cast(Array, value)) if isinstance(value, np.ndarray) else value


def array_functions() -> dict[str, Callable[..., Any]]:
    """The registered functions on NumPy arrays, which they see as Tensors on the same memory."""

    def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: function(*map(_as_tensors, args))

    return {name: on_arrays(function) for name, function in registered_functions().items()}

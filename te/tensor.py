"""Tensor expressions: tensors defined elementwise by functions of their indices, as in TVM's ``te``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..dialects.dtypes import is_float
from ..dialects.int_expr import IntExpr, IntLike
from .expr import (
    ExprLike,
    Imm,
    Index,
    Load,
    PrimExpr,
    Reduce,
    Var,
    binary,
    const,
    convert,
    index_value,
)
from .intrinsics import max_value, min_value

ShapeLike: TypeAlias = "Sequence[PrimExpr | int]"


class IterVar(Var):
    """An axis of a compute or a reduction, with its range ``[start, start + extent)``; TVM's ``IterVar``."""

    def __init__(
        self, name: str, start: PrimExpr | int, extent: PrimExpr | int, kind: str, dtype: str
    ):
        super().__init__(name, dtype)
        self.start = start
        self.extent = extent
        self.kind = kind

    @property
    def var(self) -> Var:
        """The variable of the axis (itself)."""
        return self


@dataclass(eq=False)
class Tensor:
    """A tensor of a definition: a placeholder, or one output of a `Compute`.

    Calling or subscripting it with indices gives an element.
    """

    name: str
    shape: tuple[Any, ...]
    dtype: str
    op: Compute | None = None
    index: int = 0

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    def __call__(self, *indices: ExprLike) -> Load:
        if len(indices) != len(self.shape):
            raise ValueError(
                f"expected {len(self.shape)} indices for '{self.name}', got {len(indices)}"
            )
        return Load(self, tuple(convert(i) for i in indices), self.dtype)

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Load:
        return self(*(indices if isinstance(indices, tuple) else (indices,)))

    def __repr__(self) -> str:
        return f"Tensor(name={self.name!r}, shape={list(self.shape)}, dtype={self.dtype!r})"


@dataclass(eq=False)
class Compute:
    """The definition of one or several tensors over the same axes."""

    name: str
    axes: tuple[IterVar, ...]
    bodies: tuple[PrimExpr, ...]
    outputs: tuple[Tensor, ...] = field(default=())

    def inputs(self) -> list[Tensor]:
        """The tensors that the bodies read, in order of first appearance."""
        found: dict[Tensor, None] = {}
        for body in self.bodies:
            _collect(body, found)
        return list(found)


def _collect(expr: Any, found: dict[Tensor, None]) -> None:
    if isinstance(expr, Load):
        if isinstance(expr.source, Tensor):
            found[expr.source] = None
        children: Sequence[Any] = expr.indices
    elif isinstance(expr, Reduce):
        children = (*expr.source, *((expr.condition,) if expr.condition is not None else ()))
    else:
        children = [getattr(expr, a) for a in ("lhs", "rhs", "value") if hasattr(expr, a)]
        children = [c for c in (*children, *getattr(expr, "args", ())) if isinstance(c, PrimExpr)]
    for child in children:
        _collect(child, found)


def dim_expr(dim: PrimExpr | int) -> IntExpr:
    """A dim as an integer expression; raises TypeError for anything else."""
    if isinstance(dim, Index):
        return dim.expr
    if isinstance(dim, Imm) and not is_float(dim.dtype):
        return IntExpr.of(int(dim.value))
    if isinstance(dim, int):
        return IntExpr.of(dim)
    raise TypeError(f"expected a dim to be an int or an expression of symbols, got {dim!r}")


def shape_of(dims: Sequence[IntLike]) -> tuple[Any, ...]:
    """Dims as users see them: ints where constant, else expressions."""
    return tuple(index_value(IntExpr.of(d)) for d in dims)


def placeholder(shape: ShapeLike, dtype: str = "float32", name: str = "placeholder") -> Tensor:
    """An input tensor of this shape and dtype; TVM's ``te.placeholder``."""
    return Tensor(name, tuple(index_value(dim_expr(d)) for d in _as_tuple(shape)), dtype)


def _as_tuple(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, Sequence) else (shape,)


def _axis_names(fcompute: Callable[..., Any], count: int) -> list[str]:
    names: list[str] = []
    for parameter in inspect.signature(fcompute).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}{i}" for i in range(count - len(names))]
        elif parameter.default is parameter.empty:
            names.append(parameter.name)
    if len(names) != count:
        raise ValueError(
            f"expected a function of {count} indices for {count} dims, got {len(names)}"
        )
    return names


def compute(
    shape: ShapeLike,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: dict[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor whose element at ``(i, j, …)`` is ``fcompute(i, j, …)``; several when that gives a tuple.

    TVM's ``te.compute``. Raises ValueError when the function takes another number of indices than there are dims.
    """
    dims = [dim_expr(d) for d in _as_tuple(shape)]
    names = list(varargs_names) if varargs_names is not None else _axis_names(fcompute, len(dims))
    dtype = "int32" if all(d.is_constant for d in dims) else "int64"
    axes = tuple(
        IterVar(n, 0, index_value(d), "spatial", dtype) for n, d in zip(names, dims, strict=True)
    )
    result = fcompute(*axes)
    several = isinstance(result, tuple | list)
    bodies = tuple(_body(b) for b in (result if several else (result,)))  # pyright: ignore[reportUnknownVariableType]
    definition = Compute(name, axes, bodies)
    shape_ = tuple(index_value(d) for d in dims)
    definition.outputs = tuple(
        Tensor(f"{name}.v{i}" if several else name, shape_, body.dtype, definition, i)
        for i, body in enumerate(bodies)
    )
    return definition.outputs if several else definition.outputs[0]


def _body(value: Any) -> PrimExpr:
    expr = convert(value)
    return const(expr.value, expr.dtype) if isinstance(expr, Imm) else expr


def reduce_axis(dom: Any, name: str = "rv") -> IterVar:
    """An axis to reduce over, ``dom = (start, stop)``; TVM's ``te.reduce_axis``."""
    start, stop = dom
    first, size = dim_expr(start), dim_expr(stop) - dim_expr(start)
    dtype = "int32" if size.is_constant and first.is_constant else "int64"
    return IterVar(name, index_value(first), index_value(size), "reduce", dtype)


def _axes(axis: Any) -> list[IterVar] | None:
    axes = list(axis) if isinstance(axis, list | tuple) else [axis]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return axes if all(isinstance(a, IterVar) for a in axes) else None  # pyright: ignore[reportUnknownVariableType]


def comm_reducer(
    fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Callable[..., Any]:
    """A reduction from a commutative combiner and its identity; TVM's ``te.comm_reducer``.

    The result takes ``(expr, axis, where=None)``; called with two elements it combines them.
    """

    def reducer(expr: Any, axis: Any, where: Any = None) -> Any:
        axes = _axes(axis)
        if axes is None:
            return fcombine(expr, axis)
        source = tuple(convert(e) for e in (expr if isinstance(expr, tuple) else (expr,)))  # pyright: ignore[reportUnknownVariableType]
        dtypes = [e.dtype for e in source]
        identity = fidentity(*dtypes)
        identities = tuple(
            convert(e) for e in (identity if isinstance(identity, tuple) else (identity,))
        )  # pyright: ignore[reportUnknownVariableType]
        condition = None if where is None else convert(where)
        results = tuple(
            Reduce(fcombine, source, axes, identities, i, condition) for i in range(len(source))
        )
        return results if len(source) > 1 else results[0]

    reducer.__name__ = name
    reducer.__doc__ = f"``{name}`` of an expression over reduction axes, or of two elements."
    return reducer


def _lowest(dtype: str) -> PrimExpr:
    return const(float("-inf"), dtype) if is_float(dtype) else min_value(dtype)


def _highest(dtype: str) -> PrimExpr:
    return const(float("inf"), dtype) if is_float(dtype) else max_value(dtype)


sum = comm_reducer(lambda a, b: binary("add", a, b), lambda t: const(0, t), "sum")
prod = comm_reducer(lambda a, b: binary("mul", a, b), lambda t: const(1, t), "prod")
max = comm_reducer(lambda a, b: binary("max", a, b), _lowest, "max")
min = comm_reducer(lambda a, b: binary("min", a, b), _highest, "min")

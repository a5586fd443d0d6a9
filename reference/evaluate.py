"""Runs a function of a module at any stage on NumPy arrays: graphs, TensorIR, plans, loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import loops, relax, rt, tir
from ..dialects.dtypes import dtype_name, is_element_type, is_float
from ..dialects.relax.cast_types import parameter_types
from ..dialects.relax.constant import storage_dtype
from ..dialects.relax.prim_values import is_open, tensor_of
from ..runtime.dtype import dtype_of_numpy
from ..runtime.tensor import Tensor
from .arguments import Shape, as_result, flatten
from .memory import Buffer
from .relax import run_graph
from .rt import run_planned
from .session import Observer, Registry, Session
from .values import Array, EvaluationError, Precision, memory_of


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call: its results, its arguments afterwards, and their dtypes' names.

    `terms` bounds how many roundings follow each other in a reduction.
    """

    results: tuple[Array, ...]
    result_dtypes: tuple[str, ...]
    arguments: tuple[Array, ...]
    argument_dtypes: tuple[str, ...]
    terms: int


def evaluate(
    module: ModuleOp,
    function: str,
    args: Sequence[Any],
    *,
    registry: Registry | None = None,
    float64: bool = False,
    vectorize: bool = True,
) -> list[Array]:
    """Run a function of the module and return its results.

    Graph and planned functions return their results, tuples flattened; PrimFuncs and loop functions
    are in destination-passing style: they write `args` in place and return them. bfloat16 arrays
    hold their 16 bits as uint16. With `float64` all float arithmetic is in float64, and arrays that
    come back are of that dtype, new ones; otherwise every operation rounds to its own dtype.
    `vectorize` false runs every loop point by point. `registry` has the Python functions that
    packed calls name.

    Raises EvaluationError, one line, where arguments do not fit or the program has no meaning.
    """
    outcome = run(
        module,
        function,
        args,
        registry=registry,
        float64=float64,
        vectorize=vectorize,
        quiet=False,
    )
    is_graph = isinstance(
        Session(module, {}, Precision()).function(function), relax.FuncOp | rt.FuncOp
    )
    return list(outcome.results if is_graph else outcome.arguments)


def run(
    module: ModuleOp,
    function: str,
    args: Sequence[Any],
    *,
    registry: Registry | None = None,
    float64: bool = False,
    vectorize: bool = True,
    quiet: bool = True,
    tracks: bool = False,
    observe: Observer | None = None,
) -> Outcome:
    """As `evaluate`, with everything that a check wants to know; `quiet` prints nothing.

    With `tracks` no element may be read, or returned, before it is written. `observe` gets the
    value of every operation of graphs, and the outputs of every call of planned functions.
    """
    session = Session(
        module,
        registry or {},
        Precision(float64),
        vectorize,
        quiet=quiet,
        tracks=tracks,
        observe=observe,
    )
    op = session.function(function)
    params = parameters(op)
    if len(args) != len(params):
        raise EvaluationError(f"expected {len(params)} arguments for '{function}', got {len(args)}")
    values = [_argument(n, t, a, session.precision) for (n, t), a in zip(params, args, strict=True)]
    with np.errstate(all="ignore"):
        found = map(as_result, _dispatch(session, op, values))
        found = (
            session.buffer("a result", r.view()) if isinstance(r, Tensor) else r for r in found
        )
        results = [r for r in found if isinstance(r, Buffer)]
        for number, result in enumerate(results):
            replace(result, name=f"result {number}").verify_written()
    tensors = [v for v, a in zip(values, args, strict=True) if not is_scalar(a)]
    buffers = [b for v in tensors for b in flatten(v) if isinstance(b, Buffer)]
    return Outcome(
        tuple(r.array for r in results),
        tuple(r.dtype for r in results),
        tuple(b.array for b in buffers),
        tuple(b.dtype for b in buffers),
        max(1, session.terms),
    )


def parameters(op: Operation) -> list[tuple[str, Attribute]]:
    """Names and types of the arguments that callers give to a function."""
    match op:
        case rt.FuncOp():
            return op.user_params
        case tir.PrimFuncOp():
            return [(n, op.element_type_of(p)) for n, p in zip(op.names, op.params, strict=True)]
        case relax.FuncOp():
            return list(zip(op.names, parameter_types(op), strict=True))
        case loops.FuncOp():
            return [(p.name_hint or f"argument {i}", p.type) for i, p in enumerate(op.params)]
        case _:
            raise EvaluationError(f"expected a function of a known stage, got '{op.name}'")


def _dispatch(session: Session, op: Operation, values: Sequence[Any]) -> list[Any]:
    match op:
        case relax.FuncOp():
            return flatten(run_graph(session, op, values))
        case rt.FuncOp():
            return flatten(run_planned(session, op, values))
        case tir.PrimFuncOp() | loops.FuncOp():
            indices = [int(v) for v, p in zip(values, op.params, strict=True) if _is_index(p)]
            others = [v for v, p in zip(values, op.params, strict=True) if not _is_index(p)]
            session.run_kernel(op, others, indices)
            return []
        case _:
            raise EvaluationError(f"expected a function of a known stage, got '{op.name}'")


def _is_index(param: SSAValue) -> bool:
    return isinstance(param.type, IndexType)


def is_scalar(value: Any) -> bool:
    """Whether a value is a scalar of NumPy, as a kernel's scalar parameters get."""
    return isinstance(value, np.generic)


def _object(name: str, given: Any, precision: Precision) -> Any:
    """An argument that is an object: an array is a tensor."""
    if not isinstance(given, np.ndarray):
        return given
    array = cast(Array, given)
    dtype = dtype_of_numpy(array.dtype)
    return Buffer(precision.widen(dtype, array), dtype, name)


def _argument(name: str, type_: Attribute, given: Any, precision: Precision) -> Any:
    if isinstance(type_, TupleType):
        fields = cast(Sequence[Attribute], type_.types.data)
        items = cast(Sequence[Any], given if isinstance(given, tuple | list) else ())
        if len(items) != len(fields):
            got = len(items) if items else type(cast(object, given)).__name__
            raise EvaluationError(
                f"expected argument '{name}' to be a tuple of {len(fields)}, got {got}"
            )
        return tuple(_argument(name, t, g, precision) for t, g in zip(fields, items, strict=True))
    if isinstance(type_, relax.ShapeType):
        return Shape(tuple(int(n) for n in given))
    if is_open(type_) and is_float(type_.dtype):
        return _argument(name, tensor_of(type_), memory_of(type_.dtype, given), precision)
    if not isinstance(type_, tir.BufferType | relax.TensorType):
        if is_scalar(given) and is_element_type(type_):
            dtype = dtype_name(type_)
            return precision.load(dtype, precision.widen(dtype, np.asarray(given)))[()]
        if isinstance(type_, relax.ObjectType):
            return _object(name, given, precision)
        return int(given) if isinstance(type_, relax.PrimType) else given
    if is_scalar(given) and isinstance(type_, tir.BufferType):
        given = np.asarray(given).view(storage_dtype(type_.dtype))
    if not isinstance(given, np.ndarray):
        raise EvaluationError(
            f"expected argument '{name}' to be an array, got {type(given).__name__}"
        )
    array = cast(Array, given)
    dtype = str(array.dtype) if type_.dtype is None else type_.dtype
    if array.dtype != storage_dtype(dtype):
        raise EvaluationError(
            f"expected argument '{name}' to have dtype {dtype}, got {array.dtype}"
        )
    return Buffer(precision.widen(dtype, array), dtype, name)

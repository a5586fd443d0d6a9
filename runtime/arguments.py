"""Check the arguments of a call against the signature, and convert them for native code.

Results that depend only on layouts are computed once per combination of layouts, as a `Plan`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from .dtype import dtype_info
from .errors import ArgumentError
from .layout import Layout
from .signature import Dim, FunctionSpec, ParamSpec, dim_text, evaluate_dim, shape_text
from .structure import Size
from .tensor import Tensor, array, as_tensor


class Plan(NamedTuple):
    """The requirements of a call with arguments of certain layouts.

    `dims` are those of all arguments, `results` the layouts of the results, `extents` the bytes of
    each packed argument; `staged` says that some argument must be copied into packed memory first.
    """

    symbols: tuple[int, ...]
    results: tuple[Layout, ...]
    arena_size: int
    extents: tuple[int, ...]
    staged: bool
    dims: tuple[int, ...]


def make_plan(spec: FunctionSpec, layouts: Sequence[Layout], sizes: Sequence[Size] = ()) -> Plan:
    """Check all layouts against the signature; TypeError or ValueError naming the parameter.

    `sizes` are the numbers that arguments give besides tensors.
    """
    for param, layout in zip(spec.params, layouts, strict=True):
        check_static(param, layout)
    symbols = _solve(spec, layouts, sizes)
    for size in sizes:
        _check_size(size, symbols)
    for param, layout in zip(spec.params, layouts, strict=True):
        _check_expressions(param, layout, symbols)
        if param.written:
            check_written(param, layout)
    results = tuple(_result(spec, i, symbols) for i in range(len(spec.results)))
    return Plan(
        tuple(symbols[s] for s in spec.symbols),
        results,
        evaluate_dim(spec.arena_size, symbols),
        tuple(layout.nbytes for layout in layouts),
        not all(layout.packed for layout in layouts),
        tuple(dim for layout in layouts for dim in layout.shape),
    )


def check_static(param: ParamSpec, layout: Layout) -> None:
    """Check the dtype, the rank and the dims that are numbers."""
    if layout.dtype != param.dtype:
        raise ArgumentError(
            f"expected argument '{param.name}' to have dtype {param.dtype}, got {layout.dtype}"
        )
    if len(layout.shape) != len(param.shape) or any(
        isinstance(want, int) and want != got
        for want, got in zip(param.shape, layout.shape, strict=True)
    ):
        _shape_error(param, shape_text(param.shape), layout)


def _shape_error(param: ParamSpec, expected: str, layout: Layout) -> NoReturn:
    raise ArgumentError(
        f"expected argument '{param.name}' to have shape {expected}, got {layout.shape}"
    )


def _solve(spec: FunctionSpec, layouts: Sequence[Layout], sizes: Sequence[Size]) -> dict[str, int]:
    """The value of every symbol, from the dims that are exactly that symbol."""
    found: dict[str, tuple[int, str]] = {}
    dims = [
        Size(f"argument '{param.name}'", dim, size)
        for param, layout in zip(spec.params, layouts, strict=True)
        for dim, size in zip(param.shape, layout.shape, strict=True)
    ]
    for subject, dim, size in (*dims, *sizes):
        if not isinstance(dim, str):
            continue
        first, by = found.setdefault(dim, (size, subject))
        if first != size:
            raise ValueError(
                f"expected symbol '{dim}' to be {first} as in {by}, got {size} in {subject}"
            )
    return {symbol: value for symbol, (value, _) in found.items()}


def _check_size(size: Size, symbols: Mapping[str, int]) -> None:
    expected = evaluate_dim(size.dim, symbols)
    if expected != size.value:
        text = dim_text(size.dim)
        shown = text if isinstance(size.dim, int) else f"{text} = {expected}"
        raise ValueError(f"expected {size.subject} to be {shown}, got {size.value}")


def _check_expressions(param: ParamSpec, layout: Layout, symbols: Mapping[str, int]) -> None:
    if any(isinstance(d, tuple) for d in param.shape):
        expected = tuple(evaluate_dim(d, symbols) for d in param.shape)
        if expected != layout.shape:
            _shape_error(param, f"{shape_text(param.shape)} = {expected}", layout)


def check_written(param: ParamSpec, layout: Layout) -> None:
    """Check that a tensor can be written to."""
    if not layout.writable:
        raise ValueError(f"expected argument '{param.name}' to be writable, got read-only memory")
    if layout.strides is not None and _overlaps_itself(layout):
        raise ValueError(
            f"expected argument '{param.name}' to be written without overlapping elements"
        )


def _overlaps_itself(layout: Layout) -> bool:
    """Whether elements may share memory: some stride is smaller than the extent of inner dims."""
    if 0 in layout.shape:
        return False
    reach = dtype_info(layout.dtype).itemsize
    dims = zip(layout.shape, layout.strides or (), strict=True)
    for size, stride in sorted((d for d in dims if d[0] > 1), key=lambda d: abs(d[1])):
        if abs(stride) < reach:
            return True
        reach += abs(stride) * (size - 1)
    return False


def _result(spec: FunctionSpec, index: int, symbols: Mapping[str, int]) -> Layout:
    dims: tuple[Dim, ...] = spec.results[index].shape
    shape = tuple(evaluate_dim(d, symbols) for d in dims)
    if any(d < 0 for d in shape):
        raise ValueError(
            f"expected result {index} of {spec.name} to have dims of at least 0, "
            f"got {shape_text(dims)} = {shape}"
        )
    return Layout(shape, dtype_info(spec.results[index].dtype).name)


def bind_arguments(
    spec: FunctionSpec, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[object, ...]:
    """All arguments in the order of the parameters; raises TypeError if they do not match."""
    if not kwargs and len(args) == len(spec.argument_names):
        return tuple(args)
    return bind_names(spec.name, spec.argument_names, args, kwargs)


def bind_names(
    function: str, names: Sequence[str], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[object, ...]:
    """Arguments by position and by name, in the order of the names of a function's arguments."""
    listed = f"({', '.join(names)})"
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"{function} has no argument '{name}', expected {listed}")
        if name in given:
            raise TypeError(f"{function} got two values for argument '{name}'")
        given[name] = value
    count = len(args) + len(kwargs)
    if count != len(names):
        plural = "" if len(names) == 1 else "s"
        raise TypeError(f"{function} expects {len(names)} argument{plural} {listed}, got {count}")
    return tuple(given[name] for name in names)


def to_tensor(param: ParamSpec, value: object) -> Tensor:
    """A tensor over the memory of one argument; raises TypeError or ValueError naming it.

    A Python number becomes a tensor of rank 0 and the parameter's dtype.
    """
    if type(value) in (bool, int, float) and not param.shape and not param.written:
        return _number(param, cast("bool | int | float", value))
    try:
        return as_tensor(value)
    except (BufferError, RuntimeError, ValueError) as error:  # refused by torch or another library
        raise ValueError(f"cannot use argument '{param.name}': {_one_line(error)}") from error
    except TypeError as error:
        if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"):
            raise TypeError(f"cannot use argument '{param.name}': {_one_line(error)}") from error
    kind = type(value).__name__
    raise TypeError(f"expected argument '{param.name}' to be a tensor, got {kind}")


def _number(param: ParamSpec, value: bool | int | float) -> Tensor:
    is_float = "float" in param.dtype
    if isinstance(value, float) and not is_float:
        raise TypeError(f"expected argument '{param.name}' to be of {param.dtype}, got {value}")
    if not is_float:
        ends = (0, 1) if param.dtype == "bool" else _ends(param.dtype)
        if not ends[0] <= value <= ends[1]:
            raise ValueError(
                f"expected argument '{param.name}' to be of {param.dtype}, "
                f"in [{ends[0]}, {ends[1]}], got {value}"
            )
    return array(float(value) if is_float else int(value), dtype=param.dtype)


def _ends(dtype: str) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def overlapping(written: Sequence[int], args: Sequence[Tensor], extents: Sequence[int]) -> bool:
    """Whether a written argument shares memory with any other one; all are packed."""
    for i in written:
        start = args[i].address
        end = start + extents[i]
        for j, other in enumerate(args):
            if j != i and other.address < end and start < other.address + extents[j]:
                return True
    return False


def stage(
    spec: FunctionSpec, args: Sequence[Tensor]
) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
    """Packed arguments, of which no written one shares memory with another.

    Returns them, and the (copy, original) pairs to copy back after the call. A read-only argument
    that overlaps a written one is copied, so that the call reads the original values. Raises
    ValueError if two written arguments share elements.
    """
    views: list[np.ndarray[Any, Any]] = [a.view() for a in args]
    written = [i for i, p in enumerate(spec.params) if p.written]
    staged, back = list(args), list[tuple[Tensor, Tensor]]()
    for i, param in enumerate(spec.params):
        others = [j for j in written if j != i and np.may_share_memory(views[i], views[j])]
        if param.written:
            _refuse_shared(spec, i, others, views)
        if not args[i].layout.packed or (others and not param.written):
            staged[i] = args[i].contiguous_copy()
            if param.written:
                back.append((staged[i], args[i]))
    return staged, back


def _refuse_shared(
    spec: FunctionSpec, index: int, others: Sequence[int], views: Sequence[np.ndarray[Any, Any]]
) -> None:
    for j in others:
        if np.shares_memory(views[index], views[j]):
            first, second = sorted((index, j))
            names = f"'{spec.params[first].name}' and '{spec.params[second].name}'"
            raise ValueError(f"expected written arguments {names} not to share memory")

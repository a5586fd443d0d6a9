"""Structured arguments and results: tuples, shapes and integers.

A node is the structure of such a value, as JAX's pytrees: the index of a tensor among the
parameters or results, ``("tuple", …)`` of nodes, ``("shape", …)`` of dims,
``("prim", dtype, dim)``, ``("scalar", dtype, index)``, a number in a tensor of rank 0, or for
results ``("nothing",)`` and ``("sized", dtype, …)``, a tensor whose dims depend on reported
symbols, in memory for more elements, ``("object", index)``, any object of Python, whose place in
the table of a call is a number in a tensor of rank 0, ``("argument", index)``, a written parameter,
and ``("kept", number, dtype, rank)``, one of unknown shape that a registered function has returned;
its dtype and rank are None where they are unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .layout import Layout
from .signature import Dim, FunctionSpec, Node, evaluate_dim
from .tensor import Tensor, array, from_numpy

Value: TypeAlias = Any
"""An argument or result: a tensor, an int, a bool, or a tuple of values."""


class Size(NamedTuple):
    """An integer in an argument, and the dim that it must equal; `subject` names the argument."""

    subject: str
    dim: Dim
    value: int


class Returned(NamedTuple):
    """What a call gives its results from.

    `tensors` are the results in memory in order, `symbols` the values of symbols, `kept` tensors
    of unknown shape, `arguments` the tensors of the arguments, and `objects` the table of objects.
    """

    tensors: Iterator[Any]
    symbols: Mapping[str, int]
    kept: Sequence[Tensor] = ()
    arguments: Sequence[Tensor] = ()
    objects: Sequence[object] = ()


def flatten(
    node: Node,
    name: str,
    value: Value,
    tensors: list[object],
    sizes: list[Size],
    objects: list[object],
) -> None:
    """Append the tensors, the numbers and the objects of an argument to the lists, in order.

    Raises TypeError or ValueError with one line that names the argument if it does not match the
    node.
    """
    if isinstance(node, int):
        tensors.append(value)
        return
    match node[0]:
        case "tuple":
            for i, (field, item) in enumerate(_fields(node[1:], name, value)):
                flatten(field, f"{name}.{i}", item, tensors, sizes, objects)
        case "shape":
            for i, (dim, item) in enumerate(_fields(node[1:], name, value)):
                sizes.append(_size(f"dim {i} of argument '{name}'", cast(Dim, dim), item))
        case "scalar":
            tensors.append(_scalar(name, node[1], value))
        case "object":
            tensors.append(array(np.asarray(len(objects)), dtype="int64"))
            objects.append(value)
        case _:
            size = _size(f"argument '{name}'", cast(Dim, node[2]), value)
            _verify_bool(name, node[1], size.value)
            sizes.append(size)


def _scalar(name: str, dtype: str, value: Value) -> object:
    """A number, of float dtypes as a tensor of rank 0; a tensor is returned as it is."""
    is_float = "float" in dtype
    if is_float and isinstance(value, bool | int | float | np.generic):
        return array(np.asarray(value), dtype=dtype)
    if not is_float and (number := _index(value)) is not None:
        _verify_bool(name, dtype, number)
        return number
    if not hasattr(value, "shape"):
        wanted = "a number" if is_float else "an integer"
        raise TypeError(f"expected argument '{name}' to be {wanted}, got {type(value).__name__}")
    return value


def _verify_bool(name: str, dtype: str, number: int) -> None:
    if dtype == "bool" and number not in (0, 1):
        raise ValueError(f"expected argument '{name}' to be a bool, got {number}")


def _fields(nodes: Sequence[Any], name: str, value: Value) -> list[tuple[Any, Value]]:
    if not isinstance(value, tuple | list):
        kind = type(value).__name__
        raise TypeError(f"expected argument '{name}' to be a tuple, got {kind}")
    items = cast("Sequence[Any]", value)
    if len(items) != len(nodes):
        raise ValueError(f"expected {len(nodes)} fields of argument '{name}', got {len(items)}")
    return list(zip(nodes, items, strict=True))


def _size(subject: str, dim: Dim, value: Value) -> Size:
    number = _index(value)
    if number is None:
        raise TypeError(f"expected {subject} to be an integer, got {type(value).__name__}")
    if number < 0 and isinstance(dim, str):
        raise ValueError(f"expected {subject} to be at least 0, got {number}")
    return Size(subject, dim, number)


def _index(value: Value) -> int | None:
    """The integer that a value is; `None` if it is none."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def unflatten(node: Node, given: Returned) -> Value:
    """The value of a node; raises ValueError for one of `kept` of another dtype or rank."""
    if isinstance(node, int):
        return next(given.tensors)
    match node[0]:
        case "nothing":
            return None
        case "tuple":
            return tuple(unflatten(cast(Node, n), given) for n in node[1:])
        case "argument":
            return given.arguments[cast(int, node[1])]
        case "kept":
            return _checked_result(given.kept[cast(int, node[1])], node[2], node[3])
        case "object":
            return given.objects[int(next(given.tensors).view())]
        case "sized":
            shape = tuple(evaluate_dim(cast(Dim, d), given.symbols) for d in node[2:])
            memory = next(given.tensors)
            return Tensor(memory.address, Layout(shape, node[1]), memory.owner)
        case "shape":
            return tuple(evaluate_dim(cast(Dim, d), given.symbols) for d in node[1:])
        case "scalar":
            return next(given.tensors).numpy().item()
        case _:
            value = evaluate_dim(cast(Dim, node[2]), given.symbols)
            return bool(value) if node[1] == "bool" else value


def _checked_result(result: Tensor, dtype: str | None, rank: int | None) -> Tensor:
    if dtype not in (None, result.dtype):
        raise ValueError(f"expected a result of dtype {dtype}, got {result.dtype}")
    if rank not in (None, result.ndim):
        raise ValueError(f"expected a result of rank {rank}, got shape {result.shape}")
    return result


def reported_sizes(spec: FunctionSpec, results: Sequence[Tensor]) -> dict[str, int]:
    """The values of the reported symbols, which the last results hold."""
    found: list[int] = []
    for result in reversed(results):
        if len(found) == len(spec.reported):
            break
        found[:0] = result.view().tolist()
    return dict(zip(spec.reported, found, strict=True))


def tensors_over(spec: FunctionSpec, args: Sequence[Any]) -> list[Any]:
    """Arguments with tensors of the dtypes that a function takes, over the memory of NumPy arrays.

    They may be in tuples. An array of bfloat16 holds its 16 bits; numbers are unchanged, and arrays
    as objects keep their dtypes.
    """
    nodes = range(len(spec.params)) if spec.signature is None else spec.signature.arguments

    def over(node: Node, arg: Any) -> Any:
        if not isinstance(node, int) and node[0] == "tuple":
            return tuple(map(over, node[1:], arg))
        if not hasattr(arg, "shape"):
            return arg
        bits = from_numpy(np.asarray(arg))
        dtype = spec.params[node].dtype if isinstance(node, int) else bits.dtype
        if not isinstance(node, int) and node[0] == "scalar":
            dtype = str(node[1])
        return Tensor(bits.address, bits.layout._replace(dtype=dtype), bits.owner)

    return list(map(over, nodes, args))


def result_arrays(spec: FunctionSpec, result: Value) -> list[NDArray[Any]]:
    """The arrays of a result in order: a shape is one of its dims, an integer one of rank 0.

    Objects count if they are tensors or shapes.
    """
    if spec.signature is not None:
        return list(_arrays(spec.signature.result, result))
    if result is None:
        return []
    is_one = not isinstance(result, tuple)
    return [t.view() for t in ((result,) if is_one else cast("tuple[Any, ...]", result))]


def _arrays(node: Node, value: Value) -> Iterator[NDArray[Any]]:
    if isinstance(node, int) or node[0] in ("sized", "kept", "argument"):
        yield value.view()
    elif node[0] == "scalar":
        yield np.array(value)
    elif node[0] in ("nothing", "object"):
        if isinstance(value, Tensor):
            yield value.view()
        elif isinstance(value, tuple) and all(isinstance(d, int) for d in cast(Value, value)):
            yield np.array(value, np.int64)
    elif node[0] == "tuple":
        for field, item in zip(node[1:], value, strict=True):
            yield from _arrays(cast(Node, field), item)
    else:
        yield np.array(value, np.int64)

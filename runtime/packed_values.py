"""The arguments and results of registered functions that native code calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .signature import Node, PackedSite, shape_text
from .tensor import Tensor, array, as_tensor


class Packing:
    """What a registered function gets and returns, as native code has it.

    `subject` is what messages call the function. `tensors` are those of a call's arguments and
    results, `numbers` its words, and `objects` the table of objects, in which a tensor of rank 0
    has the place of one.
    """

    def __init__(
        self,
        subject: str,
        tensors: Sequence[Tensor],
        numbers: Sequence[int],
        objects: list[object],
    ) -> None:
        self._subject = subject
        self._tensors = tensors
        self._numbers = numbers
        self._objects = objects

    def argument(self, node: Node) -> Any:
        """The value of an argument."""
        if isinstance(node, int):
            return self._tensors[node]
        places = cast("Sequence[int]", node[1:])
        match node[0]:
            case "tuple":
                return tuple(self.argument(cast(Node, n)) for n in node[1:])
            case "shape":
                return tuple(self._numbers[n] for n in places)
            case "prim":
                value = self._numbers[places[1]]
                return bool(value) if node[1] == "bool" else value
            case "scalar":
                return self._tensors[places[1]].numpy().item()
            case "text":
                return node[1]
            case _:
                return self._objects[int(self._tensors[places[0]].view())]

    def store(self, node: Node, value: Any) -> None:
        """Store a result; raises TypeError or ValueError for one that does not fit the node."""
        if isinstance(node, int):
            self._copy(value, self._tensors[node])
            return
        places = cast("Sequence[int]", node[1:])
        match node[0]:
            case "tuple":
                fields = values_of(self._subject, value, len(places))
                for field, item in zip(node[1:], fields, strict=True):
                    self.store(cast(Node, field), item)
            case "scalar" if isinstance(value, bool | int | float | np.generic):
                self._copy(_number(self._subject, value, str(node[1])), self._tensors[places[1]])
            case "scalar":
                self._copy(value, self._tensors[places[1]])
            case _:
                self._tensors[places[0]].view()[...] = len(self._objects)
                self._objects.append(value)

    def _copy(self, value: Any, output: Tensor) -> None:
        output.copyfrom(_checked(self._subject, value, output))


def number_count(site: PackedSite) -> int:
    """How many words a call has after the dims of its tensors."""
    return 0 if site.signature is None else sum(map(_number_count, site.signature.arguments))


def _number_count(node: Node) -> int:
    if isinstance(node, int):
        return 0
    match node[0]:
        case "tuple":
            return sum(_number_count(cast(Node, n)) for n in node[1:])
        case "shape":
            return len(node) - 1
        case "prim":
            return 1
        case _:
            return 0


def store_results(subject: str, result: Any, outputs: Sequence[Tensor]) -> None:
    """Copy a function's result to `outputs`: one tensor, or a tuple with a tensor for each."""
    for value, output in zip(values_of(subject, result, len(outputs)), outputs, strict=True):
        output.copyfrom(_checked(subject, value, output))


def values_of(subject: str, result: Any, count: int) -> Sequence[Any]:
    """The values that a function returns, none for `None`; ValueError for another number."""
    if result is None and count == 0:
        return ()
    given = cast("Sequence[Any]", result if isinstance(result, tuple | list) else (result,))
    if len(given) != count:
        raise ValueError(f"expected {subject} to return {count} tensors, got {len(given)}")
    return given


def tensor_of(subject: str, value: Any) -> Tensor:
    """A result as a tensor; raises TypeError for what is none."""
    try:
        return as_tensor(value)
    except (BufferError, RuntimeError, TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"expected {subject} to return a tensor, got {kind}") from None


def _number(subject: str, value: Any, dtype: str) -> Tensor:
    """A number in a tensor of rank 0; raises ValueError for one that the dtype does not have."""
    result = array(np.asarray(value), dtype=dtype)
    if "float" not in dtype and result.view() != value:
        raise ValueError(f"expected {subject} to return a number of {dtype}, got {value}")
    return result


def _checked(subject: str, value: Any, output: Tensor) -> Tensor:
    tensor = tensor_of(subject, value)
    wanted, got = output.layout, tensor.layout
    if (wanted.dtype, wanted.shape) != (got.dtype, got.shape):
        raise ValueError(
            f"expected {subject} to return {wanted.dtype} of shape {shape_text(wanted.shape)}, "
            f"got {got.dtype} of shape {shape_text(got.shape)}"
        )
    return tensor

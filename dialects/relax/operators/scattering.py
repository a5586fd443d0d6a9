"""Scatters: scatter_elements, scatter_nd, index_put.

Updates are applied in row-major order: of several at one position, "update" keeps the last. A
negative index counts from the end; updates out of bounds are ignored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, var_operand_def

from ..types import TensorType, python_shape, shape_text
from .attributes import Bool, Int, Text
from .base import OperatorOp
from .indexing import fits_in, require_elements_of, require_indices
from .inference import broadcast_dims, common_element_type, normalize_axis, require_dtype
from .language import TensorLanguage

Update: TypeAlias = "tuple[Sequence[Any], Callable[[Any], Any], Any]"
"""The position, the new element as a function of the old one, and the condition of an update."""

REDUCTIONS = ("update", "add", "mul", "min", "max")


def combined(te: TensorLanguage, reduction: str, old: Any, new: Any) -> Any:
    """The element after an update."""
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "update": lambda _, b: b,
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "min": te.min,
        "max": te.max,
    }
    return functions[reduction](old, new)


NUMPY_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "update": lambda _, b: b,
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def from_front(te: TensorLanguage, index: Any, dim: Any) -> Any:
    """Normalize a negative index."""
    index = te.cast("int64", index)
    return te.select(index < 0, index + dim, index)


def all_inside(places: Sequence[Any], dims: Sequence[Any]) -> Any:
    """Whether indices are in bounds."""
    test: Any = True
    for place, dim in zip(places, dims, strict=True):
        inside = (place >= 0) & (place < dim)
        test = inside if test is True else test & inside
    return test


def numpy_scatter(
    data: NDArray[Any], places: Sequence[Any], updates: NDArray[Any], reduction: str
) -> NDArray[Any]:
    """`data` after updates at `places`, index arrays that broadcast with the updates."""
    result, function = np.array(data), NUMPY_REDUCTIONS[reduction]
    arrays = np.broadcast_arrays(updates, *places)
    for values in zip(*(a.reshape(-1) for a in arrays), strict=True):
        place = tuple(int(p) + d * (p < 0) for p, d in zip(values[1:], data.shape, strict=True))
        if all(0 <= p < d for p, d in zip(place, data.shape, strict=True)):
            result[place] = function(result[place], values[0])
    return result


def _require_numbers(op_name: str, reduction: str, data: TensorType) -> None:
    if reduction in ("add", "mul"):
        require_dtype(op_name, [data], lambda d: d != "bool", "numbers")


class ScatterOp(OperatorOp, ABC):
    """`data` with the elements at `indices` combined with `updates`."""

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    reduction = opt_prop_def(Text(default="update", choices=REDUCTIONS))
    assembly_format = (
        "$data `,` $indices `,` $updates attr-dict `:` type($data) `,` type($indices) `,` "
        "type($updates) `->` type($result)"
    )

    @classmethod
    @abstractmethod
    def check(
        cls,
        data: TensorType,
        indices: TensorType,
        updates: TensorType,
        attributes: dict[str, Any],
    ) -> None:
        """Raise ValueError if the shapes do not match."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, indices, updates = operands
        require_indices(cls.name, [indices])
        common_element_type(cls.name, (data, updates))
        _require_numbers(cls.name, attributes["reduction"], data)
        cls.check(data, indices, updates, attributes)
        return data


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """``data[indices[i, j], j] = updates[i, j]`` for axis 0; `torch.scatter`, ONNX.

    With a reduction it is ``data[…] + updates[…]`` and so on.
    """

    name = "relax.scatter_elements"
    axis = opt_prop_def(Int(default=0))

    @classmethod
    def check(
        cls,
        data: TensorType,
        indices: TensorType,
        updates: TensorType,
        attributes: dict[str, Any],
    ) -> None:
        require_elements_of(cls.name, data, indices, attributes["axis"])
        own, new = indices.dims, updates.dims
        if own is not None and new is not None:
            if len(own) != len(new) or not all(map(fits_in, own, new)):
                raise ValueError(
                    f"expected an update of '{cls.name}' for each index, "
                    f"got {shape_text(indices)} and {shape_text(updates)}"
                )

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data, indices, updates), reduction = tensors, attributes["reduction"]
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)

        def update(*i: Any) -> Update:
            place = from_front(te, indices(*i), data.shape[axis])
            return (
                (*i[:axis], place, *i[axis + 1 :]),
                lambda old: combined(te, reduction, old, updates(*i)),
                all_inside([place], [data.shape[axis]]),
            )

        return te.scatter(data, indices.shape, update, name="T_scatter_elements")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, indices, updates = arrays
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
        places[axis] = indices.astype(np.int64)
        chosen = updates[tuple(slice(n) for n in indices.shape)]
        return numpy_scatter(data, places, chosen, attributes["reduction"])


@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """``data[indices[i…, 0], indices[i…, 1], …] = updates[i…]``; ONNX ``ScatterND``.

    The last dim of indices is the number of dims of data that they index; an update has the others.
    """

    name = "relax.scatter_nd"

    @classmethod
    def check(
        cls,
        data: TensorType,
        indices: TensorType,
        updates: TensorType,
        attributes: dict[str, Any],
    ) -> None:
        if data.dims is None or indices.dims is None:
            return
        depth = indices.dims[-1].constant if indices.dims else None
        fits = depth is not None and depth <= len(data.dims)
        if not fits or updates.dims not in (None, (*indices.dims[:-1], *data.dims[depth:])):
            raise ValueError(
                f"expected indices and updates of '{cls.name}' that match {shape_text(data)}, "
                f"got {shape_text(indices)} and {shape_text(updates)}"
            )

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data, indices, updates), reduction = tensors, attributes["reduction"]
        depth, outer = int(indices.shape[-1]), indices.ndim - 1
        dims = data.shape[:depth]

        def update(*i: Any) -> Update:
            chosen = [from_front(te, indices(*i[:outer], k), d) for k, d in enumerate(dims)]
            return (
                (*chosen, *i[outer:]),
                lambda old: combined(te, reduction, old, updates(*i)),
                all_inside(chosen, dims),
            )

        return te.scatter(data, updates.shape, update, name="T_scatter_nd")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, indices, updates = arrays
        depth, outer = indices.shape[-1], indices.ndim - 1
        after = (1,) * (updates.ndim - outer)
        chosen = [indices[..., k].reshape((*indices.shape[:-1], *after)) for k in range(depth)]
        places = [*chosen, *np.indices(updates.shape, sparse=True)[outer:]]
        return numpy_scatter(data, places, updates, attributes["reduction"])


@irdl_op_definition
class IndexPutOp(OperatorOp):
    """``data[i0, i1, …] = values``, or ``+=`` with `accumulate`; `torch.index_put`.

    Indices broadcast with each other, and values to the indexed elements.
    """

    name = "relax.index_put"
    data = operand_def(TensorType)
    indices = var_operand_def(TensorType)
    values = operand_def(TensorType)
    accumulate = opt_prop_def(Bool(default=False))
    assembly_format = (
        "$data `[` $indices `]` `,` $values attr-dict "
        "`:` type($data) `[` type($indices) `]` `,` type($values) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, *indices, values = operands
        require_indices(cls.name, indices)
        common_element_type(cls.name, (data, values))
        _require_numbers(cls.name, "add" if attributes["accumulate"] else "update", data)
        if not indices or (data.rank is not None and data.rank < len(indices)):
            raise ValueError(
                f"expected indices of '{cls.name}' for one to all dims of {shape_text(data)}, "
                f"got {len(indices)}"
            )
        known = [i.dims for i in indices if i.dims is not None]
        if data.dims is None or values.dims is None or len(known) < len(indices):
            return data
        try:
            outer = list(known[0])
            for other in known[1:]:
                outer = broadcast_dims(outer, other)
            wanted = [*outer, *data.dims[len(indices) :]]
            fits = broadcast_dims(wanted, values.dims) == wanted
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"expected indices and values of '{cls.name}' that match {shape_text(data)}, "
                f"got {', '.join(python_shape(d) for d in known)} and {shape_text(values)}"
            )
        return data

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, *indices, values = tensors
        outer = te.broadcast_shape(*(t.shape for t in indices))
        dims = data.shape[: len(indices)]
        reduction = "add" if attributes["accumulate"] else "update"

        def update(*i: Any) -> Update:
            chosen = [
                from_front(te, t(*te.broadcast_index(t.shape, i[: len(outer)])), dim)
                for t, dim in zip(indices, dims, strict=True)
            ]
            new = values(*te.broadcast_index(values.shape, i))
            return (
                (*chosen, *i[len(outer) :]),
                lambda old: combined(te, reduction, old, new),
                all_inside(chosen, dims),
            )

        return te.scatter(data, (*outer, *data.shape[len(indices) :]), update, name="T_index_put")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, *indices, values = arrays
        outer, rest = np.broadcast_shapes(*(i.shape for i in indices)), data.shape[len(indices) :]
        chosen = [np.broadcast_to(i, outer).reshape((*outer, *(1,) * len(rest))) for i in indices]
        places = [*chosen, *np.indices((*outer, *rest), sparse=True)[len(outer) :]]
        new = np.broadcast_to(values, (*outer, *rest))
        reduction = "add" if attributes["accumulate"] else "update"
        return numpy_scatter(data, places, new, reduction)

"""The different elements or slices of a tensor: unique."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType, i64
from xdsl.irdl import irdl_op_definition, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType
from .attributes import Bool, Exprs, Int
from .base import UnaryOp
from .creation import require_sizes
from .equal_rows import Rows
from .inference import normalize_axis, tuple_type
from .language import TensorLanguage
from .reshaping import product

FURTHER: tuple[str, ...] = ("return_index", "return_inverse", "return_counts")


@irdl_op_definition
class UniqueOp(UnaryOp):
    """The different elements, or slices along an axis; `numpy.unique`, ONNX ``Unique``.

    They are in ascending order, or, unless `sorted`, in the order of their first occurrence.
    Further results are int64 vectors: the index of each one's first occurrence, for each element or
    slice the index of its equal among the values, and the number of occurrences of each. NaN is
    the largest element, and equals itself; a slice with NaN differs from all others. The number of
    values depends on data: the dim is unknown until a pass computes it. With `size`, a shape of
    one dim, there are as many: the first values, then zeros, as in `jax.numpy.unique`.
    """

    name = "relax.unique"
    sorted = opt_prop_def(Bool(default=True))
    return_index = opt_prop_def(Bool(default=False))
    return_inverse = opt_prop_def(Bool(default=False))
    return_counts = opt_prop_def(Bool(default=False))
    axis = opt_prop_def(Int(default=None))
    size = opt_prop_def(Exprs(default=None))

    @classmethod
    def infer(
        cls, operands: Sequence[TensorType], attributes: dict[str, Any]
    ) -> TensorType | TupleType:
        (x,), size = operands, attributes["size"]
        if size is not None:
            if len(size) != 1:
                raise ValueError(f"expected size of '{cls.name}' to be one dim, got {len(size)}")
            require_sizes(cls.name, size)
        axis = _axis(x.rank, attributes)
        vector = TensorType.of(size, i64, 1)
        count = None if x.dims is None else [length(x.dims, axis)]
        further = {
            "return_index": vector,
            "return_inverse": TensorType.of(count, i64, 1),
            "return_counts": vector,
        }
        types = [_values_type(x, axis, attributes), *(further[n] for n in wanted(attributes))]
        return tuple_type(types) if len(types) > 1 else types[0]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), axis = tensors, _axis(tensors[0].ndim, attributes)
        if attributes["size"] is None:
            raise ValueError(f"expected size of '{cls.name}', got none")
        values, *further = Rows(te, x, axis).unique(attributes["size"][0], attributes["sorted"])
        results = dict(zip(FURTHER, further, strict=True))
        found = (values, *(results[n] for n in wanted(attributes)))
        return found if len(found) > 1 else found[0]

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        found = _unique(arrays[0], attributes)
        for size in attributes["size"] or ():
            for name, array in found.items():
                if name != "return_inverse":
                    axis = attributes["axis"] or 0 if name == "values" else 0
                    found[name] = _fitted(array, size, axis)
        results = [found[name] for name in ("values", *wanted(attributes))]
        return tuple(results) if len(results) > 1 else results[0]


def _unique(x: NDArray[Any], attributes: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """The values and all further results, by their names."""
    axis = attributes["axis"]
    found: Any = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    _, first, inverse, counts = found
    order: Any = np.arange(len(first)) if attributes["sorted"] else np.argsort(first)
    first = first[order].astype(np.int64)
    inverse = np.argsort(order)[inverse.reshape(-1)].astype(np.int64)
    values = np.take(x.reshape(-1) if axis is None else x, first, axis or 0)
    further = (first, inverse, counts[order].astype(np.int64))
    return {"values": values, **dict(zip(FURTHER, further, strict=True))}


def length(dims: Sequence[IntExpr], axis: int | None) -> IntExpr:
    """The number of elements, or of slices along an axis."""
    return product(dims) if axis is None else dims[axis]


def wanted(attributes: dict[str, Any]) -> list[str]:
    """The names of the further results."""
    return [name for name in FURTHER if attributes[name]]


def _axis(rank: int | None, attributes: dict[str, Any]) -> int | None:
    """The axis of slices; `None` for elements, also those of a vector."""
    axis = attributes["axis"]
    if axis is None or rank is None:
        return axis
    axis = normalize_axis(UniqueOp.name, axis, rank)
    return axis if rank > 1 else None


def _values_type(x: TensorType, axis: int | None, attributes: dict[str, Any]) -> TensorType:
    if axis is None:
        return TensorType.of(attributes["size"], x.known_element, 1)
    if attributes["size"] is None or x.dims is None:
        return TensorType.of(None, x.known_element, x.rank)
    dims = [*x.dims[:axis], *attributes["size"], *x.dims[axis + 1 :]]
    return TensorType.of(dims, x.known_element)


def _fitted(array: NDArray[Any], size: int, axis: int) -> NDArray[Any]:
    """The first slices along an axis, then zeros."""
    found = np.take(array, np.arange(min(size, array.shape[axis])), axis)
    missing = [(0, 0)] * array.ndim
    missing[axis] = (0, size - found.shape[axis])
    return np.pad(found, missing)

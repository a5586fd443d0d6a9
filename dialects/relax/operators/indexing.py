"""Gathers along one axis by index tensors: take, gather_elements.

A negative index counts from the end. An index out of bounds selects the nearest element; in a dim
of 0, the result is 0. No index reads out of bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...bounds import is_non_negative
from ...dtypes import is_float
from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int, Text
from .base import OperatorOp
from .inference import normalize_axis, require_dtype
from .language import TensorLanguage


def require_indices(op_name: str, operands: Sequence[TensorType]) -> None:
    """Raise ValueError unless every operand of known dtype has integers."""
    require_dtype(op_name, operands, lambda d: d != "bool" and not is_float(d), "integers")


def inside(te: TensorLanguage, index: Any, dim: Any) -> Any:
    """Normalize a negative index, and clamp it to the dim."""
    index = te.cast("int64", index)
    return te.max(te.min(te.select(index < 0, index + dim, index), dim - 1), 0)


def where_filled(te: TensorLanguage, dims: Sequence[Any], value: Any) -> Any:
    """`value`, or 0 if an indexed dim is 0 and has no elements."""
    zero = te.const(0, value.dtype)
    for dim in dims:
        if not isinstance(dim, int):
            value = te.if_then_else(dim > 0, value, zero)
        elif dim == 0:
            return zero
    return value


def numpy_inside(indices: NDArray[Any], dim: int) -> NDArray[Any]:
    """`inside` for arrays of indices into a nonzero dim."""
    wide = indices.astype(np.int64)
    return np.clip(np.where(wide < 0, wide + dim, wide), 0, dim - 1)


@irdl_op_definition
class TakeOp(OperatorOp):
    """Select slices along an axis, which is optional for vectors; `numpy.take`.

    With axis 0 it is `torch.nn.functional.embedding`. `mode` defines indices out of bounds: "fast"
    clamps them, after negative ones are counted from the end; "clip" clamps them, negative ones to
    the first; "wrap" takes them modulo the dim; "nan" gives NaN, or 0 for integers.
    """

    name = "relax.take"
    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = opt_prop_def(Int(default=None))
    mode = opt_prop_def(Text(default="fast", choices=("fast", "clip", "wrap", "nan")))
    assembly_format = "$x `,` $indices attr-dict `:` type($x) `,` type($indices) `->` type($result)"

    @classmethod
    def axis_of(cls, rank: int, attributes: dict[str, Any]) -> int:
        """The axis, counted from the front; raises ValueError if it has to be given."""
        if attributes["axis"] is None and rank != 1:
            raise ValueError(
                f"expected an axis of '{cls.name}' for a tensor of rank {rank}, got none"
            )
        return normalize_axis(cls.name, attributes["axis"] or 0, rank)

    @classmethod
    def place(cls, te: TensorLanguage, index: Any, dim: Any, mode: str) -> Any:
        """The element of a dim that an index selects."""
        if mode == "clip":
            return te.max(te.min(index, dim - 1), 0)
        return index % te.max(dim, 1) if mode == "wrap" else inside(te, index, dim)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        x, indices = operands
        require_indices(cls.name, [indices])
        if x.rank is None:
            return TensorType.of(None, x.known_element)
        axis = cls.axis_of(x.rank, attributes)
        if x.dims is None or indices.dims is None:
            rank = None if indices.rank is None else x.rank + indices.rank - 1
            return TensorType.of(None, x.known_element, rank)
        dims = [*x.dims[:axis], *indices.dims, *x.dims[axis + 1 :]]
        return TensorType.of(dims, x.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x, indices), mode = tensors, attributes["mode"]
        axis = cls.axis_of(x.ndim, attributes)
        dim, rest = x.shape[axis], axis + indices.ndim

        def element(*i: Any) -> Any:
            index = te.cast("int64", indices(*i[axis:rest]))
            value = x(*i[:axis], cls.place(te, index, dim, mode), *i[rest:])
            if mode == "nan":
                known = (index >= 0 - dim) & (index < dim)
                nothing = float("nan") if is_float(x.dtype) else 0
                return te.if_then_else(known, value, te.const(nothing, x.dtype))
            return where_filled(te, [dim], value)

        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return te.compute(shape, element, name="T_take")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x, indices), mode = arrays, attributes["mode"]
        axis = cls.axis_of(x.ndim, attributes)
        dim, nothing = x.shape[axis], np.nan if mode == "nan" and x.dtype.kind == "f" else 0
        if dim == 0:
            shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
            return np.full(shape, nothing, x.dtype)
        wide = indices.astype(np.int64)
        if mode in ("clip", "wrap"):
            return np.take(x, wide, axis, mode=mode)
        found = np.take(x, numpy_inside(wide, dim), axis)
        if mode == "nan":
            after = (1,) * (x.ndim - axis - 1)
            known = ((wide >= -dim) & (wide < dim)).reshape((*indices.shape, *after))
            found = np.where(known, found, np.asarray(nothing, x.dtype))
        return found


@irdl_op_definition
class GatherElementsOp(OperatorOp):
    """``data[indices[i, j], j]`` for axis 0; `numpy.take_along_axis`, `torch.gather`.

    Other dims of indices are at most those of data.
    """

    name = "relax.gather_elements"
    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = opt_prop_def(Int(default=0))
    assembly_format = (
        "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, indices = operands
        require_indices(cls.name, [indices])
        require_elements_of(cls.name, data, indices, attributes["axis"])
        if indices.dims is None:
            rank = data.rank if indices.rank is None else indices.rank
            return TensorType.of(None, data.known_element, rank)
        return TensorType.of(indices.dims, data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, indices = tensors
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        dim = data.shape[axis]

        def element(*i: Any) -> Any:
            place = inside(te, indices(*i), dim)
            return where_filled(te, [dim], data(*i[:axis], place, *i[axis + 1 :]))

        return te.compute(indices.shape, element, name="T_gather")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, indices = arrays
        axis = normalize_axis(cls.name, attributes["axis"], data.ndim)
        if data.shape[axis] == 0:
            return np.zeros(indices.shape, data.dtype)
        places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
        places[axis] = numpy_inside(indices, data.shape[axis])
        return data[tuple(places)]


def require_elements_of(op_name: str, data: TensorType, indices: TensorType, axis: int) -> None:
    """Raise ValueError unless ranks agree and other dims of indices are at most those of data."""
    if None not in (data.rank, indices.rank) and data.rank != indices.rank:
        raise ValueError(
            f"expected data and indices of '{op_name}' to have one rank, "
            f"got {shape_text(data)} and {shape_text(indices)}"
        )
    rank = data.rank if data.rank is not None else indices.rank
    if rank is None:
        return
    axis = normalize_axis(op_name, axis, rank)
    if data.dims is None or indices.dims is None:
        return
    pairs = zip(data.dims, indices.dims, strict=True)
    if not all(a == axis or fits_in(own, dim) for a, (dim, own) in enumerate(pairs)):
        raise ValueError(
            f"expected indices of '{op_name}' within data but for dim {axis}, "
            f"got {shape_text(data)} and {shape_text(indices)}"
        )


def fits_in(own: IntExpr, dim: IntExpr) -> bool:
    """Whether a dim provably is at most another one."""
    return is_non_negative(dim - own)

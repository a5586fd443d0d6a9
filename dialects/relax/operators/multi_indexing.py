"""Gathers along several axes by index tensors: gather_nd, index_tensor.

`indexing` defines negative indices and those out of bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, var_operand_def

from ...int_expr import IntExpr
from ..types import TensorType, python_shape, shape_text
from .attributes import Int
from .base import OperatorOp
from .indexing import inside, numpy_inside, require_indices, where_filled
from .inference import broadcast_dims
from .language import TensorLanguage


@irdl_op_definition
class GatherNDOp(OperatorOp):
    """``data[b…, indices[b…, i…, 0], indices[b…, i…, 1], …]``; ONNX ``GatherND``.

    The last dim of indices is the number of dims of data that they index, after `batch_dims`.
    """

    name = "relax.gather_nd"
    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    batch_dims = opt_prop_def(Int(default=0))
    assembly_format = (
        "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($result)"
    )

    @classmethod
    def _depth(cls, data: Sequence[IntExpr], indices: Sequence[IntExpr], batch: int) -> int:
        """The number of indices of an element; raises ValueError if the shapes do not match."""
        depth = indices[-1].constant if indices else None
        misfits = (
            depth is None
            or not 0 <= batch < len(indices)
            or batch + depth > len(data)
            or tuple(data[:batch]) != tuple(indices[:batch])
        )
        if depth is None or misfits:
            raise ValueError(
                f"expected indices of '{cls.name}' to choose from data with {batch} batch dims, "
                f"got {python_shape(data)} and {python_shape(indices)}"
            )
        return depth

    @classmethod
    def _rank(cls, data: TensorType, indices: TensorType, attributes: dict[str, Any]) -> int | None:
        """The rank of the result, if it is known."""
        depth = indices.dims[-1].constant if indices.dims else None
        if data.rank is None or indices.rank is None or depth is None:
            return None
        return indices.rank - 1 + data.rank - attributes["batch_dims"] - depth

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, indices = operands
        require_indices(cls.name, [indices])
        if data.dims is None or indices.dims is None:
            return TensorType.of(None, data.known_element, cls._rank(data, indices, attributes))
        batch: int = attributes["batch_dims"]
        depth = cls._depth(data.dims, indices.dims, batch)
        dims = [*indices.dims[:-1], *data.dims[batch + depth :]]
        return TensorType.of(dims, data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data, indices), batch = tensors, attributes["batch_dims"]
        shapes = [[te.dim_expr(d) for d in t.shape] for t in (data, indices)]
        depth, outer = cls._depth(shapes[0], shapes[1], batch), indices.ndim - 1
        dims = data.shape[batch : batch + depth]

        def element(*i: Any) -> Any:
            chosen = [inside(te, indices(*i[:outer], k), dim) for k, dim in enumerate(dims)]
            return where_filled(te, dims, data(*i[:batch], *chosen, *i[outer:]))

        shape = (*indices.shape[:-1], *data.shape[batch + depth :])
        return te.compute(shape, element, name="T_gather_nd")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (data, indices), batch = arrays, attributes["batch_dims"]
        depth = indices.shape[-1]
        if 0 in data.shape:
            shape = (*indices.shape[:-1], *data.shape[batch + depth :])
            return np.zeros(shape, data.dtype)
        leading = np.indices(indices.shape[:-1], sparse=True)[:batch]
        chosen = [numpy_inside(indices[..., k], data.shape[batch + k]) for k in range(depth)]
        found = data[(*leading, *chosen)] if batch + depth else data
        return np.broadcast_to(found, (*indices.shape[:-1], *data.shape[batch + depth :]))


@irdl_op_definition
class IndexTensorOp(OperatorOp):
    """``data[i0, i1, …]`` with broadcasting index tensors for the leading dims.

    `numpy.ndarray.__getitem__` with arrays.
    """

    name = "relax.index_tensor"
    data = operand_def(TensorType)
    indices = var_operand_def(TensorType)
    assembly_format = (
        "$data `[` $indices `]` attr-dict `:` type($data) `[` type($indices) `]` `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        data, *indices = operands
        require_indices(cls.name, indices)
        if not indices or (data.rank is not None and data.rank < len(indices)):
            raise ValueError(
                f"expected indices of '{cls.name}' for one to all dims of {shape_text(data)}, "
                f"got {len(indices)}"
            )
        chosen = [i.dims for i in indices if i.dims is not None]
        if data.dims is None or len(chosen) < len(indices):
            return TensorType.of(None, data.known_element)
        dims = chosen[0]
        try:
            for other in chosen[1:]:
                dims = tuple(broadcast_dims(dims, other))
        except ValueError:
            raise ValueError(
                f"expected indices of '{cls.name}' to broadcast, "
                f"got {' and '.join(python_shape(d) for d in chosen)}"
            ) from None
        return TensorType.of([*dims, *data.dims[len(indices) :]], data.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        data, *indices = tensors
        outer = te.broadcast_shape(*(t.shape for t in indices))
        dims = data.shape[: len(indices)]

        def element(*i: Any) -> Any:
            chosen = [
                inside(te, t(*te.broadcast_index(t.shape, i[: len(outer)])), dim)
                for t, dim in zip(indices, dims, strict=True)
            ]
            return where_filled(te, dims, data(*chosen, *i[len(outer) :]))

        return te.compute((*outer, *data.shape[len(indices) :]), element, name="T_index")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        data, *indices = arrays
        outer = np.broadcast_shapes(*(i.shape for i in indices))
        if 0 in data.shape:
            return np.zeros((*outer, *data.shape[len(indices) :]), data.dtype)
        return data[tuple(numpy_inside(i, d) for i, d in zip(indices, data.shape, strict=False))]

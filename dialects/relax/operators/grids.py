"""Coordinates of grids, and the number of elements of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TupleType, i64
from xdsl.irdl import irdl_op_definition, opt_prop_def, var_operand_def

from ..types import TensorType
from .attributes import Text
from .base import OperatorOp, UnaryOp
from .inference import common_element_type, require_rank, tuple_type
from .language import TensorLanguage
from .reshaping import product


@irdl_op_definition
class MeshgridOp(OperatorOp):
    """The coordinates of a grid from those along each axis; `numpy.meshgrid`, `torch.meshgrid`.

    The result is a tuple of tensors of one shape, a dim for each tensor of rank 1, the first two
    swapped with the indexing "xy".
    """

    name = "relax.meshgrid"
    tensors = var_operand_def(TensorType)
    indexing = opt_prop_def(Text(default="ij", choices=("ij", "xy")))
    assembly_format = "$tensors attr-dict `:` functional-type($tensors, $result)"

    @classmethod
    def _axes(cls, count: int, attributes: dict[str, Any]) -> list[int]:
        """The axis of the result along which each tensor is."""
        axes = list(range(count))
        if attributes["indexing"] == "xy" and count > 1:
            axes[:2] = 1, 0
        return axes

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TupleType:
        if not operands:
            raise ValueError(f"expected at least 1 tensor of '{cls.name}', got 0")
        for number, operand in enumerate(operands):
            require_rank(cls.name, f"tensor {number}", operand, 1)
        element = common_element_type(cls.name, operands)
        sizes, dims = [d for o in operands for d in o.dims or ()], None
        if len(sizes) == len(operands):
            dims = [sizes[a] for a in cls._axes(len(operands), attributes)]
        return tuple_type([TensorType.of(dims, element, len(operands))] * len(operands))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        axes = cls._axes(len(tensors), attributes)
        shape = [tensors[axes[a]].shape[0] for a in range(len(tensors))]

        def coordinates(tensor: Any, axis: int) -> Any:
            return te.compute(shape, lambda *i: tensor(i[axis]), name="T_meshgrid")

        return tuple(coordinates(t, a) for t, a in zip(tensors, axes, strict=True))

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        return tuple(np.meshgrid(*arrays, indexing=attributes["indexing"]))


@irdl_op_definition
class SizeOp(UnaryOp):
    """The number of elements, int64; `numpy.size`, `torch.numel`."""

    name = "relax.size"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return TensorType.of([], i64)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        (total,) = te.tensor.shape_of([product([te.dim_expr(d) for d in data.shape])])
        return te.compute((), lambda: te.cast("int64", total), name="T_size")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.array(arrays[0].size, np.int64)

"""Elementwise operators with NumPy broadcasting: arithmetic, maximum, fused multiply-add, relu."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def

from ...dtypes import is_float
from ..types import TensorType
from .base import BinaryOp, OperatorOp, UnaryOp, broadcast_types


def broadcast_indices(tensor: Any, axes: Sequence[Any]) -> tuple[Any, ...]:
    """Indices into `tensor` for the element at `axes` of the broadcast result."""
    own = list(axes)[len(axes) - len(tensor.shape) :]
    return tuple(0 if dim == 1 else axis for dim, axis in zip(tensor.shape, own, strict=True))


class BinaryElementwiseOp(BinaryOp, ABC):
    """An elementwise operator of two tensors with broadcasting."""

    @staticmethod
    @abstractmethod
    def numpy_function(*arrays: Any) -> Any:
        """The operator in NumPy."""

    @classmethod
    @abstractmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        """The result element from the operands' elements."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return broadcast_types(cls.name, operands[0], operands[1])

    @classmethod
    def compute(cls, te: Any, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors

        def element(*i: Any) -> Any:
            return cls.combine(te, lhs(*broadcast_indices(lhs, i)), rhs(*broadcast_indices(rhs, i)))

        shape = te.broadcast_shape(lhs.shape, rhs.shape)
        return te.compute(shape, element, name=f"T_{cls.name.removeprefix('relax.')}")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return cls.numpy_function(*arrays)


@irdl_op_definition
class AddOp(BinaryElementwiseOp):
    """``lhs + rhs``; `numpy.add`, `torch.add`."""

    name = "relax.add"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.add(*arrays)

    @classmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        return lhs + rhs


@irdl_op_definition
class SubtractOp(BinaryElementwiseOp):
    """``lhs - rhs``; `numpy.subtract`, `torch.sub`."""

    name = "relax.subtract"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.subtract(*arrays)

    @classmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        return lhs - rhs


@irdl_op_definition
class MultiplyOp(BinaryElementwiseOp):
    """``lhs * rhs``; `numpy.multiply`, `torch.mul`."""

    name = "relax.multiply"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.multiply(*arrays)

    @classmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        return lhs * rhs


@irdl_op_definition
class DivideOp(BinaryElementwiseOp):
    """``lhs / rhs`` of floats; `numpy.divide`, `torch.div`."""

    name = "relax.divide"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.divide(*arrays)

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        for operand in operands:
            if operand.dtype is not None and not is_float(operand.dtype):
                raise ValueError(
                    f"expected operands of '{cls.name}' to be floats, got {operand.dtype}"
                )
        return super().infer(operands, attributes)

    @classmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        return lhs / rhs


@irdl_op_definition
class MaximumOp(BinaryElementwiseOp):
    """The larger of two, NaN where either is NaN; `numpy.maximum`, `torch.maximum`."""

    name = "relax.maximum"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.maximum(*arrays)

    @classmethod
    def combine(cls, te: Any, lhs: Any, rhs: Any) -> Any:
        return te.max(lhs, rhs)


@irdl_op_definition
class ReluOp(UnaryOp):
    """``max(data, 0)``, NaN where the input is NaN; `torch.nn.functional.relu`."""

    name = "relax.nn.relu"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]

    @classmethod
    def compute(cls, te: Any, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors

        def element(*i: Any) -> Any:
            return te.max(data(*i), te.const(0, data.dtype))

        return te.compute(data.shape, element, name="compute")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.maximum(arrays[0], arrays[0].dtype.type(0))


@irdl_op_definition
class EwiseFMAOp(OperatorOp):
    """``x * y + z`` rounded once for floats; the ``ewise_fma`` of the MLC course, `math.fma`."""

    name = "relax.ewise_fma"
    x = operand_def(TensorType)
    y = operand_def(TensorType)
    z = operand_def(TensorType)
    assembly_format = (
        "$x `,` $y `,` $z attr-dict `:` type($x) `,` type($y) `,` type($z) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        x, y, z = operands
        return broadcast_types(cls.name, broadcast_types(cls.name, x, y), z)

    @classmethod
    def compute(cls, te: Any, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, y, z = tensors

        def element(*i: Any) -> Any:
            return te.fma(*(t(*broadcast_indices(t, i)) for t in (x, y, z)))

        shape = te.broadcast_shape(te.broadcast_shape(x.shape, y.shape), z.shape)
        return te.compute(shape, element, name="T_fma")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x, y, z = arrays
        if x.dtype.kind != "f":
            return x * y + z
        wide = np.longdouble if x.dtype == np.float64 else np.float64
        return (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(x.dtype)

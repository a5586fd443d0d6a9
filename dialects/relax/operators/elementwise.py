"""Elementwise operators of two or three tensors with NumPy broadcasting: arithmetic, maximum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def

from ..types import TensorType
from .base import BinaryOp, OperatorOp, UnaryOp
from .inference import broadcast_types, require_dtype, require_floats
from .language import TensorLanguage


class BinaryElementwiseOp(BinaryOp, ABC):
    """An elementwise operator of two tensors with broadcasting."""

    @staticmethod
    @abstractmethod
    def numpy_function(*arrays: Any) -> Any:
        """The operator in NumPy."""

    @classmethod
    @abstractmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        """The result element from the operands' elements."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return broadcast_types(cls.name, *operands)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        lhs, rhs = tensors
        return te.elementwise(
            lambda x, y: cls.combine(te, x, y),
            lhs,
            rhs,
            name=f"T_{cls.name.removeprefix('relax.')}",
        )

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return cls.numpy_function(*arrays)


class ArithmeticOp(BinaryElementwiseOp, ABC):
    """An elementwise operator of two tensors of numbers."""

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, lambda dtype: dtype != "bool", "numbers")
        return super().infer(operands, attributes)


@irdl_op_definition
class AddOp(ArithmeticOp):
    """``lhs + rhs``; `numpy.add`, `torch.add`."""

    name = "relax.add"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.add(*arrays)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs + rhs


@irdl_op_definition
class SubtractOp(ArithmeticOp):
    """``lhs - rhs``; `numpy.subtract`, `torch.sub`."""

    name = "relax.subtract"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.subtract(*arrays)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs - rhs


@irdl_op_definition
class MultiplyOp(ArithmeticOp):
    """``lhs * rhs``; `numpy.multiply`, `torch.mul`."""

    name = "relax.multiply"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.multiply(*arrays)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
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
        require_floats(cls.name, operands)
        return super().infer(operands, attributes)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return lhs / rhs


@irdl_op_definition
class MaximumOp(BinaryElementwiseOp):
    """The larger of two, NaN where either is NaN; `numpy.maximum`, `torch.maximum`."""

    name = "relax.maximum"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.maximum(*arrays)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.max(lhs, rhs)


@irdl_op_definition
class MinimumOp(BinaryElementwiseOp):
    """The smaller of two, NaN where either is NaN; `numpy.minimum`, `torch.minimum`."""

    name = "relax.minimum"

    @staticmethod
    def numpy_function(*arrays: Any) -> Any:
        return np.minimum(*arrays)

    @classmethod
    def combine(cls, te: TensorLanguage, lhs: Any, rhs: Any) -> Any:
        return te.min(lhs, rhs)


@irdl_op_definition
class ReluOp(UnaryOp):
    """``max(data, 0)``, NaN where the input is NaN; `torch.nn.functional.relu`."""

    name = "relax.nn.relu"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return operands[0]

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (data,) = tensors
        return te.elementwise(lambda x: te.max(x, te.const(0, x.dtype)), data, name="compute")

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
        require_dtype(cls.name, operands, lambda dtype: dtype != "bool", "numbers")
        return broadcast_types(cls.name, *operands)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, y, z = tensors
        return te.elementwise(te.fma, x, y, z, name="T_fma")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x, y, z = arrays
        if x.dtype.kind != "f":
            return x * y + z
        wide = np.longdouble if x.dtype == np.float64 else np.float64
        return (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(x.dtype)

"""Operators that create tensors filled with one value."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i64
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from ...dtypes import element_type, holds
from ...int_expr import IntExpr
from ..constant import ConstantOp
from ..types import TensorType, shape_text
from .attributes import DType, Exprs, Int
from .base import OperatorOp
from .conversion import converted
from .inference import require_rank
from .language import TensorLanguage


def require_sizes(op_name: str, shape: Sequence[IntExpr]) -> None:
    """Raise ValueError for a shape with a dim that is provably negative."""
    if any(d.constant is not None and d.constant < 0 for d in shape):
        text = ", ".join(str(d) for d in shape)
        raise ValueError(f"expected shape of '{op_name}' without negative dims, got ({text})")


class FilledOp(OperatorOp, ABC):
    """A tensor of a given shape, filled with one number."""

    VALUE: ClassVar[int] = 0
    assembly_format = "attr-dict `:` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_sizes(cls.name, attributes["shape"])
        return TensorType.of(attributes["shape"], element_type(attributes["dtype"]))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        value = te.const(cls.VALUE, attributes["dtype"])
        return te.compute(attributes["shape"], lambda *i: value, name="T_full")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        shape: tuple[int, ...] = attributes["shape"]
        return np.full(shape, cls.VALUE)


@irdl_op_definition
class ZerosOp(FilledOp):
    """Zeros; `numpy.zeros`, `torch.zeros`."""

    name = "relax.zeros"
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default="float32"))


@irdl_op_definition
class OnesOp(FilledOp):
    """Ones; `numpy.ones`, `torch.ones`."""

    name = "relax.ones"
    VALUE: ClassVar[int] = 1
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default="float32"))


def _require_scalar(op_name: str, fill_value: TensorType) -> None:
    if fill_value.rank != 0:
        raise ValueError(
            f"expected fill_value of '{op_name}' to have rank 0, got {shape_text(fill_value)}"
        )


class FilledWithOp(OperatorOp, ABC):
    """A tensor filled with the value of a rank-0 tensor, its last operand.

    The value is converted as by `relax.astype`, but a constant must be in the range of the dtype.
    """

    def verify_(self) -> None:
        super().verify_()
        owner, dtype = self.operands[-1].owner, cast(TensorType, self.result.type).dtype
        if not isinstance(owner, ConstantOp) or owner.value.data.array is None or dtype is None:
            return
        if not holds(dtype, value := owner.value.data.number()):
            raise VerifyException(
                f"expected fill_value of '{self.name}' to be in the range of {dtype}, got {value}"
            )


@irdl_op_definition
class FullOp(FilledWithOp):
    """A tensor filled with the value of a rank-0 tensor; `numpy.full`, `torch.full`.

    Raises for a constant that the dtype does not hold; other values are converted.
    """

    name = "relax.full"
    ORDER: ClassVar[tuple[str, ...]] = ("shape", "fill_value", "dtype")
    fill_value = operand_def(TensorType)
    shape = opt_prop_def(Exprs())
    dtype = opt_prop_def(DType(default=None))
    assembly_format = "$fill_value attr-dict `:` type($fill_value) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (fill_value,) = operands
        _require_scalar(cls.name, fill_value)
        require_sizes(cls.name, attributes["shape"])
        dtype = attributes["dtype"]
        element = fill_value.known_element if dtype is None else element_type(dtype)
        return TensorType.of(attributes["shape"], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (fill_value,) = tensors
        dtype = attributes["dtype"] or fill_value.dtype
        return te.compute(attributes["shape"], lambda *i: fill_value().astype(dtype), name="T_full")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (value,), shape = arrays, cast("tuple[int, ...]", attributes["shape"])
        return np.full(shape, converted(value, attributes["dtype"] or str(value.dtype)))


class LikeOp(OperatorOp, ABC):
    """A tensor of the shape of `x`, filled with one number; `x` is not read."""

    VALUE: ClassVar[int] = 0
    x = operand_def(TensorType)
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,), dtype = operands, attributes["dtype"]
        return x if dtype is None else TensorType(x.shape, element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,) = tensors
        value = te.const(cls.VALUE, attributes["dtype"] or x.dtype)
        return te.compute(x.shape, lambda *i: value, name="T_full_like")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.full(arrays[0].shape, cls.VALUE)


@irdl_op_definition
class ZerosLikeOp(LikeOp):
    """Zeros in the shape of `x`; `numpy.zeros_like`, `torch.zeros_like`."""

    name = "relax.zeros_like"
    dtype = opt_prop_def(DType(default=None))


@irdl_op_definition
class OnesLikeOp(LikeOp):
    """Ones in the shape of `x`; `numpy.ones_like`, `torch.ones_like`."""

    name = "relax.ones_like"
    VALUE: ClassVar[int] = 1
    dtype = opt_prop_def(DType(default=None))


@irdl_op_definition
class FullLikeOp(FilledWithOp):
    """A tensor of the shape of `x`, filled with a rank-0 tensor; by default, of the dtype of `x`.

    `numpy.full_like`, `torch.full_like`. Raises for a constant that the dtype does not hold.
    """

    name = "relax.full_like"
    x = operand_def(TensorType)
    fill_value = operand_def(TensorType)
    dtype = opt_prop_def(DType(default=None))
    assembly_format = (
        "$x `,` $fill_value attr-dict `:` type($x) `,` type($fill_value) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x, fill_value), dtype = operands, attributes["dtype"]
        _require_scalar(cls.name, fill_value)
        return x if dtype is None else TensorType(x.shape, element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        x, fill_value = tensors
        dtype = attributes["dtype"] or x.dtype
        return te.compute(x.shape, lambda *i: fill_value().astype(dtype), name="T_full_like")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        x, fill_value = arrays
        return np.full(x.shape, converted(fill_value, attributes["dtype"] or str(x.dtype)))


@irdl_op_definition
class EyeLikeOp(OperatorOp):
    """Ones on the diagonal ``j = i + k`` of a matrix of the shape of `x`; ONNX ``EyeLike``."""

    name = "relax.eye_like"
    x = operand_def(TensorType)
    k = opt_prop_def(Int(default=0))
    dtype = opt_prop_def(DType(default=None))
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        (x,), dtype = operands, attributes["dtype"]
        require_rank(cls.name, "x", x, 2)
        return x if dtype is None else TensorType(x.shape, element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (x,), k = tensors, attributes["k"]
        one, zero = (te.const(n, attributes["dtype"] or x.dtype) for n in (1, 0))

        def element(i: Any, j: Any) -> Any:
            return te.select(te.cast("int64", j) - te.cast("int64", i) == k, one, zero)

        return te.compute(x.shape, element, name="T_eye")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.eye(*arrays[0].shape, k=attributes["k"])


@irdl_op_definition
class ShapeToTensorOp(OperatorOp):
    """The dims of a shape, as a vector of int64; ONNX ``Shape``, TVM's ``shape_to_tensor``."""

    name = "relax.shape_to_tensor"
    shape = opt_prop_def(Exprs())
    assembly_format = "attr-dict `:` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_sizes(cls.name, attributes["shape"])
        return TensorType.of([IntExpr.of(len(attributes["shape"]))], i64)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dims: list[Any] = list(attributes["shape"])

        def element(i: Any) -> Any:
            value = te.const(0, "int64")
            for number, dim in reversed([*enumerate(dims)]):
                value = te.if_then_else(i == number, te.cast("int64", dim), value)
            return value

        return te.compute([len(dims)], element, name="shape_to_tensor")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return np.array(attributes["shape"], np.int64)

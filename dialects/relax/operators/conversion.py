"""Dtype conversion, and the dtypes of accumulators."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ....runtime.dtype import bfloat16_to_float32
from ...dtypes import bit_width, element_type, is_float, is_unsigned
from ..types import TensorType
from .attributes import DType
from .base import OperatorOp
from .inference import common_element_type, require_dtype
from .language import TensorLanguage


def accumulator(dtype: str, out_dtype: str | None = None) -> str:
    """The accumulator dtype of sums of `dtype` to `out_dtype`; for floats, at least float32."""
    if not is_float(dtype):
        return out_dtype or dtype
    return "float64" if "float64" in (dtype, out_dtype) else "float32"


def total_dtype(dtype: str, chosen: str | None) -> str:
    """The result dtype of a sum or product of `dtype`, unless one is chosen: int64 for bools."""
    return chosen or ("int64" if dtype == "bool" else dtype)


def rounded(te: TensorLanguage, tensor: Any, dtype: str) -> Any:
    """Convert the tensor to this dtype; returned as it is if it has the dtype."""
    if tensor.dtype == dtype:
        return tensor
    return te.elementwise(lambda x: x.astype(dtype), tensor, name="T_cast")


def wide(array: NDArray[Any], out_dtype: str | None = None) -> NDArray[Any]:
    """Convert the array to its accumulator's dtype: floats to at least float32."""
    if array.dtype.kind == "f":
        return array.astype(np.promote_types(array.dtype, np.float32), copy=False)
    return array if out_dtype is None else array.astype(out_dtype)


def product_element(
    op_name: str, operands: Sequence[TensorType], out_dtype: str | None
) -> Attribute | None:
    """The element type of a sum of products.

    Raises ValueError for bools, different dtypes, and an `out_dtype` that is float for integer
    operands or integer for float operands.
    """
    require_dtype(op_name, operands, lambda dtype: dtype != "bool", "numbers")
    element = common_element_type(op_name, operands)
    if out_dtype is None:
        return element
    for operand in operands:
        known = operand.dtype
        if known is not None and (is_float(known) != is_float(out_dtype) or out_dtype == "bool"):
            kind = "a float" if is_float(known) else "an integer"
            raise ValueError(
                f"expected out_dtype of '{op_name}' to be {kind} like {known}, got {out_dtype}"
            )
    return element_type(out_dtype)


def converted(x: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Convert the numbers to a dtype as compiled code does; the caller rounds floats."""
    if is_float(dtype):
        return x if x.dtype.kind == "f" else x.astype(np.float64)
    if x.dtype.kind != "f" or dtype == "bool":
        return x.astype(dtype)
    width = bit_width(dtype)
    low, high = (
        (0, 2**width - 1) if is_unsigned(dtype) else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    )
    whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0))
    inside = np.where((whole > low) & (whole < high), whole, 0).astype(dtype)
    outside = np.where(whole <= low, low, np.where(whole >= high, high, 0)).astype(dtype)
    return inside + outside


def elements_of_total(x: NDArray[Any], dtype: str) -> NDArray[Any]:
    """The elements that a sum or product of `dtype` combines, converted to its dtype.

    Floats have the accumulator's dtype, or a wider one if the operand or its integers need it.
    """
    if is_float(dtype):
        return x.astype(np.promote_types(accumulator(dtype), x.dtype), copy=False)
    return converted(x, dtype)


class ConvertingOp(OperatorOp, ABC):
    """An operator that converts a tensor to another dtype."""

    x = operand_def(TensorType)
    dtype = opt_prop_def(DType())
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        return TensorType(operands[0].shape, element_type(attributes["dtype"]))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype = attributes["dtype"]
        return te.elementwise(lambda x: x.astype(dtype), tensors[0], name="T_cast")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        return converted(arrays[0], attributes["dtype"])


@irdl_op_definition
class AstypeOp(ConvertingOp):
    """Convert `x` to another dtype; `numpy.astype`, `torch.Tensor.to`.

    Integers wrap. A float out of an integer's range saturates, and NaN gives 0. Every nonzero
    number is true.
    """

    name = "relax.astype"


@irdl_op_definition
class WrapParamOp(ConvertingOp):
    """Convert a parameter to another dtype, as `astype` does; TVM's ``R.wrap_param``."""

    name = "relax.wrap_param"


def has_bits(dtype: str) -> bool:
    """Whether the bits of values are those of a number of NumPy."""
    return dtype not in ("bool", "bfloat16")


@irdl_op_definition
class BitcastOp(OperatorOp):
    """The bits of `x` as another dtype of the same width; ONNX ``BitCast``, `torch.Tensor.view`.

    Bools are excluded, and so are operands of bfloat16; the bits of bfloat16 are integers.
    """

    name = "relax.bitcast"
    x = operand_def(TensorType)
    dtype = opt_prop_def(DType())
    assembly_format = "$x attr-dict `:` type($x) `->` type($result)"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        require_dtype(cls.name, operands, has_bits, "numbers other than bfloat16")
        (x,), dtype = operands, attributes["dtype"]
        if dtype == "bool":
            raise ValueError(f"expected dtype of '{cls.name}' to be of numbers, got {dtype}")
        if dtype == "bfloat16":
            is_word = ("int16", "uint16").__contains__
            require_dtype(cls.name, operands, is_word, "integers of 16 bits")
        if x.dtype is not None and bit_width(dtype) != bit_width(x.dtype):
            raise ValueError(
                f"expected dtype of '{cls.name}' to be as wide as its operand, "
                f"got {dtype} and {x.dtype}"
            )
        return TensorType(x.shape, element_type(dtype))

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype = attributes["dtype"]
        return te.elementwise(lambda x: te.reinterpret(dtype, x), tensors[0], name="T_bitcast")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        (x,), dtype = arrays, attributes["dtype"]
        if dtype == "bfloat16":
            return bfloat16_to_float32(x.view(np.uint16))
        if x.dtype.kind == "f":  # in a reference in float64, operands are wider
            x = x.astype(f"float{bit_width(dtype)}")
        return x.view(dtype)

"""Conversion to another dtype, and the dtype in which products and sums are accumulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ...dtypes import bit_width, element_type, is_float, is_unsigned
from ..types import TensorType
from .attributes import DType
from .base import OperatorOp
from .inference import common_element_type, require_dtype
from .language import TensorLanguage


def accumulator(dtype: str, out_dtype: str | None = None) -> str:
    """The dtype of sums of `dtype` that are rounded to `out_dtype`: at least float32 for floats."""
    if not is_float(dtype):
        return out_dtype or dtype
    return "float64" if "float64" in (dtype, out_dtype) else "float32"


def total_dtype(dtype: str, chosen: str | None) -> str:
    """The dtype of a sum or product of `dtype` where none is chosen: bools are counted in int64."""
    return chosen or ("int64" if dtype == "bool" else dtype)


def rounded(te: TensorLanguage, tensor: Any, dtype: str) -> Any:
    """The tensor in this dtype: itself, or a block that converts it."""
    if tensor.dtype == dtype:
        return tensor
    return te.elementwise(lambda x: x.astype(dtype), tensor, name="T_cast")


def wide(array: NDArray[Any], out_dtype: str | None = None) -> NDArray[Any]:
    """The array in its accumulator's dtype; in a run where all floats are float64 as it is."""
    if array.dtype.kind == "f":
        return array.astype(np.promote_types(array.dtype, np.float32), copy=False)
    return array if out_dtype is None else array.astype(out_dtype)


def product_element(
    op_name: str, operands: Sequence[TensorType], out_dtype: str | None
) -> Attribute | None:
    """The element type of a sum of products.

    Raises ValueError for bools, different dtypes and an `out_dtype` that is float where the
    operands are integers, or the other way round.
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
    """The numbers in a dtype as compiled code converts them; floats are rounded by the caller."""
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
    """What a sum or product of `dtype` combines: each element is converted before, not the result.

    Floats are those of the accumulator, or wider ones if the operand or its integers need them.
    """
    if is_float(dtype):
        return x.astype(np.promote_types(accumulator(dtype), x.dtype), copy=False)
    return converted(x, dtype)


@irdl_op_definition
class AstypeOp(OperatorOp):
    """`x` converted to another dtype; `numpy.astype`, `torch.Tensor.to`.

    Integers wrap. A float that does not fit into an integer gives the nearest number that does, and
    NaN gives 0. Every number but 0 is true.
    """

    name = "relax.astype"
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

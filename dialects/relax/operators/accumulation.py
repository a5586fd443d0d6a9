"""The dtype in which products and sums are accumulated, before one rounding at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from ...dtypes import element_type, is_float
from ..types import TensorType
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

"""Constants of the graph from what Python programs have: numbers, lists, and arrays of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects.dtypes import element_type, is_float
from ..dialects.relax import TensorData, TensorType
from ..dialects.relax.types import shape_text
from ..runtime.dtype import to_bfloat16
from ..runtime.tensor import as_tensor
from .struct_info import to_type


def constant_data(value: Any, dtype: str) -> TensorData:
    """A number, nested list or array as constant data; bfloat16 is rounded to nearest even.

    Raises ValueError for numbers that the dtype cannot hold.
    """
    element_type(dtype)
    given = np.asarray(value)
    if given.dtype.kind not in "biuf" and given.dtype.name != "bfloat16":
        raise ValueError(f"expected numbers for a constant, got {given.dtype}")
    if dtype == "bfloat16":
        return TensorData.of(to_bfloat16(given), dtype)
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
    if not is_float(dtype) and np.any(array != given):
        raise ValueError(f"expected numbers of {dtype}, got {value}")
    return TensorData.of(array, dtype)


def tensor_data(value: Any, key: str = "") -> TensorData:
    """A Tensor, NumPy or torch array as constant data, not copied where it is contiguous."""
    detach = getattr(value, "detach", None)  # torch shares no memory of what records gradients
    tensor = as_tensor(value if detach is None else detach())
    return TensorData.of(tensor.view(), tensor.dtype, key)


def data_of(value: Any, annotation: Any = None, key: str = "") -> TensorData:
    """Constant data of a dtype or struct info; without one, of the dtype that the value has.

    Python numbers are float32, int32 or bool; arrays are shared where no conversion is needed.
    Raises ValueError with one line for another shape than the struct info's.
    """
    wanted, type_ = None, None
    if isinstance(annotation, str):
        wanted = annotation
    elif annotation is not None:
        type_ = _tensor_type(annotation)
        wanted = type_.dtype
    data = _data(value, wanted, key)
    if type_ is not None and type_.dims is not None:
        shape = data.tensor_type()
        if shape.dims != type_.dims:
            raise ValueError(
                f"expected a constant of shape {shape_text(type_)}, got {shape_text(shape)}"
            )
    return data


def _tensor_type(annotation: Any) -> TensorType:
    if str(annotation).startswith("torch."):
        return TensorType.of(None, element_type(str(annotation).removeprefix("torch.")))
    if isinstance(annotation, np.dtype) or isinstance(annotation, type):
        return TensorType.of(None, element_type(str(np.dtype(annotation))))  # pyright: ignore[reportUnknownArgumentType, reportArgumentType]
    type_ = to_type(annotation)
    if not isinstance(type_, TensorType):
        raise ValueError(f"expected the dtype or struct info of a tensor, got {annotation!r}")
    return type_


def _data(value: Any, dtype: str | None, key: str) -> TensorData:
    if isinstance(value, bool | int | float | list | tuple):
        return constant_data(value, dtype or _default_dtype(value))
    data = tensor_data(value, key)
    if dtype is None or data.dtype == dtype:
        return data
    return constant_data(as_tensor(value), dtype)


def _default_dtype(value: Any) -> str:
    kind = np.asarray(value).dtype.kind
    return {"b": "bool", "i": "int32", "u": "int32"}.get(kind, "float32")

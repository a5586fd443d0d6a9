"""Tensors of ONNX files as arrays that share the file's memory, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto

from ...dialects.relax import TensorData
from ...dialects.relax.constant import storage_dtype
from ..unsupported import Unsupported
from .checks import verify_texts

DTYPES: Mapping[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.UINT8: "uint8",
    TensorProto.INT8: "int8",
    TensorProto.UINT16: "uint16",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.BOOL: "bool",
    TensorProto.FLOAT16: "float16",
    TensorProto.DOUBLE: "float64",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.BFLOAT16: "bfloat16",
}
"""The dtypes of element types that tensors here have."""


@dataclass(frozen=True)
class Narrow:
    """Integers of less than 8 bits, of which a byte holds several, and their dtype here."""

    bits: int
    dtype: str

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest one."""
        low = 0 if self.dtype == "uint8" else -(1 << (self.bits - 1))
        return low, low + (1 << self.bits) - 1


NARROW: Mapping[int, Narrow] = {
    TensorProto.UINT4: Narrow(4, "uint8"),
    TensorProto.INT4: Narrow(4, "int8"),
    TensorProto.UINT2: Narrow(2, "uint8"),
    TensorProto.INT2: Narrow(2, "int8"),
}
"""Element types of constants that are stored here with one element in a byte."""


@dataclass(frozen=True, eq=False)
class NarrowData(TensorData):
    """A constant of a file that has less bits than its dtype here."""

    narrow: Narrow = Narrow(8, "int8")


MAX_ELEMENTS = 1 << 40
"""A tensor of more elements is refused before anything is allocated."""

_FIELDS: Mapping[str, tuple[str, str]] = {
    "float32": ("float_data", "float32"),
    "float64": ("double_data", "float64"),
    "int64": ("int64_data", "int64"),
    "uint32": ("uint64_data", "uint32"),
    "uint64": ("uint64_data", "uint64"),
}
"""Where values stand that are no raw bytes, and their dtype there; others are `int32_data`."""


def dtype_of_element(element: int) -> str:
    """The dtype of an element type of ONNX; raises Unsupported for one that is absent here."""
    if element not in DTYPES:
        names = {value: name for name, value in TensorProto.DataType.items()}
        raise Unsupported(f"tensors of type {names.get(element, element)}")
    return DTYPES[element]


def tensor_data(tensor: Any, folder: Path | None) -> TensorData:
    """The data of a `TensorProto`: raw bytes and external files are shared, not copied.

    `folder` is where external data may be. Raises ValueError for data that does not fit the shape,
    and for a file outside of the folder; Unsupported for an element type that is absent here.
    """
    verify_texts([tensor.name])
    narrow = NARROW.get(tensor.data_type)
    dtype = dtype_of_element(tensor.data_type) if narrow is None else narrow.dtype
    shape = tuple(int(d) for d in tensor.dims)
    if any(d < 0 for d in shape) or prod(shape) > MAX_ELEMENTS:
        raise ValueError(f"expected a shape of tensor '{tensor.name}', got {shape}")
    content = _content(tensor, dtype, folder)
    bits = storage_dtype(dtype).itemsize * 8 if narrow is None else narrow.bits
    wanted = -(-prod(shape) * bits // 8)
    if content.size != wanted:
        raise ValueError(f"expected {wanted} bytes of tensor '{tensor.name}', got {content.size}")
    if narrow is not None:
        values = unpacked(content, bits)[: prod(shape)].view(dtype)
        values = values if dtype == "uint8" else (values << (8 - bits)) >> (8 - bits)
        return NarrowData(dtype, shape, values.reshape(shape), tensor.name, narrow=narrow)
    # Compiled code reads elements at multiples of their size.
    values = np.require(content.view(storage_dtype(dtype)).reshape(shape), requirements="A")
    return TensorData.of(values, dtype, tensor.name)


def _content(tensor: Any, dtype: str, folder: Path | None) -> Any:
    """The bytes of a tensor."""
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, folder)
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, np.uint8)
    return _from_fields(tensor, dtype).view(np.uint8)


def unpacked(content: Any, bits: int) -> Any:
    """The numbers of so many bits in each byte along the last axis, the lowest bits first."""
    parts = [(content >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*content.shape[:-1], -1)


def _from_fields(tensor: Any, dtype: str) -> Any:
    field, stored = _FIELDS.get(dtype, ("int32_data", "int32"))
    values = np.array(getattr(tensor, field), stored)
    if field != "int32_data":
        return values
    narrow = np.uint16 if dtype in ("float16", "bfloat16") else storage_dtype(dtype)
    return np.ascontiguousarray(values.astype(narrow))


def _external(tensor: Any, folder: Path | None) -> Any:
    """The bytes of a tensor in another file, which stays on disk until it is used."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    verify_texts([*entries, *entries.values()])
    location = entries.get("location", "")
    if folder is None:
        raise ValueError(
            f"expected the path of the model to read '{location}' of tensor '{tensor.name}', "
            "got a model without one"
        )
    path = (folder / location).resolve()
    if not location or not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise ValueError(
            f"expected the data of tensor '{tensor.name}' in a file of the model's folder, "
            f"got '{location}'"
        )
    offset, length = (_number(entries, key, tensor.name) for key in ("offset", "length"))
    size = path.stat().st_size
    length = size - offset if "length" not in entries else length
    if offset + length > size or length < 0:
        raise ValueError(
            f"expected bytes {offset} to {offset + length} of '{location}' for tensor "
            f"'{tensor.name}', got a file of {size}"
        )
    if length == 0:
        return np.empty(0, np.uint8)
    return np.memmap(path, np.uint8, "r", offset, (length,))


def _number(entries: Mapping[str, str], key: str, name: str) -> int:
    text = entries.get(key, "0")
    if not text.isdecimal():
        raise ValueError(f"expected a number as {key} of tensor '{name}', got '{text}'")
    return int(text)

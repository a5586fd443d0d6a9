"""Safetensors files: named tensors after a header of JSON, as views of the mapped file."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.dtype import bfloat16_to_float32

FLOATS = {"BF16": np.uint16, "F16": np.float16, "F32": np.float32, "F64": np.float64}
"""Element types in files, and those of views; the bits of bfloat16 are integers."""
INDEX = "model.safetensors.index.json"
WHOLE = "model.safetensors"


def tensors_of(folder: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a model folder in one file or several, with an index that names them.

    Raises ValueError with one line for what is no such file.
    """
    if not (folder / INDEX).is_file():
        return read_tensors(folder / WHOLE)
    try:
        places: dict[str, str] = json.loads((folder / INDEX).read_text("utf-8"))["weight_map"]
        files = {file: read_tensors(folder / file) for file in sorted({*places.values()})}
        return {name: files[file][name] for name, file in places.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"expected an index of tensors in '{folder / INDEX}', got {error}"
        ) from None


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file; those of bfloat16 are uint16.

    Raises FileNotFoundError, and ValueError with one line for other files and element types.
    """
    if not path.is_file():
        raise FileNotFoundError(f"expected a file of weights, got no file '{path}'")
    try:
        data = np.memmap(path, np.uint8, "r")
        length = int(data[:8].view("<u8")[0])
        if length > len(data) - 8:
            raise ValueError(f"a header of {length} bytes")
        header: dict[str, Any] = json.loads(bytes(data[8 : 8 + length]))
        header.pop("__metadata__", None)
        return {name: _view(data[8 + length :], entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"expected a safetensors file, got '{path}': {error}") from None


def _view(data: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    kind, shape = entry["dtype"], tuple(map(int, entry["shape"]))
    begin, end = entry["data_offsets"]
    if kind not in FLOATS:
        raise ValueError(f"expected weights of {', '.join(FLOATS)}, got {kind}")
    dtype = np.dtype(FLOATS[kind]).newbyteorder("<")
    if not 0 <= begin <= end <= len(data) or end - begin != prod(shape) * dtype.itemsize:
        raise ValueError(f"expected {shape} of {kind} in the file, got bytes {begin} to {end}")
    # A header of any length may precede, so that numbers need not be aligned in the file.
    return np.ndarray(shape, dtype, data, offset=begin)


def floats(data: NDArray[Any]) -> NDArray[np.float32]:
    """A tensor of a file in float32."""
    return bfloat16_to_float32(data) if data.dtype == np.uint16 else np.asarray(data, np.float32)

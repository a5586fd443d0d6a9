"""Named tensors as bytes, in TVM's format: ``runtime.save_param_dict`` and its companions.

All is little-endian. First come a magic number, 0, the number of names, each name with its length,
and the number of tensors, as uint64. Then for each tensor: a magic number and 0 as uint64; type and
number of the device and the rank as int32; the dtype as DLPack's code, bits and lanes; the dims and
the number of bytes as int64; the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from struct import calcsize, pack, unpack
from typing import Any

import numpy as np

from .device import CPU_TYPE
from .dtype import dtype_info, dtype_of_dlpack
from .tensor import Tensor, as_tensor, empty

_LIST_MAGIC = 0xF7E58D4F05049CB7
_TENSOR_MAGIC = 0xDD5E40F096B4A13F


def save_param_dict(params: Mapping[str, Any]) -> bytes:
    """Return tensors, or arrays of any library, with their names as bytes.

    TVM's ``runtime.save_param_dict``; each reads what the other one writes. Raises TypeError for
    a value that is no array.
    """
    names = [name.encode() for name in params]
    written = [pack("<QQQ", _LIST_MAGIC, 0, len(names))]
    for name in names:
        written += [pack("<Q", len(name)), name]
    written.append(pack("<Q", len(names)))
    for value in params.values():
        written += _tensor_parts(as_tensor(value))
    return b"".join(written)


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, Tensor]:
    """Return the tensors by name that `save_param_dict` of this package or of TVM has written.

    Raises ValueError for other bytes, and TypeError for a dtype that tensors do not have.
    """
    reader = _Reader(memoryview(param_bytes))
    reader.expect(_LIST_MAGIC, "parameters")
    (count,) = reader.unpack("Q")
    names = [bytes(reader.take(*reader.unpack("Q"))).decode() for _ in range(count)]
    if (tensors := reader.unpack("Q")) != (count,):
        raise ValueError(f"expected {count} tensors for as many names, got {tensors[0]}")
    found = {name: reader.tensor() for name in names}
    if rest := len(reader.data):
        raise ValueError(f"expected the end of the parameters, got {rest} more bytes")
    return found


def save_param_dict_to_file(params: Mapping[str, Any], path: str | Path) -> None:
    """Write what `save_param_dict` returns to a file."""
    Path(path).write_bytes(save_param_dict(params))


def load_param_dict_from_file(path: str | Path) -> dict[str, Tensor]:
    """Return what `load_param_dict` finds in a file."""
    return load_param_dict(Path(path).read_bytes())


def _tensor_parts(tensor: Tensor) -> list[bytes]:
    info, shape = dtype_info(tensor.dtype), tensor.shape
    values = tensor.view().astype(info.storage.newbyteorder("<"), copy=False).tobytes()
    kind = pack("<iiiBBH", CPU_TYPE, 0, len(shape), info.code, info.bits, 1)
    header = pack("<QQ", _TENSOR_MAGIC, 0) + kind
    return [header, pack(f"<{len(shape)}qq", *shape, len(values)), values]


class _Reader:
    """Takes values from the start of bytes; ValueError where there are too few."""

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def take(self, size: int) -> memoryview:
        if size > len(self.data):
            raise ValueError(f"expected {size} more bytes of parameters, got {len(self.data)}")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def unpack(self, form: str) -> tuple[Any, ...]:
        return unpack(f"<{form}", self.take(calcsize(f"<{form}")))

    def expect(self, magic: int, what: str) -> None:
        found, _ = self.unpack("QQ")
        if found != magic:
            raise ValueError(f"expected {what} to start with {magic:#x}, got {found:#x}")

    def tensor(self) -> Tensor:
        self.expect(_TENSOR_MAGIC, "a tensor")
        _device, _number, rank, code, bits, lanes = self.unpack("iiiBBH")
        info = dtype_info(dtype_of_dlpack(code, bits, lanes))
        shape = np.frombuffer(self.take(8 * max(rank, 0)), "<i8").tolist()
        (size,) = self.unpack("q")
        if rank < 0 or min(shape, default=0) < 0 or size != prod(shape) * info.itemsize:
            raise ValueError(f"expected the bytes of {info.name} of shape {shape}, got {size}")
        result = empty(tuple(shape), info.name)
        values = np.frombuffer(self.take(size), info.storage.newbyteorder("<"))
        np.copyto(result.view(), values.reshape(shape))
        return result

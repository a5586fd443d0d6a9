"""Data types of run-time tensors: their names, NumPy storage and DLPack codes."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class DType(NamedTuple):
    """How one element type is stored; `code` and `bits` are DLPack's DLDataType."""

    name: str
    storage: np.dtype[Any]
    code: int
    bits: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.bits // 8


_INT, _UINT, _FLOAT, _BFLOAT, _BOOL = 0, 1, 2, 4, 6
_WIDTHS = (8, 16, 32, 64)


def _numbers(kind: str, code: int, widths: tuple[int, ...]) -> tuple[DType, ...]:
    # Names are interned: native code compares them by identity.
    names = [sys.intern(f"{kind}{w}") for w in widths]
    return tuple(DType(n, np.dtype(n), code, w) for n, w in zip(names, widths, strict=True))


_ALL = (
    *_numbers("float", _FLOAT, _WIDTHS[1:]),
    DType("bfloat16", np.dtype("uint16"), _BFLOAT, 16),
    *_numbers("int", _INT, _WIDTHS),
    *_numbers("uint", _UINT, _WIDTHS),
    DType("bool", np.dtype("bool"), _BOOL, 8),
)

DTYPES: dict[str, DType] = {d.name: d for d in _ALL}
_BY_NUMPY = {d.storage: d.name for d in _ALL if d.name != "bfloat16"}
_BY_DLPACK = {(d.code, d.bits): d.name for d in _ALL}


def dtype_info(name: str) -> DType:
    """The storage of a dtype name; raises ValueError for an unknown one."""
    try:
        return DTYPES[name]
    except KeyError:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), got '{name}'") from None


def dtype_of_numpy(dtype: np.dtype[Any]) -> str:
    """The name of a NumPy dtype in native byte order; raises TypeError if there is none.

    NumPy has no bfloat16; that of extension packages such as `ml_dtypes` is recognized by name.
    """
    name = _BY_NUMPY.get(dtype)
    if name is None:
        if dtype.name != "bfloat16":
            raise TypeError(f"expected a dtype ({', '.join(DTYPES)}), got {dtype}")
        return DTYPES[dtype.name].name
    return name


def dtype_of_dlpack(code: int, bits: int, lanes: int) -> str:
    """The name of a DLPack data type; raises TypeError if there is none."""
    name = _BY_DLPACK.get((code, bits))
    if name is None or lanes != 1:
        got = f"code {code}, {bits} bits, {lanes} lanes"
        raise TypeError(f"expected a DLPack type of {', '.join(DTYPES)}, got {got}")
    return name


def bfloat16_to_float32(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """The values of bfloat16 bit patterns, exactly."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bfloat16(values: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    """The bfloat16 bit patterns of numbers, rounded once to nearest even; NaN becomes quiet."""
    single = values.astype(np.float32) if values.itemsize <= 2 else _rounded_to_odd(values)
    bits = np.ascontiguousarray(single).reshape(values.shape).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    with np.errstate(over="ignore"):
        rounded = (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)
    quiet_nan = (bits >> np.uint32(16)) | np.uint32(0x0040)
    return np.where(np.isnan(single), quiet_nan, rounded).astype(np.uint16)


def _rounded_to_odd(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Numbers rounded to odd float32 if inexact, which makes double rounding exact.

    Boldo and Melquiond, "When double rounding is odd" (2005).
    """
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
        error = values - single.astype(np.float64)
    bits = single.view(np.int32)
    is_inexact = (error != 0) & np.isfinite(error) & ((bits & 1) == 0)
    away = np.where((error > 0) != np.signbit(single), np.int32(1), np.int32(-1))
    return np.where(is_inexact, bits + away, bits).astype(np.int32).view(np.float32)

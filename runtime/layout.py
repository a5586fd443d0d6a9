"""The layout of a tensor in memory: shape, element type, strides."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from .dtype import dtype_info


class Layout(NamedTuple):
    """The properties of a tensor except its memory; calls treat equal layouts alike.

    `strides` are in bytes, None if C-contiguous. `aligned` memory is aligned to the element type.
    """

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    writable: bool = True
    aligned: bool = True

    @property
    def packed(self) -> bool:
        """Whether native code can use the memory as it is."""
        return self.strides is None and self.aligned

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * dtype_info(self.dtype).itemsize


class ArrayInterface:
    """Lets NumPy create an array over memory that keeps its owner alive."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, address: int, layout: Layout, owner: object) -> None:
        shape, dtype, strides, writable, _ = layout
        self._owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, not writable),
            "shape": shape,
            "strides": strides,
            "typestr": dtype_info(dtype).storage.str,
        }

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


def view_layout(layout: Layout, shape: tuple[int, ...], dtype: str, offset: int) -> Layout:
    """The layout of a tensor of that shape and dtype, from a byte of a packed tensor's memory on.

    Raises ValueError for bytes outside of it, and for memory with strides.
    """
    if any(dim < 0 for dim in shape):
        raise ValueError(f"expected dims of at least 0, got {shape}")
    if layout.strides is not None:
        raise ValueError(f"expected a view of packed memory, got strides {layout.strides}")
    made = Layout(shape, dtype_info(dtype).name, None, layout.writable, False)
    if not 0 <= offset <= offset + made.nbytes <= layout.nbytes:
        raise ValueError(
            f"the view of shape {shape} and dtype {dtype} would occupy bytes {offset} <= i_byte < "
            f"{offset + made.nbytes}, but the Tensor being viewed only contains {layout.nbytes} "
            "bytes"
        )
    return made


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

"""Run-time tensors: dense CPU memory with a shape and an element type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from ..display.rich import displayed
from .device import CPU_TYPE, Device, cpu, device
from .dlpack import SharedMemory, SupportsDLPack, consume, consume_capsule, export, torch_memory
from .dtype import (
    bfloat16_to_float32,
    dtype_info,
    dtype_of_numpy,
    to_bfloat16,
)
from .layout import ArrayInterface, Layout, view_layout
from .memory import Storage, buffer_address

AnyArray: TypeAlias = npt.NDArray[Any]


@displayed("tensors:tensor_html")
class Tensor:
    """A tensor in CPU memory that `owner` keeps alive, as `tvm.runtime.Tensor` (`tvm.nd.NDArray`).

    `.numpy()` copies, as TVM's does; `np.asarray(t)`, `np.from_dlpack(t)` and
    `torch.from_dlpack(t)` share the memory, including later writes.
    """

    __slots__ = ("__weakref__", "address", "layout", "owner")

    def __init__(self, address: int, layout: Layout, owner: object) -> None:
        self.address = address
        self.layout = layout
        self.owner = owner

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self.layout.shape

    @property
    def dtype(self) -> str:
        """The element type by name, such as "float32"."""
        return self.layout.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.layout.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.layout.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.layout.nbytes

    @property
    def device(self) -> Device:
        """The device of the memory, always the CPU."""
        return cpu()

    def view(self) -> AnyArray:
        """The memory as a NumPy array, without a copy; bfloat16 appears as its uint16 bits."""
        return np.asarray(ArrayInterface(self.address, self.layout, self.owner))

    def numpy(self) -> AnyArray:
        """The values as a new NumPy array; bfloat16 becomes float32, which holds it exactly."""
        return self._values(copy=True)

    def copyfrom(self, source: object) -> Tensor:
        """Copy the values of an equally shaped array into this tensor, and return it.

        Values are converted where NumPy's "same_kind" rule allows it (float64 to float32, not
        float to int). Raises ValueError for another shape or a read-only tensor.
        """
        if isinstance(source, Tensor) and source.dtype == self.dtype:
            values = source.view()
        else:
            values = _to_storage(as_numpy(source), self.dtype, "same_kind")
        if values.shape != self.shape:
            raise ValueError(f"expected values of shape {self.shape}, got {values.shape}")
        if not self.layout.writable:
            raise ValueError("expected a writable tensor, got a read-only one")
        np.copyto(self.view(), values)
        return self

    def __setitem__(self, index: slice, source: object) -> None:
        """``x[:] = source``, as `copyfrom`; raises ValueError for an index of some elements."""
        if index != slice(None):
            raise ValueError(f"expected the index [:] of an assignment, got [{index}]")
        self.copyfrom(source)

    def copyto(self, target: Tensor | Device) -> Tensor:
        """Copy into another tensor, or into a new one on a device; returns that tensor."""
        if isinstance(target, Tensor):
            return target.copyfrom(self)
        return self.contiguous_copy()

    def contiguous_copy(self) -> Tensor:
        """The same values in new, packed, aligned memory."""
        result = empty(self.shape, self.dtype)
        np.copyto(result.view(), self.view())
        return result

    def _create_view(
        self, shape: Sequence[int], dtype: str | None = None, relative_byte_offset: int = 0
    ) -> Tensor:
        """Another shape over the same memory, from a byte on; TVM's method of that name.

        Raises ValueError for bytes that this tensor does not have, and for strided memory.
        """
        dims = tuple(int(dim) for dim in shape)
        layout = view_layout(self.layout, dims, dtype or self.dtype, relative_byte_offset)
        address = self.address + relative_byte_offset
        aligned = address % dtype_info(layout.dtype).itemsize == 0
        return Tensor(address, layout._replace(aligned=aligned), self)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        shares = self.dtype != "bfloat16" and (
            dtype is None or np.dtype(dtype) == self.view().dtype
        )
        if copy is False and not shares:
            raise ValueError(f"cannot convert a {self.dtype} tensor without a copy")
        values = self._values(copy=bool(copy))
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        if stream is not None:
            raise BufferError(f"expected stream None for cpu memory, got {stream}")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"expected DLPack device {self.__dlpack_device__()}, got {dl_device}")
        source = self.contiguous_copy() if copy else self
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        return export(source._shared_memory(), versioned=versioned, copied=bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CPU_TYPE, 0)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"{self._values(copy=False)}\nTensor(shape={self.shape}, dtype={self.dtype}, {cpu()})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.view().copy(), self.dtype)

    def _values(self, *, copy: bool) -> AnyArray:
        view = self.view()
        if self.dtype == "bfloat16":
            return bfloat16_to_float32(view)
        return view.copy() if copy else view

    def _shared_memory(self) -> SharedMemory:
        shape, dtype, strides, writable, _ = self.layout
        if strides is not None:
            size = dtype_info(dtype).itemsize
            if any(s % size for s in strides):
                raise BufferError(f"strides {strides} are no multiples of the element size {size}")
            strides = tuple(s // size for s in strides)
        return SharedMemory(self.address, shape, dtype, strides, not writable, self.owner)


NDArray = Tensor


def empty(
    shape: int | tuple[int, ...], dtype: str = "float32", device: Device | str | None = None
) -> Tensor:
    """A tensor with undefined values in new, 64-byte aligned memory.

    Raises ValueError for a negative dim, an unknown dtype, and a device other than the CPU.
    """
    if device is not None:
        _check_device(device)
    shape = (int(shape),) if isinstance(shape, int) else tuple(int(d) for d in shape)
    if any(d < 0 for d in shape):
        raise ValueError(f"expected dims of at least 0, got {shape}")
    layout = Layout(shape, dtype_info(str(dtype)).name)
    storage = Storage(layout.nbytes)
    return Tensor(storage.address, layout, storage)


def array(source: object, device: Device | str | None = None, dtype: str | None = None) -> Tensor:
    """A new tensor with the values of a tensor, an array of any library, or nested lists.

    As `tvm.nd.array` and `tvm.runtime.tensor`: the memory is never shared, lists get NumPy's dtype
    (floats: float64), and `dtype` converts. Raises TypeError for other objects.
    """
    if device is not None:
        _check_device(device)
    if isinstance(source, Tensor) and dtype in (None, source.dtype):
        return source.contiguous_copy()
    if dtype is None and _is_foreign(source):
        return from_dlpack(source).contiguous_copy()
    values = as_numpy(source)
    dtype = dtype or dtype_of_numpy(values.dtype.newbyteorder("="))
    result = empty(values.shape, dtype)
    np.copyto(result.view(), _to_storage(values, dtype, "unsafe"))
    return result


tensor = array


def from_numpy(source: AnyArray) -> Tensor:
    """A tensor over the memory of a NumPy array, which may be read-only or strided.

    Raises TypeError for element types that tensors do not have.
    """
    dtype = dtype_of_numpy(source.dtype)
    itemsize = source.itemsize
    try:  # several times quicker than the array interface, but only for writable packed arrays
        address = buffer_address(source)
    except (TypeError, ValueError, BufferError):
        address, _ = source.__array_interface__["data"]
        strides = None if source.flags.c_contiguous else source.strides
        aligned = bool(source.flags.aligned)
        return Tensor(
            address, Layout(source.shape, dtype, strides, source.flags.writeable, aligned), source
        )
    return Tensor(address, Layout(source.shape, dtype, None, True, address % itemsize == 0), source)


def from_dlpack(source: object) -> Tensor:
    """A tensor over the memory of an object with `__dlpack__`, or of a DLPack capsule.

    Nothing is copied. The tensor is read-only for producers of DLPack before 1.0. Raises
    BufferError for memory that is not on the CPU or that its library does not share, TypeError for
    element types that tensors do not have.
    """
    if isinstance(source, Tensor):
        return source
    if _is_numpy(source):
        return from_numpy(source)
    if _is_foreign(source):
        return _from_memory(torch_memory(source) or consume(source))
    return _from_memory(consume_capsule(source))


def as_tensor(source: object) -> Tensor:
    """A tensor over the memory of any array, without a copy; raises TypeError for other objects."""
    if isinstance(source, Tensor):
        return source
    if _is_numpy(source):
        return from_numpy(source)
    if _is_foreign(source):
        return _from_memory(torch_memory(source) or consume(source))
    if hasattr(source, "__array_interface__"):
        values = np.asarray(source)
        if isinstance(source, np.generic):  # of which it is a copy
            values.flags.writeable = False
        return from_numpy(values)
    raise TypeError(f"expected a tensor, got {type(source).__name__}")


def as_numpy(source: object) -> AnyArray:
    """The values of an array of any library or of nested lists, without a copy where possible."""
    if isinstance(source, Tensor):
        return np.asarray(source)
    if _is_numpy(source):
        return source
    if _is_foreign(source):
        return np.asarray(from_dlpack(source))
    values = np.asarray(source)
    if values.dtype == object:
        raise TypeError(
            f"expected an array or nested lists of numbers, got {type(source).__name__}"
        )
    return values


def _is_numpy(source: object) -> TypeGuard[AnyArray]:
    return isinstance(source, np.ndarray)


def _is_foreign(source: object) -> TypeGuard[SupportsDLPack]:
    return hasattr(source, "__dlpack__") and not isinstance(source, np.ndarray)


def _from_memory(memory: SharedMemory) -> Tensor:
    shape, dtype, strides = memory.shape, memory.dtype, memory.strides
    if not memory.address and prod(shape):
        raise BufferError(f"expected memory for a tensor of shape {shape}, got none")
    size = dtype_info(dtype).itemsize
    if strides is not None:
        strides = tuple(s * size for s in strides)
    layout = Layout(shape, dtype, strides, not memory.read_only, memory.address % size == 0)
    return Tensor(memory.address, layout, memory.owner)


def _to_storage(values: AnyArray, dtype: str, casting: Any) -> AnyArray:
    if values.dtype.name == "bfloat16":  # the type an extension package registered
        values = bfloat16_to_float32(values.view(np.uint16))
    if dtype == "bfloat16":
        wide = np.float32 if values.dtype == np.float32 else np.float64
        return to_bfloat16(values.astype(wide, casting=casting, copy=False))
    return values.astype(dtype_info(dtype).storage, casting=casting, copy=False)


def _check_device(name: Device | str) -> None:
    device(name)


def _unpickle(storage: AnyArray, dtype: str) -> Tensor:
    result = empty(storage.shape, dtype)
    np.copyto(result.view(), storage)
    return result

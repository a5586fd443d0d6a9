"""Export and import of tensors by DLPack, without a copy.

Export creates a capsule around a C struct, and keeps the struct and the memory's owner in a table
until the consumer calls the deleter. Import reads such a struct, and calls its deleter when the
last view is freed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from .device import CPU_TYPE
from .dlpack_deleter import native_deleter
from .dtype import DTYPES, dtype_info, dtype_of_dlpack
from .memory import owner_of

VERSION = (1, 0)
"""The DLPack version of exported versioned capsules."""

_READ_ONLY, _IS_COPIED = 1, 2
_NAME, _USED = b"dltensor", b"used_dltensor"
_NAME_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"


class SupportsDLPack(Protocol):
    """An object of another library that offers its memory through DLPack."""

    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class SharedMemory(NamedTuple):
    """Memory as DLPack describes it: `strides` in elements, None if C-contiguous."""

    address: int
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None
    read_only: bool
    owner: object


class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", _DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("version", _Version),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


# The functions take the capsule's address, not the object: in the destructor, its reference count
# is 0, and it must not become a Python object again.
_api = ctypes.pythonapi
_capsule_new = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_capsule_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", _api)
)
_capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_address_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_address_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_exported: dict[int, tuple[object, ...]] = {}
"""The owners of each exported capsule, by the address of its struct."""


# The defaults below are still there when the interpreter has cleared the module at exit.
@_Deleter
def _delete(managed: int, exported: dict[int, tuple[object, ...]] = _exported) -> None:
    exported.pop(managed, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(
    capsule: int,
    exported: dict[int, tuple[object, ...]] = _exported,
    is_named: Callable[[int, bytes], int] = _address_is,
    pointer: Callable[[int, bytes], int] = _address_pointer,
    names: tuple[bytes, ...] = (_NAME, _NAME_VERSIONED),
) -> None:
    """Free the contents of an unconsumed capsule; a consumed one has another name."""
    for name in names:
        if is_named(capsule, name):
            exported.pop(pointer(capsule, name), None)


_DELETE = ctypes.cast(_delete, ctypes.c_void_p).value or 0
_DESTROY = ctypes.cast(_destroy, ctypes.c_void_p).value


def live_exports() -> int:
    """The number of exported capsules that consumers have not released."""
    return len(_exported)


def export(memory: SharedMemory, *, versioned: bool, copied: bool = False) -> object:
    """A capsule over `memory`; raises BufferError for read-only memory in a legacy capsule."""
    if memory.read_only and not versioned:
        raise BufferError("cannot export read-only memory without DLPack 1.0")
    rank = len(memory.shape)
    dims = (ctypes.c_int64 * (2 * rank))(*memory.shape, *(memory.strides or _packed(memory.shape)))
    managed = _ManagedVersioned() if versioned else _Managed()
    managed.deleter = native_deleter(_DELETE)
    _fill(managed.tensor, memory, ctypes.addressof(dims))
    if isinstance(managed, _ManagedVersioned):
        managed.version.major, managed.version.minor = VERSION
        managed.flags = _READ_ONLY * memory.read_only | _IS_COPIED * copied
    address = ctypes.addressof(managed)
    _exported[address] = (managed, dims, memory.owner)
    return _capsule_new(address, _NAME_VERSIONED if versioned else _NAME, _DESTROY)


def _fill(tensor: Any, memory: SharedMemory, dims: int) -> None:
    info = dtype_info(memory.dtype)
    int64s = ctypes.POINTER(ctypes.c_int64)
    tensor.data = memory.address
    tensor.device_type = CPU_TYPE
    tensor.ndim = len(memory.shape)
    tensor.code, tensor.bits, tensor.lanes = info.code, info.bits, 1
    tensor.shape = ctypes.cast(dims, int64s)
    tensor.strides = ctypes.cast(dims + 8 * len(memory.shape), int64s)


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [1] * len(shape), 1
    for i in reversed(range(len(shape))):
        strides[i] = step
        step *= max(shape[i], 1)
    return tuple(strides)


def consume(producer: SupportsDLPack) -> SharedMemory:
    """The memory of another library's tensor; raises BufferError or TypeError if it is not shared.

    As in NumPy, it is read-only if the library's DLPack version has no such flag: JAX's arrays, for
    example, are immutable.
    """
    device_type, index = producer.__dlpack_device__()
    if device_type != CPU_TYPE:
        raise BufferError(
            f"expected memory on the cpu, got DLPack device ({int(device_type)}, {index})"
        )
    try:
        capsule = producer.__dlpack__(max_version=VERSION)
    except TypeError:  # a producer from before DLPack 1.0 does not know the argument
        capsule = producer.__dlpack__()
    is_legacy = bool(_capsule_is(capsule, _NAME))
    memory = consume_capsule(capsule)
    return memory._replace(read_only=True) if is_legacy else memory


def consume_capsule(capsule: object) -> SharedMemory:
    """The memory in a capsule, which this call consumes; raises BufferError for a used capsule."""
    if _capsule_is(capsule, _NAME_VERSIONED):
        managed = _take(capsule, _ManagedVersioned, _NAME_VERSIONED, _USED_VERSIONED)
    elif _capsule_is(capsule, _NAME):
        managed = _take(capsule, _Managed, _NAME, _USED)
    else:
        raise BufferError("expected an unused DLPack capsule")
    # From here on the owner frees the memory, also if the checks below raise.
    owner = None
    if managed.deleter:
        owner = owner_of(_Deleter(managed.deleter), ctypes.addressof(managed))
    read_only = False
    if isinstance(managed, _ManagedVersioned):
        if managed.version.major != VERSION[0]:
            raise BufferError(f"expected DLPack {VERSION[0]}, got {managed.version.major}")
        read_only = bool(managed.flags & _READ_ONLY)
    return _read(managed.tensor, read_only, owner)


def _take(capsule: object, struct: type[Any], name: bytes, used: bytes) -> Any:
    managed = struct.from_address(_capsule_pointer(capsule, name))
    _capsule_rename(capsule, used)
    return managed


def _read(tensor: Any, read_only: bool, owner: object) -> SharedMemory:
    rank = tensor.ndim
    shape = tuple(tensor.shape[:rank]) if rank else ()
    strides = tuple(tensor.strides[:rank]) if rank and tensor.strides else None
    return SharedMemory(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        dtype_of_dlpack(tensor.code, tensor.bits, tensor.lanes),
        strides if strides != _packed(shape) else None,
        read_only,
        owner,
    )


_names: dict[object, str | None] = {}


def torch_memory(source: Any) -> SharedMemory | None:
    """The memory of a plain torch tensor on the CPU, as DLPack would describe it.

    None for anything else, and for tensors with gradients or other layouts, which torch itself
    exports or refuses. Raises BufferError for a view with pending negation, which DLPack cannot
    express.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(source, torch.Tensor):
        return None
    if source.is_neg():
        raise BufferError("expected a tensor without the negative bit, use tensor.resolve_neg()")
    if type(source) is not torch.Tensor:
        return None
    dtype = _dtype_name(source.dtype)
    if (
        dtype is None
        or not source.is_cpu
        or source.layout is not torch.strided
        or source.requires_grad
    ):
        return None
    strides = None if source.is_contiguous() else source.stride()
    return SharedMemory(source.data_ptr(), tuple(source.shape), dtype, strides, False, source)


def _dtype_name(dtype: object) -> str | None:
    try:
        return _names[dtype]
    except KeyError:
        name = str(dtype).removeprefix("torch.")
        return _names.setdefault(dtype, DTYPES[name].name if name in DTYPES else None)

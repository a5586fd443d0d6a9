"""The Python ABI that native code relies on: addresses of objects and functions, verified offsets.

The offsets of fields are those of CPython with a GIL and of NumPy's arrays. They are verified once
on known objects; if one differs (PyPy, a free-threaded build, another NumPy), every call takes the
Python path.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import cache
from typing import Any

import numpy as np

from .call_words import Place, PythonWord
from .layout import Layout
from .memory import Storage
from .tensor import Tensor

_POINTER = 8
_DLPACK_API = b"dlpack_exchange_api"
_DLPACK_MAJOR = 1
_ALLOCATE, _TO_OBJECT, _VIEW, _WORDS = 2, 4, 5, 7
"""Positions in the words of a `DLPackExchangeAPI`, of version 1."""

_NAMES = {"requires_grad": PythonWord.REQUIRES_GRAD, "is_neg": PythonWord.IS_NEG}
_FUNCTIONS = {
    PythonWord.CLEAR: "PyErr_Clear",
    PythonWord.INCREF: "Py_IncRef",
    PythonWord.DECREF: "Py_DecRef",
    PythonWord.VECTORCALL: "PyObject_Vectorcall",
    PythonWord.VECTORCALL_METHOD: "PyObject_VectorcallMethod",
    PythonWord.METHOD_NEW: "PyMethod_New",
    PythonWord.GET_ATTR: "PyObject_GetAttr",
    PythonWord.ALLOCATE_OBJECT: "PyType_GenericAlloc",
    PythonWord.TUPLE_NEW: "PyTuple_New",
    PythonWord.TUPLE_SIZE: "PyTuple_Size",
    PythonWord.TUPLE_ITEM: "PyTuple_GetItem",
    PythonWord.TUPLE_SET: "PyTuple_SetItem",
    PythonWord.LIST_SIZE: "PyList_Size",
    PythonWord.LIST_ITEM: "PyList_GetItem",
    PythonWord.LIST_SLICE: "PyList_SetSlice",
    PythonWord.LIST_APPEND: "PyList_Append",
    PythonWord.INT_FROM: "PyLong_FromLongLong",
    PythonWord.INT_AS: "PyLong_AsLongLong",
    PythonWord.BYTES_NEW: "PyBytes_FromStringAndSize",
    PythonWord.BYTES_ADDRESS: "PyBytes_AsString",
    PythonWord.SAVE_THREAD: "PyEval_SaveThread",
    PythonWord.RESTORE_THREAD: "PyEval_RestoreThread",
    PythonWord.GIL_ENSURE: "PyGILState_Ensure",
    PythonWord.GIL_RELEASE: "PyGILState_Release",
    PythonWord.CHECK_SIGNALS: "PyErr_CheckSignals",
    PythonWord.ERROR_FETCH: "PyErr_Fetch",
    PythonWord.ERROR_NORMALIZE: "PyErr_NormalizeException",
}

Words = ctypes.Array[ctypes.c_int64]


def words(count: int) -> Words:
    """Zeroed words; ctypes has no empty arrays."""
    return (ctypes.c_int64 * max(count, 1))()


@cache
def python_words() -> Words | None:
    """The `PythonWord`s of this interpreter; `None` if objects have other layouts than expected."""
    if not _has_known_objects():
        return None
    table = words(len(PythonWord))
    for word, name in _FUNCTIONS.items():
        table[word] = _function_address(name)
    for name, word in _NAMES.items():
        table[word] = id(sys.intern(name))
    table[PythonWord.ARRAY_TYPE] = id(np.ndarray)
    table[PythonWord.TENSOR_TYPE] = id(Tensor)
    table[PythonWord.LAYOUT_TYPE] = id(Layout)
    table[PythonWord.TUPLE_TYPE] = id(tuple)
    table[PythonWord.NONE] = id(None)
    table[PythonWord.TRUE] = id(True)
    return table


def admit_torch() -> None:
    """Let native code read torch's tensors, if torch is imported and has DLPack's exchange API."""
    torch = sys.modules.get("torch")
    if torch is not None:
        _admit(getattr(torch, "Tensor", None))


@cache
def _admit(tensor_type: type | None) -> None:
    table = python_words()
    capsule = getattr(tensor_type, "__dlpack_c_exchange_api__", None)
    if table is None or capsule is None:
        return
    try:
        address = _capsule_pointer(capsule, _DLPACK_API)
    except ValueError:  # a capsule of another name
        return
    api = (ctypes.c_int64 * _WORDS).from_address(address)
    if api[0] & 0xFFFFFFFF == _DLPACK_MAJOR and api[_ALLOCATE] and api[_TO_OBJECT] and api[_VIEW]:
        table[PythonWord.DL_ALLOCATE] = api[_ALLOCATE]
        table[PythonWord.DL_OBJECT] = api[_TO_OBJECT]
        table[PythonWord.DL_VIEW] = api[_VIEW]
        table[PythonWord.DL_IGNORE] = ctypes.cast(_ignore, ctypes.c_void_p).value or 0
        table[PythonWord.TORCH_TYPE] = id(tensor_type)


# DLPack's callback for errors; the Python path repeats the call, and raises.
@ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
def _ignore(context: int, kind: bytes, message: bytes) -> None:
    pass


_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _function_address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _has_known_objects() -> bool:
    return (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and ctypes.sizeof(ctypes.c_void_p) == _POINTER
        and sys.byteorder == "little"
        and all(hasattr(ctypes.pythonapi, name) for name in _FUNCTIONS.values())
        and _has_known_types()
        and _has_known_tensors()
        and _has_known_arrays()
    )


def _word(value: object, place: int) -> int:
    """The 64-bit word at an offset in an object; -1 if the object is smaller."""
    if type(value).__basicsize__ < place + _POINTER:
        return -1
    return ctypes.c_int64.from_address(id(value) + place).value


def _has_known_types() -> bool:
    values: tuple[object, ...] = (None, (), "", Layout((), "float32"), np.empty(1))
    return object.__basicsize__ == Place.VECTORCALL and all(
        ctypes.c_int64.from_address(id(v) + Place.TYPE).value == id(type(v)) for v in values
    )


def _has_known_tensors() -> bool:
    storage = Storage(1)
    layout = Layout((), "bool")
    made = Tensor(storage.address, layout, storage)
    return (
        _word(made, Place.TENSOR_ADDRESS) == id(made.address)
        and _word(made, Place.TENSOR_LAYOUT) == id(layout)
        and _word(made, Place.TENSOR_OWNER) == id(storage)
        and _word(storage, Place.STORAGE_ADDRESS) == id(storage.address)
        and _word(storage, Place.STORAGE_BYTES) == id(storage.nbytes)
    )


def _has_known_arrays() -> bool:
    array = np.empty((2, 3, 5), np.float32)
    read_only = array[1:]
    read_only.flags.writeable = False
    return all(map(_is_known_array, (array, array.T, read_only, np.zeros((), np.int8))))


def _is_known_array(array: np.ndarray[Any, Any]) -> bool:
    low = 0xFFFFFFFF
    return (
        _word(array, Place.ARRAY_DATA) == array.__array_interface__["data"][0]
        and _word(array, Place.ARRAY_RANK) & low == array.ndim
        and _word(array, Place.ARRAY_DTYPE) == id(array.dtype)
        and _word(array, Place.ARRAY_FLAGS) & low == array.flags.num
        and _dims(array) == array.shape
    )


def _dims(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    address = _word(array, Place.ARRAY_DIMS)
    if not array.ndim or address <= 0:
        return ()
    return tuple((ctypes.c_int64 * array.ndim).from_address(address))

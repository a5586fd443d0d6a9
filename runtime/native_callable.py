"""The base type of Python objects whose calls run native code, made of CPython's stable interface.

struct { PyObject_HEAD; vectorcallfunc function; void *call; }
"""

from __future__ import annotations

import ctypes
from typing import Any

from .call_words import Place
from .python_words import python_words

_TP_CALL, _TP_MEMBERS = 50, 72
_BASETYPE, _HAVE_VECTORCALL = 1 << 10, 1 << 11
_PY_SSIZE_T, _READ_ONLY = 19, 1


class _Slot(ctypes.Structure):
    _fields_ = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basic_size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_MEMBERS = (_Member * 2)(
    _Member(b"__vectorcalloffset__", _PY_SSIZE_T, Place.VECTORCALL, _READ_ONLY, None)
)


def _make() -> type:
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p)
    slots = (_Slot * 3)(
        _Slot(_TP_CALL, call), _Slot(_TP_MEMBERS, ctypes.cast(_MEMBERS, ctypes.c_void_p))
    )
    size = Place.CALL + ctypes.sizeof(ctypes.c_void_p)
    spec = _Spec(_NAME, size, 0, _BASETYPE | _HAVE_VECTORCALL, slots)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(
        ("PyType_FromSpec", ctypes.pythonapi)
    )
    return make(ctypes.byref(spec))


_NAME = f"{__name__}.NativeCallable".encode()


class _Callable:
    """The base where there are no native calls; it has no instances."""


NativeCallable: Any = _Callable if python_words() is None else _make()


def set_native_call(instance: Any, function: int, call: int) -> None:
    """Set what runs when an instance is called, and the address of its table."""
    address = id(instance)
    ctypes.c_int64.from_address(address + Place.CALL).value = call
    ctypes.c_int64.from_address(address + Place.VECTORCALL).value = function

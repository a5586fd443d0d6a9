"""The deleter of exported tensors as native code, which keeps an exception that is set.

A consumer may free a tensor while an exception propagates. CPython must not run a Python function
then: its result would replace the exception. The native code around it takes the exception away,
and sets it again.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

from .native import link_text

_FUNCTIONS = ("PyGILState_Ensure", "PyErr_Fetch", "PyErr_Restore", "PyGILState_Release")
_TEXT = """
define void @{symbol}(ptr %managed) {{
  %kind = alloca ptr
  %value = alloca ptr
  %traceback = alloca ptr
  %state = call i32 inttoptr (i64 {PyGILState_Ensure} to ptr)()
  call void inttoptr (i64 {PyErr_Fetch} to ptr)(ptr %kind, ptr %value, ptr %traceback)
  call void inttoptr (i64 {callback} to ptr)(ptr %managed)
  %old_kind = load ptr, ptr %kind
  %old_value = load ptr, ptr %value
  %old_traceback = load ptr, ptr %traceback
  call void inttoptr (i64 {PyErr_Restore} to ptr)(ptr %old_kind, ptr %old_value, ptr %old_traceback)
  call void inttoptr (i64 {PyGILState_Release} to ptr)(i32 %state)
  ret void
}}
"""
_SYMBOL = "xrelax.dlpack.delete"


@cache
def native_deleter(callback: int) -> int:
    """The address of a deleter that calls the one at `callback`, which runs Python code.

    On other interpreters than CPython it is `callback` itself.
    """
    api = ctypes.pythonapi
    if sys.implementation.name != "cpython" or not all(hasattr(api, n) for n in _FUNCTIONS):
        return callback
    addresses = {name: _address(getattr(api, name)) for name in _FUNCTIONS}
    return link_text(_TEXT.format(symbol=_SYMBOL, callback=callback, **addresses), _SYMBOL)


def _address(function: Callable[..., object]) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # pyright: ignore[reportArgumentType]

"""Native calls of compiled functions by Python's vectorcall: the tables that native code reads.

`python_calls` has the native side. It handles a call if all arguments are tensors of xrelax, NumPy
arrays or torch tensors that need no copy, and the plan for their dims is cached. All other calls
take the Python path, `CompiledFunction`, which caches their plan.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from .arguments import Plan
from .call import CompiledFunction, new_result
from .call_words import HASH_FACTOR, PLAN_BITS, PLAN_SLOTS, CallWord, Place, PlanWord, TensorWord
from .dtype import dtype_info
from .layout import Layout
from .outputs import accepts_out
from .python_words import Words, admit_torch, python_words, words
from .signature import FunctionSpec, ParamSpec, TensorSpec

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
    """The base type of objects whose calls run native code, by CPython's stable ABI.

    Its instances are ``struct { PyObject_HEAD; vectorcallfunc function; void *call; }``.
    """
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


if TYPE_CHECKING:

    class NativeCallable:
        """An object whose calls run the native code at its address."""

        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

else:
    # If this Python has no native calls, the type has no instances.
    NativeCallable = type("NativeCallable", (), {}) if python_words() is None else _make()


def set_native_call(instance: Any, function: int, call: int) -> None:
    """Set the addresses of an instance's native function and of its table."""
    address = id(instance)
    ctypes.c_int64.from_address(address + Place.CALL).value = call
    ctypes.c_int64.from_address(address + Place.VECTORCALL).value = function


Keeper: TypeAlias = "tuple[Words, tuple[Layout, ...]]"


class CallTable:
    """The words of one callable object, which native code reads while it is called.

    `slow` and `fail` are methods of the callable: `slow` is the Python path of a call, and `fail`
    raises the exception for a status. With `new_torch`, results are torch tensors, and it makes
    the large ones.
    """

    def __init__(
        self,
        function: CompiledFunction,
        slow: Callable[..., Any],
        fail: Callable[..., Any],
        *,
        new_torch: Callable[[Layout], Any] | None = None,
    ) -> None:
        python, spec = python_words(), function.spec
        assert python is not None, "expected an interpreter that has native calls"
        self._plans: dict[int, Keeper] = {}
        self._dims: dict[int, tuple[int, ...]] = {}
        self._last: Plan | None = None
        self._slots = words(PLAN_SLOTS)
        self._lock = threading.Lock()
        self._context = words(len(function.context))
        self._context[:] = function.context
        self._descriptors = _descriptors(spec)
        allocate = new_torch or new_result
        self._kept = (python, slow, fail, allocate, function.arenas.free)
        self.words = table = words(len(CallWord))
        table[CallWord.PYTHON] = ctypes.addressof(python)
        table[CallWord.ENTRY] = function.address
        table[CallWord.SLOW] = id(slow)
        table[CallWord.FAIL] = id(fail)
        table[CallWord.ALLOCATE] = id(allocate)
        table[CallWord.ARENAS] = id(function.arenas.free)
        table[CallWord.ARITY] = len(spec.params)
        table[CallWord.RESULTS] = len(spec.results)
        table[CallWord.ARGUMENT_DIMS] = sum(len(p.shape) for p in spec.params)
        table[CallWord.ALL_DIMS] = sum(len(t.shape) for t in (*spec.params, *spec.results))
        table[CallWord.SYMBOLS] = len(spec.symbols)
        table[CallWord.CONTEXT] = ctypes.addressof(self._context)
        table[CallWord.OUT] = id(sys.intern("out")) if accepts_out(spec) else 0
        table[CallWord.RETURNS_TUPLE] = spec.returns_tuple
        table[CallWord.RETURNS_TORCH] = new_torch is not None
        table[CallWord.WRITES] = any(p.written for p in spec.params)
        table[CallWord.TENSORS] = ctypes.addressof(self._descriptors)
        table[CallWord.PLANS] = ctypes.addressof(self._slots)

    def learn(self, plan: Plan) -> None:
        """Cache a plan, so that native code handles calls with its dims."""
        if plan is self._last:
            return
        admit_torch()
        slot = plan_slot(plan.dims)
        with self._lock:
            if self._dims.get(slot) != plan.dims:
                found = _plan_words(plan)
                self._slots[slot] = ctypes.addressof(found[0])
                self._plans[slot] = found  # frees the old one, to which no table refers any more
                self._dims[slot] = plan.dims
            self._last = plan


def plan_slot(dims: tuple[int, ...]) -> int:
    """The slot of the plan of a call with these dims in the hash table."""
    found = 0
    for dim in dims:
        found = (found ^ dim) * HASH_FACTOR & 0xFFFFFFFFFFFFFFFF
    return found >> (64 - PLAN_BITS)


def _descriptors(spec: FunctionSpec) -> Words:
    """The `TensorWord`s of each parameter and result."""
    params = [_described(param, param.written) for param in spec.params]
    results = [_described(result, True) for result in spec.results]
    numbers = list(chain.from_iterable((*params, *results)))
    found = words(len(numbers))
    found[:] = numbers
    return found


def _described(tensor: ParamSpec | TensorSpec, written: bool) -> list[int]:
    info = dtype_info(tensor.dtype)
    found = [0] * len(TensorWord)
    # NumPy holds bfloat16 as uint16, another dtype: the Python path converts or raises.
    found[TensorWord.ARRAY_DTYPE] = 0 if info.name == "bfloat16" else id(info.storage)
    found[TensorWord.DTYPE_NAME] = id(info.name)
    found[TensorWord.DL_DTYPE] = info.code | info.bits << 8 | 1 << 16
    found[TensorWord.RANK] = len(tensor.shape)
    found[TensorWord.ALIGN_MASK] = info.itemsize - 1
    found[TensorWord.WRITTEN] = written
    found[TensorWord.ARRAY_FLAGS] = _C_CONTIGUOUS | _ALIGNED | _WRITEABLE * written
    return found


_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400


def _plan_words(plan: Plan) -> Keeper:
    """The `PlanWord`s of a plan, and the layouts that they point to, which it keeps alive."""
    layouts = plan.results
    parts = {
        PlanWord.SYMBOLS: plan.symbols,
        PlanWord.DIMS: (*plan.dims, *(dim for layout in layouts for dim in layout.shape)),
        PlanWord.BYTES: (*plan.extents, *(layout.nbytes for layout in layouts)),
        PlanWord.LAYOUTS: tuple(map(id, layouts)),
    }
    found = words(len(PlanWord) + sum(map(len, parts.values())))
    end = len(PlanWord)
    for word, values in parts.items():
        found[word] = ctypes.addressof(found) + ctypes.sizeof(ctypes.c_int64) * end
        found[end : end + len(values)] = values
        end += len(values)
    found[PlanWord.ARENA] = plan.arena_size
    keeper = (found, layouts)
    found[PlanWord.KEEPER] = id(keeper)
    return keeper


class NativeFunction(NativeCallable, CompiledFunction):
    """A `CompiledFunction` with native calls."""

    def __init__(self, entry: int, *args: Any) -> None:
        super().__init__(*args)
        self.entry = entry
        self._table = CallTable(self, CompiledFunction.__call__, CompiledFunction.fail)
        set_native_call(self, entry, ctypes.addressof(self._table.words))

    def learn(self, plan: Plan) -> None:
        """Cache the plan of a call, so that native code handles the next one with its dims."""
        self._table.learn(plan)


def compiled_function(entry: int | None, spec: FunctionSpec, *args: Any) -> CompiledFunction:
    """A function with native calls if possible, by the `ENTRY_SYMBOL` at `entry`.

    Functions with callbacks, and with tuples, shapes or integers, take the Python path.
    """
    is_plain = spec.signature is None and not spec.packed_sites and not spec.takes_memory
    if entry is None or not is_plain or python_words() is None:
        return CompiledFunction(spec, *args)
    return NativeFunction(entry, spec, *args)

"""The data that native code reads in a call: offsets in Python objects, and 64-bit words.

Both sides use this table: the runtime fills the words (`python_words`, `native_call`), and the code
of `python_calls` and of `lowering.llvm.words` reads them. `saving.VERSION` changes with these
numbers.
"""

from __future__ import annotations

from enum import IntEnum

# The context that every native function gets. Words that a call does not fill start as 0.

NAMES = (
    *("callback", "token", "arena", "constants", "check", "first", "second", "depth"),
    *("poll", "python", "due"),
)
"""The callback function, the token of the call, scratch memory, the table of constants, the report
of a failed check (three words), the depth of recursive calls, the function that polls signals, its
table of Python addresses, and the time of its next call."""

CALLBACK, TOKEN, ARENA, CONSTANTS, CHECK, FIRST, SECOND, DEPTH, POLL, PYTHON, DUE = range(
    len(NAMES)
)

CONTEXT_WORDS = len(NAMES)

STATUS_EXCEPTION = 1
"""The status of a native function if a Python exception is pending."""

STATUS_CHECK = 2
"""The status of a native function if a run-time check failed."""

STATUS_SIGNAL = 3
"""The status of a native function if a signal handler raised.

The word of checks has the address of the exception; the caller owns this reference.
"""


ENTRY_SYMBOL = "xrelax.python.vectorcall"
"""The function that Python calls, CPython's `vectorcallfunc`: one for all compiled functions.

Names in programs have no dot, so none can be equal to it.
"""

POLL_SYMBOL = "xrelax.python.poll"
"""The function that native code calls periodically to let Python run signal handlers."""

SMALL_RESULT = 1 << 16
"""Bytes up to which native code allocates a result itself; Python allocates larger ones."""

PLAN_BITS = 8
PLAN_SLOTS = 1 << PLAN_BITS
HASH_FACTOR = 0x9E3779B97F4A7C15
"""Plans are looked up by the top bits of a hash of the dims: ``h = (h ^ dim) * HASH_FACTOR``."""


class Place:
    """Offsets in bytes of fields of Python objects; `python_words` verifies them."""

    TYPE = 8
    VECTORCALL, CALL = 16, 24
    """Of a native callable: its function, and the address of its `Call` words."""
    TENSOR_ADDRESS, TENSOR_LAYOUT, TENSOR_OWNER = 16, 24, 32
    STORAGE_ADDRESS, STORAGE_BYTES = 24, 32
    ARRAY_DATA, ARRAY_RANK, ARRAY_DIMS, ARRAY_DTYPE, ARRAY_FLAGS = 16, 24, 32, 56, 64
    """Of a NumPy array; rank and flags are 32 bits wide."""


class DLPlace:
    """Bytes from the address of a DLPack struct to its fields."""

    DATA, DEVICE, RANK, DTYPE, SHAPE, STRIDES, OFFSET = 0, 8, 16, 20, 24, 32, 40
    """Of a `DLTensor`; device (its type), rank and dtype are 32 bits wide."""
    WORDS = 6
    MANAGED = 32
    """Of the `DLTensor` in a `DLManagedTensorVersioned`."""


class PythonWord(IntEnum):
    """Addresses of Python's objects and functions, and torch's if it has been imported."""

    ARRAY_TYPE = 0
    TENSOR_TYPE = 1
    LAYOUT_TYPE = 2
    TUPLE_TYPE = 3
    TORCH_TYPE = 4
    NONE = 5
    TRUE = 6
    REQUIRES_GRAD = 7
    IS_NEG = 8
    DL_VIEW = 9
    DL_ALLOCATE = 10
    DL_OBJECT = 11
    DL_IGNORE = 12
    CLEAR = 13
    INCREF = 14
    DECREF = 15
    VECTORCALL = 16
    VECTORCALL_METHOD = 17
    METHOD_NEW = 18
    GET_ATTR = 19
    ALLOCATE_OBJECT = 20
    TUPLE_NEW = 21
    TUPLE_SIZE = 22
    TUPLE_ITEM = 23
    TUPLE_SET = 24
    LIST_SIZE = 25
    LIST_ITEM = 26
    LIST_SLICE = 27
    LIST_APPEND = 28
    INT_FROM = 29
    INT_AS = 30
    BYTES_NEW = 31
    BYTES_ADDRESS = 32
    SAVE_THREAD = 33
    RESTORE_THREAD = 34
    GIL_ENSURE = 35
    GIL_RELEASE = 36
    CHECK_SIGNALS = 37
    ERROR_FETCH = 38
    ERROR_NORMALIZE = 39


class CallWord(IntEnum):
    """One callable: the native function, its parameters and results, and its Python fallbacks."""

    PYTHON = 0
    ENTRY = 1
    SLOW = 2
    FAIL = 3
    ALLOCATE = 4
    ARENAS = 5
    ARITY = 6
    RESULTS = 7
    ARGUMENT_DIMS = 8
    ALL_DIMS = 9
    SYMBOLS = 10
    CONTEXT = 11
    OUT = 12
    """The name of the argument for results; 0 if there is none."""
    RETURNS_TUPLE = 13
    RETURNS_TORCH = 14
    WRITES = 15
    TENSORS = 16
    PLANS = 17


class TensorWord(IntEnum):
    """One parameter or result: the requirements on an argument."""

    ARRAY_DTYPE = 0
    DTYPE_NAME = 1
    DL_DTYPE = 2
    RANK = 3
    ALIGN_MASK = 4
    WRITTEN = 5
    ARRAY_FLAGS = 6


class PlanWord(IntEnum):
    """The plan of a call with certain dims; the last four words are addresses of arrays of words.

    The first is a Python object that keeps the arrays alive. Dims and bytes are those of the
    parameters, then of the results; layouts are those of the results.
    """

    KEEPER = 0
    ARENA = 1
    SYMBOLS = 2
    DIMS = 3
    BYTES = 4
    LAYOUTS = 5

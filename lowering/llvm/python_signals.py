"""The function by which a long native call lets Python run the handlers of signals.

    external i32 xrelax.python.poll(ptr ctx)

Native code runs without the GIL, and Python's own handler of a signal only notes it. What the
handler of the program raises, KeyboardInterrupt for Ctrl-C, is left at the word of checks, owned,
and the status says so. Python runs handlers in the main thread alone: in others, nothing happens.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...runtime.call_words import POLL_SYMBOL, PythonWord
from ...runtime.context import CHECK, PYTHON, STATUS_SIGNAL
from .module_state import ModuleState
from .python_code import PythonCode
from .types import PTR


def define_poll(module: ModuleState) -> None:
    """Add the function."""
    f = PythonCode(module, POLL_SYMBOL)
    f.is_private = False
    context = f.add_argument(PTR)
    f.python = f.word(context, PYTHON)
    state = f.call(PythonWord.GIL_ENSURE, returns=i32)
    raised = f.call(PythonWord.CHECK_SIGNALS, returns=i32)

    def failed() -> tuple[SSAValue, ...]:
        _take_exception(f, context)
        return (f.integer(STATUS_SIGNAL, i32),)

    (status,) = f.choose(f.is_zero(raised), lambda: (f.integer(0, i32),), failed)
    f.do(PythonWord.GIL_RELEASE, state)
    f.finish(linkage="external", status=status)


def _take_exception(f: PythonCode, context: SSAValue) -> None:
    """Move the exception that is set to the context."""
    places = [f.alloca(PTR, 8) for _ in range(3)]
    f.do(PythonWord.ERROR_FETCH, *places)
    f.do(PythonWord.ERROR_NORMALIZE, *places)
    kind, value, traceback = map(f.load, places)
    f.store(value, context, 8 * CHECK)
    f.do(PythonWord.DECREF, kind)
    f.do(PythonWord.DECREF, traceback)

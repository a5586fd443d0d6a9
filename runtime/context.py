"""The words of the context that every native function gets, by position, and what it returns.

One table for both sides: the run time fills the words, native code (`lowering.llvm.words`) reads
them. Words that a call does not fill start as 0.
"""

from __future__ import annotations

NAMES = (
    *("callback", "token", "arena", "constants", "check", "first", "second", "depth"),
    *("poll", "python", "due"),
)
"""The function to call back, the token of the call, scratch memory, the table of constants, what a
failed check reports (three words), how deep calls of functions that call themselves are, the
function that asks about signals, what it must know of Python, and when it is due."""

CALLBACK, TOKEN, ARENA, CONSTANTS, CHECK, FIRST, SECOND, DEPTH, POLL, PYTHON, DUE = range(
    len(NAMES)
)

CONTEXT_WORDS = len(NAMES)

STATUS_EXCEPTION = 1
"""The status of a native function while a Python exception is pending."""

STATUS_CHECK = 2
"""The status of a native function whose run-time check failed."""

STATUS_SIGNAL = 3
"""The status of a native function after the handler of a signal has raised.

The address of the exception is at the word of checks; whoever gets the status owns it.
"""

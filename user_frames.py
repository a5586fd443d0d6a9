"""What is printed of an error: the user's own frames, because what is wrong is in their lines.

A traceback is filtered where a frame of the package raised the error on purpose, with ``raise``, or
where the user's code was called back and failed. Errors that the package did not mean to raise,
such as a KeyError of a dictionary, keep all frames: they are faults to report. A notebook has a
few lines for each error, and says how to see the frames. The environment variable
``XRELAX_TRACEBACK=full`` keeps all frames of every error. JAX filters its tracebacks alike
(`jax_traceback_filtering`); here only what is printed differs, `error.__traceback__` does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dis import opmap
from sysconfig import get_paths
from traceback import StackSummary, TracebackException
from types import TracebackType
from typing import Any

PACKAGE = __name__.partition(".")[0]
_LIBRARIES = tuple({get_paths()[name] for name in ("stdlib", "purelib", "platlib")})
CELL_LINES = 6
"""The most that a notebook shows of an error."""

_RAISE = opmap["RAISE_VARARGS"]


def is_filtered(error: BaseException) -> bool:
    """Whether the error is shown without the frames of the package."""
    if os.environ.get("XRELAX_TRACEBACK") == "full" or not isinstance(error, Exception):
        return False
    entries = list(_entries(error.__traceback__))
    if not any(map(_is_ours, entries)):
        return False
    last = entries[-1]
    if not _is_ours(last):
        return _is_users(last)
    if isinstance(error, AssertionError | NotImplementedError):
        return False
    return isinstance(error, OSError) or last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


def user_frames(error: BaseException) -> StackSummary:
    """The frames of the user's code, and of libraries that it calls the package through.

    A script error names the line of the script itself and has no frames.
    """
    kept: list[TracebackType] = []
    inside = False
    for entry in _entries(None if isinstance(error, SyntaxError) else error.__traceback__):
        inside = inside or _is_ours(entry)
        if not inside or _is_users(entry):
            kept.append(entry)
    return StackSummary.extract((entry.tb_frame, entry.tb_lineno) for entry in kept)


def lines_of(error: BaseException) -> list[str]:
    """What a terminal shows of a filtered error; the lines have their ends."""
    return list(_shown(error).format())


def cell_lines_of(error: BaseException) -> list[str]:
    """What a notebook shows of it: places and lines of the user's code, then the message.

    These are at most `CELL_LINES`. Of an error that the package did not mean to raise, the last
    line has the place.
    """
    cells = _cells()
    frames = [*{(f.filename, f.lineno): f for f in user_frames(error)}.values()]
    first = next((i for i, frame in enumerate(frames) if frame.filename in cells), 0)
    inside = [] if is_filtered(error) else [_place_inside(error)]
    message = "".join(_shown(error).format_exception_only()).splitlines()
    has_room = CELL_LINES - len(inside) - len(message) >= 4
    shown = frames[first : first + has_room] + frames[first + has_room :][-1:]
    lines: list[str] = []
    for frame in shown:
        lines += [f'  File "{frame.filename}", line {frame.lineno}']
        lines += [f"----> {frame.lineno} {frame.line}"]
    text = "\n".join([*lines, *_cut(message, CELL_LINES - len(inside) - len(lines)), *inside])
    for filename, cell in cells.items():
        text = text.replace(f'  File "{filename}"', cell)
    return with_cells(text).splitlines()


def with_cells(text: str) -> str:
    """A text with ``Cell In[3]`` for the file that IPython keeps the third cell in."""
    for filename, cell in _cells().items():
        text = text.replace(filename, cell)
    return text


def concerns_us(error: BaseException) -> bool:
    """Whether a notebook shows the error by `cell_lines_of`: a call of the package raised it."""
    if os.environ.get("XRELAX_TRACEBACK") == "full" or not isinstance(error, Exception):
        return False
    return any(map(_is_ours, _entries(error.__traceback__)))


def _cut(message: list[str], most: int) -> list[str]:
    if len(message) <= most:
        return message
    left = len(message) - most + 1
    return [*message[: most - 1], f"… {left} more lines: print(sys.last_value)"]


def _place_inside(error: BaseException) -> str:
    """Where the package failed, and how to see the frames."""
    entry = [e for e in _entries(error.__traceback__) if _is_ours(e)][-1]
    place = f"{entry.tb_frame.f_globals['__name__']}, line {entry.tb_lineno}"
    return f"raised in {place}; all frames: %env XRELAX_TRACEBACK=full"


def _shown(error: BaseException) -> TracebackException:
    """The error with the user's frames, after the errors of the user's code that led to it."""
    shown: Any = TracebackException(type(error), error, None)
    shown.stack = user_frames(error) or None
    for link in ("__cause__", "__context__"):
        reason: BaseException | None = getattr(error, link)
        setattr(shown, link, _shown(reason) if reason and _is_raised_by_user(reason) else None)
    return shown


def _cells() -> dict[str, str]:
    """``Cell In[3]`` by the name of the file that IPython keeps the third cell in."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    numbers: dict[str, int] = {} if shell is None else shell.compile._filename_map
    return {filename: f"Cell In[{number}]" for filename, number in numbers.items()}


def _is_raised_by_user(error: BaseException) -> bool:
    entries = list(_entries(error.__traceback__))
    return bool(entries) and _is_users(entries[-1])


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_ours(entry: TracebackType) -> bool:
    return entry.tb_frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE


def _is_users(entry: TracebackType) -> bool:
    filename = entry.tb_frame.f_code.co_filename
    return not (_is_ours(entry) or filename.startswith(("<frozen", *_LIBRARIES)))

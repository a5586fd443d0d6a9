"""Hooks by which the interpreter and notebooks print uncaught errors as `user_frames` has them."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any


def install() -> None:
    """Have uncaught errors of the main thread, of other threads and of cells filtered.

    Errors that are not filtered go to the hooks that were there before.
    """
    if getattr(sys.excepthook, "__module__", "") == __name__:
        return
    sys.excepthook = _hook(sys.excepthook)
    threading.excepthook = _thread_hook(threading.excepthook)
    ipython = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_cell)


def _hook(previous: Any) -> Any:
    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        from .user_frames import is_filtered, lines_of

        if is_filtered(error):
            sys.stderr.writelines(lines_of(error))
        else:
            previous(kind, error, trace)

    return hook


def _thread_hook(previous: Any) -> Any:
    def hook(args: Any) -> None:
        from .user_frames import is_filtered, lines_of

        if args.exc_value is not None and is_filtered(args.exc_value):
            name = threading.get_ident() if args.thread is None else args.thread.name
            sys.stderr.writelines([f"Exception in thread {name}:\n", *lines_of(args.exc_value)])
        else:
            previous(args)

    return hook


def _show_in_cell(
    shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None
) -> None:
    from .user_frames import cell_lines_of, concerns_us

    if concerns_us(error):
        # What %debug works on.
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
        shell.InteractiveTB.tb = trace
        shell._showtraceback(kind, error, cell_lines_of(error))
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

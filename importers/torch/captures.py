"""What TorchDynamo could not capture: a warning for a function of which no graph is compiled.

TorchDynamo runs such a function in Python without asking the backend, and says nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch import _dynamo
from torch._dynamo.eval_frame import innermost_backend
from torch._dynamo.exc import SkipFrame, Unsupported

from ...runtime.warning import XRelaxWarning
from .source_lines import frame_place


def watch(backend: Callable[..., Any]) -> None:
    """Warn, from now on, where functions that a backend was to compile are left to Python.

    `torch._dynamo.reset` ends it.
    """
    handler: Any = getattr(_dynamo, "callback_handler")
    known = {getattr(c, "backend", None) for c in handler.end_callbacks}
    if backend not in known:
        handler.register_end_callback(_Watch(backend))


class _Watch:
    """Called at the end of each attempt to compile a function, also of one that has failed."""

    def __init__(self, backend: Callable[..., Any]) -> None:
        self.backend = backend

    def __call__(self, _: Any) -> None:
        error = sys.exception()
        attempt = _attempt(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        while isinstance(error, SkipFrame):
            error = error.__cause__ or error.__context__
        if not isinstance(error, Unsupported) or attempt is None or attempt["one_graph"]:
            return
        if _function(attempt["compiler_fn"]) is self.backend:
            _warn(error, attempt["code"])


def _attempt(frame: FrameType | None) -> dict[str, Any] | None:
    """What TorchDynamo knows of the attempt that is under way: there is no other way to ask it."""
    while frame is not None:
        if {"compiler_fn", "one_graph", "code"} <= frame.f_locals.keys():
            return frame.f_locals
        frame = frame.f_back
    return None


def _function(backend: Any) -> Any:
    """The function that a backend of `torch.compile` calls."""
    found: Any = innermost_backend(backend)
    found = getattr(found, "compiler_fn", found)
    return getattr(found, "func", found)


def _warn(error: Unsupported, code: Any) -> None:
    reason = str(error).strip().partition("\n")[0]
    where = frame_place(error.real_stack)
    warnings.warn(
        f"PyTorch runs '{code.co_name}' in Python, and 0 graphs of it are compiled: "
        f"TorchDynamo could not capture {where}: {reason}",
        XRelaxWarning,
        stacklevel=2,
    )

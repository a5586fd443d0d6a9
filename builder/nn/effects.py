"""State that the functions of models pass on, and what changes it: ``op.print_``."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...ir.expr import Expr, Var
from ...ir.struct_info import ObjectStructInfo
from .. import op
from .calls import emitted


class Effect:
    """State that the functions of a model pass on: an input, and a part of the result."""

    state: Any = None
    """The value at this point of a function that is exported."""

    def effect_variables(self, name: str) -> list[Var]:
        """The inputs for the state of an effect with this path."""
        return [Var(name, ObjectStructInfo())]


class IOEffect(Effect):
    """The state of printing, which models exported with ``debug=True`` have."""


_CURRENT: ContextVar[IOEffect | None] = ContextVar("_CURRENT", default=None)


@contextmanager
def printing(effect: IOEffect | None) -> Generator[None]:
    """Let `debug_func` inside change the state of an effect."""
    token = _CURRENT.set(effect)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def debug_func(name: str, *args: Any, _line_info: str | None = None) -> None:
    """Call a registered function ``f(line, *args)`` whenever this line of a model runs.

    `line` is the file and number of the line; arguments are values of the graph, numbers and
    strings. TVM's ``nn.op.debug_func``. Raises ValueError in models that are exported without
    ``debug=True``.
    """
    effect = _CURRENT.get()
    if effect is None:
        raise ValueError(f"expected a model that is exported with debug=True for '{name}'")
    given = (effect.state, name, _line_info or _line_of_caller(), *args)
    called = "vm.builtin.invoke_debug_func"
    call = op.call_pure_packed(called, *given, sinfo_args=ObjectStructInfo())
    effect.state = emitted(call, "_io")


def print_(tensor: Expr) -> None:
    """Print a tensor whenever this line of a model runs; TVM's ``nn.op.print_``.

    Raises ValueError in models that are exported without ``debug=True``.
    """
    debug_func("vm.builtin.debug_print", tensor, _line_info=_line_of_caller())


def _line_of_caller() -> str:
    """The file and number of the line that calls the function that asks for it."""
    caller = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    return f"{caller.f_code.co_filename}:{caller.f_lineno}"

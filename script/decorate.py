"""The decorators `ir_module`, `prim_func` and `function`: Python definitions become programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from ..ir.function import function_view
from ..ir.module import IRModule
from .parser import ProgramParser, parse_text
from .printer.metadata import read_constants
from .source import Definition, find_definition, functions_of


def _surroundings(frame: FrameType, functions: list[FunctionType]) -> dict[str, Any]:
    """The Python names that a definition sees: globals, locals, and what its functions enclose."""
    names = {**frame.f_globals, **frame.f_locals}
    for function in functions:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                names.setdefault(name, cell.cell_contents)
            except ValueError:  # the variable has no value yet
                continue
    return names


def _parser(obj: Any, frame: FrameType) -> tuple[ProgramParser, Definition]:
    source, node = find_definition(obj, frame)
    python = _surroundings(frame, functions_of(obj))
    metadata = python.get("metadata")
    constants = read_constants(cast(Any, metadata)) if isinstance(metadata, Mapping) else ()
    return ProgramParser(source, python, constants), node


def _caller() -> FrameType:
    """The frame of the program that uses a decorator of this module."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame


def ir_module(cls: type | None = None, /, **_options: Any) -> Any:
    """Class decorator: the class's functions become an `IRModule`; TVM's ``I.ir_module``.

    Raises ScriptError at the place in the source where the program is wrong.
    """
    return _module if cls is None else _module(cls)


def _module(cls: type) -> IRModule:
    parser, node = _parser(cls, _caller())
    return IRModule(parser.module(cast(Any, node)), name=cls.__name__)


def _in_class(function: FunctionType) -> bool:
    outer, _, _ = function.__qualname__.rpartition(".")
    return bool(outer) and not outer.endswith("<locals>")


def function_decorator(name: str) -> Callable[..., Any]:
    """A decorator of single functions; inside a class it leaves them to the class's decorator."""

    def decorate(function: FunctionType | None = None, /, **_options: Any) -> Any:
        return _function if function is None else _function(function)

    decorate.__name__ = name
    decorate.__doc__ = (
        f"Decorator of a script function; TVM's ``{name}``. "
        "Raises ScriptError where the script is wrong."
    )
    return decorate


def _function(function: FunctionType) -> Any:
    if _in_class(function):
        return function
    parser, node = _parser(function, _caller())
    return function_view(parser.function(cast(Any, node)))


def from_source(text: str, extra_vars: Mapping[str, Any] | None = None) -> Any:
    """The module or function that a program text defines; TVM's ``tvm.script.from_source``.

    `extra_vars` are Python values that the text may use. Raises ScriptError where it is wrong.
    """
    parsed = parse_text(text, extra_vars)
    return IRModule(parsed) if isinstance(parsed, ModuleOp) else function_view(parsed)

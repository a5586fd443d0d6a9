"""The decorators `ir_module`, `prim_func` and `function`: from a Python definition to a module or a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any

from ..ir.function import function_view
from ..ir.module import IRModule
from .parser import ProgramParser, parse_text
from .parser.constants import read_constants
from .source import find_definition


def _surroundings(frame: FrameType | None, functions: list[FunctionType]) -> dict[str, Any]:
    """The Python names that a definition sees: globals, the enclosing functions' variables, closures."""
    names: dict[str, Any] = {}
    chain: list[FrameType] = []
    while frame is not None and len(chain) < 3:
        chain.append(frame)
        frame = frame.f_back
    if chain:
        names |= chain[0].f_globals
        names |= chain[0].f_locals
    for function in functions:
        names = {**function.__globals__, **names}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
        for name, cell in cells:
            try:
                names.setdefault(name, cell.cell_contents)
            except ValueError:
                continue
    return names


def _parser(obj: Any, frame: FrameType | None) -> tuple[ProgramParser, Any]:
    source, node = find_definition(obj, frame)
    functions = (
        [obj]
        if isinstance(obj, FunctionType)
        else [f for f in vars(obj).values() if isinstance(f, FunctionType)]
    )
    python = _surroundings(frame, functions)
    parser = ProgramParser(source, python)
    if isinstance(metadata := python.get("metadata"), Mapping):
        parser.constants = read_constants(metadata)  # pyright: ignore[reportUnknownArgumentType]
    return parser, node


def ir_module(cls: type | None = None, /, **_options: Any) -> Any:
    """Class decorator: the class's functions become an `IRModule`; TVM's ``I.ir_module``.

    Raises ScriptError at the place in the source where the program is wrong.
    """
    if cls is None:
        return lambda c: _module(c, sys._getframe(1))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType, reportPrivateUsage]
    return _module(cls, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]


def _module(cls: type, frame: FrameType) -> IRModule:
    parser, node = _parser(cls, frame)
    return IRModule(parser.module(node), name=cls.__name__)


def _in_class(function: FunctionType) -> bool:
    outer, _, _ = function.__qualname__.rpartition(".")
    return bool(outer) and not outer.endswith("<locals>")


def function_decorator(name: str) -> Callable[..., Any]:
    """A decorator of single functions; inside a class it leaves them to the class's decorator."""

    def decorate(function: FunctionType | None = None, /, **_options: Any) -> Any:
        if function is None:
            return lambda f: _function(f, sys._getframe(1))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType, reportPrivateUsage]
        return _function(function, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    decorate.__name__ = name
    decorate.__doc__ = f"Decorator of a script function; TVM's ``{name}``. Raises ScriptError where the script is wrong."
    return decorate


def _function(function: FunctionType, frame: FrameType) -> Any:
    if _in_class(function):
        return function
    parser, node = _parser(function, frame)
    return function_view(parser.function(node))


def from_source(text: str, extra_vars: Mapping[str, Any] | None = None) -> Any:
    """The module or function that a program text defines; TVM's ``tvm.script.from_source``.

    `extra_vars` are Python values that the text may use. Raises ScriptError where the text is wrong.
    """
    from xdsl.dialects.builtin import ModuleOp

    parsed = parse_text(text, extra_vars)
    return IRModule(parsed) if isinstance(parsed, ModuleOp) else function_view(parsed)

"""The decorators `ir_module`, `prim_func` and `function`: Python definitions become programs."""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from ..ir.function import function_view
from ..ir.module import IRModule
from .errors import Source
from .parser import ProgramParser, parse_text
from .parser.macro import Macro
from .printer.metadata import read_constants

Definition = ast.ClassDef | ast.FunctionDef


def find_definition(obj: Any, frame: FrameType) -> tuple[Source, Definition]:
    """The source and the syntax tree of a class or function.

    A class is found through the code of one of its functions, else through `frame`, where its
    decorator runs. Raises OSError with one line where there is no source.
    """
    name, is_class = obj.__name__, isinstance(obj, type)
    places = [(f.__code__.co_filename, f.__code__.co_firstlineno) for f in functions_of(obj)]
    for filename, line in places or [(frame.f_code.co_filename, frame.f_lineno)]:
        for source in _candidates(filename, frame):
            found = _search(source, name, is_class, line)
            if found is not None:
                return source, found
    raise OSError(
        f"the source text of '{name}' is not available; pass it to xrelax.script.from_source"
    )


def functions_of(obj: Any) -> list[FunctionType]:
    """The function itself, or the functions of a class."""
    if isinstance(obj, FunctionType):
        return [obj]
    attributes: dict[str, Any] = dict(vars(cast(type, obj)))
    return [f for f in attributes.values() if isinstance(f, FunctionType)]


def _candidates(filename: str, frame: FrameType) -> Iterator[Source]:
    lines = linecache.getlines(filename)
    if lines:
        yield Source(filename, "".join(lines))
    if filename == "<string>" and "-c" in sys.orig_argv:
        yield Source(filename, sys.orig_argv[sys.orig_argv.index("-c") + 1])
    if filename == "<stdin>":
        yield from _standard_input(filename)
    yield from _strings_in_frames(frame)


def _standard_input(filename: str) -> Iterator[Source]:
    try:
        size = os.fstat(0).st_size
        yield Source(filename, os.pread(0, size, 0).decode())
    except (OSError, UnicodeDecodeError):
        return


def _strings_in_frames(frame: FrameType) -> Iterator[Source]:
    """Strings that a caller may have given to `exec`, if they are the text of the running code."""
    code, filename = frame.f_code, frame.f_code.co_filename
    caller: FrameType | None = frame
    while caller is not None:
        known = [caller.f_globals.get(name) for name in caller.f_code.co_names]
        for value in [*caller.f_locals.values(), *caller.f_code.co_consts, *known]:
            text = value.decode(errors="replace") if isinstance(value, bytes) else value
            if isinstance(text, str) and "\n" in text and _is_text_of(text, code):
                yield Source(filename, text)
        caller = caller.f_back


def _is_text_of(text: str, code: CodeType) -> bool:
    features = code.co_flags & __future__.annotations.compiler_flag
    try:
        compiled = compile(text, code.co_filename, "exec", features, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    work: list[CodeType] = [compiled]
    while work:
        candidate = work.pop()
        if candidate == code:
            return True
        work += [c for c in candidate.co_consts if isinstance(c, CodeType)]
    return False


def _search(source: Source, name: str, is_class: bool, line: int) -> Definition | None:
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError):
        return None
    wanted = ast.ClassDef if is_class else ast.FunctionDef
    found: Definition | None = None
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, wanted) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= (node.end_lineno or first):
                found = node
    return found


def _enclosing(frame: FrameType) -> dict[str, Any]:
    """The variables of the functions around a frame, as far as these are running."""
    names: dict[str, Any] = {}
    outer = frame.f_back
    while outer is not None:
        code = outer.f_code
        is_around = frame.f_code.co_qualname.startswith(f"{code.co_qualname}.<locals>.")
        if is_around and frame.f_code.co_filename == code.co_filename:
            names = {**outer.f_locals, **names}
        outer = outer.f_back
    return names


def _surroundings(frame: FrameType, functions: list[FunctionType]) -> dict[str, Any]:
    """The Python names that a definition sees: globals, locals, and what its functions enclose."""
    names = {**frame.f_globals, **_enclosing(frame), **frame.f_locals}
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


def ir_module(
    cls: type | None = None, /, *, check_well_formed: bool = True, **_options: Any
) -> Any:
    """Class decorator: the class's functions become an `IRModule`; TVM's ``I.ir_module``.

    Raises ScriptError at the place in the source where the program is wrong. With
    ``check_well_formed=False`` the module is not verified: `relax.analysis.well_formed` does it.
    """
    if cls is not None:
        return _module(cls)
    return _module if check_well_formed else _unverified_module


def _module(cls: type) -> IRModule:
    return _parsed_module(cls, True)


def _unverified_module(cls: type) -> IRModule:
    return _parsed_module(cls, False)


def module_of_class(cls: type, frame: FrameType) -> IRModule:
    """The module of a class that is defined where a frame runs; raises ScriptError."""
    return _parsed_module(cls, True, frame)


def _parsed_module(cls: type, check_well_formed: bool, frame: FrameType | None = None) -> IRModule:
    parser, node = _parser(cls, frame or _caller())
    parser.is_verified = check_well_formed
    module = IRModule(parser.module(cast(Any, node)), name=cls.__name__)
    module.pyfuncs = {name: vars(cls)[name] for name in parser.python_functions}
    if cls.__bases__ != (object,):
        module.python_class = cls
    return module


def _in_class(function: FunctionType) -> bool:
    outer, _, _ = function.__qualname__.rpartition(".")
    return bool(outer) and not outer.endswith("<locals>")


def function_decorator(name: str) -> Callable[..., Any]:
    """A decorator of single functions; inside a class it leaves them to the class's decorator."""

    def decorate(
        function: FunctionType | None = None, /, *, check_well_formed: bool = True, **_options: Any
    ) -> Any:
        if function is not None:
            return _function(function)
        return _function if check_well_formed else _unverified_function

    decorate.__name__ = name
    decorate.__doc__ = (
        f"Decorator of a script function; TVM's ``{name}``. "
        "Raises ScriptError where the script is wrong."
    )
    return decorate


def _function(function: FunctionType) -> Any:
    return _parsed_function(function, True)


def _unverified_function(function: FunctionType) -> Any:
    return _parsed_function(function, False)


def _parsed_function(function: FunctionType, check_well_formed: bool) -> Any:
    if _in_class(function):
        return function
    parser, node = _parser(function, _caller())
    parser.is_verified = check_well_formed
    return function_view(parser.function(cast(Any, node)))


def macro(
    function: FunctionType | None = None, *given: Any, hygienic: bool = True, **_options: Any
) -> Any:
    """Decorator of a function whose statements replace its calls in kernels; TVM's ``T.inline``.

    Its parameters are not evaluated before. Its other names mean what they mean here, or, with
    ``hygienic=False``, what they mean where it is called. Raises ValueError for other arguments.
    """
    if (function is not None and not isinstance(function, FunctionType)) or given:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError("expected a function, or keywords such as hygienic=False")
    if function is None:
        return partial(macro, hygienic=hygienic)
    frame = _caller()
    _, node = find_definition(function, frame)
    assert isinstance(node, ast.FunctionDef)
    names = _surroundings(frame, [function])
    return Macro(inspect.signature(function), node.body, names, hygienic)


def from_source(
    text: str, extra_vars: Mapping[str, Any] | None = None, check_well_formed: bool = True
) -> Any:
    """The module or function that a program text defines; TVM's ``tvm.script.from_source``.

    `extra_vars` are Python values that the text may use. Raises ScriptError where it is wrong. With
    ``check_well_formed=False`` the program is not verified.
    """
    parsed = parse_text(text, extra_vars, is_verified=check_well_formed)
    return IRModule(parsed) if isinstance(parsed, ModuleOp) else function_view(parsed)

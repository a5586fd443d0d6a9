"""Finding the text of a decorated class or function.

It may be in a file, a notebook cell, a command line, standard input or a string given to `exec`.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, cast

from .errors import Source

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
    for node in ast.walk(tree):
        if isinstance(node, wanted) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= (node.end_lineno or first):
                return node
    return None

"""Finding the text of a decorated class or function: in a file, a notebook cell, a command line or an exec'd string."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

from .errors import Source

Definition = ast.ClassDef | ast.FunctionDef


def find_definition(obj: Any, frame: FrameType | None) -> tuple[Source, Definition]:
    """The source and the syntax tree of a class or function; raises OSError with one line where there is none.

    A class is found through the code of one of its functions, else through `frame`, where its decorator runs.
    """
    name = obj.__name__
    codes = _codes(obj)
    for code in codes:
        for source in _candidates(code.co_filename, frame, name):
            found = _search(source, name, isinstance(obj, type), code.co_firstlineno)
            if found is not None:
                return source, found
    if not codes and frame is not None:
        for source in _candidates(frame.f_code.co_filename, frame, name):
            found = _search(source, name, isinstance(obj, type), frame.f_lineno)
            if found is not None:
                return source, found
    raise OSError(
        f"the source text of '{name}' is not available; pass it to xrelax.script.from_source"
    )


def _codes(obj: Any) -> list[CodeType]:
    if isinstance(obj, FunctionType):
        return [obj.__code__]
    return [f.__code__ for f in vars(obj).values() if isinstance(f, FunctionType)]


def _candidates(filename: str, frame: FrameType | None, name: str) -> Iterator[Source]:
    lines = linecache.getlines(filename)
    if lines:
        yield Source(filename, "".join(lines))
    if filename == "<string>" and "-c" in sys.orig_argv:
        yield Source(filename, sys.orig_argv[sys.orig_argv.index("-c") + 1])
    if filename == "<stdin>":
        yield from _standard_input(filename)
    yield from _strings_in_frames(filename, frame, name)


def _standard_input(filename: str) -> Iterator[Source]:
    try:
        size = os.fstat(0).st_size
        yield Source(filename, os.pread(0, size, 0).decode())
    except (OSError, UnicodeDecodeError):
        return


def _strings_in_frames(filename: str, frame: FrameType | None, name: str) -> Iterator[Source]:
    """Strings that a caller may have given to `exec`: in its variables, its constants, or its arguments."""
    seen: set[int] = set()
    while frame is not None:
        values = [*frame.f_locals.values(), *frame.f_code.co_consts]
        for value in values:
            if isinstance(value, bytes):
                value = value.decode(errors="replace")
            if isinstance(value, str) and id(value) not in seen and name in value and "\n" in value:
                seen.add(id(value))
                yield Source(filename, value)
        frame = frame.f_back


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

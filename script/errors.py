"""Script errors: where in the user's program, the line itself, and what was expected."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ..runtime.errors import TVMError
from ..runtime.warning import XRelaxWarning


class ScriptError(SyntaxError, TVMError):
    """A script that is wrong: ``file:line:col: error: message``, the line, a caret under it."""

    def __init__(self, message: str, filename: str, line: int, column: int, text: str):
        super().__init__(message)
        self.message = message
        self.filename = filename
        self.lineno = line
        self.offset = column
        self.text = text

    def __str__(self) -> str:
        head = f"{self.filename}:{self.lineno}:{self.offset}: error: {self.message}"
        if not self.text:
            return head
        stripped = self.text.rstrip("\n")
        return f"{head}\n{stripped}\n{' ' * ((self.offset or 1) - 1)}^"


@dataclass(frozen=True)
class Source:
    """The text of a program and where it came from; lines count from 1, columns from 0 (`ast`)."""

    filename: str
    text: str

    def line(self, number: int) -> str:
        """One line of the text, without its end."""
        lines = self.text.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def location(self, node: ast.AST) -> FileLineColLoc:
        """Where a node of the program is."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
        return FileLineColLoc(StringAttr(self.filename), IntAttr(line), IntAttr(column))

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The error at a node of the program."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = self.line(line)
        column = len(text.encode()[:column].decode(errors="replace"))
        return ScriptError(message, self.filename, line, column + 1, text)

    def warn(self, node: ast.AST, message: str) -> None:
        """Warn about a node of the program that is ignored, in one line with its place."""
        place = self.error(node, message)
        text = f"{place.filename}:{place.lineno}:{place.offset}: {message}; this is ignored"
        warnings.warn(text, XRelaxWarning, stacklevel=2)

    @contextmanager
    def reporting(self, node: ast.AST) -> Generator[None]:
        """Whatever goes wrong inside, also in Python code of the user, is an error at `node`."""
        try:
            yield
        except ScriptError:
            raise
        except Exception as error:
            raise self.error(node, _one_line(error)) from error

    def expression(self, node: ast.AST, text: str) -> ast.expr:
        """The syntax tree of an expression that `node` has as a string; all of it is there."""
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise self.error(node, f"expected an expression, got '{text}'") from None
        for part in ast.walk(tree):
            ast.copy_location(part, node)
        return tree


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "expected a program that is less deeply nested"
    text = f"unknown key {error}" if isinstance(error, KeyError) else str(error)
    return text.splitlines()[0] if text else type(error).__name__

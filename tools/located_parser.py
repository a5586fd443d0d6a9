"""Reading IR text: every operation knows its line, every mistake is one line with its place."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer

from ..dialects.diagnostics import Diagnostic

MALFORMED = (
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    VerifyException,
    struct.error,
)
"""What constructors of operations and attributes raise when the text does not fit them."""


class LinearLexer(MLIRLexer):
    """xDSL's lexer; a quote without its end is found in one go over the line.

    The pattern of xDSL tries every way to divide the rest of the line into runs.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LocatedParser(Parser):
    """xDSL's parser; operations without a location in the text get their place in it."""

    def __init__(self, ctx: Context, content: str, name: str, line_offset: int = 0):
        super().__init__(ctx, "", name)
        self._resume_from(ParserState(LinearLexer(Input(content, name))))
        self._filename = StringAttr(name)
        self._line_offset = line_offset
        self._line_starts = [0, *(i + 1 for i, c in enumerate(content) if c == "\n")]

    def place(self, position: int) -> FileLineColLoc:
        """The location of a position in the text; lines and columns count from 1."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        return FileLineColLoc(self._filename, IntAttr(line + self._line_offset), IntAttr(column))

    def parse_operation(self) -> Operation:
        start = self.pos
        try:
            op = super().parse_operation()
        except (ParseError, Diagnostic):
            raise
        except MALFORMED as error:
            lines = _text(error).splitlines()
            message = f"malformed operation: {lines[0] if lines else type(error).__name__}"
            raise located(message, self.place(start)) from error
        if op.location is UNKNOWN_LOC or op.location == UNKNOWN_LOC:
            op.location = self.place(start)
        return op


def _text(error: Exception) -> str:
    """The message of an exception; a KeyError's is the repr of its key."""
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def located(message: str, place: FileLineColLoc) -> Diagnostic:
    """A diagnostic at a place."""
    marker = ModuleOp([])
    marker.location = place
    error = Diagnostic(message, marker)
    error.op_name = None
    return error


def parse_ir(context: Context, text: str, name: str = "<text>", line_offset: int = 0) -> ModuleOp:
    """The module of an IR text. Raises Diagnostic with one line where it cannot be read."""
    parser = LocatedParser(context, text, name, line_offset)
    try:
        return parser.parse_module()
    except ParseError as error:
        place = error.span.get_location()
        line = FileLineColLoc(
            StringAttr(name), IntAttr(place.line + line_offset), IntAttr(place.col)
        )
        raise located(error.msg.strip().splitlines()[0], line) from None

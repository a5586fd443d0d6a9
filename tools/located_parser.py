"""Reading IR text: every operation knows its line, every mistake is one line with its place."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from ..dialects.diagnostics import Diagnostic, suggestion

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

    The pattern of xDSL tries every way to divide the rest of the line into runs. Letters beyond
    ASCII, which xDSL prints as escapes, are text here and not bytes.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind != MLIRTokenKind.BYTES_LIT:
            return token
        try:
            StringLiteral.from_span(token.span).bytes_contents.decode()
        except UnicodeDecodeError:
            return token
        return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)


class LocatedParser(Parser):
    """xDSL's parser; operations without a location in the text get their place in it."""

    def __init__(self, ctx: Context, content: str, name: str, line_offset: int = 0):
        super().__init__(ctx, "", name)
        self._input = Input(content, name)
        self._resume_from(ParserState(LinearLexer(self._input)))
        self._filename = StringAttr(name)
        self._line_offset = line_offset
        self._first_uses: dict[str, int] = {}
        self._line_starts = [0, *(i + 1 for i, c in enumerate(content) if c == "\n")]

    def place(self, position: int) -> FileLineColLoc:
        """The location of a position in the text; lines and columns count from 1."""
        line = bisect_right(self._line_starts, position)
        column = position - self._line_starts[line - 1] + 1
        return FileLineColLoc(self._filename, IntAttr(line + self._line_offset), IntAttr(column))

    def resolve_operand(self, operand: UnresolvedOperand, type: Any) -> SSAValue[Any]:
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span.start)
        return super().resolve_operand(operand, type)

    def raise_error(self, msg: str, at_position: Any = None, end_position: Any = None) -> NoReturn:
        """xDSL's message with the nearest name for an unknown one, at the use of a lost value."""
        unknown = re.fullmatch(r"(?:Operation )?'?([\w.]+)'? is not registered", msg)
        if unknown is not None:
            name = unknown[1]
            at_position = self._input.content.rfind(name, 0, self.pos)
            end_position = at_position + len(name)
            beside = self._names_beside(name, msg.startswith("Operation"))
            msg = f"'{name}' is not registered{suggestion(name, beside)}"
        elif msg.startswith("values used but not defined") and self.forward_ssa_references:
            lost = min(self.forward_ssa_references, key=self._first_uses.__getitem__)
            at_position = self._first_uses[lost]
            end_position = at_position + len(lost) + 1
            msg = f"value '%{lost}' is used but not defined"
        super().raise_error(msg, at_position, end_position)

    def _names_beside(self, name: str, is_operation: bool) -> list[str]:
        """The operations of the dialect of a name, or its attributes; if none has it, dialects."""
        dialect = self.ctx.get_optional_dialect(name.partition(".")[0])
        if dialect is None:
            rest = name.partition(".")[2]
            return [f"{known}.{rest}" for known in self.ctx.registered_dialect_names]
        items = dialect.operations if is_operation else dialect.attributes
        return [item.name for item in items]

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

"""Sizes that a planned function reads from memory while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr, IntLike, symbol_text
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprArray, expr_array, exprs_of, parse_expr, parse_symbol
from ..tir.types import BufferType


@irdl_op_definition
class ReadSizesOp(IRDLOperation):
    """Declare symbols whose values are in memory: ``rt.read_sizes %c [k at_most n * 4]``.

    The function may use them after the operation, in its block. Earlier symbols limit them: memory
    is planned for the limits. Assertions that follow check that the values are in range.
    """

    name = "rt.read_sizes"
    source = operand_def(BufferType)
    names = prop_def(ArrayAttr[StringAttr])
    at_most = prop_def(ExprArray)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, source: SSAValue, names: Sequence[str], at_most: Sequence[IntLike]):
        super().__init__(
            operands=[source],
            properties={
                "names": ArrayAttr([StringAttr(n) for n in names]),
                "at_most": expr_array(at_most),
            },
        )

    @property
    def symbols(self) -> list[tuple[str, IntExpr]]:
        """The names of the symbols, each with its limit."""
        return [(n.data, e) for n, e in zip(self.names.data, exprs_of(self.at_most), strict=True)]

    def verify_(self) -> None:
        if len(self.names) != len(self.at_most):
            raise VerifyException(
                f"expected a limit for each of {len(self.names)} symbols, got {len(self.at_most)}"
            )
        wanted = BufferType.of([len(self.names)], i64)
        if self.source.type != wanted:
            raise VerifyException(f"expected sizes in {wanted}, got {self.source.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ReadSizesOp:
        def symbol() -> tuple[str, IntExpr]:
            name = parse_symbol(parser)
            parser.parse_keyword("at_most")
            return name, parse_expr(parser)

        source = parser.parse_unresolved_operand()
        found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, symbol)
        type_ = BufferType.of([len(found)], i64)
        return ReadSizesOp(
            parser.resolve_operand(source, type_), [n for n, _ in found], [e for _, e in found]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" ")
        texts = [f"{symbol_text(name)} at_most {limit}" for name, limit in self.symbols]
        with printer.in_square_brackets():
            printer.print_list(texts, printer.print_string)

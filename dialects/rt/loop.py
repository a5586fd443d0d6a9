"""Loops of planned functions, and the slices of tensors that an iteration works on."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, NoTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr, symbol_text
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, parse_body, parse_expr, parse_symbol
from ..tir.types import BufferType
from .control import CheckOp
from .memory import ArenaOp


@irdl_op_definition
class ForOp(IRDLOperation):
    """Run a region for each value of a symbol from 0: ``rt.for i to n { … }``.

    ``rt.for i to n while %c : !tir.buffer<[], i1> { … }`` also ends before an iteration in which a
    bool in memory is false; then the bound may be missing. The symbol is known in the region alone.
    """

    name = "rt.for"
    var = prop_def(StringAttr)
    trips = opt_prop_def(ExprAttr)
    condition = opt_operand_def(BufferType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), MemoryReadEffect())

    def __init__(self, var: str, trips: IntExpr | None, condition: SSAValue | None, body: Region):
        super().__init__(
            operands=[condition],
            properties={
                "var": StringAttr(var),
                "trips": None if trips is None else ExprAttr(trips),
            },
            regions=[body],
        )

    def verify_(self) -> None:
        if self.trips is None and self.condition is None:
            raise VerifyException("expected a number of trips or a condition, got none")
        if self.trips is not None and self.trips.data.args():
            raise VerifyException(f"expected trips over symbols, got {self.trips.data}")
        if self.condition is not None and self.condition.type != BufferType.of((), i1):
            raise VerifyException(f"expected a condition of one bool, got {self.condition.type}")
        for op in self.body.block.ops:
            if isinstance(op, CheckOp | ArenaOp):
                raise VerifyException(f"expected '{op.name}' outside of 'rt.for'")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        var = parse_symbol(parser)
        trips = parse_expr(parser) if parser.parse_optional_keyword("to") else None
        condition = None
        if parser.parse_optional_keyword("while"):
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            condition = parser.resolve_operand(operand, parser.parse_type())
        return ForOp(var, trips, condition, parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {symbol_text(self.var.data)}")
        if self.trips is not None:
            printer.print_string(f" to {self.trips.data}")
        if self.condition is not None:
            printer.print_string(" while ")
            printer.print_ssa_value(self.condition)
            printer.print_string(" : ")
            printer.print_attribute(self.condition.type)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class SliceOp(IRDLOperation):
    """An element along the first axis of a tensor, without a copy.

    ``%s = rt.slice %x[i] : !tir.buffer<[n, 4, 8], f32> to !tir.buffer<[4, 8], f32>``.
    """

    name = "rt.slice"
    source = operand_def(BufferType)
    index = prop_def(ExprAttr)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, index: IntExpr):
        type_ = cast(BufferType, source.type)
        super().__init__(
            operands=[source],
            properties={"index": ExprAttr(index)},
            result_types=[BufferType.of(type_.dims[1:], type_.element_type)],
        )

    def verify_(self) -> None:
        source, result = cast(BufferType, self.source.type), self.result.type
        if not source.rank or not source.is_dense:
            raise VerifyException(f"expected a slice of a dense tensor with axes, got {source}")
        if self.index.data.args():
            raise VerifyException(f"expected an index over symbols, got {self.index.data}")
        if result != BufferType.of(source.dims[1:], source.element_type):
            raise VerifyException(f"expected an element along the first axis, got {result}")

    @classmethod
    def parse(cls, parser: Parser) -> SliceOp:
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parse_expr(parser)
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(source, parser.parse_type())
        parser.parse_keyword("to")
        position = parser.pos
        type_ = parser.parse_type()
        made = SliceOp(operand, index)
        if made.result.type != type_:
            made.erase()
            parser.raise_error(f"expected {made.result.type}, got {type_}", position)
        return made

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f"[{self.index.data}] : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

"""Checks on what callers of functions of the executable pass."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from ..irdl import IRDLOperation, irdl_op_definition
from ..parameters import print_text
from ..tir.types import BufferType


@irdl_op_definition
class CheckOp(IRDLOperation):
    """The argument that users call `arg_name` must have this shape and dtype.

    ``rt.check %x "x" : !tir.buffer<[1, n], f32>``. At function entry it is where the call wrapper's
    checks come from.
    """

    name = "rt.check"
    buffer = operand_def(BufferType)
    arg_name = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, buffer: SSAValue, arg_name: str):
        super().__init__(operands=[buffer], properties={"arg_name": StringAttr(arg_name)})

    @classmethod
    def parse(cls, parser: Parser) -> CheckOp:
        operand = parser.parse_unresolved_operand()
        name = parser.parse_str_literal(" of the argument's name")
        parser.parse_punctuation(":")
        return CheckOp(parser.resolve_operand(operand, parser.parse_type()), name)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.buffer)
        printer.print_string(" ")
        print_text(printer, self.arg_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

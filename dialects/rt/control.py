"""Branches of planned functions, and run-time assertions on sizes."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Region, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr, IntLike
from ..irdl import IRDLOperation, irdl_op_definition
from ..parameters import print_text
from ..sym import ExprAttr, parse_body, parse_expr
from ..tir.types import BufferType
from .memory import ArenaOp

PREDICATES = ("eq", "ge")


@irdl_op_definition
class IfOp(IRDLOperation):
    """Run one of two regions: the first if a bool in memory, or a number, is not 0.

    ``rt.if %c : !tir.buffer<[], i1> { … } else { … }`` or ``rt.if expr n { … } else { … }``.
    """

    name = "rt.if"
    condition = opt_operand_def(BufferType)
    expr = opt_prop_def(ExprAttr)
    true_region = region_def("single_block")
    false_region = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), MemoryReadEffect())

    def __init__(self, condition: SSAValue | IntExpr, true_region: Region, false_region: Region):
        is_expr = isinstance(condition, IntExpr)
        super().__init__(
            operands=[None if is_expr else condition],
            properties={"expr": ExprAttr(condition) if is_expr else None},
            regions=[true_region, false_region],
        )

    def verify_(self) -> None:
        if (self.condition is None) == (self.expr is None):
            raise VerifyException("expected one condition, in memory or as an expression")
        if self.expr is not None and self.expr.data.args():
            raise VerifyException(f"expected a condition over symbols, got {self.expr.data}")
        if self.condition is not None and self.condition.type != BufferType.of((), i1):
            raise VerifyException(f"expected a condition of one bool, got {self.condition.type}")
        for region in self.regions:
            for op in region.block.ops:
                if isinstance(op, CheckOp | ArenaOp):
                    raise VerifyException(f"expected '{op.name}' outside of 'rt.if'")

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition: SSAValue | IntExpr
        if parser.parse_optional_keyword("expr"):
            condition = parse_expr(parser)
        else:
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            condition = parser.resolve_operand(operand, parser.parse_type())
        true_region = parse_body(parser)
        parser.parse_keyword("else")
        return IfOp(condition, true_region, parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.condition is not None:
            printer.print_ssa_value(self.condition)
            printer.print_string(" : ")
            printer.print_attribute(self.condition.type)
        elif self.expr is not None:
            printer.print_string(f"expr {self.expr.data}")
        printer.print_string(" ")
        printer.print_region(self.true_region, print_empty_block=False)
        printer.print_string(" else ")
        printer.print_region(self.false_region, print_empty_block=False)


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Fail at run time unless two sizes are equal, or the first is at least the second.

    ``rt.assert n * 2 eq k, "expected k to be {0}, got {1}"``. In the message ``{0}`` and ``{1}``
    stand for the values.
    """

    name = "rt.assert"
    lhs = prop_def(ExprAttr)
    predicate = prop_def(StringAttr)
    rhs = prop_def(ExprAttr)
    message = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, lhs: IntLike, predicate: str, rhs: IntLike, message: str):
        super().__init__(
            properties={
                "lhs": ExprAttr.of(lhs),
                "predicate": StringAttr(predicate),
                "rhs": ExprAttr.of(rhs),
                "message": StringAttr(message),
            }
        )

    def verify_(self) -> None:
        if self.predicate.data not in PREDICATES:
            raise VerifyException(
                f"expected a predicate ({', '.join(PREDICATES)}), got '{self.predicate.data}'"
            )
        for side in (self.lhs.data, self.rhs.data):
            if side.args():
                raise VerifyException(f"expected sizes over symbols, got {side}")

    @classmethod
    def parse(cls, parser: Parser) -> AssertOp:
        lhs = parse_expr(parser)
        predicate = parser.parse_identifier(" of the predicate")
        rhs = parse_expr(parser)
        parser.parse_punctuation(",")
        return AssertOp(lhs, predicate, rhs, parser.parse_str_literal(" of the message"))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.lhs.data} {self.predicate.data} {self.rhs.data}, ")
        print_text(printer, self.message.data)


@irdl_op_definition
class CheckOp(IRDLOperation):
    """Check that the argument named `arg_name` has this shape and dtype.

    ``rt.check %x "x" : !tir.buffer<[1, n], f32>``. The call wrapper performs the checks at function
    entry.
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

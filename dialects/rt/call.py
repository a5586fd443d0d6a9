"""Calls on memory in the `rt` dialect, and dataflow regions in which they may be reordered."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    SymbolRefAttr,
)
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, expr_array, exprs_of, parse_body, parse_expr
from ..tir.types import BufferType
from .control import CheckOp
from .loop import ForOp
from .memory import ArenaOp


class MemoryCallOp(IRDLOperation, ABC):
    """A call on memory: it reads the inputs and writes the outputs."""

    inputs = var_operand_def(BufferType)
    outputs = var_operand_def(BufferType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        if len(set(self.outputs)) != len(self.outputs) or set(self.inputs) & set(self.outputs):
            raise VerifyException(
                f"expected outputs of '{self.name}' to be distinct from each other "
                "and from its inputs"
            )


@irdl_op_definition
class CallDPSOp(MemoryCallOp):
    """Call a function of the module on memory: ``rt.call_dps @relu0(%x) outs(%y) : (…), (…)``.

    The callee reads `inputs` and writes `outputs`; `vars` are the values of its index parameters.
    """

    name = "rt.call_dps"
    callee = prop_def(FlatSymbolRefAttr)
    vars = prop_def(ArrayAttr[ExprAttr])

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        vars: Sequence[IntExpr] = (),
    ):
        super().__init__(
            operands=[list(inputs), list(outputs)],
            properties={"callee": SymbolRefAttr(callee), "vars": expr_array(vars)},
        )

    @property
    def callee_name(self) -> str:
        """The name of the callee."""
        return self.callee.root_reference.data

    def verify_(self) -> None:
        super().verify_()
        for value in exprs_of(self.vars):
            if value.args():
                raise VerifyException(f"expected vars over symbols, got {value}")

    @classmethod
    def parse(cls, parser: Parser) -> CallDPSOp:
        callee = parser.parse_symbol_name().data
        inputs, outputs, variables = parse_call(parser)
        return CallDPSOp(callee, inputs, outputs, variables)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        print_call(printer, self.inputs, self.outputs, exprs_of(self.vars))


def parse_call(parser: Parser) -> tuple[list[SSAValue], list[SSAValue], list[IntExpr]]:
    def operands():
        return parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )

    def types():
        return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)

    inputs = operands()
    parser.parse_keyword("outs")
    outputs = operands()
    variables: list[IntExpr] = []
    if parser.parse_optional_keyword("vars"):
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_expr(parser)
        )
    position = parser.pos
    parser.parse_punctuation(":")
    input_types = types()
    parser.parse_punctuation(",")
    return (
        list(parser.resolve_operands(inputs, input_types, position)),
        list(parser.resolve_operands(outputs, types(), position)),
        variables,
    )


def print_call(
    printer: Printer,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    variables: Sequence[IntExpr],
) -> None:
    with printer.in_parens():
        printer.print_list(inputs, printer.print_ssa_value)
    printer.print_string(" outs")
    with printer.in_parens():
        printer.print_list(outputs, printer.print_ssa_value)
    if variables:
        printer.print_string(" vars [" + ", ".join(str(v) for v in variables) + "]")
    for position, group in enumerate((inputs, outputs)):
        printer.print_string(", " if position else " : ")
        with printer.in_parens():
            printer.print_list([v.type for v in group], printer.print_attribute)


@irdl_op_definition
class DataflowOp(IRDLOperation):
    """A region whose calls depend on each other only through memory.

    ``rt.dataflow { rt.call_dps … }``. Its calls may be reordered, and their buffers reused.
    """

    name = "rt.dataflow"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if (op.regions and not isinstance(op, ForOp)) or isinstance(op, CheckOp | ArenaOp):
                raise VerifyException(
                    "expected calls, loops, copies and allocations in a dataflow region, got "
                    f"'{op.name}'"
                )

    @classmethod
    def parse(cls, parser: Parser) -> DataflowOp:
        return DataflowOp(parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


MAX_CALL_DEPTH = 1000
"""The maximum depth of recursive calls, as in Python: stacks are finite."""


def depth_message(name: str) -> str:
    """The error message of a function that recurses too deeply."""
    return f"expected calls of '{name}' to be nested at most {MAX_CALL_DEPTH} deep"

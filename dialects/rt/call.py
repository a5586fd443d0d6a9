"""Calls on memory in the `rt` dialect, and dataflow regions in which they may be reordered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    IntAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
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
from ..parameters import print_text
from ..sym import ExprAttr, expr_array, exprs_of, parse_body, parse_expr
from ..tir.types import BufferType
from .control import CheckOp
from .loop import ForOp, SliceOp
from .memory import ArenaOp

Item = TypeVar("Item")

PRINT, ASSERT = "relax.print", "relax.assert"
OWN_FUNCTIONS = (PRINT, ASSERT)
"""Functions of the runtime itself, which take a format and values."""


@irdl_op_definition
class CallDPSOp(IRDLOperation):
    """Call a function of the module on memory: ``rt.call_dps @relu0(%x) outs(%y) : (…), (…)``.

    The callee reads `inputs` and writes `outputs`; `vars` are the values of its index parameters.
    """

    name = "rt.call_dps"
    callee = prop_def(FlatSymbolRefAttr)
    inputs = var_operand_def(BufferType)
    outputs = var_operand_def(BufferType)
    vars = prop_def(ArrayAttr[ExprAttr])
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

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
        _verify_distinct(self.inputs, self.outputs, self.name)
        for value in exprs_of(self.vars):
            if value.args():
                raise VerifyException(f"expected vars over symbols, got {value}")

    @classmethod
    def parse(cls, parser: Parser) -> CallDPSOp:
        callee = parser.parse_symbol_name().data
        inputs, outputs, variables = _parse_call(parser)
        return CallDPSOp(callee, inputs, outputs, variables)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        _print_call(printer, self.inputs, self.outputs, exprs_of(self.vars))


@irdl_op_definition
class CallPackedOp(IRDLOperation):
    """Call a registered function on memory: ``rt.call_packed "env.relu"(%x) outs(%y) : (…), (…)``.

    The name is looked up at each call. Outside a dataflow block, calls keep their order. A function
    that ``returns`` takes only the inputs, and its results are copied to the outputs, or become
    results of unknown shape: ``returns kept [[0], []]`` has the numbers of these for each. With a
    ``text`` the callee is a function of the runtime: ``relax.print`` or ``relax.assert``.
    """

    name = "rt.call_packed"
    callee = prop_def(StringAttr)
    returns = opt_prop_def(UnitAttr)
    kept = opt_prop_def(ArrayAttr[ArrayAttr[IntAttr]])
    text = opt_prop_def(StringAttr)
    inputs = var_operand_def(BufferType)
    outputs = var_operand_def(BufferType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        returns: bool = False,
        text: str | None = None,
        kept: Sequence[Sequence[int]] | None = None,
    ):
        groups = None if kept is None else [ArrayAttr([IntAttr(k) for k in g]) for g in kept]
        super().__init__(
            operands=[list(inputs), list(outputs)],
            properties={
                "callee": StringAttr(callee),
                "returns": UnitAttr() if returns else None,
                "kept": None if groups is None else ArrayAttr(groups),
                "text": None if text is None else StringAttr(text),
            },
        )

    @property
    def kept_results(self) -> list[list[int]]:
        """The results of unknown shape that each value is, which the function returns."""
        return [] if self.kept is None else [[k.data for k in g.data] for g in self.kept.data]

    def verify_(self) -> None:
        _verify_distinct(self.inputs, self.outputs, self.name)
        if self.kept is not None and (self.returns is None or self.outputs):
            raise VerifyException("expected values to keep that a function returns, and no outputs")
        if self.text is not None and self.callee.data not in OWN_FUNCTIONS:
            known = ", ".join(OWN_FUNCTIONS)
            raise VerifyException(f"expected a text for {known}, got '{self.callee.data}'")

    @classmethod
    def parse(cls, parser: Parser) -> CallPackedOp:
        callee = parser.parse_str_literal(" of the function's name")
        returns = parser.parse_optional_keyword("returns") is not None
        kept = None
        if parser.parse_optional_keyword("kept"):
            kept = _parse_listed(parser, lambda: _parse_listed(parser, parser.parse_integer))
        text = None
        if parser.parse_optional_keyword("text"):
            text = parser.parse_str_literal(" of the text")
        inputs, outputs, _ = _parse_call(parser)
        return CallPackedOp(callee, inputs, outputs, returns, text, kept)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_text(printer, self.callee.data)
        printer.print_string(" returns " if self.returns is not None else "")
        if self.kept is not None:
            printer.print_string(f"kept {self.kept_results} ")
        if self.text is not None:
            printer.print_string(" text ")
            print_text(printer, self.text.data)
            printer.print_string(" ")
        _print_call(printer, self.inputs, self.outputs, ())


def _parse_listed(parser: Parser, parse_item: Callable[[], Item]) -> list[Item]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_item)


def _verify_distinct(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], name: str) -> None:
    if len(set(outputs)) != len(outputs) or set(inputs) & set(outputs):
        raise VerifyException(
            f"expected outputs of '{name}' to be distinct from each other and from its inputs"
        )


def _parse_call(parser: Parser) -> tuple[list[SSAValue], list[SSAValue], list[IntExpr]]:
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


def _print_call(
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


def results_of(op: CallDPSOp | CallPackedOp | ForOp) -> tuple[SSAValue, ...]:
    """The memory that a call writes, and of a loop's only call the memory around the loop."""
    if not isinstance(op, ForOp):
        return tuple(op.outputs)
    calls = (o for o in op.body.block.ops if isinstance(o, CallDPSOp))
    return tuple(_around(op, output) for call in calls for output in call.outputs)


def _around(loop: ForOp, output: SSAValue) -> SSAValue:
    """The memory of an output after the loop: carried, sliced, or that of the condition."""
    if output in loop.written:
        return loop.carried[loop.written.index(output)]
    if isinstance(output.owner, SliceOp):
        return output.owner.source
    return output if loop.condition is None else loop.condition

"""Loops of planned functions, and the slices of tensors that an iteration works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
)
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

    The symbol is known in the region alone. ``while %c : !tir.buffer<[], i1>`` also ends the loop
    before an iteration in which a bool in memory is false; then the bound may be missing.
    ``carried (%a, %b) = (%x, %y) : !tir.buffer<[4], f32>`` exchanges memory: %a is %x and %b is %y
    in the first iteration, and the reverse in the next one. An iteration reads %a and writes all of
    %b. After the loop %x has what was written last, and the content of %y is undefined.
    """

    name = "rt.for"
    var = prop_def(StringAttr)
    trips = opt_prop_def(ExprAttr)
    condition = opt_operand_def(BufferType)
    carried = var_operand_def(BufferType)
    spare = var_operand_def(BufferType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(
        NoTerminator(), RecursiveMemoryEffect(), MemoryReadEffect(), MemoryWriteEffect()
    )

    def __init__(
        self,
        var: str,
        trips: IntExpr | None,
        condition: SSAValue | None,
        carried: Sequence[SSAValue],
        spare: Sequence[SSAValue],
        body: Region,
    ):
        super().__init__(
            operands=[condition, list(carried), list(spare)],
            properties={
                "var": StringAttr(var),
                "trips": None if trips is None else ExprAttr(trips),
            },
            regions=[body],
        )

    @property
    def read(self) -> tuple[SSAValue, ...]:
        """The carried memory in the region: what an iteration reads."""
        return tuple(self.body.block.args[: len(self.carried)])

    @property
    def written(self) -> tuple[SSAValue, ...]:
        """The carried memory in the region: what an iteration writes for the next one."""
        return tuple(self.body.block.args[len(self.carried) :])

    def verify_(self) -> None:
        if self.trips is None and self.condition is None:
            raise VerifyException("expected a number of trips or a condition, got none")
        if self.trips is not None and self.trips.data.args():
            raise VerifyException(f"expected trips over symbols, got {self.trips.data}")
        if self.condition is not None and self.condition.type != BufferType.of((), i1):
            raise VerifyException(f"expected a condition of one bool, got {self.condition.type}")
        self._verify_carried()
        for op in self.body.block.ops:
            if isinstance(op, CheckOp | ArenaOp):
                raise VerifyException(f"expected '{op.name}' outside of 'rt.for'")

    def _verify_carried(self) -> None:
        types = [v.type for v in self.carried]
        if [v.type for v in self.spare] != types:
            raise VerifyException("expected as many spare buffers as carried ones, of their types")
        if [a.type for a in self.body.block.args] != [*types, *types]:
            raise VerifyException("expected two arguments of the region for each carried buffer")
        if any(not cast(BufferType, t).is_dense for t in types):
            raise VerifyException("expected carried buffers to be dense")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        var = parse_symbol(parser)
        trips = parse_expr(parser) if parser.parse_optional_keyword("to") else None
        condition = None
        if parser.parse_optional_keyword("while"):
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            condition = parser.resolve_operand(operand, parser.parse_type())
        pairs: list[_Pair] = []
        if parser.parse_optional_keyword("carried"):
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: _parse_pair(parser)
            )
        args = [pair.args[i] for i in range(2) for pair in pairs]
        carried, spare = ([pair.memory[i] for pair in pairs] for i in range(2))
        body = parser.parse_region(args) if args else parse_body(parser)
        return ForOp(var, trips, condition, carried, spare, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {symbol_text(self.var.data)}")
        if self.trips is not None:
            printer.print_string(f" to {self.trips.data}")
        if self.condition is not None:
            printer.print_string(" while ")
            printer.print_ssa_value(self.condition)
            printer.print_string(" : ")
            printer.print_attribute(self.condition.type)
        groups = zip(self.read, self.written, self.carried, self.spare, strict=True)
        for position, (a, b, x, y) in enumerate(groups):
            printer.print_string(", " if position else " carried ")
            with printer.in_parens():
                printer.print_list([a, b], printer.print_ssa_value)
            printer.print_string(" = ")
            with printer.in_parens():
                printer.print_list([x, y], printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_attribute(x.type)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


class _Pair(NamedTuple):
    args: list[Parser.Argument]
    memory: list[SSAValue]


def _parse_pair(parser: Parser) -> _Pair:
    with parser.in_parens():
        first = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(",")
        second = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    with parser.in_parens():
        memory = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        spare = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    operands: list[SSAValue] = [parser.resolve_operand(v, type_) for v in (memory, spare)]
    return _Pair([first.resolve(type_), second.resolve(type_)], operands)


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

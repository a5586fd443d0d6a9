"""Control flow beyond `llvm.br` and `llvm.cond_br`."""

from collections.abc import Sequence
from itertools import islice

from xdsl.dialects.builtin import DenseArrayBase, SignlessIntegerConstraint, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """Branch on an integer.

    `llvm_ext.switch %x : i32, default ^bb0, [0: ^bb1(%a : f32), 7: ^bb2]`
    """

    name = "llvm_ext.switch"

    value = operand_def(SignlessIntegerConstraint)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = prop_def(DenseArrayBase.constr(i64))
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsTerminator())

    def __init__(
        self,
        value: SSAValue | Operation,
        default: Block,
        default_operands: Sequence[SSAValue | Operation],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue | Operation]]],
    ):
        super().__init__(
            operands=[value, default_operands, [arg for case in cases for arg in case[2]]],
            successors=[default, [case[1] for case in cases]],
            properties={
                "case_values": DenseArrayBase.from_list(i64, [case[0] for case in cases]),
                "case_operand_segments": DenseArrayBase.from_list(
                    i32, [len(case[2]) for case in cases]
                ),
            },
        )

    def cases(self) -> list[tuple[int, Block, tuple[SSAValue, ...]]]:
        """Each case as (value, block, arguments of the block)."""
        operands = iter(self.case_operands)
        return [
            (value, block, tuple(islice(operands, size)))
            for value, block, size in zip(
                self.case_values.get_values(),
                self.case_blocks,
                self.case_operand_segments.get_values(),
                strict=True,
            )
        ]

    def verify_(self) -> None:
        values, segments = self.case_values.get_values(), self.case_operand_segments.get_values()
        if not len(values) == len(segments) == len(self.case_blocks):
            raise VerifyException(
                "expected as many case values and segments as case blocks,"
                f" got {len(values)} and {len(segments)} for {len(self.case_blocks)}"
            )
        if sum(segments) != len(self.case_operands):
            raise VerifyException(
                f"expected {sum(segments)} case operands, got {len(self.case_operands)}"
            )
        if len(set(values)) != len(values):
            raise VerifyException(f"expected distinct case values, got {list(values)}")

    # `assembly_format` has no variadic of variadics: each case carries its own arguments.
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", default ")
        _print_target(printer, self.default_block, tuple(self.default_operands))
        printer.print_string(", [")
        printer.print_list(self.cases(), lambda case: _print_case(printer, *case))
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "SwitchOp":
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation(",")
        parser.parse_keyword("default")
        default, default_operands = _parse_target(parser)
        parser.parse_punctuation(",")
        cases = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse_case(parser)
        )
        op = cls(operand, default, default_operands, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op


def _print_case(printer: Printer, value: int, block: Block, args: tuple[SSAValue, ...]) -> None:
    printer.print_string(f"{value}: ")
    _print_target(printer, block, args)


def _print_target(printer: Printer, block: Block, args: tuple[SSAValue, ...]) -> None:
    printer.print_block_name(block)
    if not args:
        return
    with printer.in_parens():
        printer.print_list(args, printer.print_operand)
        printer.print_string(" : ")
        printer.print_list(args, lambda arg: printer.print_attribute(arg.type))


def _parse_case(parser: Parser) -> tuple[int, Block, Sequence[SSAValue]]:
    value = parser.parse_integer()
    parser.parse_punctuation(":")
    return value, *_parse_target(parser)


def _parse_target(parser: Parser) -> tuple[Block, Sequence[SSAValue]]:
    block = parser.parse_successor()
    if parser.parse_optional_punctuation("(") is None:
        return block, ()
    none = parser.Delimiter.NONE
    args = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(none, parser.parse_type)
    parser.parse_punctuation(")")
    return block, parser.resolve_operands(args, types, parser.pos)

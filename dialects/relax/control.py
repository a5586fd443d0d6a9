"""Conditionals in the `relax` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import operand_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .type_relations import says_less
from .types import PrimType, TensorType


@irdl_op_definition
class IfOp(IRDLOperation):
    """The value of one of two branches; TVM's ``If``.

    ``%y = relax.if %c : !relax.tensor<[], i1> -> … { … relax.yield %a : … } else { … }``. The
    result type is a common supertype of both branches' types.
    """

    name = "relax.if"
    condition = operand_def()
    result = result_def()
    true_region = region_def("single_block")
    false_region = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self, condition: SSAValue, true_region: Region, false_region: Region, type_: Attribute
    ):
        super().__init__(
            operands=[condition], regions=[true_region, false_region], result_types=[type_]
        )

    @property
    def branches(self) -> tuple[Block, Block]:
        """The blocks of the true branch and of the false branch."""
        return self.true_region.block, self.false_region.block

    @property
    def yielded(self) -> tuple[SSAValue, SSAValue]:
        """The yielded values of the two branches."""
        first, second = (block.last_op for block in self.branches)
        assert isinstance(first, YieldOp) and isinstance(second, YieldOp)
        return first.value, second.value

    def verify_(self) -> None:
        type_ = self.condition.type
        if not is_condition(type_):
            raise VerifyException(
                f"expected a condition of type !relax.tensor<[], i1> or !relax.prim<i1>, "
                f"got {type_}"
            )
        for block in self.branches:
            if not isinstance(block.last_op, YieldOp):
                raise VerifyException("expected a branch to end with 'relax.yield'")
        for value in self.yielded:
            if not says_less(self.result.type, value.type):
                raise VerifyException(
                    f"expected branches to yield {self.result.type}, got {value.type}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(condition, parser.parse_type())
        parser.parse_punctuation("->")
        type_ = parser.parse_type()
        true_region = parser.parse_region()
        parser.parse_keyword("else")
        return IfOp(operand, true_region, parser.parse_region(), type_)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        printer.print_string(" : ")
        printer.print_attribute(self.condition.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
        printer.print_string(" ")
        printer.print_region(self.true_region, print_empty_block=False)
        printer.print_string(" else ")
        printer.print_region(self.false_region, print_empty_block=False)


def is_condition(type_: Attribute) -> bool:
    """Whether the type is that of a condition: a bool tensor of rank 0, or a bool scalar."""
    if isinstance(type_, TensorType):
        return type_.rank == 0 and type_.dtype == "bool"
    return isinstance(type_, PrimType) and type_.element_type == i1


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of a branch and its value: ``relax.yield %a : !relax.tensor<[1, n], f32>``."""

    name = "relax.yield"
    value = operand_def()
    traits = traits_def(IsTerminator(), HasParent(IfOp), Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])

"""Calls of registered functions for their results, which may be computed in arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntAttr, StringAttr, TupleType
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import opt_prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..int_lists import int_list, ints_of, parse_int_list
from ..irdl import irdl_op_definition
from .call import NamedCallOp
from .call_inplace import verify_places


@irdl_op_definition
class CallPurePackedOp(NamedCallOp):
    """Call a registered function for its result.

    Compiled functions need a tensor or a tuple of tensors of known shapes.
    ``%y = relax.call_pure_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_pure_packed``.
    With ``inplace [0]`` it may change arguments, which must not be used afterwards: for each result
    `inplace_indices` has the position of the one that becomes it, or -1. A parameter is the array
    that the user passes; other arguments are copied first. TVM's ``R.call_inplace_packed``.
    """

    name = "relax.call_pure_packed"
    inplace_indices = opt_prop_def(ArrayAttr[IntAttr])
    traits = traits_def(Pure())

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        result_type: Attribute,
        inplace_indices: Sequence[int] | None = None,
    ):
        super().__init__(callee, args, result_type)
        if inplace_indices is not None:
            self.inplace_indices = int_list(inplace_indices)

    @property
    def positions(self) -> list[int]:
        """For each result, the position of the argument that becomes it, or -1; often none."""
        return ints_of(self.inplace_indices)

    def result_in_place(self) -> Attribute:
        """The type of the result, with those of the arguments that become parts of it."""
        type_ = self.result.type
        fields = type_.types.data if isinstance(type_, TupleType) else [type_]
        types = [
            cast(TypeAttribute, field if place == -1 else self.args[place].type)
            for place, field in zip(self.positions, fields, strict=True)
        ]
        return TupleType(ArrayAttr(types)) if isinstance(type_, TupleType) else types[0]

    def verify_(self) -> None:
        if self.inplace_indices is not None:
            type_ = self.result.type
            fields = type_.types.data if isinstance(type_, TupleType) else [type_]
            if nested := [f for f in fields if isinstance(f, TupleType)]:
                raise VerifyException(f"expected results in place to be no tuples, got {nested[0]}")
            verify_places(self, self.args, self.positions, fields)

    @classmethod
    def parse(cls, parser: Parser) -> CallPurePackedOp:
        callee = parser.parse_str_literal()
        args = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        places = parse_int_list(parser) if parser.parse_optional_keyword("inplace") else None
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType) or len(type_.outputs) != 1:
            parser.raise_error(f"expected a function type with one result, got {type_}", position)
        operands = parser.resolve_operands(args, type_.inputs.data, position)
        op = CallPurePackedOp(callee, operands, type_.outputs.data[0], places)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(StringAttr(self.callee_name))
        with printer.in_parens():
            printer.print_list(self.args, printer.print_ssa_value)
        if self.inplace_indices is not None:
            printer.print_string(f" inplace {self.positions}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [a.type for a in self.args]
        printer.print_attribute(FunctionType.from_lists(types, [self.result.type]))

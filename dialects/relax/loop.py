"""Loops of graphs: a function of the module that runs for every iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttr,
    SymbolRefAttr,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr, sym
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, parse_expr
from .call import CalleeEffect, verify_outputs
from .control import is_condition
from .types import PrimType, ShapeType, TensorType


@irdl_op_definition
class LoopOp(IRDLOperation):
    """Run a graph function of the module once for every iteration, with tensors that are carried.

    ``%r = relax.loop @step to n carried (%h) scanned (%x) given (%w) : (…) (…) (…) -> tuple<…>``.

    Iteration `i` calls ``step(i, carried…, slices…, given…)``. A slice is element `i` along the
    first axis of a scanned tensor. The function returns a tuple: the next carried tensors, of the
    same types, then outputs of the iteration. The result is the tuple of the last carried tensors
    and of the outputs, stacked along a new first axis. Iterations run from 0 to the number of
    trips. With ``while`` the loop also ends before an iteration in which the first carried tensor,
    a bool, is false; then the number of trips is only a bound, which may be missing, and nothing is
    stacked. ONNX's ``Loop`` and ``Scan``, JAX's ``lax.scan`` and ``lax.while_loop``.
    """

    name = "relax.loop"
    callee = prop_def(FlatSymbolRefAttr)
    trips = opt_prop_def(ExprAttr)
    is_while = opt_prop_def(UnitAttr, prop_name="while")
    carried = var_operand_def(TensorType)
    scanned = var_operand_def(TensorType)
    given = var_operand_def()
    result = result_def(TupleType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(CalleeEffect())

    def __init__(
        self,
        callee: str,
        trips: IntExpr | None,
        carried: Sequence[SSAValue],
        scanned: Sequence[SSAValue],
        given: Sequence[SSAValue],
        result_type: Attribute,
        is_while: bool = False,
    ):
        super().__init__(
            operands=[list(carried), list(scanned), list(given)],
            properties={
                "callee": SymbolRefAttr(callee),
                "trips": None if trips is None else ExprAttr(trips),
                "while": UnitAttr() if is_while else None,
            },
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.root_reference.data

    @property
    def trip_count(self) -> IntExpr | None:
        """The number of iterations, or the most of them."""
        return None if self.trips is None else self.trips.data

    def body_types(self, index: str) -> tuple[list[Attribute], list[TypeAttribute]]:
        """The types of the arguments and of the result's fields in an iteration `index`."""
        fields = cast("tuple[TensorType, ...]", self.result.type.types.data)
        outputs = [_row(t) for t in fields[len(self.carried) :]]
        slices = [_row(cast(TensorType, v.type)) for v in self.scanned]
        arguments = [
            PrimType.of(i64, sym(index)),
            *(v.type for v in self.carried),
            *slices,
            *(v.type for v in self.given),
        ]
        return arguments, [*(cast(TensorType, v.type) for v in self.carried), *outputs]

    def result_on(self, carried: Sequence[SSAValue]) -> TupleType:
        """The type of the result where other tensors are carried."""
        outputs = self.result.type.types.data[len(self.carried) :]
        types = [cast(TensorType, v.type) for v in carried]
        return TupleType(ArrayAttr([*types, *outputs]))

    def verify_(self) -> None:
        fields = self.result.type.types.data
        are_tensors = all(isinstance(f, TensorType) for f in fields)
        if not are_tensors or len(fields) < max(1, len(self.carried)):
            raise VerifyException(
                f"expected {len(self.carried)} carried and then stacked tensors as the result of "
                f"'{self.name}', got {self.result.type}"
            )
        verify_outputs(self.result.type, self.name)
        for carried, field in zip(self.carried, fields, strict=False):
            if carried.type != field:
                raise VerifyException(
                    f"expected a carried tensor of type {field}, as the result, got {carried.type}"
                )
        stacks = [*(v.type for v in self.scanned), *fields[len(self.carried) :]]
        self._verify_trips(stacks)
        for type_ in stacks:
            tensor = cast(TensorType, type_)
            if tensor.dims is None or not tensor.dims or tensor.dims[0] != self.trip_count:
                raise VerifyException(
                    f"expected scanned and stacked tensors of {self.trip_count} elements along "
                    f"the first axis, got {tensor}"
                )
        for value in self.given:
            if not _may_be_given(value.type):
                raise VerifyException(
                    f"expected given tensors, shapes, numbers or tuples of them, got {value.type}"
                )

    def _verify_trips(self, stacks: Sequence[Attribute]) -> None:
        if self.is_while is None:
            if self.trips is None:
                raise VerifyException(f"expected a number of trips of '{self.name}', got none")
            return
        if stacks:
            raise VerifyException(
                f"expected no scanned and stacked tensors of a while loop, got {len(stacks)}"
            )
        if not self.carried or not is_condition(self.carried[0].type):
            raise VerifyException(
                "expected a condition of type !relax.tensor<[], i1> as the first carried tensor"
            )

    @classmethod
    def parse(cls, parser: Parser) -> LoopOp:
        callee = parser.parse_symbol_name().data
        is_while = parser.parse_optional_keyword("while") is not None
        trips = parse_expr(parser) if parser.parse_optional_keyword("to") else None
        groups: list[list[object]] = []
        for keyword in ("carried", "scanned", "given"):
            parser.parse_keyword(keyword)
            groups.append(
                parser.parse_comma_separated_list(
                    parser.Delimiter.PAREN, parser.parse_unresolved_operand
                )
            )
        parser.parse_punctuation(":")
        position = parser.pos
        types = [
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            for _ in groups
        ]
        parser.parse_punctuation("->")
        result = parser.parse_type()
        carried, scanned, given = (
            parser.resolve_operands(group, own, position)  # pyright: ignore[reportArgumentType]
            for group, own in zip(groups, types, strict=True)
        )
        return LoopOp(callee, trips, carried, scanned, given, result, is_while)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        printer.print_string(" while" if self.is_while is not None else "")
        if self.trips is not None:
            printer.print_string(f" to {self.trips.data}")
        groups = {"carried": self.carried, "scanned": self.scanned, "given": self.given}
        for keyword, group in groups.items():
            printer.print_string(f" {keyword} ")
            with printer.in_parens():
                printer.print_list(group, printer.print_ssa_value)
        printer.print_string(" : ")
        for position, group in enumerate(groups.values()):
            printer.print_string(" " if position else "")
            with printer.in_parens():
                printer.print_list([v.type for v in group], printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def _may_be_given(type_: Attribute) -> bool:
    if isinstance(type_, TupleType):
        return all(map(_may_be_given, type_.types.data))
    return isinstance(type_, TensorType | ShapeType | PrimType)


def _row(type_: TensorType) -> TensorType:
    """The type of an element along the first axis."""
    return TensorType.of((type_.dims or ())[1:], type_.known_element)

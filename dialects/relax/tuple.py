"""Tuples in the `relax` dialect, and the tensors that a value may alias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, TupleType
from xdsl.ir import Attribute, OpResult, SSAValue, TypeAttribute
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .func import DataflowOp
from .operators.base import OperatorOp
from .prim_values import PrimToTensorOp, TensorToPrimOp
from .types import TensorType, tensors_in
from .values import MatchCastOp


def _tuple_type(fields: Sequence[SSAValue]) -> TupleType:
    return TupleType(ArrayAttr([cast(TypeAttribute, f.type) for f in fields]))


@irdl_op_definition
class TupleOp(IRDLOperation):
    """A tuple of values: ``%t = relax.tuple(%a, %b) : (…) -> tuple<…>``; TVM's ``Tuple``."""

    name = "relax.tuple"
    fields = var_operand_def()
    result = result_def(TupleType)
    traits = traits_def(Pure())
    assembly_format = "`(` $fields `)` attr-dict `:` functional-type($fields, $result)"

    def __init__(self, fields: Sequence[SSAValue]):
        super().__init__(operands=[list(fields)], result_types=[_tuple_type(fields)])

    def verify_(self) -> None:
        expected = _tuple_type(self.fields)
        if self.result.type != expected:
            raise VerifyException(f"expected a tuple of type {expected}, got {self.result.type}")


@irdl_op_definition
class TupleGetItemOp(IRDLOperation):
    """One field of a tuple: ``%a = relax.tuple_get_item %t[0] : tuple<…> -> …``."""

    name = "relax.tuple_get_item"
    tuple_value = operand_def(TupleType)
    index = prop_def(IntAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, tuple_value: SSAValue, index: int):
        super().__init__(
            operands=[tuple_value],
            properties={"index": IntAttr(index)},
            result_types=[_field_type(tuple_value.type, index)],
        )

    def verify_(self) -> None:
        expected = _field_type(self.tuple_value.type, self.index.data)
        if self.result.type != expected:
            raise VerifyException(
                f"expected field {self.index.data} of type {expected}, got {self.result.type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> TupleGetItemOp:
        value = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation("->")
        return TupleGetItemOp.create(
            operands=[operand],
            properties={"index": IntAttr(index)},
            result_types=[parser.parse_type()],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tuple_value)
        printer.print_string(f"[{self.index.data}] : ")
        printer.print_attribute(self.tuple_value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def _field_type(type_: Attribute, index: int) -> Attribute:
    if not isinstance(type_, TupleType):
        raise VerifyException(f"expected a tuple, got {type_}")
    fields = type_.types.data
    if not 0 <= index < len(fields):
        raise VerifyException(f"expected a field of a tuple of {len(fields)}, got {index}")
    return fields[index]


Leaf: TypeAlias = tuple[SSAValue, int]
"""A tensor by its definition, a parameter or operation result, and its position in that."""


def leaves(value: SSAValue) -> list[Leaf]:
    """The tensors of a tensor or tuple value, flattened in order."""
    match value.owner:
        case TupleOp() as op:
            return [leaf for field in op.fields for leaf in leaves(field)]
        case TupleGetItemOp() as op:
            assert isinstance(op.tuple_value.type, TupleType)
            sizes = [len(tensors_in(t)) for t in op.tuple_value.type.types.data]
            start = sum(sizes[: op.index.data])
            return leaves(op.tuple_value)[start : start + sizes[op.index.data]]
        case DataflowOp() as op:
            assert isinstance(value, OpResult)
            return leaves(op.output.values[value.index])
        case MatchCastOp() as op:
            return leaves(op.value)
        case PrimToTensorOp() as op:
            return leaves(op.prim)
        case TensorToPrimOp() as op:
            return leaves(op.tensor)
        case _:
            return [(value, i) for i in range(len(tensors_in(value.type)))]


def tensor_type(leaf: Leaf) -> TensorType:
    """The type of one tensor."""
    return tensors_in(leaf[0].type)[leaf[1]]


def in_memory(leaf: Leaf) -> list[Leaf]:
    """The tensor, and those that it is a view of, up to the one that owns the memory."""
    found = [leaf]
    while isinstance(op := found[-1][0].owner, OperatorOp) and op.is_view:
        found += leaves(op.operands[0])
    return found

"""Loads and stores of scalars and vectors, and their masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IndexType, UnitAttr, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from ..dtypes import value_type
from ..int_expr import ONE, IntExpr
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import (
    ExprAttr,
    OperandScope,
    expr_array,
    exprs_of,
    pack,
    print_expr,
    print_exprs,
    verify_args,
)
from ..tir.types import BufferType


def _verify_access(
    type_: BufferType, indices: int, value: Attribute, mask: SSAValue | None
) -> None:
    verify_rank(type_, indices)
    element = value
    if isinstance(value, VectorType):
        vector = cast("VectorType", value)
        element = vector.element_type
        if len(vector.get_shape()) != 1:
            raise VerifyException(f"expected a vector of one dim, got {value}")
        _verify_contiguous(type_)
    if element != value_type(type_.element_type):
        raise VerifyException(
            f"expected elements of type {value_type(type_.element_type)} for {type_}, got {value}"
        )
    if mask is not None:
        if not isinstance(value, VectorType):
            raise VerifyException("expected a mask on vector accesses only")
        if mask.type != VectorType(i1, value.get_shape()):
            raise VerifyException(
                f"expected a mask of {value.get_shape()[0]} lanes, got {mask.type}"
            )


def verify_rank(type_: BufferType, indices: int) -> None:
    """Raise VerifyException unless there is an index for each dim."""
    if indices != type_.rank:
        raise VerifyException(f"expected {type_.rank} indices for {type_}, got {indices}")


def _verify_contiguous(type_: BufferType) -> None:
    if not type_.rank:
        raise VerifyException(f"expected a vector along the last dim of {type_}, which has none")
    if type_.element_strides()[-1] != ONE:
        raise VerifyException(f"expected the last dim of {type_} to be contiguous for a vector")


def _mask_type(value: Attribute) -> VectorType:
    lanes = value.get_shape() if isinstance(value, VectorType) else (1,)
    return VectorType(i1, lanes)


def _print_access(printer: Printer, op: LoadOp | StoreOp) -> None:
    printer.print_ssa_value(op.buffer)
    print_exprs(printer, exprs_of(op.indices), op.operands_)
    if op.mask is not None:
        printer.print_string(" mask ")
        printer.print_ssa_value(op.mask)
    if isinstance(op, StoreOp) and op.nontemporal is not None:
        printer.print_string(" nontemporal")
    printer.print_string(" : ")
    printer.print_attribute(op.buffer.type)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read an element, or a contiguous vector from there along the last dim.

    ``%v = loops.load %X[%i, %j * 16] mask %m : !tir.buffer<[1, n], f32> -> vector<16xf32>``.
    Masked-off lanes are 0, and their memory is not accessed. MLIR's ``vector.maskedload``.
    """

    name = "loops.load"
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    mask = opt_operand_def(VectorType)
    indices = prop_def(ArrayAttr[ExprAttr])
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        buffer: SSAValue,
        indices: Sequence[IntExpr],
        values: Sequence[SSAValue],
        result_type: Attribute,
        mask: SSAValue | None = None,
    ):
        operands, packed = pack(indices, values)
        super().__init__(
            operands=[buffer, operands, mask],
            properties={"indices": expr_array(packed)},
            result_types=[result_type],
        )

    def verify_(self) -> None:
        _verify_access(
            cast(BufferType, self.buffer.type), len(self.indices.data), self.result.type, self.mask
        )
        verify_args(self, exprs_of(self.indices), len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        mask = parser.parse_unresolved_operand() if parser.parse_optional_keyword("mask") else None
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation("->")
        value = parser.parse_type()
        resolved = None if mask is None else parser.resolve_operand(mask, _mask_type(value))
        return LoadOp(
            parser.resolve_operand(buffer, type_), indices, scope.resolve(), value, resolved
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write an element, or a contiguous vector from there along the last dim.

    ``loops.store %v, %Y[%i, %j * 16] mask %m : !tir.buffer<[1, n], f32>, vector<16xf32>``. Lanes
    that are masked off are not written. ``nontemporal``, after the indices and the mask, states
    that the memory is not read again soon, so that a vector store may bypass the caches. MLIR's
    ``vector.maskedstore``.
    """

    name = "loops.store"
    value = operand_def()
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    mask = opt_operand_def(VectorType)
    indices = prop_def(ArrayAttr[ExprAttr])
    nontemporal = opt_prop_def(UnitAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        buffer: SSAValue,
        indices: Sequence[IntExpr],
        values: Sequence[SSAValue],
        mask: SSAValue | None = None,
        is_nontemporal: bool = False,
    ):
        operands, packed = pack(indices, values)
        properties: dict[str, Attribute] = {"indices": expr_array(packed)}
        if is_nontemporal:
            properties["nontemporal"] = UnitAttr()
        super().__init__(operands=[value, buffer, operands, mask], properties=properties)

    def verify_(self) -> None:
        _verify_access(
            cast(BufferType, self.buffer.type), len(self.indices.data), self.value.type, self.mask
        )
        verify_args(self, exprs_of(self.indices), len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        stored = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        mask = parser.parse_unresolved_operand() if parser.parse_optional_keyword("mask") else None
        is_nontemporal = parser.parse_optional_keyword("nontemporal") is not None
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation(",")
        value = parser.parse_type()
        resolved = None if mask is None else parser.resolve_operand(mask, _mask_type(value))
        return StoreOp(
            parser.resolve_operand(stored, value),
            parser.resolve_operand(buffer, type_),
            indices,
            scope.resolve(),
            resolved,
            is_nontemporal,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self)
        printer.print_string(", ")
        printer.print_attribute(self.value.type)


@irdl_op_definition
class MaskOp(IRDLOperation):
    """A mask with a prefix of active lanes, whose length is an expression.

    ``%m = loops.mask n - %j * 16 : vector<16xi1>``. MLIR's ``vector.create_mask``.
    """

    name = "loops.mask"
    operands_ = var_operand_def(IndexType)
    active = prop_def(ExprAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, active: IntExpr, values: Sequence[SSAValue], lanes: int):
        operands, (packed,) = pack([active], values)
        super().__init__(
            operands=[operands],
            properties={"active": ExprAttr(packed)},
            result_types=[VectorType(i1, [lanes])],
        )

    def verify_(self) -> None:
        if self.result.type != VectorType(i1, self.result.type.get_shape()):
            raise VerifyException(f"expected a vector of i1, got {self.result.type}")
        if len(self.result.type.get_shape()) != 1:
            raise VerifyException(f"expected a vector of one dim, got {self.result.type}")
        verify_args(self, [self.active.data], len(self.operands))

    @classmethod
    def parse(cls, parser: Parser) -> MaskOp:
        scope = OperandScope(parser)
        active = scope.expr()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, VectorType):
            parser.raise_error(f"expected a vector type, got {type_}", position)
        return MaskOp(active, scope.resolve(), type_.get_shape()[0])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_expr(printer, self.active.data, self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

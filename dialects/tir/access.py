"""`tir` operations on buffers: load, store, allocation, sub-region views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ..dtypes import value_type
from ..int_expr import ONE, IntExpr
from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..sym import (
    ExprArray,
    ExprAttr,
    OperandScope,
    expr_array,
    exprs_of,
    pack,
    print_exprs,
    verify_args,
)
from .types import BufferType
from .verify_access import verify_inside


def _verify_access(op: LoadOp | StoreOp, value: Attribute) -> None:
    type_ = op.buffer.type
    assert isinstance(type_, BufferType)
    if len(op.indices.data) != type_.rank:
        raise VerifyException(
            f"expected {type_.rank} indices for {type_}, got {len(op.indices.data)}"
        )
    expected = value_type(type_.element_type)
    if value != expected:
        raise VerifyException(f"expected a value of type {expected} for {type_}, got {value}")
    verify_args(op, exprs_of(op.indices), len(op.operands_))
    _verify_inside(op, op.buffer, exprs_of(op.indices), op.operands_)


def _verify_inside(
    op: Operation,
    buffer: SSAValue,
    indices: Sequence[IntExpr],
    operands: Sequence[SSAValue],
    sizes: Sequence[IntExpr] | None = None,
) -> None:
    if sizes is not None:
        sizes = [ONE] * (len(indices) - len(sizes)) + list(sizes)
    verify_inside(op, buffer, indices, operands, sizes)


def _print_element(
    printer: Printer, buffer: SSAValue, map_: ExprArray, operands: Sequence[SSAValue]
) -> None:
    printer.print_ssa_value(buffer)
    print_exprs(printer, exprs_of(map_), operands)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read one element.

    ``%0 = tir.load %X[%i, %k * 2] : !tir.buffer<[1, n], f32>``; TVM's ``BufferLoad``.
    """

    name = "tir.load"
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    indices = prop_def(ArrayAttr[ExprAttr])
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self, buffer: SSAValue, indices: Sequence[IntExpr], values: Sequence[SSAValue] = ()
    ):
        operands, packed = pack(indices, values)
        super().__init__(
            operands=[buffer, operands],
            properties={"indices": expr_array(packed)},
            result_types=[value_type(cast(BufferType, buffer.type).element_type)],
        )

    def verify_(self) -> None:
        _verify_access(self, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        parser.parse_punctuation(":")
        return LoadOp(parser.resolve_operand(buffer, parser.parse_type()), indices, scope.resolve())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_element(printer, self.buffer, self.indices, self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write one element.

    ``tir.store %v, %Y[%i, %j] : !tir.buffer<[1, n], f32>``; TVM's ``BufferStore``.
    """

    name = "tir.store"
    value = operand_def()
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    indices = prop_def(ArrayAttr[ExprAttr])
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        buffer: SSAValue,
        indices: Sequence[IntExpr],
        values: Sequence[SSAValue] = (),
    ):
        operands, packed = pack(indices, values)
        super().__init__(
            operands=[value, buffer, operands], properties={"indices": expr_array(packed)}
        )

    def verify_(self) -> None:
        _verify_access(self, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, BufferType):
            parser.raise_error(f"expected a buffer type, got {type_}", position)
        stored = parser.resolve_operand(value, value_type(type_.element_type))
        return StoreOp(stored, parser.resolve_operand(buffer, type_), indices, scope.resolve())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_element(printer, self.buffer, self.indices, self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)


@irdl_op_definition
class AllocBufferOp(IRDLOperation):
    """Scratch memory with the lifetime of the enclosing block or function.

    ``%Y = tir.alloc_buffer : !tir.buffer<[1, n], f32>``; TVM's ``T.alloc_buffer``.
    """

    name = "tir.alloc_buffer"
    buffer_name = opt_prop_def(StringAttr)
    result = result_def(BufferType)
    traits = traits_def(AllocatesResult())
    assembly_format = "($buffer_name^)? attr-dict `:` type($result)"

    def __init__(self, type_: BufferType, buffer_name: str | None = None):
        name = None if buffer_name is None else StringAttr(buffer_name)
        super().__init__(result_types=[type_], properties={"buffer_name": name})

    def verify_(self) -> None:
        if not self.result.type.is_dense:
            raise VerifyException(
                f"expected a new buffer without strides and offset, got {self.result.type}"
            )


@irdl_op_definition
class MatchBufferOp(IRDLOperation):
    """A view of a region of a buffer, with its own shape; TVM's ``MatchBufferRegion``.

    ``%B = tir.match_buffer %A[%i * 4, 0] : !tir.buffer<[n, 16], f32> to !tir.buffer<[4, 16],
    f32>``: element ``[0, 0]`` of the view is the given element of the source. The strides of the
    view are those of the source's trailing dims.
    """

    name = "tir.match_buffer"
    source = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    starts = prop_def(ArrayAttr[ExprAttr])
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        starts: Sequence[IntExpr],
        values: Sequence[SSAValue],
        type_: BufferType,
    ):
        operands, packed = pack(starts, values)
        super().__init__(
            operands=[source, operands],
            properties={"starts": expr_array(packed)},
            result_types=[type_],
        )

    def verify_(self) -> None:
        source, view = cast(BufferType, self.source.type), self.result.type
        if len(self.starts.data) != source.rank:
            raise VerifyException(
                f"expected {source.rank} starts for {source}, got {len(self.starts.data)}"
            )
        if view.rank > source.rank:
            raise VerifyException(f"expected a view of rank at most {source.rank}, got {view.rank}")
        if view.element_type != source.element_type:
            raise VerifyException(
                f"expected a view of element type {source.element_type}, got {view.element_type}"
            )
        verify_args(self, exprs_of(self.starts), len(self.operands_))
        _verify_inside(self, self.source, exprs_of(self.starts), self.operands_, view.dims)

    @classmethod
    def parse(cls, parser: Parser) -> MatchBufferOp:
        source = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        starts = scope.exprs()
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, BufferType):
            parser.raise_error(f"expected a buffer type, got {type_}", position)
        return MatchBufferOp(
            parser.resolve_operand(source, source_type), starts, scope.resolve(), type_
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_element(printer, self.source, self.starts, self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

"""Stack allocation, views for external functions, and prefetch hints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, OperandScope, expr_array, exprs_of, pack, print_exprs, verify_args
from ..tir.types import BufferType
from .access import verify_rank


@irdl_op_definition
class AllocaOp(IRDLOperation):
    """Scratch memory of constant size on the stack; MLIR's ``memref.alloca``.

    ``%t = loops.alloca : !tir.buffer<[16], f32>``.
    """

    name = "loops.alloca"
    result = result_def(BufferType)
    traits = traits_def(AllocatesResult())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: BufferType):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        if self.result.type.size_in_bytes().constant is None:
            raise VerifyException(
                f"expected a buffer of constant size on the stack, got {self.result.type}"
            )
        if not self.result.type.is_dense:
            raise VerifyException(
                f"expected a new buffer without strides and offset, got {self.result.type}"
            )


@irdl_op_definition
class ViewOp(IRDLOperation):
    """A view of a buffer from an element on, for an external function or as one row.

    ``%v = loops.view %X at %offset : !tir.buffer<[n, m], f32> to !tir.buffer<[4], f32>``. It has no
    traits: passes that move or merge accesses must treat it as a use of the buffer.
    """

    name = "loops.view"
    source = operand_def(BufferType)
    offset = operand_def(IndexType)
    result = result_def(BufferType)
    assembly_format = "$source `at` $offset attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, offset: SSAValue, type_: BufferType):
        super().__init__(operands=[source, offset], result_types=[type_])

    def verify_(self) -> None:
        source, view = cast(BufferType, self.source.type), self.result.type
        if view.element_type != source.element_type:
            raise VerifyException(
                f"expected a view of element type {source.element_type}, got {view.element_type}"
            )


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Prefetch the cache line of an element, which may be out of bounds.

    ``loops.prefetch %X[%i, %k + 48] : !tir.buffer<[n, m], f32>``. No value depends on it. Its
    memory effects keep it in place, and from being removed. MLIR's ``memref.prefetch``.
    """

    name = "loops.prefetch"
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    indices = prop_def(ArrayAttr[ExprAttr])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, buffer: SSAValue, indices: Sequence[IntExpr], values: Sequence[SSAValue]):
        operands, packed = pack(indices, values)
        super().__init__(operands=[buffer, operands], properties={"indices": expr_array(packed)})

    def verify_(self) -> None:
        verify_rank(cast(BufferType, self.buffer.type), len(self.indices.data))
        verify_args(self, exprs_of(self.indices), len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return PrefetchOp(parser.resolve_operand(buffer, type_), indices, scope.resolve())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.buffer)
        print_exprs(printer, exprs_of(self.indices), self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

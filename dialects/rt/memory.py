"""Memory in the `rt` dialect: allocation before planning, and arena and views after it."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i8, i64
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from ..bounds import is_less
from ..int_expr import IntExpr
from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, parse_expr
from ..tir.types import BufferType


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Memory for an intermediate, not in arenas: ``%t = rt.alloc : !tir.buffer<[1, n], f32>``."""

    name = "rt.alloc"
    result = result_def(BufferType)
    traits = traits_def(AllocatesResult())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: BufferType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class SlotOp(IRDLOperation):
    """The number of the thread that runs an iteration of a parallel loop: ``%s = rt.slot 64``.

    It is less than the count, the number of threads that have memory of their own. It is 0 outside
    of parallel loops.
    """

    name = "rt.slot"
    count = prop_def(IntegerAttr[IntegerType])
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, count: int):
        super().__init__(properties={"count": IntegerAttr(count, i64)}, result_types=[IndexType()])

    def verify_(self) -> None:
        if self.count.value.data < 1:
            raise VerifyException(f"expected at least one slot, got {self.count.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> SlotOp:
        return SlotOp(parser.parse_integer())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.count.value.data}")


@irdl_op_definition
class ArenaOp(IRDLOperation):
    """The arena of one call, whose size in bytes is planned.

    ``%a = rt.arena n * 4 + 64 : !tir.buffer<[n * 4 + 64], i8>``.
    """

    name = "rt.arena"
    size = prop_def(ExprAttr)
    result = result_def(BufferType)
    traits = traits_def(AllocatesResult())

    def __init__(self, size: IntExpr):
        super().__init__(
            properties={"size": ExprAttr(size)}, result_types=[BufferType.of([size], i8)]
        )

    def verify_(self) -> None:
        if self.size.data.args():
            raise VerifyException(f"expected an arena size over symbols, got {self.size.data}")
        expected = BufferType.of([self.size.data], i8)
        if self.result.type != expected:
            raise VerifyException(f"expected an arena of type {expected}, got {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ArenaOp:
        return ArenaOp(parse_expr(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.size.data}")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """A tensor in the arena, at a byte offset.

    ``%t = rt.view %a[64] : !tir.buffer<[…], i8> to !tir.buffer<[1, n], f32>``.
    """

    name = "rt.view"
    source = operand_def(BufferType)
    offset = prop_def(ExprAttr)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, offset: IntExpr, type_: BufferType):
        super().__init__(
            operands=[source], properties={"offset": ExprAttr(offset)}, result_types=[type_]
        )

    def verify_(self) -> None:
        source = cast(BufferType, self.source.type)
        if source.element_type != i8 or source.rank != 1:
            raise VerifyException(f"expected a view of bytes, got {source}")
        offset = self.offset.data
        if offset.args() or is_less(offset, 0):
            raise VerifyException(f"expected a byte offset over symbols, at least 0, got {offset}")
        room = (source.dims[0] - self.offset.data - self.result.type.size_in_bytes()).constant
        if room is not None and room < 0:
            raise VerifyException(
                f"expected a view within {source.dims[0]} bytes, got one that ends {-room} bytes "
                "later"
            )

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parse_expr(parser)
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, BufferType):
            parser.raise_error(f"expected a buffer type, got {type_}", position)
        return ViewOp(parser.resolve_operand(source, source_type), offset, type_)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f"[{self.offset.data}] : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ReinterpretOp(IRDLOperation):
    """The same memory with other dims, in the same row-major order, or with another element type.

    ``%y = rt.reinterpret %x : !tir.buffer<[n, 768], f32> to !tir.buffer<[n, 12, 64], f32>``. If the
    numbers of bytes are different expressions, earlier operations have checked that they are
    equal.
    """

    name = "rt.reinterpret"
    source = operand_def(BufferType)
    result = result_def(BufferType)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, type_: BufferType):
        super().__init__(operands=[source], result_types=[type_])

    def verify_(self) -> None:
        source, result = cast(BufferType, self.source.type), self.result.type
        excess = (source.size_in_bytes() - result.size_in_bytes()).constant or 0
        if excess:
            raise VerifyException(f"expected tensors of as many bytes, got {source} and {result}")
        if not (source.is_dense and result.is_dense):
            raise VerifyException(f"expected dense tensors, got {source} and {result}")


def memory_of(buffer: SSAValue) -> SSAValue:
    """The whole buffer that `rt.reinterpret` operations refer to."""
    while isinstance(owner := buffer.owner, ReinterpretOp):
        buffer = owner.source
    return buffer


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Copy a whole tensor: ``rt.copy %x, %y : !tir.buffer<[1, n], f32>, …``.

    If the dims are different expressions, earlier operations have checked that they are equal.
    """

    name = "rt.copy"
    source = operand_def(BufferType)
    target = operand_def(BufferType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        source, target = cast(BufferType, self.source.type), cast(BufferType, self.target.type)
        if source.element_type != target.element_type or not _may_be_equal(source, target):
            raise VerifyException(
                f"expected a copy between tensors of one type, got {source} and {target}"
            )


def _may_be_equal(source: BufferType, target: BufferType) -> bool:
    pairs = zip(source.dims, target.dims, strict=False)
    constants = [(a.constant, b.constant) for a, b in pairs]
    return source.rank == target.rank and all(
        a == b for a, b in constants if a is not None and b is not None
    )

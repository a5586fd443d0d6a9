"""Scratch memory on the stack, and memory as external functions take it."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from ..effects import AllocatesResult
from ..tir.types import BufferType


@irdl_op_definition
class AllocaOp(IRDLOperation):
    """Scratch memory of constant size on the stack.

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


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The memory of a buffer from an element on, as external functions take it.

    ``%v = loops.view %X at %offset : !tir.buffer<[n, m], f32> to !tir.buffer<[4], f32>``. It has no
    traits: what moves or merges accesses must see that the buffer is used where its view is.
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

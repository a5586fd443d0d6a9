"""The conversion of calls and scalars to loops, with what other conversions share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NoReturn

from xdsl.dialects import arith
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from ...dialects import tir
from ..scope import Scope, name_of, opened_views, rebuild
from .reduction_init import Level


@dataclass
class CallConverter(ABC):
    """Converts the calls of one function into the block of its scope."""

    func: tir.PrimFuncOp
    scope: Scope = field(init=False)
    nest: list[Level] = field(default_factory=lambda: [])

    @abstractmethod
    def convert_all(self, block: Block) -> None:
        """Convert the operations of a block."""

    def convert_call_extern(self, op: tir.CallExternOp) -> None:
        """A call; of a view it gets the memory from the view's first element on."""
        with opened_views(self.scope, op.operands):
            self.convert_scalar(op)

    def convert_intrinsic(self, op: tir.CallIntrinOp) -> None:
        """A call of an intrinsic of LLVM, or of a registered function; others belong to GPUs."""
        if op.packed_callee is not None:
            self.convert_packed(op)
            return
        callee, result = op.callee, op.result
        values = [*op.args[1:], *op.results]
        is_scalar = not any(isinstance(v.type, tir.HandleType) for v in values)
        if callee is None or result is None or not is_scalar:
            self.fail(f"expected calls that CPU code has, got T.{op.intrinsic.data}")
        args = [self.scope.value(a) for a in op.args[1:]]
        call = tir.CallExternOp(callee, args, result.type)
        self.scope.emit(call)
        self.scope.define(result, call.results[0])

    def convert_packed(self, op: tir.CallIntrinOp) -> None:
        """A call of a registered function on numbers, strings, and whole compact buffers."""
        for arg in op.args:
            is_pointer = isinstance(arg.type, tir.HandleType)
            is_view = arg in self.scope.views
            if isinstance(arg.owner, tir.StringOp):
                text = tir.StringOp(arg.owner.text.data)
                self.scope.emit(text)
                self.scope.define(arg, text.result)
            elif is_pointer or is_view or (_is_buffer(arg) and not _is_compact(arg)):
                self.fail(
                    f"expected '{op.packed_callee}' to get numbers, strings and whole compact "
                    f"buffers, got {_kind_of(arg)}"
                )
        self.convert_scalar(op)

    def convert_attr(self, op: tir.AttrOp) -> None:
        if not op.is_pragma:
            self.fail(f"expected attributes of statements that CPU code has, got '{op.key.data}'")
        self.convert_all(op.body.block)

    def convert_return(self, op: tir.ReturnOp) -> None:
        """Nothing for the status 0 at the end, which kernels return anyway."""
        status = op.value.owner.value if isinstance(op.value.owner, ConstantOp) else None
        is_zero = isinstance(status, IntegerAttr) and status.value.data == 0
        if not is_zero or op.next_op is not None or op.parent is not self.func.body.block:
            self.fail("expected a kernel that writes its results to buffers, got 'return'")

    def convert_float_to_integer(self, op: arith.FPToSIOp | arith.FPToUIOp) -> None:
        """A conversion, which saturates: of a value that is clipped to its range, that value."""
        op.operands[0] = _without_clips(op)
        self.convert_scalar(op)

    def convert_kernel_call(self, op: tir.CallOp) -> None:
        self.fail(f"expected a kernel without calls of others, got one of '{op.callee_name}'")

    def convert_scalar(self, op: Operation) -> None:
        """Arithmetic, control flow on data, and other operations that are copied."""
        for operand in op.operands:
            if operand in self.scope.views:
                self.fail(
                    f"expected operands of '{op.name}' other than views, got '{name_of(operand)}'"
                )
        nest, self.nest = self.nest, []
        rebuild(op, self.scope, self.convert_all)
        self.nest = nest

    def fail(self, message: str) -> NoReturn:
        raise PassFailedException(f"in '@{self.func.sym_name.data}': {message}")


def _is_buffer(value: SSAValue) -> bool:
    return isinstance(value.type, tir.BufferType)


def _is_compact(value: SSAValue) -> bool:
    return isinstance(value.type, tir.BufferType) and value.type.is_dense


def _kind_of(value: SSAValue) -> str:
    """What messages call an argument that is no array."""
    if not _is_buffer(value):
        return "a pointer"
    name = value.name_hint
    return "the address of an element" if name is None else f"part of a buffer as '{name}'"


def _without_clips(op: arith.FPToSIOp | arith.FPToUIOp) -> SSAValue:
    """The operand of a conversion without a maximum and minimum with the ends of its range."""
    bits, value = op.result.type.width.data, op.input
    low, end = (0, 1 << bits) if isinstance(op, arith.FPToUIOp) else (-1 << bits - 1, 1 << bits - 1)
    while isinstance(clip := value.owner, arith.MaximumfOp | arith.MinimumfOp):
        bound = low if isinstance(clip, arith.MaximumfOp) else end - 1
        others = [v for v in clip.operands if not _is_number(v, bound)]
        if len(others) != 1:
            break
        (value,) = others
    return value


def _is_number(value: SSAValue, number: int) -> bool:
    """Whether a value is a float constant that is exactly an integer."""
    constant = value.owner.value if isinstance(value.owner, ConstantOp) else None
    return isinstance(constant, FloatAttr) and constant.value.data == number

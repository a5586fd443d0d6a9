"""Jumps of kernels, their results, calls of other kernels, and attributes of statements."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..dtypes import dtype_name, element_type
from ..irdl import IRDLOperation, irdl_op_definition
from ..nesting import ancestors, enclosing, operations_in
from .calls import OpaqueCallOp
from .func import PrimFuncOp
from .loop import ForOp
from .types import BufferType, HandleType


class JumpOp(IRDLOperation, ABC):
    """A jump out of an iteration of the innermost loop."""

    def __init__(self) -> None:
        super().__init__()

    def verify_(self) -> None:
        loop = loop_of(self)
        if loop is None or (isinstance(loop, ForOp) and loop.kind.data != "serial"):
            raise VerifyException("expected a serial loop around the jump")


def loop_of(jump: JumpOp) -> ForOp | scf.WhileOp | None:
    """The innermost loop around a jump."""
    return next((op for op in ancestors(jump) if isinstance(op, ForOp | scf.WhileOp)), None)


def has_jumps(root: Operation) -> bool:
    """Whether there are jumps among the operations inside."""
    return any(isinstance(op, JumpOp) for op in operations_in(root))


@irdl_op_definition
class BreakOp(JumpOp):
    """Leave the innermost loop: ``tir.break``; Python's `break`."""

    name = "tir.break"
    assembly_format = "attr-dict"


@irdl_op_definition
class ContinueOp(JumpOp):
    """Start the next iteration of the innermost loop: ``tir.continue``; Python's `continue`."""

    name = "tir.continue"
    assembly_format = "attr-dict"


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Return a scalar from a kernel: ``tir.return %x : f32``; TVM's ``T.ret``.

    Kernels write their results to buffers, and return nothing: conversion to loops accepts only
    the status 0 at the end.
    """

    name = "tir.return"
    value = operand_def()
    unsigned = opt_prop_def(UnitAttr)
    assembly_format = "(`unsigned` $unsigned^)? $value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue, unsigned: bool = False):
        super().__init__(
            operands=[value], properties={"unsigned": UnitAttr() if unsigned else None}
        )

    @property
    def element_type(self) -> Attribute:
        """The type of the result in memory, with its signedness."""
        type_ = self.value.type
        return element_type(f"u{dtype_name(type_)}") if self.unsigned is not None else type_

    def verify_(self) -> None:
        func = enclosing(self, PrimFuncOp)
        first = self if func is None else result_of(func)
        if first is not None and first.value.type != self.value.type:
            raise VerifyException(
                f"expected results of one type, got {first.value.type} and {self.value.type}"
            )


def result_of(func: PrimFuncOp) -> ReturnOp | None:
    """The first `tir.return` of a kernel, which says the type of its result."""
    return next((op for op in operations_in(func) if isinstance(op, ReturnOp)), None)


@irdl_op_definition
class CallOp(OpaqueCallOp):
    """A call of another kernel of the module: ``%0 = tir.call @square(%x) : (f32) -> f32``.

    A buffer is passed as its memory. Conversion to loops refuses such calls.
    """

    name = "tir.call"
    callee = prop_def(SymbolRefAttr)
    unsigned = opt_prop_def(UnitAttr)
    assembly_format = (
        "$callee (`unsigned` $unsigned^)? `(` $args `)` attr-dict `:` "
        "functional-type($args, results)"
    )

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        result_type: Attribute | None,
        unsigned: bool = False,
    ):
        super().__init__(
            operands=[args],
            result_types=[[] if result_type is None else [result_type]],
            properties={
                "callee": SymbolRefAttr(callee),
                "unsigned": UnitAttr() if unsigned else None,
            },
        )

    @property
    def callee_name(self) -> str:
        """The name of the kernel."""
        return self.callee.root_reference.data

    def verify_(self) -> None:
        module = enclosing(self, ModuleOp)
        if module is None:
            return  # a function by itself, without the others
        name = self.callee_name
        callee = SymbolTable.lookup_symbol(module, self.callee)
        if not isinstance(callee, PrimFuncOp):
            raise VerifyException(f"expected a kernel called '{name}'")
        wanted = [p.type for p in callee.params]
        if len(wanted) != len(self.args):
            raise VerifyException(
                f"expected {len(wanted)} arguments of '{name}', got {len(self.args)}"
            )
        for param, want, arg in zip(callee.names, wanted, self.args, strict=True):
            if not _accepts(want, arg.type):
                raise VerifyException(
                    f"expected argument '{param}' of '{name}' to be {want}, got {arg.type}"
                )
        returned = result_of(callee)
        given = None if returned is None else returned.value.type
        result = None if self.result is None else self.result.type
        if given != result:
            raise VerifyException(f"expected '{name}' to return {result}, got {given}")


def _accepts(param: Attribute, arg: Attribute) -> bool:
    """Whether a parameter takes an argument; a handle takes the memory of a buffer."""
    if isinstance(param, IndexType):
        return isinstance(arg, IndexType | IntegerType)
    if isinstance(param, HandleType) and isinstance(arg, BufferType):
        return param.element_type in (arg.element_type, HandleType.of().element_type)
    if isinstance(param, BufferType) and isinstance(arg, BufferType):
        return param.element_type == arg.element_type
    return param == arg


@irdl_op_definition
class AttrOp(IRDLOperation):
    """An attribute of the statements inside: ``tir.attr "pragma_unroll" of "i"(%x) : i32 { … }``.

    TVM's ``T.attr``. What it belongs to is the source text `node`, or the memory that is the first
    operand. Conversion to loops ignores pragmas, and refuses other attributes.
    """

    name = "tir.attr"
    key = prop_def(StringAttr)
    node = opt_prop_def(StringAttr)
    args = var_operand_def()
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "$key (`of` $node^)? `(` $args `)` attr-dict `:` type($args) $body"

    def __init__(self, key: str, node: str | None, args: Sequence[SSAValue], body: Region):
        super().__init__(
            operands=[args],
            properties={
                "key": StringAttr(key),
                "node": None if node is None else StringAttr(node),
            },
            regions=[body],
        )

    @property
    def is_pragma(self) -> bool:
        """Whether it is a hint to a compiler, without a meaning of its own."""
        return self.key.data.startswith("pragma_")

    def verify_(self) -> None:
        count = 1 if self.node is not None else 2
        if len(self.args) != count:
            raise VerifyException(f"expected {count} operands, got {len(self.args)}")

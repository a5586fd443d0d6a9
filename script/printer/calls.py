"""Calls of C functions and of intrinsics in print, with pointers among their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import SSAValue

from ...dialects.dtypes import dtype_name
from ...dialects.int_expr import IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir import (
    BufferType,
    CallExternOp,
    CallIntrinOp,
    CallOp,
    HandleType,
    MatchBufferOp,
    OpaqueCallOp,
)
from ...dialects.tir.calls import FIRST, INTRINSICS, STATED
from ...dialects.tir.types import GLOBAL
from .literals import call_text, quote
from .operators import Text


class Scalars(Protocol):
    """What the text of a call needs of `Expressions`."""

    names: dict[SSAValue, str]
    module: str

    def dtype(self, value: SSAValue, unsigned: bool | None = None) -> str:
        """The dtype name in print."""
        ...

    def value(self, value: SSAValue, unsigned: bool | None = None) -> Text:
        """A scalar."""
        ...

    def index(self, expr: IntExpr, operands: Sequence[SSAValue]) -> str:
        """An integer expression over operands."""
        ...

    def element(self, buffer: SSAValue, indices: Sequence[str]) -> str:
        """An element of a buffer."""
        ...


def opaque_call(expressions: Scalars, op: OpaqueCallOp) -> str:
    """``T.call_extern("float32", "fmaf", a, b, c)``, ``T.tvm_storage_sync("warp")``."""
    arguments = [argument_text(expressions, a) for a in op.args]
    if isinstance(op, CallIntrinOp) and op.packed_callee is not None:
        arguments = [_array_text(expressions, a) for a in op.args]
    if isinstance(op, CallExternOp):
        dtype = "void" if op.result is None else expressions.dtype(op.result)
        return call_text("T.call_extern", quote(dtype), quote(op.callee.data), *arguments)
    if isinstance(op, CallOp):
        return call_text(f"{expressions.module}{op.callee_name}", *arguments)
    assert isinstance(op, CallIntrinOp) and op.result is not None
    rule = INTRINSICS[op.intrinsic.data]
    dtype = quote(expressions.dtype(op.result))
    first = [dtype] if rule == FIRST else []
    stated = dtype if rule == STATED else None
    return call_text(f"T.{op.intrinsic.data}", *first, *arguments, dtype=stated)


def argument_text(expressions: Scalars, value: SSAValue) -> str:
    """An argument of a call; a buffer is passed as its memory."""
    if not isinstance(value.type, BufferType):
        return expressions.value(value).text
    return pointer_text(expressions, value)


def _array_text(expressions: Scalars, value: SSAValue) -> str:
    """An argument of a registered function; a buffer is passed as an array."""
    is_array = isinstance(value.type, BufferType) and not is_address(value)
    return expressions.names[value] if is_array else argument_text(expressions, value)


def pointer_text(expressions: Scalars, buffer: SSAValue) -> str:
    """The memory of a buffer, of a view from its first element on, or at an element."""
    view = buffer.owner
    if is_address(buffer):
        assert isinstance(view, MatchBufferOp)
        indices = [expressions.index(e, view.operands_) for e in exprs_of(view.starts)]
        return call_text("T.address_of", expressions.element(view.source, indices))
    pointer = 'access_ptr("rw")' if isinstance(view, MatchBufferOp) else "data"
    return f"{expressions.names[buffer]}.{pointer}"


def is_address(buffer: SSAValue) -> bool:
    """Whether a view is one element, and only calls use it: TVM's ``address_of``."""
    is_element = isinstance(buffer.owner, MatchBufferOp) and buffer.owner.result.type.rank == 0
    return is_element and all(isinstance(u.operation, OpaqueCallOp) for u in buffer.uses)


def handle_text(type_: HandleType) -> str:
    """``T.handle``, ``T.handle("float32", "shared")``, ``T.handle(storage_scope="shared")``."""
    is_typed = not isinstance(type_.element_type, NoneAttr)
    dtype = [quote(dtype_name(type_.element_type))] if is_typed else []
    scope = None if type_.scope.data == GLOBAL else quote(type_.scope.data)
    if dtype and scope is not None:
        return call_text("T.handle", *dtype, scope)
    return call_text("T.handle", *dtype, storage_scope=scope) if dtype or scope else "T.handle"

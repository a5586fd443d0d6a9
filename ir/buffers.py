"""Buffers of PrimFuncs as Python objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, SSAValue

from ..dialects.dtypes import dtype_name
from ..dialects.tir import BufferType, HandleType, PrimFuncOp
from .struct_info import Shape, shape_of


@dataclass(frozen=True)
class BufferInfo:
    """The type of a buffer: the dims, the dtype of elements, and where it is."""

    shape: Shape
    dtype: str
    scope: str


class Buffer:
    """A buffer of a PrimFunc: a thin view of the value `ssa`; TVM's ``tir.Buffer``.

    Schedule primitives take it in the place of its name.
    """

    def __init__(self, ssa: SSAValue):
        if not isinstance(ssa.type, BufferType):
            raise TypeError(f"expected a buffer, got a value of type {ssa.type}")
        self.ssa = ssa
        self._type = ssa.type

    @property
    def name(self) -> str:
        """The name."""
        return self.ssa.name_hint or "buffer"

    @property
    def shape(self) -> Shape:
        """The dims."""
        return shape_of(self._type.dims)

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self._type.dtype

    @property
    def scope(self) -> str:
        """Where the buffer is, such as "global"."""
        return self._type.scope.data

    @property
    def ty(self) -> BufferInfo:
        """The type."""
        return BufferInfo(self.shape, self.dtype, self.scope)

    def same_as(self, other: object) -> bool:
        """Whether the other one is a view of this buffer."""
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self.ssa is other.ssa

    def __hash__(self) -> int:
        return hash(self.ssa)

    def __repr__(self) -> str:
        return self.name


def is_buffer_var(value: object) -> bool:
    """Whether a value is a buffer, in particular a parameter of a PrimFunc."""
    return isinstance(value, Buffer)


def parameters(func: PrimFuncOp) -> list[Any]:
    """The parameters of a PrimFunc: buffers, and scalars as expressions."""
    return [
        Buffer(value) if isinstance(value.type, BufferType) else _scalar(func, name, value)
        for name, value in zip(func.names, func.params, strict=True)
    ]


def _scalar(func: PrimFuncOp, name: str, value: BlockArgument) -> Any:
    from ..te.arithmetic import symbol
    from ..te.expr import Var

    if isinstance(value.type, IndexType):
        return symbol(name)
    if isinstance(value.type, HandleType):
        return Var(name, "handle")
    return Var(name, dtype_name(func.element_type_of(value)))

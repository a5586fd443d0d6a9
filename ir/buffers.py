"""Buffers of PrimFuncs as Python objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument, SSAValue

from ..dialects.dims import dim_of, dims_of
from ..dialects.dtypes import dtype_name, element_type
from ..dialects.int_expr import IntExpr
from ..dialects.parameters import value_hint
from ..dialects.tir import AllocBufferOp, BufferType, HandleType, PrimFuncOp
from .struct_info import Shape, TensorStructInfo, shape_of


class Buffer:
    """A buffer of a PrimFunc: a thin view of the value `ssa`; TVM's ``tir.Buffer``.

    Schedule primitives take it in the place of its name.
    """

    def __init__(self, ssa: SSAValue):
        if not isinstance(ssa.type, BufferType):
            raise TypeError(f"expected a buffer, got a value of type {ssa.type}")
        self.ssa = ssa
        self.type = ssa.type

    @property
    def name(self) -> str:
        """The name."""
        return self.ssa.name_hint or "buffer"

    @property
    def shape(self) -> Shape:
        """The dims."""
        return shape_of(self.type.dims)

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.type.dtype

    @property
    def scope(self) -> str:
        """Where the buffer is, such as "global"."""
        return self.type.scope.data

    @property
    def ty(self) -> TensorStructInfo:
        """The type of the tensors that it holds."""
        return TensorStructInfo(self.shape, self.dtype)

    @property
    def strides(self) -> Shape:
        """The distance between adjacent elements along each dim, in elements; empty if compact."""
        return shape_of(self.type.element_strides() if self.type.has_strides else ())

    @property
    def elem_offset(self) -> Any:
        """Where the first element is, in elements."""
        return shape_of([self.type.offset.data])[0]

    def offset_of(self, indices: Sequence[Any]) -> list[Any]:
        """Where an element is in the memory, in elements, as a list of one; as TVM."""
        if len(indices) != self.type.rank:
            raise ValueError(
                f"expected {self.type.rank} indices for '{self.name}', got {len(indices)}"
            )
        steps = zip(indices, self.type.element_strides(), strict=True)
        place = sum((dim_of(i) * stride for i, stride in steps), self.type.offset.data)
        return list(shape_of([place]))

    def get_flattened_buffer(self) -> Buffer:
        """A buffer of one dim with as many elements; this one if it has one dim."""
        if self.type.rank == 1:
            return self
        if self.type.has_strides:
            raise ValueError(f"expected '{self.name}' without strides")
        size = prod(self.type.dims, start=IntExpr.of(1))
        return decl_buffer(
            shape_of([size]), self.dtype, self.name, None, self.elem_offset, self.scope
        )

    def declared(self) -> Iterator[tuple[str, str]]:
        """The names of its symbols and of itself, with what declares them: ``T.Buffer((n, 4))``."""
        from ..script.printer.expressions import Expressions
        from ..script.printer.tir_blocks import declare_buffer, symbols_in_order

        yield from ((symbol, "T.int64()") for symbol in symbols_in_order(self.type))
        yield self.name, declare_buffer(Expressions({}, ""), "T.Buffer", self.type)

    def script(self, *, verbose_expr: bool = False) -> str:
        """The name; with `verbose_expr` below lines that declare it and its symbols."""
        from ..te.nodes import below

        return below(self.declared() if verbose_expr else (), self.name)

    def same_as(self, other: object) -> bool:
        """Whether the other one is a view of this buffer."""
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self.ssa is other.ssa

    def __hash__(self) -> int:
        return hash(self.ssa)

    def __repr__(self) -> str:
        return self.name


def decl_buffer(
    shape: Any,
    dtype: str = "float32",
    name: str = "buffer",
    strides: Sequence[Any] | None = None,
    elem_offset: Any = 0,
    scope: str = "",
) -> Buffer:
    """A buffer of no function, with which one describes others; TVM's ``tir.decl_buffer``.

    Raises ValueError for an unknown dtype.
    """
    dims = dims_of(shape if isinstance(shape, list | tuple) else [shape])
    steps = dims_of(strides) if strides else None
    start = dim_of(0 if elem_offset is None else elem_offset)
    op = AllocBufferOp(BufferType.of(dims, element_type(dtype), steps, start, scope), name)
    op.result.name_hint = value_hint(name)
    return Buffer(op.result)


def is_buffer_var(value: object) -> bool:
    """Whether a value is a buffer: a parameter of a PrimFunc, or what `te.extern` gives."""
    from ..te.foreign import ExternBuffer

    return isinstance(value, Buffer | ExternBuffer)


def parameters(func: PrimFuncOp) -> list[Any]:
    """The parameters of a PrimFunc: buffers, and scalars as expressions."""
    return [
        Buffer(value) if isinstance(value.type, BufferType) else _scalar(func, name, value)
        for name, value in zip(func.names, func.params, strict=True)
    ]


def _scalar(func: PrimFuncOp, name: str, value: BlockArgument) -> Any:
    from ..te.arithmetic import symbol
    from ..te.expr import ValueVar

    if isinstance(value.type, IndexType):
        return symbol(name)
    is_handle = isinstance(value.type, HandleType)
    dtype = "handle" if is_handle else dtype_name(func.element_type_of(value))
    return ValueVar(value, name, dtype)

"""Buffers as a script sees them, boxes of them, and what messages call the values of a script."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ...dialects.tir import BufferType
from ...te.arithmetic import index_value
from ...te.expr import Index, PrimExpr, Value, Var
from ..namespace import ScriptName


@dataclass(eq=False)
class Buffer:
    """A buffer that the script has declared."""

    name: str
    ssa: SSAValue

    @property
    def type(self) -> BufferType:
        """The buffer's type."""
        assert isinstance(self.ssa.type, BufferType)
        return self.ssa.type

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dims as the script sees them."""
        return tuple(index_value(d) for d in self.type.dims)

    @property
    def strides(self) -> tuple[Any, ...]:
        """The distance between adjacent elements along each dim, in elements."""
        return tuple(index_value(d) for d in self.type.element_strides())

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.type.dtype

    @property
    def elem_offset(self) -> Any:
        """Where the first element is in the memory, in elements."""
        return index_value(self.type.offset.data)


@dataclass(eq=False)
class Alias(Buffer):
    """The memory of a compact buffer with another shape, from the element at `offset` on."""

    base: Buffer
    own_type: BufferType
    offset: PrimExpr

    @property
    def type(self) -> BufferType:
        return self.own_type

    def base_indices(self, indices: Sequence[PrimExpr]) -> list[PrimExpr]:
        """Where the base has an element."""
        flat = self.offset
        for index, stride in zip(indices, self.strides, strict=True):
            flat = flat + index * stride
        return unflattened(flat, self.base.shape)


def unflattened(flat: PrimExpr, shape: Sequence[Any]) -> list[PrimExpr]:
    """The indices of an element of a compact buffer from its number."""
    found: list[PrimExpr] = []
    for dim in reversed(shape[1:]):
        found.insert(0, flat % dim)
        flat = flat // dim
    return [flat, *found] if shape else []


@dataclass(frozen=True)
class BufferSlice:
    """``X[a:b, c]``: for each dim its first index and its extent (`None` for a single index)."""

    buffer: Buffer
    ranges: tuple[tuple[PrimExpr, PrimExpr | None], ...]


@dataclass(frozen=True)
class DataPointer:
    """``X.data``: the memory of a buffer, as external functions take it.

    ``X.access_ptr("r", offset=8, extent=4)`` starts at an element; the others do not change what
    calls get. `extent` is the number of elements, `None` for all of them.
    """

    buffer: Buffer
    access_mask: str = "rw"
    offset: Any = 0
    extent: Any = None


@dataclass(frozen=True)
class EnvThread:
    """A variable of ``T.env_thread("threadIdx.x")``, which a launch gives its values."""

    tag: str


_SYNTAX = {"Lambda": "a lambda", "Starred": "'*'", "NamedExpr": "':='", "Await": "await"}


def describe_syntax(node: ast.AST) -> str:
    """A syntax that scripts do not have."""
    name = type(node).__name__
    if name.endswith("Comp") or name == "GeneratorExp":
        return "a comprehension"
    return _SYNTAX.get(name, f"'{name.lower()}' syntax")


def describe_statement(node: ast.stmt) -> str:
    """A statement by its keyword: ``'import'``."""
    return f"'{ast.unparse(node).split()[0].rstrip(':')}'"


def describe_value(value: Any) -> str:
    """What a script expression evaluated to."""
    match value:
        case ScriptName():
            return f"'{value.path}'"
        case Buffer():
            return f"buffer '{value.name}'"
        case BufferSlice():
            return f"a region of buffer '{value.buffer.name}'"
        case Index() | Var() | Value():
            return "an integer expression"
        case PrimExpr():
            return "an expression"
        case str():
            return f"the string '{value}'"
        case None:
            return "None"
        case type():
            return f"the class '{value.__name__}'"
        case _:
            return f"a value of type {type(value).__name__}"

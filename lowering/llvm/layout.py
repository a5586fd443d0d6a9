"""The memory layout of buffer elements, computed once for each buffer type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ...dialects import loops, rt
from ...dialects.int_expr import Atom, IntExpr
from ...dialects.tir.types import BufferType
from .types import Properties, alignment_of, gep_properties, is_bool, memory_type

Term: TypeAlias = tuple[tuple[Atom, ...], int]
"""A product of atoms and its coefficient."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The type of an element of a buffer in memory, and the properties of accesses."""

    type: BufferType
    element: Attribute
    memory: Attribute
    is_bool: bool
    alignment: Properties
    address: Properties
    masked_address: Properties
    """Not `inbounds`: a masked access may start beyond the buffer, with all its lanes off."""
    strides: tuple[tuple[Term, ...], ...]
    offset: tuple[Term, ...]

    @staticmethod
    def of(type_: BufferType) -> Layout:
        """The layout of a buffer type."""
        memory = memory_type(type_.element_type)
        return Layout(
            type=type_,
            element=type_.element_type,
            memory=memory,
            is_bool=is_bool(type_.element_type),
            alignment=alignment_of(type_.element_type),
            address=gep_properties(memory, True),
            masked_address=gep_properties(memory, False),
            strides=tuple(s.terms for s in type_.element_strides()),
            offset=type_.offset.data.terms,
        )

    def linear_terms(self, indices: Sequence[IntExpr]) -> Sequence[Term]:
        """The element offset of an access as a sum of products.

        Products are not put into the canonical order of `IntExpr`, which would take longer.
        """
        terms: dict[tuple[Atom, ...], int] = dict(self.offset)
        for index, stride in zip(indices, self.strides, strict=True):
            for own, factor in index.terms:
                for step, size in stride:
                    product = own + step
                    terms[product] = terms.get(product, 0) + factor * size
        return [(m, c) for m, c in terms.items() if c]


def root_of(buffer: SSAValue) -> SSAValue:
    """The buffer of which a buffer is a view, or itself."""
    while isinstance(
        owner := buffer.owner, loops.ViewOp | rt.ViewOp | rt.ReinterpretOp | rt.SliceOp
    ):
        buffer = owner.source
    return buffer

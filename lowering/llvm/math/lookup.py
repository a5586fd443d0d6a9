"""Tables that fit into a register, from which one instruction takes a number for each lane.

AVX's `vpermps` selects lanes by the low bits of indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import SSAValue

from ....dialects.llvm_ext.types import element_type
from ..types import vector_of
from .registers import by_register, register_bits
from .scaling import NO_OVERLOADS
from .terms import Bits, Real


def can_look_up(x: Real, count: int) -> bool:
    """Whether the target has the instruction for vectors like `x`, and such tables."""
    width = register_bits(x)
    return width == count * x.format.width and _instruction(x) is not None


def look_up(x: Real, table: Sequence[float], index: Bits) -> Real:
    """The numbers at the places of the low bits of `index`, like `x`; only where `can_look_up`."""
    f, name = x.f, _instruction(x)
    assert name is not None
    type_: Any = vector_of(element_type(x.value.type), len(table))
    numbers = f.constant(DenseIntOrFPElementsAttr.from_list(type_, table), type_)

    def selected(places: SSAValue) -> SSAValue:
        return f.intrinsic(name, [numbers, places], type_, NO_OVERLOADS)

    return by_register(x, selected, index)


def _instruction(x: Real) -> str | None:
    return x.f.module.isa.select_lanes(x.format.width, register_bits(x))

"""Vectors of floats times powers of two in one instruction, as AVX-512's `vscalef`.

It takes the exponent as floats, so that infinities and NaN need no care: ``a * 2^-inf`` is 0 and
``a * 2^NaN`` is NaN. Vectors of several registers are scaled one register at a time. Elsewhere
`exponential.power_of_two` makes factors of bits.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerType
from xdsl.ir import SSAValue

from ....backend.targets.architecture import Intrinsic
from ..types import Properties, lane_count
from .registers import by_register, register_bits
from .terms import Real

NO_OVERLOADS: Properties = {"overloads": ArrayAttr([])}


def can_scale(x: Real) -> bool:
    """Whether the target has the instruction for vectors like `x`."""
    return lane_count(x.value.type).bit_count() == 1 and _instruction(x) is not None


def scale(x: Real, n: Real) -> Real:
    """``x * 2^floor(n)``, also of infinities and NaN, rounded once; only where `can_scale`."""
    f, instruction = x.f, _instruction(x)
    assert instruction is not None
    constants = [f.integer(value, IntegerType(bits)) for bits, value in instruction.constants]

    def scaled(a: SSAValue, b: SSAValue) -> SSAValue:
        return f.intrinsic(instruction.name, [a, b, a, *constants], a.type, NO_OVERLOADS)

    return by_register(x, scaled, x, n)


def _instruction(x: Real) -> Intrinsic | None:
    """What scales each register of `x`."""
    return x.f.module.isa.scale(x.format.width, register_bits(x))

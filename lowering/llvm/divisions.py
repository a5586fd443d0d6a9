"""Division of floats by a constant of few digits: two multiplications instead.

::

    %y = fdiv %x, 6.0          ⇒          %r = fmul %x, %low
                                          %y = fma(%x, %high, %r)

`high` + `low` is the reciprocal to twice the precision. The quotient is rounded correctly: with at
most p - 4 of the format's p digits, it is further from the middle of two floats than the error
before the last rounding. Both parts have the sign of the divisor, so that infinities, zeros and NaN
remain what they are. Only quotients close to the least normal number may differ by a unit in the
last place.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import FloatAttr, f32, f64
from xdsl.ir import Attribute, SSAValue

from ...dialects import llvm_ext
from .builder import FunctionBuilder
from .types import Properties, element_type, float_attr

DIGITS: dict[Attribute, int] = {f32: 24, f64: 53}
"""Binary digits of each format, with the implicit one."""

SPARE = 4
"""Digits that a divisor must have less."""

LARGEST = 2.0**64
"""The largest divisor, whose reciprocal is the smallest; their parts are normal numbers."""


def divide(f: FunctionBuilder, args: Sequence[SSAValue], flags: Properties) -> SSAValue:
    """A quotient, by multiplications if the divisor and the processor permit.

    With flags, such as that for reciprocals, LLVM is to choose.
    """
    dividend, divisor = args
    number, type_ = _number_of(divisor), dividend.type
    digits = DIGITS.get(element_type(type_))
    parts = None
    if number is not None and digits is not None and f.module.isa.fuses and not flags:
        parts = reciprocal(number, digits)
    if parts is None:
        return f.emit(llvm.FDivOp, args, type_, flags)
    high, low = (_constant(f, part, type_) for part in parts)
    rest = f.emit(llvm.FMulOp, (dividend, low), type_, {})
    return f.intrinsic("llvm.fma", (dividend, high, rest), type_, {})


@cache
def reciprocal(number: float, digits: int) -> tuple[float, float] | None:
    """The reciprocal of a number as a sum of two floats, the larger one first.

    `None` for powers of 2, by which LLVM divides exactly, and for numbers that have too many
    digits or are too large or small.
    """
    if not 1 / LARGEST <= abs(number) <= LARGEST:
        return None
    odd = abs(number.as_integer_ratio()[0])
    odd //= odd & -odd
    if odd == 1 or odd.bit_length() > digits - SPARE:
        return None
    exact, sign = 1 / abs(Fraction(number)), 1 if number > 0 else -1
    scale = Fraction(2) ** (digits - 1 - _exponent(exact))
    high = (exact * scale).__floor__() / scale
    return sign * float(high), sign * float(exact - high)


def _exponent(value: Fraction) -> int:
    """The exponent of the largest power of 2 that is not above a positive value."""
    found = value.numerator.bit_length() - value.denominator.bit_length()
    return found if Fraction(2) ** found <= value else found - 1


def _number_of(value: SSAValue) -> float | None:
    """The number that a value is, in all lanes; `None` if it is no constant."""
    op = value.owner
    if isinstance(op, llvm_ext.SplatOp):
        return _number_of(op.operands[0])
    number = op.value if isinstance(op, llvm.ConstantOp) else None
    return number.value.data if isinstance(number, FloatAttr) else None


def _constant(f: FunctionBuilder, number: float, type_: Attribute) -> SSAValue:
    element = element_type(type_)
    constant = f.constant(float_attr(number, element), element)
    return constant if element == type_ else f.splat(constant, type_)

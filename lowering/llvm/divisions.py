"""Division of floats by a constant: two multiplications instead.

::

    %y = fdiv %x, 6.0          ⇒          %r = fmul %x, %low
                                          %y = fma(%x, %high, %r)

`high` + `low` is the reciprocal to twice the precision. The quotient is rounded correctly wherever
it is further from the middle of two floats than the error before the last rounding. The few
dividends for which it is not are found as solutions of a congruence; a divisor for which one of
them is rounded to the other side keeps its division (Brisebarre, Muller and Raina, "Accelerating
correctly rounded floating-point division when the divisor is known in advance", 2004). Both parts
have the sign of the divisor, so that infinities, zeros and NaN remain what they are. Only quotients
close to the least normal number may differ by a unit in the last place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

from xdsl.dialects import llvm
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, SSAValue

from .builder import FunctionBuilder
from .constants import number_of
from .types import Properties, element_type, float_attr

DIGITS: dict[Attribute, int] = {f32: 24, f64: 53}
"""Binary digits of each format, with the implicit one."""

NEAREST = 8
"""How far from the middle of two floats a quotient may be rounded wrongly, in units of that place
over twice the divisor: the error is below ``2 ** (2 - p)`` units in the last of p places."""

LARGEST = 2.0**64
"""The largest divisor, whose reciprocal is the smallest; their parts are normal numbers."""


def divide(f: FunctionBuilder, args: Sequence[SSAValue], flags: Properties) -> SSAValue:
    """A quotient, by multiplications if the divisor and the processor permit.

    With flags, such as that for reciprocals, LLVM is to choose.
    """
    dividend, divisor = args
    number, type_ = number_of(divisor), dividend.type
    digits = DIGITS.get(element_type(type_))
    parts = None
    if isinstance(number, float) and digits is not None and f.module.isa.fuses and not flags:
        parts = reciprocal(number, digits)
    if parts is None:
        return f.emit(llvm.FDivOp, args, type_, flags)
    high, low = (_constant(f, part, type_) for part in parts)
    rest = f.emit(llvm.FMulOp, (dividend, low), type_, {})
    return f.intrinsic("llvm.fma", (dividend, high, rest), type_, {})


@cache
def reciprocal(number: float, digits: int) -> tuple[float, float] | None:
    """The reciprocal of a number as a sum of two floats, the larger one first.

    `None` for powers of 2, by which LLVM divides exactly, and for numbers that are too large or
    small, or with which a product is rounded to another number than the quotient.
    """
    if not 1 / LARGEST <= abs(number) <= LARGEST:
        return None
    size, sign = abs(Fraction(number)), 1 if number > 0 else -1
    exact, divisor = 1 / size, size / Fraction(2) ** (_exponent(size) - digits + 1)
    if divisor == 1 << digits - 1:
        return None
    scale = Fraction(2) ** (digits - 1 - _exponent(exact))
    high = (exact * scale).__floor__() / scale
    low = _rounded(exact - high, digits)
    for dividend in hard_dividends(int(divisor), digits):
        product = dividend * high + _rounded(dividend * low, digits)
        if _rounded(product, digits) != _rounded(dividend * exact, digits):
            return None
    return sign * float(high), sign * float(low)


def hard_dividends(divisor: int, digits: int) -> Iterator[int]:
    """Dividends of so many digits whose quotients are closest to the middle of two floats.

    The divisor y has as many digits. A quotient with p digits is ``k + 1/2 + r / 2y`` for
    ``x 2^s = (2k + 1) y + r``, where s is p, or p + 1 for x below y; so x solves a congruence.
    """
    low, high = 1 << digits - 1, 1 << digits
    for shift, first, last in ((digits, divisor, high), (digits + 1, low, divisor)):
        common = min(shift, (divisor & -divisor).bit_length() - 1)
        step = divisor >> common
        inverse = pow(2, common - shift, step)
        for rest in range(-NEAREST, NEAREST + 1):
            if rest == 0 or rest % (1 << common):  # no quotient is in the middle
                continue
            start = (rest >> common) * inverse % step
            for x in range(start + -(-(first - start) // step) * step, last, step):
                if ((x << shift) - rest) // divisor % 2:
                    yield x


def _rounded(value: Fraction, digits: int) -> Fraction:
    """A positive value rounded to the nearest float of so many digits, ties to even."""
    scale = Fraction(2) ** (digits - 1 - _exponent(value)) if value else Fraction(1)
    return round(value * scale) / scale


def _exponent(value: Fraction) -> int:
    """The exponent of the largest power of 2 that is not above a positive value."""
    found = value.numerator.bit_length() - value.denominator.bit_length()
    return found if Fraction(2) ** found <= value else found - 1


def _constant(f: FunctionBuilder, number: float, type_: Attribute) -> SSAValue:
    element = element_type(type_)
    constant = f.constant(float_attr(number, element), element)
    return constant if element == type_ else f.splat(constant, type_)

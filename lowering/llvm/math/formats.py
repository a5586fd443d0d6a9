"""The float formats that formulas are written for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType


@dataclass(frozen=True)
class Format:
    """A float format of IEEE 754: bits of its fraction and of the whole."""

    name: str
    fraction: int
    width: int

    @property
    def bias(self) -> int:
        """What is added to an exponent where it is stored."""
        return (1 << (self.width - self.fraction - 2)) - 1

    @property
    def integer(self) -> IntegerType:
        """The integers of this width."""
        return IntegerType(self.width)

    @property
    def shift(self) -> float:
        """``1.5 * 2^fraction``: a small number plus this is rounded to an integer in the low bits.

        It takes the place of a conversion to an integer, which is undefined for NaN.
        """
        return 1.5 * 2.0**self.fraction

    def bits_of_power(self, exponent: int) -> int:
        """The bits of a power of two."""
        return (exponent + self.bias) << self.fraction


SINGLE = Format("f32", 23, 32)
DOUBLE = Format("f64", 52, 64)

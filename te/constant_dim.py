"""Constant dims as users see them: ints that also have what TVM's ``IntImm`` has."""

from __future__ import annotations


class ConstantDim(int):
    """A constant dim of a shape: an int, with TVM's `value` and `dtype`."""

    dtype = "int64"

    @property
    def value(self) -> int:
        """The number."""
        return int(self)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)

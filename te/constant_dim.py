"""Constant dims as users see them: ints that also have what TVM's ``IntImm`` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class ConstantDim(int):
    """A constant dim of a shape: an int, with TVM's `value` and `dtype`."""

    type_of: ClassVar[Callable[..., Any]]
    dtype = "int64"

    @property
    def ty(self) -> Any:
        """The type: that of integers of 64 bits; TVM's newer spelling."""
        return ConstantDim.type_of(self.dtype)

    @property
    def value(self) -> int:
        """The number."""
        return int(self)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)

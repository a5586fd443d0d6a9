"""Python's operators on scalar expressions, and their sides. What they mean is in `arithmetic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Operators:
    """What Python's operators are called; they build larger expressions, nothing is computed."""

    __array_ufunc__ = None
    """NumPy scalars on the left leave the operation to the expression."""

    binary: ClassVar[Callable[[str, Any, Any], Any]]
    """An operation on two expressions or numbers; `arithmetic` sets it and the next ones."""
    negate: ClassVar[Callable[[Any], Any]]
    bitwise_not: ClassVar[Callable[[Any], Any]]
    cast: ClassVar[Callable[[str, Any], Any]]

    def __neg__(self) -> Any:
        return Operators.negate(self)

    def __invert__(self) -> Any:
        return Operators.bitwise_not(self)

    def astype(self, dtype: str) -> Any:
        """The expression converted to another dtype."""
        return Operators.cast(dtype, self)

    def __add__(self, other: Any) -> Any:
        return Operators.binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return Operators.binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return Operators.binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return Operators.binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return Operators.binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return Operators.binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return Operators.binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return Operators.binary("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return Operators.binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return Operators.binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return Operators.binary("floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return Operators.binary("floormod", other, self)

    def __and__(self, other: Any) -> Any:
        return Operators.binary("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Any:
        return Operators.binary("bitwise_and", other, self)

    def __or__(self, other: Any) -> Any:
        return Operators.binary("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Any:
        return Operators.binary("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Any:
        return Operators.binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return Operators.binary("bitwise_xor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return Operators.binary("shift_left", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return Operators.binary("shift_left", other, self)

    def __rshift__(self, other: Any) -> Any:
        return Operators.binary("shift_right", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return Operators.binary("shift_right", other, self)

    def __lt__(self, other: Any) -> Any:
        return Operators.binary("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return Operators.binary("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return Operators.binary("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return Operators.binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        is_scalar = isinstance(other, Operators | int | float)
        return Operators.binary("eq", self, other) if is_scalar else NotImplemented

    def __ne__(self, other: object) -> Any:
        is_scalar = isinstance(other, Operators | int | float)
        return Operators.binary("ne", self, other) if is_scalar else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise ValueError(
            "expected a Python bool, got an expression whose value is only known at run time"
        )


class Sides:
    """What the sides of binary expressions are called."""

    def sides(self) -> tuple[str, list[Any]]:
        """The operation of a binary expression, and its two sides; "" and nothing of others."""
        return "", []

    @property
    def a(self) -> Any:
        """The left side of a binary expression; raises AttributeError for others."""
        return self._side(0)

    @property
    def b(self) -> Any:
        """The right side of a binary expression; raises AttributeError for others."""
        return self._side(1)

    def _side(self, index: int) -> Any:
        _, found = self.sides()
        if not found:
            raise AttributeError(f"expected a binary expression, which has two sides, got {self}")
        return found[index]

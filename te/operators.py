"""Python's operators on scalar expressions, and their sides. What they mean is in `arithmetic`."""

from __future__ import annotations

from typing import Any


class Operators:
    """What Python's operators are called; they build larger expressions, nothing is computed."""

    __array_ufunc__ = None
    """NumPy scalars on the left leave the operation to the expression."""

    @staticmethod
    def _binary(op: str, lhs: Any, rhs: Any) -> Any:
        """An operation on two expressions or numbers."""
        raise NotImplementedError

    def __neg__(self) -> Any:
        raise NotImplementedError

    def __invert__(self) -> Any:
        raise NotImplementedError

    def astype(self, dtype: str) -> Any:
        """The expression converted to another dtype."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._binary("floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._binary("floormod", other, self)

    def __and__(self, other: Any) -> Any:
        return self._binary("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._binary("bitwise_and", other, self)

    def __or__(self, other: Any) -> Any:
        return self._binary("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._binary("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Any:
        return self._binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._binary("bitwise_xor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._binary("shift_left", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._binary("shift_left", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._binary("shift_right", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._binary("shift_right", other, self)

    def __lt__(self, other: Any) -> Any:
        return self._binary("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self._binary("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._binary("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        is_scalar = isinstance(other, Operators | int | float)
        return self._binary("eq", self, other) if is_scalar else NotImplemented

    def __ne__(self, other: object) -> Any:
        is_scalar = isinstance(other, Operators | int | float)
        return self._binary("ne", self, other) if is_scalar else NotImplemented

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

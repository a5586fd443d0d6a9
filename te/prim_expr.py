"""The base of scalar expressions: Python's operators on them. What they mean is in `arithmetic`."""

from __future__ import annotations

from typing import Any, TypeAlias

ExprLike: TypeAlias = "PrimExpr | int | float | bool"


def _binary(op: str, lhs: ExprLike, rhs: ExprLike) -> PrimExpr:
    from .arithmetic import binary  # which builds expressions, and so needs this module

    return binary(op, lhs, rhs)


class PrimExpr:
    """An expression with a dtype. Operators build larger ones; nothing is computed."""

    dtype: str
    __array_ufunc__ = None
    """NumPy scalars on the left leave the operation to the expression."""

    def __add__(self, other: ExprLike) -> PrimExpr:
        return _binary("add", self, other)

    def __radd__(self, other: ExprLike) -> PrimExpr:
        return _binary("add", other, self)

    def __sub__(self, other: ExprLike) -> PrimExpr:
        return _binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> PrimExpr:
        return _binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> PrimExpr:
        return _binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> PrimExpr:
        return _binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> PrimExpr:
        return _binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> PrimExpr:
        return _binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> PrimExpr:
        return _binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> PrimExpr:
        return _binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> PrimExpr:
        return _binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> PrimExpr:
        return _binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_and", self, other)

    def __rand__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_and", other, self)

    def __or__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_or", self, other)

    def __ror__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_or", other, self)

    def __xor__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_xor", self, other)

    def __rxor__(self, other: ExprLike) -> PrimExpr:
        return _binary("bitwise_xor", other, self)

    def __lshift__(self, other: ExprLike) -> PrimExpr:
        return _binary("shift_left", self, other)

    def __rlshift__(self, other: ExprLike) -> PrimExpr:
        return _binary("shift_left", other, self)

    def __rshift__(self, other: ExprLike) -> PrimExpr:
        return _binary("shift_right", self, other)

    def __rrshift__(self, other: ExprLike) -> PrimExpr:
        return _binary("shift_right", other, self)

    def __neg__(self) -> PrimExpr:
        from .arithmetic import negate

        return negate(self)

    def __invert__(self) -> PrimExpr:
        from .arithmetic import bitwise_not

        return bitwise_not(self)

    def __lt__(self, other: ExprLike) -> PrimExpr:
        return _binary("lt", self, other)

    def __le__(self, other: ExprLike) -> PrimExpr:
        return _binary("le", self, other)

    def __gt__(self, other: ExprLike) -> PrimExpr:
        return _binary("gt", self, other)

    def __ge__(self, other: ExprLike) -> PrimExpr:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        is_scalar = isinstance(other, PrimExpr | int | float)
        return _binary("eq", self, other) if is_scalar else NotImplemented

    def __ne__(self, other: object) -> Any:
        is_scalar = isinstance(other, PrimExpr | int | float)
        return _binary("ne", self, other) if is_scalar else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise ValueError(
            "expected a Python bool, got an expression whose value is only known at run time"
        )

    def astype(self, dtype: str) -> PrimExpr:
        """The expression converted to another dtype."""
        from .arithmetic import cast

        return cast(dtype, self)

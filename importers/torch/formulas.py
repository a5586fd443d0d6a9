"""Arithmetic on tensors of a graph with Python's operators, for formulas of many terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..emitter import Value, dtype_of
from .context import Context


class Formula:
    """A tensor whose ``+``, ``-``, ``*``, ``/`` and comparisons append operations to a graph.

    Numbers have the dtype of the tensor. Comparisons give formulas of bools, for `where`, which
    ``&``, ``|`` and ``~`` combine.
    """

    def __init__(self, ctx: Context, value: Value):
        self.ctx = ctx
        self.value = value

    def op(self, operator: str, *others: Formula | float, **attributes: Any) -> Formula:
        """The result of an operator with this tensor as the first operand."""
        operands = [self._value_of(o) for o in others]
        return Formula(self.ctx, self.ctx.op(operator, self.value, *operands, **attributes))

    def _value_of(self, other: Formula | float) -> Value:
        if isinstance(other, Formula):
            return other.value
        return self.ctx.number(other, dtype_of(self.value))

    def number(self, value: float) -> Formula:
        """A number of the dtype of this tensor."""
        return Formula(self.ctx, self._value_of(value))

    def astype(self, dtype: str) -> Formula:
        """The values in another dtype."""
        return Formula(self.ctx, self.ctx.astype(self.value, dtype))

    def bitcast(self, dtype: str) -> Formula:
        """The bits as elements of another dtype of the same width."""
        return self.op("bitcast", dtype=dtype)

    def __add__(self, other: Formula | float) -> Formula:
        return self.op("add", other)

    def __radd__(self, other: float) -> Formula:
        return self.number(other).op("add", self)

    def __sub__(self, other: Formula | float) -> Formula:
        return self.op("subtract", other)

    def __rsub__(self, other: float) -> Formula:
        return self.number(other).op("subtract", self)

    def __mul__(self, other: Formula | float) -> Formula:
        return self.op("multiply", other)

    def __rmul__(self, other: float) -> Formula:
        return self.number(other).op("multiply", self)

    def __truediv__(self, other: Formula | float) -> Formula:
        return self.op("divide", other)

    def __rtruediv__(self, other: float) -> Formula:
        return self.number(other).op("divide", self)

    def __neg__(self) -> Formula:
        return self.op("negative")

    def __abs__(self) -> Formula:
        return self.op("abs")

    def __lt__(self, other: Formula | float) -> Formula:
        return self.op("less", other)

    def __le__(self, other: Formula | float) -> Formula:
        return self.op("less_equal", other)

    def __gt__(self, other: Formula | float) -> Formula:
        return self.op("greater", other)

    def __ge__(self, other: Formula | float) -> Formula:
        return self.op("greater_equal", other)

    def equals(self, other: Formula | float) -> Formula:
        """Whether elements are equal."""
        return self.op("equal", other)

    def __and__(self, other: Formula | int) -> Formula:
        return self.op("logical_and" if self._is_bool() else "bitwise_and", other)

    def __or__(self, other: Formula | int) -> Formula:
        return self.op("logical_or" if self._is_bool() else "bitwise_or", other)

    def __invert__(self) -> Formula:
        return self.op("logical_not" if self._is_bool() else "bitwise_not")

    def _is_bool(self) -> bool:
        return dtype_of(self.value) == "bool"

    def where(self, then: Formula, otherwise: Formula | float) -> Formula:
        """`then` where this formula of bools holds, else `otherwise`."""
        value = then._value_of(otherwise)
        return Formula(self.ctx, self.ctx.op("where", self.value, then.value, value))

    def polynomial(self, coefficients: Sequence[float]) -> Formula:
        """A polynomial of this tensor by Horner's rule; the highest power is first."""
        total = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            total = total * self + coefficient
        return total

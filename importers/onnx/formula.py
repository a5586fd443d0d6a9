"""Formulas of tensors and numbers, written with Python's operators."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...dialects.int_expr import IntExpr
from .context import Context
from .tensor import Tensor

HALF = ("float16", "bfloat16")

Term: TypeAlias = "Formula | Tensor | IntExpr | int | float"
"""An operand; numbers have the dtype of the other one."""


class Formula:
    """A tensor whose arithmetic builds elementwise operators, with broadcasting.

    ``Formula(ctx, x) * 2 + y`` has the operations of the formula; `tensor` is its result.
    """

    def __init__(self, context: Context, tensor: Tensor):
        self.context = context
        self.tensor = tensor

    @staticmethod
    def wide(context: Context, tensor: Tensor) -> Formula:
        """The tensor, in float32 if it has half precision, so that a formula rounds once."""
        dtype = "float32" if tensor.dtype in HALF else tensor.dtype
        return Formula(context, context.astype(tensor, dtype))

    @property
    def dtype(self) -> str:
        """The dtype of the tensor."""
        return self.tensor.dtype

    def to(self, dtype: str) -> Formula:
        """The values in another dtype."""
        return Formula(self.context, self.context.astype(self.tensor, dtype))

    def apply(self, operator: str, **attributes: Any) -> Formula:
        """An operator of this tensor."""
        return Formula(self.context, self.context.emit(operator, self.tensor, **attributes))

    def _operand(self, term: Term) -> Tensor:
        if isinstance(term, Formula):
            return term.tensor
        return term if isinstance(term, Tensor) else self.context.number(term, self.dtype)

    def with_(self, operator: str, other: Term) -> Formula:
        """An operator of this tensor and another operand."""
        found = self.context.elementwise(operator, self.tensor, self._operand(other))
        return Formula(self.context, found)

    def _after(self, operator: str, other: Term) -> Formula:
        found = self.context.elementwise(operator, self._operand(other), self.tensor)
        return Formula(self.context, found)

    def __add__(self, other: Term) -> Formula:
        return self.with_("add", other)

    def __radd__(self, other: Term) -> Formula:
        return self._after("add", other)

    def __sub__(self, other: Term) -> Formula:
        return self.with_("subtract", other)

    def __rsub__(self, other: Term) -> Formula:
        return self._after("subtract", other)

    def __mul__(self, other: Term) -> Formula:
        return self.with_("multiply", other)

    def __rmul__(self, other: Term) -> Formula:
        return self._after("multiply", other)

    def __truediv__(self, other: Term) -> Formula:
        return self.with_("divide", other)

    def __rtruediv__(self, other: Term) -> Formula:
        return self._after("divide", other)

    def __neg__(self) -> Formula:
        return self.apply("negative")

    def __lt__(self, other: Term) -> Formula:
        return self.with_("less", other)

    def __gt__(self, other: Term) -> Formula:
        return self.with_("greater", other)

    def __and__(self, other: Formula) -> Formula:
        return self.with_("logical_and", other)

    def equals(self, other: Term) -> Formula:
        """Whether elements are equal."""
        return self.with_("equal", other)

    def differs(self, other: Term) -> Formula:
        """Whether elements are not equal."""
        return self.with_("not_equal", other)

    def at_least(self, bound: Term) -> Formula:
        """The larger of elements and a bound."""
        return self.with_("maximum", bound)

    def at_most(self, bound: Term) -> Formula:
        """The smaller of elements and a bound."""
        return self.with_("minimum", bound)

    def where(self, condition: Formula, other: Term) -> Formula:
        """The elements where a condition holds, and another operand elsewhere."""
        found = self.context.elementwise(
            "where", condition.tensor, self.tensor, self._operand(other)
        )
        return Formula(self.context, found)

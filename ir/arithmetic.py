"""Python's operators on expressions of the graph: ``x * 2 + y`` makes detached operations."""

from __future__ import annotations

from typing import Any

from .operators import apply_operator


class Arithmetic:
    """What the operators of Python mean: the elementwise operators, and ``@`` the matrix product.

    A number takes the dtype of the tensor beside it. Only ``==`` is left to identity.
    """

    def __add__(self, other: Any) -> Any:
        return apply_operator("relax.add", (self, other), {})

    def __radd__(self, other: Any) -> Any:
        return apply_operator("relax.add", (other, self), {})

    def __sub__(self, other: Any) -> Any:
        return apply_operator("relax.subtract", (self, other), {})

    def __rsub__(self, other: Any) -> Any:
        return apply_operator("relax.subtract", (other, self), {})

    def __mul__(self, other: Any) -> Any:
        return apply_operator("relax.multiply", (self, other), {})

    def __rmul__(self, other: Any) -> Any:
        return apply_operator("relax.multiply", (other, self), {})

    def __truediv__(self, other: Any) -> Any:
        return apply_operator("relax.divide", (self, other), {})

    def __rtruediv__(self, other: Any) -> Any:
        return apply_operator("relax.divide", (other, self), {})

    def __floordiv__(self, other: Any) -> Any:
        return apply_operator("relax.floor_divide", (self, other), {})

    def __rfloordiv__(self, other: Any) -> Any:
        return apply_operator("relax.floor_divide", (other, self), {})

    def __mod__(self, other: Any) -> Any:
        return apply_operator("relax.mod", (self, other), {})

    def __rmod__(self, other: Any) -> Any:
        return apply_operator("relax.mod", (other, self), {})

    def __pow__(self, other: Any) -> Any:
        return apply_operator("relax.power", (self, other), {})

    def __rpow__(self, other: Any) -> Any:
        return apply_operator("relax.power", (other, self), {})

    def __lt__(self, other: Any) -> Any:
        return apply_operator("relax.less", (self, other), {})

    def __le__(self, other: Any) -> Any:
        return apply_operator("relax.less_equal", (self, other), {})

    def __gt__(self, other: Any) -> Any:
        return apply_operator("relax.greater", (self, other), {})

    def __ge__(self, other: Any) -> Any:
        return apply_operator("relax.greater_equal", (self, other), {})

    def __matmul__(self, other: Any) -> Any:
        return apply_operator("relax.matmul", (self, other), {})

    def __neg__(self) -> Any:
        return apply_operator("relax.negative", (self,), {})

    def astype(self, dtype: str) -> Any:
        """The tensor converted to a dtype."""
        return apply_operator("relax.astype", (self, dtype), {})

"""Python's operators on expressions of the graph: ``x * 2 + y`` makes detached operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any


class Arithmetic(ABC):
    """What the operators of Python mean: the elementwise operators, and ``@`` the matrix product.

    A number takes the dtype of the tensor beside it. Only ``==`` is left to identity.
    """

    @staticmethod
    @abstractmethod
    def _apply(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The call of an operator of the graph on operands, with attributes."""

    def __add__(self, other: Any) -> Any:
        return self._apply("relax.add", (self, other), {})

    def __radd__(self, other: Any) -> Any:
        return self._apply("relax.add", (other, self), {})

    def __sub__(self, other: Any) -> Any:
        return self._apply("relax.subtract", (self, other), {})

    def __rsub__(self, other: Any) -> Any:
        return self._apply("relax.subtract", (other, self), {})

    def __mul__(self, other: Any) -> Any:
        return self._apply("relax.multiply", (self, other), {})

    def __rmul__(self, other: Any) -> Any:
        return self._apply("relax.multiply", (other, self), {})

    def __truediv__(self, other: Any) -> Any:
        return self._apply("relax.divide", (self, other), {})

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply("relax.divide", (other, self), {})

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("relax.floor_divide", (self, other), {})

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("relax.floor_divide", (other, self), {})

    def __mod__(self, other: Any) -> Any:
        return self._apply("relax.mod", (self, other), {})

    def __rmod__(self, other: Any) -> Any:
        return self._apply("relax.mod", (other, self), {})

    def __pow__(self, other: Any) -> Any:
        return self._apply("relax.power", (self, other), {})

    def __rpow__(self, other: Any) -> Any:
        return self._apply("relax.power", (other, self), {})

    def __lt__(self, other: Any) -> Any:
        return self._apply("relax.less", (self, other), {})

    def __le__(self, other: Any) -> Any:
        return self._apply("relax.less_equal", (self, other), {})

    def __gt__(self, other: Any) -> Any:
        return self._apply("relax.greater", (self, other), {})

    def __ge__(self, other: Any) -> Any:
        return self._apply("relax.greater_equal", (self, other), {})

    def __matmul__(self, other: Any) -> Any:
        return self._apply("relax.matmul", (self, other), {})

    def __neg__(self) -> Any:
        return self._apply("relax.negative", (self,), {})

    def astype(self, dtype: str) -> Any:
        """The tensor converted to a dtype."""
        return self._apply("relax.astype", (self, dtype), {})

    def maximum(self, other: Any) -> Any:
        """The larger one of each pair of elements."""
        return self._apply("relax.maximum", (self, other), {})

    def minimum(self, other: Any) -> Any:
        """The smaller one of each pair of elements."""
        return self._apply("relax.minimum", (self, other), {})

    def reshape(self, *shape: Any) -> Any:
        """The tensor in another shape, which is one argument or several."""
        return self._apply("relax.reshape", (self, _one_or_several(shape)), {})

    def permute_dims(self, *axes: Any) -> Any:
        """The tensor with its dims in another order, by default the reverse."""
        order = _one_or_several(axes) if axes else None
        return self._apply("relax.permute_dims", (self, order), {})

    def repeat(self, repeats: int, axis: int | None = None) -> Any:
        """The tensor with each element, or each slice along a dim, several times."""
        return self._apply("relax.repeat", (self, repeats, axis), {})


def _one_or_several(given: tuple[Any, ...]) -> Any:
    only = given[0] if len(given) == 1 else given
    return given if isinstance(only, int) else only

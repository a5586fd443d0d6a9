"""The interface of the tensor expression language for operators, which do not import `te`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, overload


class TensorLanguage(Protocol):
    """The module `te`; functions that take functions are declared here, others are `Any`."""

    def compute(
        self,
        shape: Sequence[Any],
        fcompute: Callable[..., Any],
        name: str = "compute",
        *,
        attrs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The tensor of this shape whose element at ``(i, j, …)`` is ``fcompute(i, j, …)``.

        `attrs` are annotations of the block that computes it.
        """
        ...

    @overload
    def elementwise(
        self, function: Callable[[Any], Any], x: Any, /, *, name: str = "compute"
    ) -> Any: ...

    @overload
    def elementwise(
        self, function: Callable[[Any, Any], Any], x: Any, y: Any, /, *, name: str = "compute"
    ) -> Any: ...

    @overload
    def elementwise(
        self,
        function: Callable[[Any, Any, Any], Any],
        x: Any,
        y: Any,
        z: Any,
        /,
        *,
        name: str = "compute",
    ) -> Any:
        """Apply a function to the operands' elements, with broadcasting."""
        ...

    def comm_reducer(
        self, fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce"
    ) -> Any:
        """A reduction from a commutative combiner and its identity."""
        ...

    def scatter(
        self,
        base: Any,
        shape: Sequence[Any],
        fupdate: Callable[..., tuple[Sequence[Any], Callable[[Any], Any], Any]],
        name: str = "scatter",
    ) -> Any:
        """Update `base` in order: each index has a position, an update and a condition."""
        ...

    def statements(
        self,
        shape: Sequence[Any],
        inputs: Sequence[Any],
        fcompute: Callable[..., None],
        dtype: Sequence[str],
        axes: Sequence[Any] = (),
        name: str = "extern",
    ) -> tuple[Any, ...]:
        """Tensors that statements compute, for each index into the extents `axes`."""
        ...

    def let(self, function: Callable[[Any], Any], value: Any) -> Any:
        """``function(value)``, with the value computed once."""
        ...

    def __getattr__(self, name: str) -> Any: ...

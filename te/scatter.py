"""Tensors that are another one with elements updated one after the other, at places from data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .arithmetic import const, convert, dim_expr, index_value
from .expr import ExprLike, Load, PrimExpr
from .intrinsics import boolean
from .tensor import Compute, IterVar, ShapeLike, Tensor, axis_names, compute


@dataclass(eq=False)
class Scatter(Compute):
    """The definition of a tensor that starts as `base`, then is updated along the axes in order."""

    base: Tensor | None = None
    place: tuple[PrimExpr, ...] = ()
    condition: PrimExpr = field(default_factory=lambda: const(True))

    def expressions(self) -> tuple[PrimExpr, ...]:
        return (*self.start().bodies, *self.place, self.condition, *self.bodies)

    def start(self) -> Compute:
        """The definition of what the tensor starts as."""
        base = self.base
        assert base is not None

        def element(*i: ExprLike) -> Load:
            return base(*i)

        return compute(base.shape, element, name=f"{self.name}_init").op


def scatter(
    base: Tensor,
    shape: ShapeLike,
    fupdate: Callable[..., tuple[Sequence[Any], Callable[[PrimExpr], Any], Any]],
    name: str = "scatter",
) -> Tensor:
    """`base` after one update for each index into `shape`, in row-major order.

    ``fupdate(i, j, …)`` gives the place of an element, a function of that element to its new value,
    and the condition under which it is updated, which must imply that the place is inside.
    """
    dims = [dim_expr(d) for d in shape]
    axes = tuple(
        IterVar(n, 0, index_value(d), "opaque", "int64")
        for n, d in zip(axis_names(fupdate, len(dims)), dims, strict=True)
    )
    place, value, condition = fupdate(*axes)
    definition = Scatter(name, axes, (), base=base)
    output = Tensor(name, base.shape, base.dtype, definition)
    definition.outputs = (output,)
    definition.place = tuple(convert(p) for p in place)
    definition.condition = boolean(condition)
    definition.bodies = (convert(value(Load(output, definition.place, base.dtype))),)
    return output

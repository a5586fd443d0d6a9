"""Broadcasting as NumPy does it: result shapes, indices into operands, elementwise definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..dialects.relax.operators.inference import broadcast_dims
from .arithmetic import const, convert, dim_expr
from .expr import ExprLike, PrimExpr
from .tensor import Tensor, compute, shape_of

Operand: TypeAlias = "Tensor | ExprLike"
"""A tensor, or a number or expression that broadcasts like a tensor without dims."""


class ConstantTensor(Tensor):
    """A tensor without dims whose one value is written wherever it is read."""

    def __init__(self, value: int | float | bool, dtype: str):
        super().__init__(str(value), (), dtype)
        self.value = const(value, dtype)

    def __call__(self, *indices: ExprLike) -> Any:
        return self.value


def broadcast_shape(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """The broadcast of shapes; raises ValueError where they do not fit."""
    dims = [dim_expr(d) for d in shapes[0]]
    for shape in shapes[1:]:
        dims = broadcast_dims(dims, [dim_expr(d) for d in shape])
    return shape_of(dims)


def broadcast_index(dims: Sequence[Any], axes: Sequence[Any]) -> tuple[Any, ...]:
    """Indices into a tensor of shape `dims` for the element at `axes` of a broadcast result."""
    own = list(axes)[len(axes) - len(dims) :]
    return tuple(
        0 if isinstance(dim, int) and dim == 1 else axis
        for dim, axis in zip(dims, own, strict=True)
    )


def elementwise(
    function: Callable[..., PrimExpr], *operands: Operand, name: str = "compute"
) -> Tensor:
    """The tensor of ``function(x, y, …)`` of the operands' elements, which are broadcast.

    Raises ValueError where the shapes do not fit.
    """
    shapes = [o.shape if isinstance(o, Tensor) else () for o in operands]

    def element(*i: Any) -> PrimExpr:
        return function(
            *(
                o(*broadcast_index(o.shape, i)) if isinstance(o, Tensor) else convert(o)
                for o in operands
            )
        )

    return compute(broadcast_shape(*shapes), element, name=name)

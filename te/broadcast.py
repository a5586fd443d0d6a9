"""Elementwise tensors of operands that are broadcast: tensors, numbers and scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..dialects.relax.operators.inference import broadcast_dims
from .arithmetic import const, convert, dim_expr
from .expr import ExprLike, PrimExpr, Var
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


class ScalarTensor(Tensor):
    """A tensor without dims whose element is a scalar parameter of the kernel."""

    def __init__(self, name: str, dtype: str):
        super().__init__(name, (), dtype)
        self.value = Var(name, dtype)

    def __call__(self, *indices: ExprLike) -> Any:
        return self.value


def broadcast_shape(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """The broadcast of shapes; raises ValueError where they do not fit."""
    dims = [dim_expr(d) for d in shapes[0]]
    for shape in shapes[1:]:
        dims = broadcast_dims(dims, [dim_expr(d) for d in shape])
    return shape_of(dims)


def broadcast_index(
    dims: Sequence[Any], axes: Sequence[Any], result: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """Indices into a tensor of shape `dims` for the element at `axes` of a broadcast result.

    They are 0 for dims of 1, but not where the same dim of the shape `result` is 1, as in TVM.
    """
    first = len(axes) - len(dims)
    own = list(axes)[first:]
    wanted = [None] * len(dims) if result is None else list(result)[first:]
    return tuple(
        0 if _is_one(dim) and not _is_one(size) else axis
        for dim, size, axis in zip(dims, wanted, own, strict=True)
    )


def _is_one(dim: Any) -> bool:
    return isinstance(dim, int) and dim == 1


def elementwise(
    function: Callable[..., PrimExpr], *operands: Operand, name: str = "compute"
) -> Tensor:
    """The tensor of ``function(x, y, …)`` of the operands' elements, which are broadcast.

    Raises ValueError where the shapes do not fit.
    """
    shape = broadcast_shape(*(o.shape if isinstance(o, Tensor) else () for o in operands))

    def element(*i: Any) -> PrimExpr:
        return function(
            *(
                o(*broadcast_index(o.shape, i, shape)) if isinstance(o, Tensor) else convert(o)
                for o in operands
            )
        )

    return compute(shape, element, name=name)

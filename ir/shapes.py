"""Shapes and numbers as values of the graph."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from ..dialects import relax
from ..dialects.dims import dims_of
from .expr import Expr, owner_of, view
from .operators import prim_op
from .struct_info import Shape, shape_of


class _ShapeKind(ABCMeta):
    """Makes the shapes of types, and of calls that state them, instances too."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Shape) or super().__instancecheck__(value)


class ShapeExpr(Expr, shows=relax.ShapeOp, metaclass=_ShapeKind):
    """A shape as a value; the shape of a type is an instance too."""

    def __init__(self, values: Any):
        super().__init__(relax.ShapeOp(dims_of(values)).result)

    @property
    def values(self) -> Shape:
        """The dims."""
        return shape_of(owner_of(self, relax.ShapeOp).result.type.dims or ())

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        values = self.values
        if not -len(values) <= index < len(values):
            raise IndexError(
                f"ShapeExpr index out of range: expected one of {len(values)} dims, got {index}"
            )
        return values[index]


class PrimValue(Expr, shows=relax.PrimValueOp):
    """A number as a value."""

    def __init__(self, value: Any):
        super().__init__(prim_op(value).results[0])

    @property
    def value(self) -> Any:
        """The number or expression."""
        owner = self.borrowed.owner
        if isinstance(owner, relax.TensorToPrimOp):
            return owner_of(view(owner.tensor), relax.ConstantOp).value.data.number()
        type_ = owner_of(self, relax.PrimValueOp).result.type
        assert type_.expr is not None
        return shape_of([type_.expr])[0]

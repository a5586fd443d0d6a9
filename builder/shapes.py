"""Shapes and numbers as values of the graph, from Python and from tensors, for `relax.op`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialects.dims import dims_of
from ..dialects.relax import (
    MatchCastOp,
    PrimToTensorOp,
    ShapeOfOp,
    TensorToPrimOp,
    TensorToShapeOp,
    TensorType,
)
from ..ir.expr import Expr, expression
from ..ir.operators import to_value
from ..ir.shapes import ShapeExpr
from ..ir.struct_info import to_type
from ..te import const as number
from ..te.expr import PrimExpr


def prim_value(value: Any) -> Any:
    """A number as an expression: ints are int64 and floats float64; expressions stay.

    Raises TypeError for anything else.
    """
    if isinstance(value, PrimExpr):
        return value
    if isinstance(value, bool | int | float | np.number):
        is_float = isinstance(value, float | np.floating)
        return number(float(value) if is_float else int(value), _PRIM[is_float])  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"Cannot convert a {type(value).__name__} to a number: got {value}")


_PRIM = ("int64", "float64")


def make_shape(shape: Any) -> ShapeExpr:
    """The dims of a list or tuple as a shape; raises TypeError for anything else."""
    if not isinstance(shape, list | tuple):
        raise TypeError(f"expected a list or tuple of dims, got {type(shape).__name__}")
    return ShapeExpr(shape)


def get_shape_of(expr: Any) -> Expr:
    """The shape of a tensor: its dims where they are known, else `shape_of`."""
    type_ = to_value(expr).type
    if isinstance(type_, TensorType) and type_.dims is not None:
        return ShapeExpr(type_.dims)
    return shape_of(expr)


def shape_of(expr: Any) -> Expr:
    """The shape of a tensor as a value."""
    return expression(ShapeOfOp(to_value(expr)))


def prim_to_tensor(expr: Any) -> Expr:
    """A scalar as a tensor of rank 0."""
    return expression(PrimToTensorOp(to_value(expr)))


def tensor_to_prim(expr: Any) -> Expr:
    """The element of a tensor of rank 0 as a scalar."""
    return expression(TensorToPrimOp(to_value(expr)))


def tensor_to_shape(expr: Any, at_most: Any = None) -> Expr:
    """The shape that the numbers of an int64 tensor of rank 1 are.

    `at_most` has the largest value of each, which memory is planned for; without it, memory is
    allocated once they are known. `match_cast` to ``R.Shape`` gives names to the dims.
    """
    limits = None if at_most is None else dims_of(at_most)
    return expression(TensorToShapeOp(to_value(expr), limits))


def match_cast(value: Any, struct_info: Any) -> Expr:
    """A value under another type, which is checked when the program runs."""
    return expression(MatchCastOp(to_value(value), to_type(struct_info)))

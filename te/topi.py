"""Tensor expressions of common operators: what graph operators are defined by, and what users build on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects.relax.operators.base import broadcast_dims
from .expr import binary
from .intrinsics import cast as _cast
from .tensor import Tensor, compute, dim_expr, reduce_axis, shape_of
from .tensor import max as te_max
from .tensor import sum as te_sum


def broadcast_shape(lhs: Sequence[Any], rhs: Sequence[Any]) -> tuple[Any, ...]:
    """The broadcast of two shapes; raises ValueError where they do not fit."""
    return shape_of(broadcast_dims([dim_expr(d) for d in lhs], [dim_expr(d) for d in rhs]))


def _own_index(tensor: Tensor, axes: Sequence[Any]) -> tuple[Any, ...]:
    own = list(axes)[len(axes) - tensor.ndim :]
    return tuple(
        0 if isinstance(dim, int) and dim == 1 else a
        for dim, a in zip(tensor.shape, own, strict=True)
    )


def _elementwise(name: str, op: str):
    def function(lhs: Tensor, rhs: Tensor) -> Tensor:
        return compute(
            broadcast_shape(lhs.shape, rhs.shape),
            lambda *i: binary(op, lhs(*_own_index(lhs, i)), rhs(*_own_index(rhs, i))),
            name=f"T_{name}",
        )

    function.__name__ = name
    function.__doc__ = f"`numpy.{name}` with broadcasting."
    return function


add = _elementwise("add", "add")
subtract = _elementwise("subtract", "sub")
multiply = _elementwise("multiply", "mul")
divide = _elementwise("divide", "div")
maximum = _elementwise("maximum", "max")
minimum = _elementwise("minimum", "min")


def matmul(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Matrix product ``(…, n, k) @ (…, k, m)`` with NumPy's rules for vectors and batches; `numpy.matmul`."""
    batch = broadcast_shape(lhs.shape[:-2], rhs.shape[:-2])
    rows = () if lhs.ndim == 1 else (lhs.shape[-2],)
    columns = () if rhs.ndim == 1 else (rhs.shape[-1],)
    k = reduce_axis((0, lhs.shape[-1]), name="k")

    def element(*i: Any) -> Any:
        outer = i[: len(batch)]
        inner = i[len(batch) :]
        row, column = inner[: len(rows)], inner[len(rows) :]
        left = (*_batch_index(lhs, outer), *row, k)
        right = (*_batch_index(rhs, outer), k, *column)
        return te_sum(lhs(*left) * rhs(*right), axis=k)

    return compute((*batch, *rows, *columns), element, name="matmul")


def _batch_index(tensor: Tensor, outer: Sequence[Any]) -> tuple[Any, ...]:
    dims = tensor.shape[:-2]
    own = list(outer)[len(outer) - len(dims) :]
    return tuple(0 if isinstance(d, int) and d == 1 else a for d, a in zip(dims, own, strict=True))


def linear(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``data @ weight.T + bias`` with data (…, k), weight (m, k), bias (m,); `torch.nn.functional.linear`."""
    k = reduce_axis((0, data.shape[-1]), name="k")
    product = compute(
        (*data.shape[:-1], weight.shape[0]),
        lambda *i: te_sum(data(*i[:-1], k) * weight(i[-1], k), axis=k),
        name="dense",
    )
    if bias is None:
        return product
    return compute(product.shape, lambda *i: product(*i) + bias(i[-1]), name="T_add")


def relu(data: Tensor) -> Tensor:
    """``max(data, 0)``; `torch.nn.functional.relu`."""
    return compute(data.shape, lambda *i: te_max(data(*i), _cast(data.dtype, 0)), name="relu")

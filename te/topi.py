"""Common operators as tensor expressions: graph operators are defined by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..dialects.relax.operators.base import broadcast_dims
from .arithmetic import binary, const, convert, dim_expr
from .expr import ExprLike, PrimExpr
from .tensor import Tensor, compute, reduce_axis, shape_of
from .tensor import max as te_max
from .tensor import sum as te_sum

Operand: TypeAlias = "Tensor | ExprLike"


def broadcast_shape(lhs: Sequence[Any], rhs: Sequence[Any]) -> tuple[Any, ...]:
    """The broadcast of two shapes; raises ValueError where they do not fit."""
    return shape_of(broadcast_dims([dim_expr(d) for d in lhs], [dim_expr(d) for d in rhs]))


def _element(operand: Operand, axes: Sequence[Any]) -> PrimExpr:
    """The element of an operand that meets the result's element at `axes`."""
    if not isinstance(operand, Tensor):
        return convert(operand)
    return operand(*_own_index(operand.shape, axes))


def _own_index(dims: Sequence[Any], axes: Sequence[Any]) -> tuple[Any, ...]:
    own = list(axes)[len(axes) - len(dims) :]
    return tuple(
        0 if isinstance(dim, int) and dim == 1 else axis
        for dim, axis in zip(dims, own, strict=True)
    )


def _elementwise(name: str, op: str) -> Callable[[Operand, Operand], Tensor]:
    def function(lhs: Operand, rhs: Operand) -> Tensor:
        shapes = [o.shape if isinstance(o, Tensor) else () for o in (lhs, rhs)]
        return compute(
            broadcast_shape(*shapes),
            lambda *i: binary(op, _element(lhs, i), _element(rhs, i)),
            name=f"T_{name}",
        )

    function.__name__ = name
    function.__doc__ = f"`numpy.{name}` with broadcasting, of tensors and numbers."
    return function


add = _elementwise("add", "add")
subtract = _elementwise("subtract", "sub")
multiply = _elementwise("multiply", "mul")
divide = _elementwise("divide", "div")
maximum = _elementwise("maximum", "max")
minimum = _elementwise("minimum", "min")


def _check_contraction(name: str, lhs: Tensor, rhs: Tensor, lhs_dim: Any, rhs_dim: Any) -> None:
    if dim_expr(lhs_dim) != dim_expr(rhs_dim):
        raise ValueError(
            f"expected shapes of {name} to fit, got {list(lhs.shape)} and {list(rhs.shape)}"
        )


def matmul(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Matrix product ``(…, n, k) @ (…, k, m)`` with vectors and batches as in `numpy.matmul`.

    Raises ValueError where the shapes do not fit.
    """
    if lhs.ndim == 0 or rhs.ndim == 0:
        raise ValueError("expected operands of matmul to have at least one dim, got a scalar")
    _check_contraction("matmul", lhs, rhs, lhs.shape[-1], rhs.shape[-2 if rhs.ndim > 1 else -1])
    batch = broadcast_shape(lhs.shape[:-2], rhs.shape[:-2])
    rows = () if lhs.ndim == 1 else (lhs.shape[-2],)
    columns = () if rhs.ndim == 1 else (rhs.shape[-1],)
    k = reduce_axis((0, lhs.shape[-1]), name="k")

    def element(*i: Any) -> Any:
        outer, inner = i[: len(batch)], i[len(batch) :]
        row, column = inner[: len(rows)], inner[len(rows) :]
        left = (*_own_index(lhs.shape[:-2], outer), *row, k)
        right = (*_own_index(rhs.shape[:-2], outer), k, *column)
        return te_sum(lhs(*left) * rhs(*right), axis=k)

    return compute((*batch, *rows, *columns), element, name="matmul")


def linear(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``data @ weight.T + bias`` with data (…, k), weight (m, k) and bias (m,).

    TVM's ``topi.nn.dense``, `torch.nn.functional.linear`. Raises ValueError where they
    do not fit.
    """
    _check_contraction("linear", data, weight, data.shape[-1], weight.shape[-1])
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
    return compute(data.shape, lambda *i: te_max(data(*i), const(0, data.dtype)), name="relu")


def transpose(data: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """The dims in another order, reversed if none is given; `numpy.transpose`.

    Raises ValueError unless `axes` is a permutation of the dims.
    """
    order = [a % data.ndim for a in axes] if axes is not None else list(range(data.ndim))[::-1]
    if sorted(order) != list(range(data.ndim)):
        raise ValueError(f"expected a permutation of {data.ndim} dims, got {axes}")
    return compute(
        [data.shape[a] for a in order],
        lambda *i: data(*(i[order.index(a)] for a in range(data.ndim))),
        name="T_transpose",
    )

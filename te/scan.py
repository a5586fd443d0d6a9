"""Tensors whose elements along one axis follow from those before them, such as running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects.dtypes import check_dtype
from .arithmetic import cast, convert, dim_expr, index_value
from .tensor import Compute, IterVar, ShapeLike, Tensor, shape_of


def scan(
    shape: ShapeLike,
    axis: int,
    fcompute: Callable[..., Any],
    dtype: str,
    name: str = "scan",
) -> Tensor:
    """The tensor whose element at ``(i, j, …)`` is ``fcompute(before, i, j, …)``.

    `before` is the tensor itself, of which elements with a smaller index along `axis` may be read:
    the axis runs in order. What TVM's ``te.scan`` is for, in one definition.
    """
    dims = [dim_expr(d) for d in shape]
    index_dtype = "int32" if all(d.is_constant for d in dims) else "int64"
    axes = tuple(
        IterVar(f"i{n}", 0, index_value(d), "scan" if n == axis else "spatial", index_dtype)
        for n, d in enumerate(dims)
    )
    before = Tensor(name, shape_of(dims), check_dtype(dtype))
    element = cast(dtype, convert(fcompute(before, *axes)))
    before.op = Compute(name, axes, (element,), (before,))
    return before

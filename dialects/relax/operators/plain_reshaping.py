"""Elements of reshaped tensors in TVM's form: divisions and remainders of the flat index.

Index ``ax0`` into 24 elements is, for a tensor of (2, 3, 4),
``(ax0 % 24 // 12, ax0 % 12 // 4, ax0 % 4)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...int_expr import ONE, ZERO, IntExpr
from .language import TensorLanguage


def plain_element(te: TensorLanguage, x: Any, dims: Sequence[IntExpr], i: Sequence[Any]) -> Any:
    """The element of a tensor at `i`, if its elements are reshaped to these dims."""
    source = [te.dim_expr(d) for d in x.shape]
    if ZERO in source:
        return te.const(0, x.dtype)
    flat, strides = 0, list[int | None]()
    for axis, dim in zip(i, dims, strict=True):
        (size,) = te.tensor.shape_of([dim])
        strides = [None if s is None or dim.constant is None else s * dim.constant for s in strides]
        if dim != ONE:
            flat = flat * size + axis
            strides.append(1)
    indices: list[Any] = []
    inner = 1
    for dim in source[::-1]:
        size = dim.constant
        if dim == ONE:
            indices.append(0)
        elif size is None:
            (length,) = te.tensor.shape_of([dim])
            flat = flat // inner if inner > 1 else flat
            indices.append(flat % length)
            flat, inner, strides = flat // length, 1, [None]
        elif inner > 1 and not _has_term(strides, inner, size):
            indices.append(flat % (inner * size) // inner)
            inner *= size
        else:
            indices.append((flat // inner if inner > 1 else flat) % size)
            inner *= size
    return x(*indices[::-1])


def _has_term(strides: Sequence[int | None], inner: int, size: int) -> bool:
    """Whether an index over `inner` elements, modulo a size, has a multiple of an axis."""
    known = [s for s in strides if s is not None]
    return any(s % inner == 0 and s // inner % size for s in known)

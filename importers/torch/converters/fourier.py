"""Discrete Fourier transforms of complex and real tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects.int_expr import IntExpr
from ...emitter import Value, axis_of, dims_of
from ...fourier import transformed
from ..complex_numbers import Complex, as_complex, part_dtype
from ..complex_operators import of_complex
from ..context import Context

_SCALES = (0.0, -0.5, -1.0)
"""The exponent of the length in the scale of each of ATen's normalizations."""


@of_complex("aten._fft_c2c.default")
def complex_to_complex(
    ctx: Context, x: Any, dim: Sequence[int], normalization: int, forward: bool
) -> Complex:
    """Transforms over dims."""
    x = as_complex(ctx, x, part_dtype(ctx.result))
    data = ctx.op("expand_dims", x.real, axis=[-1]) if x.is_real else x.pairs
    for axis in reversed(dim):
        data = _along(ctx, data, axis_of(axis, len(x.dims)), normalization, inverse=not forward)
    return Complex(ctx, pairs=data)


@of_complex("aten._fft_r2c.default")
def real_to_complex(
    ctx: Context, x: Value, dim: Sequence[int], normalization: int, onesided: bool
) -> Complex:
    """Transforms of real numbers; with `onesided`, the first half of the last dim's frequencies."""
    *others, last = (axis_of(d, len(dims_of(x))) for d in dim)
    data = ctx.op("expand_dims", x, axis=[-1])
    data = _along(ctx, data, last, normalization, onesided=onesided)
    for axis in reversed(others):
        data = _along(ctx, data, axis, normalization)
    return Complex(ctx, pairs=data)


@of_complex("aten._fft_c2r.default")
def complex_to_real(
    ctx: Context, x: Complex, dim: Sequence[int], normalization: int, last_dim_size: Any
) -> Value:
    """Inverse transforms to real numbers, from half of the last dim's frequencies."""
    *others, last = (axis_of(d, len(x.dims)) for d in dim)
    data = x.pairs
    for axis in others:
        data = _along(ctx, data, axis, normalization, inverse=True)
    size = IntExpr.of(last_dim_size)
    data = _along(ctx, data, last, normalization, size, inverse=True, onesided=True)
    return ctx.op("squeeze", data, axis=[-1])


def _along(
    ctx: Context, data: Value, axis: int, normalization: int, size: IntExpr | None = None,
    *, inverse: bool = False, onesided: bool = False,
) -> Value:  # fmt: skip
    """The transforms along an axis of a tensor whose last dim has the parts of numbers."""
    length = dims_of(data)[axis] if size is None else size
    rank = len(dims_of(data))
    order = [*(a for a in range(rank - 1) if a != axis), axis, rank - 1]
    found = transformed(
        ctx, ctx.permute(data, order), length, inverse=inverse, onesided=onesided,
        exponent=_SCALES[normalization],
    )  # fmt: skip
    return ctx.permute(found, [order.index(a) for a in range(rank)])

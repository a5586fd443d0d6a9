"""Converters of `from_exported_program` with TVM's `run_ep_decomposition`: TVM's operators.

The results are those of the other converters; which operators give them, and in which order, is
TVM's choice. A module is then the one that TVM imports, so that its patterns match.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE, IntExpr
from ...emitter import Value, dims_of, dtype_of, is_tensor
from ..context import Context
from ..registry import converts_as_tvm
from .arithmetic import binary, power
from .elementwise import clamp
from .linear import scaled_sum
from .manipulation import cat, repeat, squeeze
from .reduction import Dims, axes_of, moment, reduced, truth, vector_norm
from .sorting import median_dim


@converts_as_tvm("aten.hardtanh.default")
def clip(ctx: Context, x: Value, min_val: Any = -1.0, max_val: Any = 1.0) -> Value:
    """`x` clamped to two bounds."""
    return ctx.op("clip", x, min=min_val, max=max_val)


@converts_as_tvm("aten.clamp.default")
def clamp_to_numbers(ctx: Context, x: Value, min: Any = None, max: Any = None) -> Value:
    """`x` clamped to two bounds, of which one may be missing."""
    are_numbers = all(isinstance(bound, int | float) for bound in (min, max))
    if not are_numbers or ctx.dtype != dtype_of(x):
        return clamp(ctx, x, min, max)
    return ctx.op("clip", x, min=min, max=max)


@converts_as_tvm("aten._prelu_kernel.default")
def prelu(ctx: Context, x: Value, weight: Value) -> Value:
    """`x`, or below 0 the weight times `x`."""
    positive = ctx.op("greater", x, ctx.number(0.0, dtype_of(x)))
    return ctx.op("where", positive, x, ctx.op("multiply", weight, x))


@converts_as_tvm("aten.pow.Tensor_Scalar")
def power_of_number(ctx: Context, x: Value, exponent: Any) -> Value:
    """``x ** exponent``; an integer raised to an integer is a product."""
    dtype = ctx.common_dtype(x, exponent)
    if dtype in FLOATS and isinstance(exponent, int | float):
        return binary(ctx, "power", x, float(exponent), dtype)
    if not isinstance(exponent, int) or not 1 <= exponent <= 8:
        return power(ctx, x, exponent)
    product = x = ctx.astype(x, dtype)
    for _ in range(exponent - 1):
        product = ctx.op("multiply", product, x)
    return product


@converts_as_tvm("aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def matmul(ctx: Context, x: Value, other: Value) -> Value:
    """``x @ other``."""
    return ctx.op("matmul", x, other)


@converts_as_tvm("aten.addmm.default", "aten._sparse_addmm.default")
def addmm(ctx: Context, x: Value, mat1: Value, mat2: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    """``beta * x + alpha * (mat1 @ mat2)``."""
    return _sum_with_product(ctx, x, ctx.op("matmul", mat1, mat2), beta, alpha)


@converts_as_tvm("aten.baddbmm.default")
def baddbmm(
    ctx: Context, x: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1
) -> Value:
    """``alpha * (batch1 @ batch2) + beta * x``."""
    product = ctx.op("matmul", batch1, batch2)
    return _sum_with_product(ctx, x, product, beta, alpha, is_first=True)


def _sum_with_product(
    ctx: Context, x: Value, product: Value, beta: Any, alpha: Any, *, is_first: bool = False
) -> Value:
    if beta == 0:
        return scaled_sum(ctx, x, product, beta, alpha)
    dtype = dtype_of(product)
    product = product if alpha == 1 else binary(ctx, "multiply", product, alpha, dtype)
    x = x if beta == 1 else binary(ctx, "multiply", x, beta, dtype)
    return ctx.op("add", product, x) if is_first else ctx.op("add", x, product)


def _of_two(equation: str, operands: Sequence[Any], *_: Any, **__: Any) -> bool:
    """Whether an einsum has at most two operands; the products of more take one loop nest."""
    return len(operands) <= 2


@converts_as_tvm("aten.einsum.default", when=_of_two)
def einsum(ctx: Context, equation: str, operands: Sequence[Value], *_: Any, **__: Any) -> Value:
    """Products of tensors, summed over labels of the equation."""
    return ctx.op("einsum", *operands, subscripts=equation)


@converts_as_tvm("aten.squeeze.dims", "aten.squeeze.dim")
def squeeze_dims(ctx: Context, x: Value, dim: Any) -> Value:
    """`x` without those of some dims that are 1."""
    dims, given = dims_of(x), [dim] if isinstance(dim, int) else list(dim)
    if dims and all(dims[d].is_constant for d in given):
        return ctx.op("squeeze", x, axis=given)
    return squeeze(ctx, x, dim)


@converts_as_tvm("aten.cat.default")
def concat(ctx: Context, tensors: Sequence[Value], dim: int = 0) -> Value:
    """Tensors concatenated along a dim."""
    if any(len(dims_of(t)) != len(ctx.dims) or dtype_of(t) != ctx.dtype for t in tensors):
        return cat(ctx, tensors, dim)
    return ctx.op("concat", *tensors, axis=dim)


@converts_as_tvm("aten.repeat.default", "aten.tile.default")
def tile(ctx: Context, x: Value, repeats: Sequence[Any]) -> Value:
    """The tensor tiled along each dim."""
    if not all(isinstance(r, int) and r > 0 for r in repeats):
        return repeat(ctx, x, repeats)
    return ctx.op("tile", x, repeats=list(repeats))


@converts_as_tvm("aten.flip.default")
def flip_each(ctx: Context, x: Value, dims: Sequence[int]) -> Value:
    """The order of elements reversed along one dim after the other."""
    for dim in dims:
        x = ctx.op("flip", x, axis=[dim])
    return x


@converts_as_tvm("aten.arange.start_step", "aten.arange.default", "aten.arange.start")
def arange(ctx: Context, *bounds: Any, dtype: Any = None) -> Value:
    """``start, start + step, …`` before `end`, in the result's dtype."""
    start, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return ctx.op("arange", start=start, end=end, step=step, dtype=ctx.dtype)


@converts_as_tvm("prims.iota.default")
def iota(ctx: Context, length: Any, *, start: Any, step: Any, **_: Any) -> Value:
    """`length` integers from `start` on, by a step."""
    return ctx.op("arange", start=start, end=start + length * step, step=step, dtype=ctx.dtype)


@converts_as_tvm(
    "aten.hamming_window.default",
    "aten.hamming_window.periodic",
    "aten.hamming_window.periodic_alpha",
    "aten.hamming_window.periodic_alpha_beta",
)
def hamming_window(
    ctx: Context,
    size: Any,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **_: Any,
) -> Value:
    """A Hamming window."""
    options = {"periodic": periodic, "alpha": alpha, "beta": beta, "dtype": ctx.dtype}
    return ctx.op("hamming_window", window_size=size, **options)


@converts_as_tvm("aten.full.default", "aten.new_full.default", "aten.fill.Scalar")
def full(ctx: Context, *given: Any, **_: Any) -> Value:
    """A tensor filled with a number, of a shape or like another tensor."""
    return ctx.op("full", ctx.as_tensor(given[-1], ctx.dtype), shape=ctx.dims, dtype=ctx.dtype)


@converts_as_tvm("aten.zeros.default", "aten.new_zeros.default")
def zeros(ctx: Context, *_: Any, **__: Any) -> Value:
    """A tensor of zeros."""
    return full(ctx, 0)


@converts_as_tvm("aten.ones.default", "aten.new_ones.default")
def ones(ctx: Context, *_: Any, **__: Any) -> Value:
    """A tensor of ones."""
    return full(ctx, 1)


@converts_as_tvm("aten.full_like.default", "aten.fill.Tensor")
def full_like(ctx: Context, x: Value, fill_value: Any, **_: Any) -> Value:
    """A tensor like another, filled with a number."""
    if ctx.dtype != dtype_of(x) or is_tensor(fill_value) or isinstance(fill_value, IntExpr):
        return full(ctx, fill_value)
    return ctx.op("full_like", x, ctx.number(fill_value, _dtype_of_number(fill_value, ctx.dtype)))


def _dtype_of_number(value: Any, dtype: str) -> str:
    """The dtype of a constant that is cast to `dtype`: TVM's for a number, if it holds it."""
    if isinstance(value, float):
        return "float64" if dtype == "float64" else "float32"
    return "int32" if -(1 << 31) <= value < 1 << 31 else dtype


@converts_as_tvm(
    "aten.empty.memory_format", "aten.empty_permuted.default", "aten.new_empty.default"
)
def empty(ctx: Context, *_: Any, **__: Any) -> Value:
    """A tensor of zeros, for an uninitialized one."""
    return ctx.op("zeros", shape=ctx.dims, dtype=ctx.dtype)


@converts_as_tvm("aten.cumsum.default")
def cumsum(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """The cumulative sums along a dim, in the result's dtype."""
    return _scan(ctx, "cumsum", x, dim)


@converts_as_tvm("aten.cumprod.default")
def cumprod(ctx: Context, x: Value, dim: int, dtype: Any = None) -> Value:
    """The cumulative products along a dim, in the result's dtype."""
    return _scan(ctx, "cumprod", x, dim)


def _scan(ctx: Context, operator: str, x: Value, dim: int) -> Value:
    if not dims_of(x):
        return ctx.astype(x, ctx.dtype)
    return ctx.op(operator, x, axis=dim, dtype=None if ctx.dtype == dtype_of(x) else ctx.dtype)


@converts_as_tvm("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_(ctx: Context, x: Value, dim: Dims = None, keepdim: bool = False) -> Value:
    """Whether an element over dims is other than 0: the largest of 0 and 1."""
    largest = reduced(ctx, "max", ctx.astype(truth(ctx, x), "int8"), dim, keepdim)
    return ctx.astype(largest, ctx.dtype)


@converts_as_tvm("aten.var.correction")
def var(
    ctx: Context, x: Value, dim: Dims = None, correction: Any = None, keepdim: bool = False
) -> Value:
    """The variance over dims: that of all elements, times the correction of their number."""
    correction = 1 if correction is None else correction
    number = reduce(mul, (dims_of(x)[a] for a in axes_of(x, dim)), ONE).constant
    if correction == 0 or number is None or number <= correction:
        return moment(ctx, "variance", x, dim, correction, keepdim)
    whole = reduced(ctx, "variance", x, dim, keepdim)
    return ctx.op("multiply", whole, ctx.number(number / (number - correction), dtype_of(x)))


@converts_as_tvm("aten.linalg_vector_norm.default")
def norm(
    ctx: Context, x: Value, ord: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    """The norm of the vectors along dims, by powers."""
    if ord in (0, float("inf"), -float("inf")) or ctx.dtype != dtype_of(x):
        return vector_norm(ctx, x, ord, dim, keepdim, dtype)
    powers = binary(ctx, "power", ctx.op("abs", x), float(ord))
    return binary(ctx, "power", reduced(ctx, "sum", powers, dim, keepdim), 1 / ord)


@converts_as_tvm("aten.median.default")
def median_of_all(ctx: Context, x: Value) -> Value:
    """The median of all elements, the lower of two."""
    return ctx.op("median", x) if dims_of(x) else x


@converts_as_tvm("aten.median.dim")
def median(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, ...]:
    """The medians along a dim, the lower of two, and their indices."""
    if not dims_of(x):
        return median_dim(ctx, x, dim, keepdim)
    return ctx.fields(ctx.op("median", x, axis=[dim], keepdims=keepdim))

"""Discrete Fourier transforms as matmuls, with constant matrices where lengths are known."""

from __future__ import annotations

from functools import cache, reduce
from math import inf, pi
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dialects.int_expr import ONE, IntExpr
from ..dialects.relax import TensorData
from .emitter import Emitter, Value, dims_of, dtype_of

_STEP = 64.0
"""What another factor of a length costs besides the arithmetic, as a length of a complex matmul."""
_MOST = 64
"""The longest last step: its matrices have the size of the transform times this length."""


def transform_weights(
    size: int, parts: int, *, inverse: bool = False, onesided: bool = False, scale: float = 1.0
) -> NDArray[np.float64]:
    """The weight of each part of a number in each part of a result: ``(in, parts, out, parts)``.

    With `onesided`, the transform has the first ``size // 2 + 1`` frequencies of real numbers, and
    an inverse one is from these to real numbers. `parts` is 1 for real numbers, 2 for complex ones.
    """
    side = size // 2 + 1 if onesided else size
    rows, columns = (side, size) if inverse else (size, side)
    products: Any = np.outer(np.arange(rows), np.arange(columns)) % max(size, 1)
    angles: Any = products * (2 * np.pi / max(size, 1))
    cosines, sines = np.cos(angles) * scale, np.sin(angles) * (scale if inverse else -scale)
    if not (inverse and onesided):
        pairs = [np.stack([cosines, sines], -1), np.stack([-sines, cosines], -1)]
        return np.stack(pairs[:parts], 1)
    both: Any = np.where(np.arange(rows) * 2 % max(size, 1) == 0, 1, 2)[:, None]
    return np.stack([cosines * both, -sines * both], 1)[..., None]


def transformed(
    emitter: Emitter, x: Value, size: IntExpr, *, inverse: bool = False, onesided: bool = False,
    exponent: float = 0.0,
) -> Value:  # fmt: skip
    """The transforms of the next to last dim of a tensor whose last dim has the parts of numbers.

    The tensor has the numbers that the transform reads, or the first of them, and the others are 0.
    Options are those of `transform_weights`; the scale is a power of the length. Long lengths with
    factors are several matmuls. Weights for a length that is a symbol are computed by the graph.
    """
    *before, count, parts = dims_of(x)
    if size.constant is not None and count.constant is not None:
        scale = max(size.constant, 1) ** exponent
        return _of_known_length(emitter, x, size.constant, inverse, onesided, scale)
    weights = _symbolic_weights(emitter, count, size, parts.offset, inverse, onesided, exponent)
    outputs, kinds = dims_of(weights)[2:]
    matrix = emitter.reshape(emitter.astype(weights, dtype_of(x)), [count * parts, outputs * kinds])
    found = emitter.op("matmul", emitter.reshape(x, [*before, count * parts]), matrix)
    return emitter.reshape(found, [*before, outputs, kinds])


def _of_known_length(
    emitter: Emitter, x: Value, size: int, inverse: bool, onesided: bool, scale: float
) -> Value:
    count, parts = (d.offset for d in dims_of(x)[-2:])
    factor = last_factor(size, parts == 1 or onesided)
    if factor is not None:
        return _in_steps(emitter, x, size, factor, inverse, onesided, scale)
    weights = transform_weights(size, parts, inverse=inverse, onesided=onesided, scale=scale)
    return _product(emitter, x, weights[:count])


def _symbolic_weights(
    emitter: Emitter, count: IntExpr, size: IntExpr, parts: int, inverse: bool, onesided: bool,
    exponent: float,
) -> Value:  # fmt: skip
    """The first `count` of `transform_weights`, in float64."""

    def op(name: str, *operands: Value | IntExpr | float, dtype: str = "float64") -> Value:
        return emitter.op(name, *(emitter.as_tensor(o, dtype) for o in operands))

    columns = size // 2 + 1 if onesided and not inverse else size
    rows = emitter.reshape(_numbers(emitter, count), [count, ONE])
    products = op("multiply", rows, _numbers(emitter, columns), dtype="int64")
    turns = op("divide", op("floor_mod", products, size, dtype="int64"), size)
    angles, scale = op("multiply", turns, 2 * pi), op("power", size, exponent)
    if inverse and onesided:
        doubled = op("multiply", rows, 2, dtype="int64")
        is_alone = op("equal", op("floor_mod", doubled, size, dtype="int64"), 0, dtype="int64")
        sides = emitter.op("where", is_alone, *(emitter.number(n, "float64") for n in (1, 2)))
        scale = op("multiply", sides, scale)
    cosines, waves = (op("multiply", op(name, angles), scale) for name in ("cos", "sin"))
    opposite = op("negative", waves)
    sines, others = (waves, opposite) if inverse else (opposite, waves)
    pairs = [[cosines, sines], [others, cosines]][:parts]
    kept = 1 if inverse and onesided else 2
    return emitter.op("stack", *(emitter.op("stack", *p[:kept], axis=2) for p in pairs), axis=1)


def _numbers(emitter: Emitter, count: IntExpr) -> Value:
    return emitter.op("arange", start=0, end=count, step=1, dtype="int64")


def _product(emitter: Emitter, x: Value, weights: NDArray[np.float64]) -> Value:
    """The sums over the last two dims with weights ``(…, in, parts, out, parts)``."""
    *batch, count, parts, outputs, kinds = weights.shape
    before, dtype = dims_of(x)[:-2], dtype_of(x)
    values = np.ascontiguousarray(weights.reshape(*batch, count * parts, outputs * kinds), dtype)
    matrix = emitter.constant(TensorData.of(values, dtype))
    flat = emitter.reshape(x, [*before, IntExpr.of(count * parts)])
    found = emitter.op("matmul", flat, matrix)
    return emitter.reshape(found, [*before, *map(IntExpr.of, (outputs, kinds))])


@cache
def _cost(size: int, real: bool) -> float:
    """The multiplications for each number, in those of a complex matmul of one number."""
    return min([_cost_of_matmul(size, real), *(c for c, _ in _costs_of_steps(size, real))])


def _cost_of_matmul(size: int, real: bool) -> float:
    return size / 4 if real else size


def _costs_of_steps(size: int, real: bool) -> list[tuple[float, int]]:
    """The costs with each factor as the last step."""
    factors = [f for f in range(2, min(size // 2, _MOST) + 1) if size % f == 0]
    half = 0.5 if real else 1.0
    return [(_STEP * half + half * (f + _cost(size // f, False)), f) for f in factors]


def last_factor(size: int, real: bool = False) -> int | None:
    """The length of the last of several shorter transforms; `None` if one matmul is faster."""
    cost, factor = min(_costs_of_steps(size, real), default=(inf, 0))
    return factor if cost < _cost_of_matmul(size, real) else None


def _in_steps(
    emitter: Emitter, x: Value, size: int, b: int, inverse: bool, onesided: bool, scale: float
) -> Value:
    """A transform of ``a * b`` numbers by the factors of Cooley and Tukey.

    For index ``i * b + j`` and frequency ``k + l * a``, transforms from `i` to `k` come first, then
    those from `j` to `l`, with a matrix for each `k`.
    """
    a, before = size // b, dims_of(x)[:-2]
    if inverse and onesided:
        x = _both_sides(emitter, x, size)
    x = _padded(emitter, x, b)
    count, parts = dims_of(x)[-2:]
    rows = reduce(mul, before, IntExpr.of(1))
    x = emitter.reshape(x, [rows, count // IntExpr.of(b), IntExpr.of(b), parts])
    x = _of_known_length(emitter, emitter.permute(x, [0, 2, 1, 3]), a, inverse, False, scale)
    weights = _weights_of_step(a, b, inverse, onesided)
    x = _product(emitter, emitter.permute(x, [2, 0, 1, 3]), weights)
    x = emitter.permute(x, [1, 2, 0, 3])
    found = IntExpr.of(a * weights.shape[3])
    x = emitter.reshape(x, [*before, found, dims_of(x)[-1]])
    end = size // 2 + 1 if onesided and not inverse else size
    if found.constant == end:
        return x
    axes = [len(before)]
    return emitter.op("strided_slice", x, axes=axes, begin=[0], end=[end], assume_inbound=True)


def _weights_of_step(a: int, b: int, inverse: bool, onesided: bool) -> NDArray[np.float64]:
    """The weights ``(k, j, parts, l, parts)`` of the last step, for frequencies ``k + l * a``."""
    size = a * b
    columns = size // 2 // a + 1 if onesided and not inverse else b
    frequencies: Any = np.arange(a)[:, None, None] + np.arange(columns) * a
    angles: Any = np.arange(b)[:, None] * frequencies % size * (2 * np.pi / size)
    cosines, sines = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    pairs = np.stack([np.stack([cosines, sines], -1), np.stack([-sines, cosines], -1)], 2)
    return pairs[..., :1] if inverse and onesided else pairs


def _both_sides(emitter: Emitter, x: Value, size: int) -> Value:
    """One side with the frequencies twice that are on both: the real part is of both sides."""
    rows, dtype = size // 2 + 1, dtype_of(x)
    both = np.where(np.arange(rows) * 2 % size == 0, 1, 2).astype(dtype)[:, None]
    return emitter.op("multiply", x, emitter.constant(TensorData.of(both, dtype)))


def _padded(emitter: Emitter, x: Value, multiple: int) -> Value:
    """The numbers and zeros, up to a multiple of a length."""
    count, n = dims_of(x)[-2].offset, len(dims_of(x)) - 2
    if count % multiple == 0:
        return x
    widths = [*[0] * (2 * n), 0, -count % multiple, 0, 0]
    return emitter.op("nn.pad", x, pad_width=widths, pad_mode="constant", pad_value=0.0)

"""Tensors placed in bytes: what `rt.view` means, in an arena and in a kernel's workspace."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dialects import rt
from ..dialects.dtypes import byte_width
from .expressions import number, shape_of
from .memory import Buffer
from .values import Array, EvaluationError, Precision


def cell_bytes(precision: Precision) -> int:
    """Bytes that stand for one planned byte: float64 needs more room than what it stands for."""
    return 8 if precision.float64 else 1


def place_view(
    source: Buffer, op: rt.ViewOp, symbols: Mapping[str, int], precision: Precision
) -> Buffer:
    """The tensor at its place; raises EvaluationError where it does not fit into the source.

    Elements keep their planned distance, so that views overlap where the plan makes them.
    """
    type_, cell = op.result.type, cell_bytes(precision)
    shape, offset = shape_of(type_.dims, symbols), number(op.offset.data, symbols)
    steps = [number(s, symbols) for s in type_.element_strides()]
    name, width = op.result.name_hint or "a view", byte_width(type_.element_type)
    storage = precision.storage(type_.dtype)
    if not np.prod(shape):
        return Buffer(np.empty(shape, storage), type_.dtype, name)
    last = sum((dim - 1) * step for dim, step in zip(shape, steps, strict=True))
    content = _bytes_of(source)
    end, size = offset + (last + 1) * width, content.size // cell
    if offset < 0 or end > size:
        raise EvaluationError(
            f"expected view '{name}' inside of {size} bytes, got [{offset}, {end})"
        )
    strides = [step * width * cell for step in steps]
    array = np.ndarray(shape, storage, buffer=content, offset=offset * cell, strides=strides)
    return Buffer(array, type_.dtype, name)


def _bytes_of(source: Buffer) -> Array:
    """All memory of an arena, or of a view of it whose planned bytes are a cell apart."""
    step = source.array.strides[0]
    if step == 1:
        return source.array
    return np.lib.stride_tricks.as_strided(source.array, (source.array.size * step,), (1,))

"""Buffers of the evaluator: element access by index arrays, bounds checked, and views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..dialects import rt
from ..dialects.dtypes import byte_width
from ..dialects.tir.types import BufferType
from .expressions import number, shape_of
from .values import Array, EvaluationError, Precision, Value

Index: TypeAlias = "int | np.integer[Any] | Array"
"""One index of an access: a number, or one for each lane."""


@dataclass(frozen=True)
class Buffer:
    """Memory of a dtype. `lane_index` indexes leading dims that each lane has for itself.

    `written` tells of each element whether it was stored to, where that is tracked.
    """

    array: Array
    dtype: str
    name: str
    lane_index: tuple[Array, ...] = ()
    written: Array | None = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape as the program sees it."""
        return self.array.shape[len(self.lane_index) :]

    def per_vector(self) -> Buffer:
        """The same memory, for index arrays that have a last axis for the lanes of a vector."""
        if not self.lane_index:
            return self
        return replace(self, lane_index=tuple(i[..., None] for i in self.lane_index))

    def locate(
        self, index: Sequence[Index], mask: Array | None
    ) -> tuple[Buffer, tuple[Index, ...]]:
        """The memory and the checked index into it; raises EvaluationError outside the buffer.

        Lanes that the mask switches off get some index that is inside.
        """
        checked = [_inside(self, d, i, mask) for d, i in enumerate(index)]
        return self, (*self.lane_index, *checked)

    def copy(self) -> Buffer:
        """The same content in memory of its own."""
        written = None if self.written is None else self.written.copy()
        return replace(self, array=self.array.copy(), written=written)

    def row(self, index: int) -> Buffer:
        """The element along the first axis, in the same memory."""
        if not 0 <= index < self.dims[0]:
            raise EvaluationError(f"expected a row of '{self.name}', got {index}")
        written = None if self.written is None else self.written[index, ...]
        return replace(self, array=self.array[index, ...], written=written)

    def reshaped(self, start: int, shape: Sequence[int]) -> Buffer:
        """The same memory in another shape, from an element on; it must be dense."""
        if self.lane_index or not self.array.flags.c_contiguous:
            raise EvaluationError(f"expected '{self.name}' to be dense memory of all lanes")
        end = start + prod(shape)
        parts = (self.array, self.written)
        array, written = (None if p is None else p.reshape(-1)[start:end] for p in parts)
        assert array is not None
        new = None if written is None else written.reshape(shape)
        return replace(self, array=array.reshape(shape), written=new)

    def verify_written(self) -> None:
        """Raise EvaluationError where an element was never stored to."""
        if self.written is not None and not self.written.all():
            first = [int(i) for i in np.argwhere(~self.written)[0]]
            raise EvaluationError(f"{first} of '{self.name}' is read before it is written")


@dataclass(frozen=True)
class View:
    """A region of another buffer with a shape of its own; `starts` may differ from lane to lane."""

    source: Memory
    starts: tuple[Index, ...]
    dims: tuple[int, ...]
    name: str

    @property
    def dtype(self) -> str:
        """The dtype of the source."""
        return self.source.dtype

    def per_vector(self) -> View:
        """As `Buffer.per_vector`."""
        starts = tuple(i if isinstance(i, int) else np.asarray(i)[..., None] for i in self.starts)
        return replace(self, source=self.source.per_vector(), starts=starts)

    def locate(
        self, index: Sequence[Index], mask: Array | None
    ) -> tuple[Buffer, tuple[Index, ...]]:
        """As `Buffer.locate`, through the source."""
        own = [_inside(self, d, i, mask) for d, i in enumerate(index)]
        outer = len(self.starts) - len(own)
        moved = [s + i for s, i in zip(self.starts[outer:], own, strict=True)]
        return self.source.locate([*self.starts[:outer], *moved], mask)


Memory: TypeAlias = Buffer | View


def _inside(buffer: Memory, position: int, index: Index, mask: Array | None) -> Index:
    dim = buffer.dims[position]
    if isinstance(index, int | np.integer):
        if 0 <= index < dim:
            return index
        if mask is None or mask.any():
            raise _outside(buffer, position, int(index))
        return 0
    wrong = (index < 0) | (index >= dim)
    if not wrong.any():
        return index
    active = wrong if mask is None else wrong & mask
    if active.any():
        raise _outside(buffer, position, int(np.broadcast_to(index, active.shape)[active][0]))
    return np.where(wrong, 0, index)


def _outside(buffer: Memory, position: int, index: int) -> EvaluationError:
    return EvaluationError(
        f"expected indices of dim {position} of '{buffer.name}' in [0, {buffer.dims[position]}), "
        f"got {index}"
    )


def read(buffer: Memory, index: Sequence[Index], mask: Array | None, precision: Precision) -> Value:
    """The elements at the indices, one for each lane; raises EvaluationError for unwritten ones."""
    memory, place = buffer.locate(index, mask)
    array = memory.array
    if mask is not None and not array.size:  # no lane is on, and there is nothing to read in others
        array, place = np.zeros(np.broadcast_shapes(*map(np.shape, place)), array.dtype), ()
    elif memory.written is not None:
        _verify_written(buffer, index, memory.written[place], mask)
    return precision.load(buffer.dtype, array[place])


def _verify_written(
    buffer: Memory, index: Sequence[Index], written: Value, mask: Array | None
) -> None:
    wrong = ~np.asarray(written) if mask is None else ~np.asarray(written) & mask
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        first = [int(np.broadcast_to(i, wrong.shape)[at]) for i in index]
        raise EvaluationError(f"{first} of '{buffer.name}' is read before it is written")


def write(
    buffer: Memory, index: Sequence[Index], value: Value, mask: Array | None, precision: Precision
) -> None:
    """Set elements at the indices where the mask is on; raises EvaluationError for constants."""
    memory, place = buffer.locate(index, mask)
    stored: Array = precision.store(buffer.dtype, value)
    if not memory.array.flags.writeable:
        raise EvaluationError(f"expected '{buffer.name}' to be writable, got constant memory")
    _assign(memory.array, place, stored, mask)
    if memory.written is not None:
        _assign(memory.written, place, np.ones(stored.shape, np.bool_), mask)


def _assign(array: Array, place: tuple[Index, ...], stored: Array, mask: Array | None) -> None:
    if mask is None:
        shape = np.broadcast_shapes(stored.shape, *(np.shape(i) for i in place))
        array[tuple(_spread(i, shape) for i in place)] = stored
        return
    shape = np.broadcast_shapes(stored.shape, mask.shape, *(np.shape(i) for i in place))
    active = np.broadcast_to(mask, shape)
    chosen = tuple(np.broadcast_to(i, shape)[active] for i in place)
    array[chosen] = np.broadcast_to(stored, shape)[active] if place else stored


def _spread(index: Index, shape: tuple[int, ...]) -> Index:
    return np.broadcast_to(index, shape) if shape else index


def vector_index(index: Sequence[Index], lanes: int) -> list[Index]:
    """Indices of a vector of `lanes` elements along the last dim, as a new last axis."""
    spread: list[Index] = [i if isinstance(i, int) else np.asarray(i)[..., None] for i in index]
    return [*spread[:-1], spread[-1] + np.arange(lanes)]


def cell_bytes(precision: Precision) -> int:
    """Bytes that stand for one planned byte: float64 needs more room than what it stands for."""
    return 8 if precision.float64 else 1


def place_view(
    source: Buffer, op: rt.ViewOp, symbols: Mapping[str, int], precision: Precision
) -> Buffer:
    """The tensor of an `rt.view` at its place; raises as `view_of`."""
    name, offset = op.result.name_hint or "a view", number(op.offset.data, symbols)
    return view_of(source, op.result.type, offset, name, symbols, precision)


def view_of(
    source: Buffer,
    type_: BufferType,
    offset: int,
    name: str,
    symbols: Mapping[str, int],
    precision: Precision,
) -> Buffer:
    """A tensor in memory of bytes; raises EvaluationError where it does not fit.

    Elements keep their planned distance, so that views overlap where the plan makes them.
    """
    cell, width = cell_bytes(precision), byte_width(type_.element_type)
    shape = shape_of(type_.dims, symbols)
    steps = [number(s, symbols) for s in type_.element_strides()]
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

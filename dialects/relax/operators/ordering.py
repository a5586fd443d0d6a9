"""Sorting of a tensor's lines, the 1-D slices along an axis, for the sorting operators.

Short lines are sorted several at a time, in the lanes of vectors; long ones one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .language import TensorLanguage
from .sort_algorithms import BLOCK, RadixSort, keep_first
from .sort_networks import sort_lanes, stages
from .sort_records import Records

MAX_IN_LANES, MAX_WITH_INDEX = 4096, 2048
"""The maximum length of lines that are sorted in lanes: networks take more than linear time."""

MAX_FIRST = 24
"""The maximum length of lines that are sorted in lanes, per `k`; at least 256 are.

Selection from longer lines inspects few elements twice.
"""

FEW_ROWS = 32
"""The maximum length of lines across rows that are read in place.

Elements of longer ones may share places of the caches; the rows are transposed first.
"""

FEWEST_LANES = 4
"""The minimum number of lines to sort in lanes, even if the other lanes are empty."""

ROW_BYTES, LANES_BYTES = 64, 1 << 14
"""The bytes of an element in all lanes, halved for arrays above the second number of bytes.

The arrays then stay in the cache.
"""


@dataclass(frozen=True)
class Sorting:
    """A tensor to sort along an axis, and the number `k` of first elements; `None` for all.

    `results` are "values" and "indices", each with its dtype.
    """

    te: TensorLanguage
    data: Any
    axis: int
    records: Records
    results: Sequence[tuple[str, str]]
    k: int | None = None

    @property
    def length(self) -> Any:
        """The number of elements in a line."""
        return self.data.shape[self.axis]

    @cached_property
    def lane_dim(self) -> int | None:
        """The dim whose lines share vectors: a symbolic one, or the longest other than the axis."""
        shape = self.data.shape
        others = [d for d in range(self.data.ndim) if d != self.axis]
        symbols = [d for d in others if not isinstance(shape[d], int)]
        if symbols:
            return symbols[-1]
        return max(others, key=lambda d: (shape[d], d), default=None)

    @cached_property
    def most_in_lanes(self) -> int:
        """The maximum length of lines to sort in lanes; 0 for none."""
        if self.lane_dim is None:
            return 0
        count = self.data.shape[self.lane_dim]
        most = MAX_WITH_INDEX if self.records.is_indexed else MAX_IN_LANES
        if self.k is not None:
            most = min(most, max(256, MAX_FIRST * self.k))
        is_short = not isinstance(self.length, int) or self.length <= most
        return most if is_short and (not isinstance(count, int) or count >= FEWEST_LANES) else 0

    @cached_property
    def lanes(self) -> int:
        """The number of lines that are sorted together."""
        if not self.most_in_lanes:
            return 1
        rows = self.length if isinstance(self.length, int) else self.most_in_lanes
        lanes = max(4, min(16, ROW_BYTES // self.records.bytes))
        is_large = rows * lanes * self.records.bytes > LANES_BYTES
        return max(4, lanes // 2) if is_large else lanes

    def compute(self) -> tuple[Any, ...]:
        """The results."""
        last = self.data.ndim - 1
        if self.axis == last or (isinstance(self.length, int) and self.length <= FEW_ROWS):
            return self._sorted()
        lines = replace(self, data=self._moved(self.data, self.axis, last, "T_lines"), axis=last)
        return tuple(lines._moved(r, last, self.axis, "T_moved") for r in lines.compute())

    def _moved(self, tensor: Any, source: int, destination: int, name: str) -> Any:
        """A tensor whose dim `source` has moved to `destination`, in a memory of its own."""
        order = [d for d in range(tensor.ndim) if d != source]
        order.insert(destination, source)

        def element(*i: Any) -> Any:
            return tensor(*(i[order.index(d)] for d in range(tensor.ndim)))

        return self.te.compute([tensor.shape[d] for d in order], element, name=name)

    def _sorted(self) -> tuple[Any, ...]:
        length = self.length if self.k is None else self.k
        shape = [*self.data.shape]
        shape[self.axis] = length
        axes = [d for n, d in enumerate(self.data.shape) if n != self.axis]
        if self.lane_dim is not None:
            place = self.lane_dim - (self.lane_dim > self.axis)
            axes[place] = (axes[place] + self.lanes - 1) // self.lanes
        dtypes = [dtype for _, dtype in self.results]
        return self.te.statements(
            [shape] * len(dtypes), [self.data], self._sort_group, dtypes, axes, "T_sorted"
        )

    def _sort_group(self, ib: Any, inputs: Any, outputs: Sequence[Any], *group: Any) -> None:
        """The statements that sort one group of lines."""
        if not self.most_in_lanes:
            self._sort_line(ib, outputs, partial(self._at, group, 0))
            return
        count = self._lines_in(group)
        if isinstance(self.length, int):
            self._sort_in_lanes(ib, outputs, group, count)
            return
        is_short = ib.let(self.length <= self.most_in_lanes)
        with ib.if_scope(is_short):
            self._sort_in_lanes(ib, outputs, group, count)
        with ib.if_scope(self.te.Not(is_short)), ib.for_range(0, count, "line") as line:
            self._sort_line(ib, outputs, partial(self._at, group, line))

    def _lines_in(self, group: Sequence[Any]) -> Any:
        """The number of lines in a group; the last may be smaller."""
        assert self.lane_dim is not None
        lines, place = self.data.shape[self.lane_dim], self.lane_dim - (self.lane_dim > self.axis)
        if isinstance(lines, int) and lines % self.lanes == 0:
            return self.lanes
        return self.te.min(lines - group[place] * self.lanes, self.lanes)

    def _at(self, group: Sequence[Any], line: Any, i: Any) -> tuple[Any, ...]:
        """The indices of an element in a line of a group."""
        where = [*group[: self.axis], i, *group[self.axis :]]
        if self.lane_dim is not None and self.lanes > 1:
            where[self.lane_dim] = where[self.lane_dim] * self.lanes + line
        return tuple(where)

    def _write(
        self, ib: Any, outputs: Sequence[Any], at: Callable[[Any], Any], i: Any, record: Any
    ) -> None:
        for output, (kind, _) in zip(outputs, self.results, strict=True):
            ib.store(output, at(i), self._result(ib, kind, at, record))

    def _result(self, ib: Any, kind: str, at: Callable[[Any], Any], record: Any) -> Any:
        if not self.records.is_indexed:
            return self.records.value(ib, record)
        index = ib.let(self.records.index(record))
        return index if kind == "indices" else self.data(*at(index))

    def _written(self) -> Any:
        """The number of elements of a line in the result."""
        return self.length if self.k is None else self.te.min(self.k, self.length)

    def _fill(self, ib: Any, outputs: Sequence[Any], at: Callable[[Any], Any]) -> None:
        """Fill the result with zeros where a line has fewer than `k` elements."""
        if self.k is not None and not isinstance(self.length, int):
            with ib.for_range(self._written(), self.k, "missing") as i:
                for output, (_, dtype) in zip(outputs, self.results, strict=True):
                    ib.store(output, at(i), self.te.const(0, dtype))

    def _sort_in_lanes(self, ib: Any, outputs: Sequence[Any], group: Any, count: Any) -> None:
        te, records = self.te, self.records
        least = stages(records)
        kept = None if self.k is None else _levels_of(min(self.k, self.most_in_lanes), least)
        levels = self._levels(ib, kept or least)
        most = self.length if isinstance(self.length, int) else self.most_in_lanes
        arrays = records.allocate(ib, (1 << _levels_of(most, kept or least), self.lanes))
        with ib.for_range(0, self.length) as i, ib.for_range(0, count, "line") as line:
            element = self.data(*self._at(group, line, i))
            records.store(ib, arrays, (i, line), records.of(ib, element, i))
        size = te.shift_left(te.const(1, "int64"), levels)
        with (
            ib.for_range(self.length, size) as i,
            ib.for_range(0, self.lanes, "line") as line,
        ):
            records.store(ib, arrays, (i, line), records.last())
        sort_lanes(ib, records, arrays, levels, self.lanes, kept)
        with ib.for_range(0, count, "line") as line:
            at = partial(self._at, group, line)
            with ib.for_range(0, self._written()) as i:
                self._write(ib, outputs, at, i, records.load(ib, arrays, i, line))
            self._fill(ib, outputs, at)

    def _levels(self, ib: Any, least: int) -> Any:
        """The base-2 logarithm of the length, rounded up."""
        te = self.te
        if isinstance(self.length, int):
            return te.const(_levels_of(self.length, least), "int64")
        levels = ib.allocate("int64", (1,), "levels")
        ib.store(levels, (0,), least)
        with ib.while_loop(te.shift_left(te.const(1, "int64"), levels(0)) < self.length):
            ib.store(levels, (0,), levels(0) + 1)
        return ib.let(levels(0))

    def _sort_line(self, ib: Any, outputs: Sequence[Any], at: Callable[[Any], Any]) -> None:
        records, length = self.records, self.length
        capacity = None if self.k is None else max(256, 4 * self.k)
        if capacity is None or (isinstance(length, int) and length <= capacity):
            sorter = RadixSort.allocate(ib, records, length, length)
            with ib.for_range(0, length) as i:
                sorter.store(ib, i, records.of(ib, self.data(*at(i)), i))
            sorter.sort(ib, self.te.cast("int64", length))
        else:
            assert self.k is not None
            sorter = RadixSort.allocate(ib, records, capacity + BLOCK, capacity)
            keep_first(ib, sorter, lambda i: self.data(*at(i)), length, self.k, capacity)
        with ib.for_range(0, self._written()) as i:
            self._write(ib, outputs, at, i, sorter.load(ib, i))
        self._fill(ib, outputs, at)


def _levels_of(length: int, least: int) -> int:
    return max(least, (length - 1).bit_length())


def numpy_order(data: NDArray[Any], axis: int, descending: bool) -> NDArray[Any]:
    """Indices that sort along an axis: stable, and NaN as the largest."""
    if not descending:
        return np.argsort(data, axis, stable=True)
    flipped = np.argsort(np.flip(data, axis), axis, stable=True)
    return data.shape[axis] - 1 - np.flip(flipped, axis)

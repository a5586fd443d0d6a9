"""Sorting networks for the records of short lines, with a line in each vector lane.

Neither code size nor compile time grow with the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .sort_records import Records


def stages(records: Records) -> int:
    """The number of comparison stages between a load and a store, limited by registers."""
    return 3 if len(records.dtypes) == 1 else 2


def sort_lanes(
    ib: Any, records: Records, arrays: Sequence[Any], levels: Any, lanes: int, kept: int | None
) -> None:
    """Sort the columns of arrays of shape ``(2 ** levels, lanes)``, each in a vector lane.

    Batcher's bitonic sorter (1968), which reads the second half of each merge in reverse, so that
    all comparisons have the same direction. With `kept`, only the first ``2 ** kept`` rows are
    sorted: merges of longer runs keep their first halves. Both are at least `stages(records)`.
    """
    te = records.te
    one, runs = te.const(1, "int64"), levels if kept is None else kept
    rows = ib.let(te.shift_left(one, levels))
    network = _Network(ib, records, arrays, lanes, stages(records))
    network.sort_runs(te.shift_right(rows, network.stages))
    with ib.for_range(0, runs - network.stages, "level") as above:
        network.merge(rows, ib.let(te.cast("int64", above) + network.stages))
    if kept is None:
        return
    length = 1 << kept
    with ib.for_range(0, levels - kept, "level") as halving:
        runs = ib.let(te.shift_left(one, levels - kept - 1 - halving))
        with ib.for_range(0, runs, "run") as run, ib.for_range(0, length, "place") as place:
            first = ib.let(run * length + place)
            second = ib.let((run + runs + 1) * length - 1 - place)
            with ib.for_range(0, lanes, "lane", kind="vectorized") as lane:
                a, b = (records.load(ib, arrays, row, lane) for row in (first, second))
                records.store(ib, arrays, (first, lane), records.in_order(ib, a, b)[0])
        network.exchange_below(ib.let(runs * length), kept)


@dataclass(frozen=True)
class _Network:
    """Compare-exchanges between rows of arrays, for as many rows at a time as registers hold."""

    ib: Any
    records: Records
    arrays: Sequence[Any]
    lanes: int
    stages: int

    def sort_runs(self, runs: Any) -> None:
        """Sort runs of ``2 ** stages`` rows."""
        count = 1 << self.stages
        with self.ib.for_range(0, runs, "run") as run:
            rows = [self.ib.let(run * count + i) for i in range(count)]
            pairs = [p for level in range(self.stages) for p in _merge_pairs(count, level + 1)]
            self._exchange(rows, pairs)

    def merge(self, rows: Any, level: Any) -> None:
        """Merge runs of ``2 ** level`` rows, at least ``2 ** stages``."""
        ib = self.ib
        first = ib.let(level % self.stages)
        for count in range(1, self.stages + 1):
            with ib.if_scope(first == count - 1):
                self._compare(rows, level, count, is_mirrored=True)
        with ib.for_range(0, (level - first) // self.stages, "step") as step:
            self._compare(rows, level - 1 - first - step * self.stages, self.stages)

    def exchange_below(self, rows: Any, levels: int) -> None:
        """Sort bitonic runs of ``2 ** levels`` rows."""
        first = levels % self.stages
        if first:
            self._compare(rows, levels - 1, first)
        with self.ib.for_range(0, levels // self.stages, "step") as step:
            self._compare(rows, levels - 1 - first - step * self.stages, self.stages)

    def _compare(self, rows: Any, level: Any, stages: int, is_mirrored: bool = False) -> None:
        """Compare rows at distance ``2 ** level``, then at half the distance, for several stages.

        If mirrored, the first stage compares rows at equal distances from both ends of two runs.
        """
        ib, te, one = self.ib, self.records.te, self.records.te.const(1, "int64")
        count, level = 1 << stages, te.cast("int64", level)
        distance = ib.let(te.shift_left(one, level - (stages - 1)))
        blocks = ib.let(te.shift_right(rows, level + 1))
        pairs = _merge_pairs(count, stages) if is_mirrored else _exchange_pairs(count, count // 2)
        with (
            ib.for_range(0, blocks, "block") as block,
            ib.for_range(0, distance, "place") as place,
        ):
            start = ib.let(block * count * distance)
            where = [ib.let(start + i * distance + place) for i in range(count)]
            if is_mirrored:
                for i in range(count // 2, count):
                    where[i] = ib.let(start + (i + 1) * distance - 1 - place)
            self._exchange(where, pairs)

    def _exchange(self, rows: Sequence[Any], pairs: Sequence[tuple[int, int]]) -> None:
        ib, records = self.ib, self.records
        with ib.for_range(0, self.lanes, "lane", kind="vectorized") as lane:
            found: list[Sequence[Any]] = [records.load(ib, self.arrays, r, lane) for r in rows]
            for a, b in pairs:
                found[a], found[b] = records.in_order(ib, found[a], found[b])
            for row, record in zip(rows, found, strict=True):
                records.store(ib, self.arrays, (row, lane), record)


def _exchange_pairs(count: int, distance: int) -> list[tuple[int, int]]:
    """The compare-exchanges between rows at a distance, then at half of it, down to 1."""
    if not distance:
        return []
    pairs = [(i, i + distance) for i in range(count) if not i & distance]
    return pairs + _exchange_pairs(count, distance // 2)


def _merge_pairs(count: int, stages: int) -> list[tuple[int, int]]:
    """The compare-exchanges that merge runs of ``2 ** (stages - 1)`` rows."""
    length = 1 << stages
    starts = range(0, count, length)
    pairs = [(s + i, s + length - 1 - i) for s in starts for i in range(length // 2)]
    return pairs + _exchange_pairs(count, length // 4)

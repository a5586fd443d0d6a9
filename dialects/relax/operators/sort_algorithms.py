"""How the records of a long line are brought into order, digit by digit, all or the first.

All are loops of which neither the code nor the time it takes to compile grows with the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .sort_records import Records

BLOCK = 32
"""How many elements of a line are compared at once with the last that is wanted."""

SAMPLE, MOST_OF_SAMPLE = 2048, 64
"""How many elements of a line tell which are looked at, and the most that may be wanted for that:
the minima are compared with each other."""

FEW = 64
"""Records up to which it is quicker to compare each with all others than to count digits."""

MOST_OF_WIDE_DIGITS = 1 << 18
"""The longest lines that are sorted by 2048 digits: so many places of longer ones, one after the
other, are on more pages than the processor finds quickly."""


@dataclass(frozen=True)
class RadixSort:
    """Sorts by digits of the keys, the lowest first, each time to the other row of arrays.

    Equal records keep their order. `side` holds the row in which the records are.
    """

    records: Records
    arrays: Sequence[Any]
    counts: Any
    total: Any
    side: Any
    bits: int

    @staticmethod
    def allocate(ib: Any, records: Records, capacity: Any, length: Any) -> RadixSort:
        """A sorter for so many records of a line."""
        is_known = isinstance(length, int)
        is_wide = is_known and 2048 <= length <= MOST_OF_WIDE_DIGITS and records.width > 16
        bits = 11 if is_wide else 8
        dtype = "int32" if is_known else "int64"
        arrays = records.allocate(ib, (2, capacity))
        turns = -(-records.width // bits)
        counts = ib.allocate(dtype, (turns, 1 << bits), "counts")
        total, side = ib.allocate(dtype, (1,), "total"), ib.allocate("int64", (1,), "side")
        ib.store(side, (0,), 0)
        return RadixSort(records, arrays, counts, total, side, bits)

    def load(self, ib: Any, i: Any) -> list[Any]:
        """The record at a place."""
        return self.records.load(ib, self.arrays, self.side(0), i)

    def store(self, ib: Any, i: Any, record: Any) -> None:
        """Write the record at a place."""
        self.records.store(ib, self.arrays, (self.side(0), i), record)

    @property
    def turns(self) -> int:
        """How many digits keys have."""
        return -(-self.records.width // self.bits)

    def sort(self, ib: Any, count: Any) -> None:
        """Sort the first `count` records; a digit that all have in common takes no step."""
        with ib.if_scope(count > 1):
            self._count(ib, ib.let(self.side(0)), count)
            with ib.for_range(0, self.turns, "turn") as turn:
                side = ib.let(self.side(0))
                first = ib.let(self._digit(self.arrays[0](side, 0), turn))
                with ib.if_scope(self.counts(turn, first) < count):
                    self._add_up(ib, turn)
                    self._move(ib, side, turn, count)
                    ib.store(self.side, (0,), 1 - side)

    def sort_few(self, ib: Any, count: Any) -> None:
        """Sort the first `count` records, of which none are equal; each is compared with all."""
        te, side = self.records.te, ib.let(self.side(0))
        with ib.for_range(0, count) as i:
            record = self.records.load(ib, self.arrays, side, i)
            ib.store(self.total, (0,), 0)
            with ib.for_range(0, count, "other") as j:
                other = self.records.load(ib, self.arrays, side, j)
                precedes = te.cast(self.total.dtype, self.records.precedes(other, record))
                ib.store(self.total, (0,), self.total(0) + precedes)
            self.records.store(ib, self.arrays, (1 - side, self.total(0)), record)
        ib.store(self.side, (0,), 1 - side)

    def _digit(self, part: Any, turn: Any) -> Any:
        return self.records.digit(part, turn * self.bits, self.bits)

    def _count(self, ib: Any, side: Any, count: Any) -> None:
        """Count how often each digit occurs at each position."""
        with (
            ib.for_range(0, self.turns, "turn") as turn,
            ib.for_range(0, 1 << self.bits, "digit") as digit,
        ):
            ib.store(self.counts, (turn, digit), 0)
        with ib.for_range(0, count) as i:
            part = ib.let(self.arrays[0](side, i))
            with ib.for_range(0, self.turns, "turn", kind="unrolled") as turn:
                digit = ib.let(self._digit(part, turn))
                ib.store(self.counts, (turn, digit), self.counts(turn, digit) + 1)

    def _add_up(self, ib: Any, turn: Any) -> None:
        """Counts become the places of the first record with each digit."""
        ib.store(self.total, (0,), 0)
        with ib.for_range(0, 1 << self.bits, "digit") as digit:
            count = ib.let(self.counts(turn, digit))
            ib.store(self.counts, (turn, digit), self.total(0))
            ib.store(self.total, (0,), self.total(0) + count)

    def _move(self, ib: Any, side: Any, turn: Any, count: Any) -> None:
        with ib.for_range(0, count) as i:
            record = self.records.load(ib, self.arrays, side, i)
            digit = ib.let(self._digit(record[0], turn))
            place = ib.let(self.counts(turn, digit))
            ib.store(self.counts, (turn, digit), place + 1)
            self.records.store(ib, self.arrays, (1 - side, place), record)


def keep_first(
    ib: Any, sorter: RadixSort, element: Callable[[Any], Any], length: Any, k: int, capacity: int
) -> None:
    """Leave the first `k` elements of a line, or all there are, in order in a sorter.

    Of a block of elements only those are looked at that come before the last of the first `k` so
    far, or of those in a sample. When `capacity` of them have come together they are sorted.
    """
    te, records = sorter.records.te, sorter.records
    kept = _Kept(ib, sorter, k)
    if k <= MOST_OF_SAMPLE:
        kept.sample(ib, element, length)
    blocks = (length + BLOCK - 1) // BLOCK
    with ib.for_range(0, blocks, "block") as block:
        start = block * BLOCK
        stop = te.min(start + BLOCK, length)
        last, is_open = ib.let(kept.bound(0)), ib.let(kept.is_open(0))
        ib.store(kept.least, (0,), te.max_value(records.key_dtype))
        with ib.for_range(start, stop) as i:
            ib.store(kept.least, (0,), te.min(kept.least(0), records.key(ib, element(i))))
        with ib.if_scope((kept.least(0) < last) | is_open):
            side = ib.let(sorter.side(0))
            with ib.for_range(start, stop) as i:
                record = [ib.let(part) for part in records.of(ib, element(i), i)]
                records.store(ib, sorter.arrays, (side, kept.count(0)), record)
                comes = (records.key_of(record) < last) | is_open
                ib.store(kept.count, (0,), kept.count(0) + te.cast("int64", comes))
        is_full = ib.let(kept.count(0) >= capacity)
        with ib.if_scope(is_full | (block == blocks - 1)):
            count = ib.let(kept.count(0))
            with ib.if_scope(count <= FEW):
                sorter.sort_few(ib, count)
            with ib.if_scope(count > FEW):
                sorter.sort(ib, count)
        with ib.if_scope(is_full):
            kept.cut(ib)


class _Kept:
    """How many elements a sorter holds, and the key that further ones must be below, if any."""

    def __init__(self, ib: Any, sorter: RadixSort, k: int):
        self.sorter, self.k = sorter, k
        key = sorter.records.key_dtype
        self.count = ib.allocate("int64", (1,), "count")
        self.bound, self.least = (ib.allocate(key, (1,), n) for n in ("bound", "least"))
        self.is_open = ib.allocate("bool", (1,), "is_open")
        for tensor, value in ((self.count, 0), (self.bound, 0), (self.is_open, True)):
            ib.store(tensor, (0,), value)

    def sample(self, ib: Any, element: Callable[[Any], Any], length: Any) -> None:
        """Bound keys by those of the first elements.

        Of the minima of disjoint parts of a line, the one that `k` are not above.
        """
        records, te = self.sorter.records, self.sorter.records.te
        key, parts = records.key_dtype, max(16, 1 << (2 * self.k - 1).bit_length())
        least = ib.allocate(key, (parts,), "minima")
        with ib.for_range(0, parts, "part") as part:
            ib.store(least, (part,), te.max_value(key))
        with (
            ib.for_range(0, te.min(length, SAMPLE) // parts, "step") as step,
            ib.for_range(0, parts, "part", kind="vectorized") as part,
        ):
            value = records.key(ib, element(step * parts + part))
            ib.store(least, (part,), te.min(least(part), value))
        below, bound = (ib.allocate(key, (1,), n) for n in ("below", "bound"))
        ib.store(bound, (0,), te.min_value(key))
        with ib.for_range(0, parts, "part") as part:
            value = ib.let(least(part))
            ib.store(below, (0,), 0)
            with ib.for_range(0, parts, "other") as other:
                ib.store(below, (0,), below(0) + te.cast(key, least(other) < value))
            with ib.if_scope(below(0) < self.k):
                ib.store(bound, (0,), te.max(bound(0), value))
        with ib.if_scope(bound(0) < te.max_value(key)):
            ib.store(self.bound, (0,), bound(0) + 1)
            ib.store(self.is_open, (0,), False)

    def cut(self, ib: Any) -> None:
        """Keep the first `k` of what is in order."""
        ib.store(self.count, (0,), self.k)
        key = self.sorter.records.key_of(self.sorter.load(ib, self.k - 1))
        ib.store(self.bound, (0,), key)
        ib.store(self.is_open, (0,), False)

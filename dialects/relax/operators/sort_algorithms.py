"""Sorting of the records of a long line by radix sort, entirely or for the first elements.

Neither code size nor compile time grow with the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .sort_records import Records

BLOCK = 32
"""The number of elements that are compared with the bound at once."""

SAMPLE, MAX_SAMPLE = 2048, 64
"""The number of elements that are sampled for a bound, and the maximum `k` for sampling.

The minima of samples are compared pairwise.
"""

FEW = 64
"""The maximum number of records for which pairwise comparison is faster than radix sort."""

MAX_WIDE_DIGITS = 1 << 18
"""The maximum length of lines that are sorted by digits of 11 bits.

In longer lines, the 2048 write positions are on more pages than the TLB has.
"""

WIDEST_BY_ALL_DIGITS = 32
"""Wider keys are sorted by the upper half of their digits first.

If the lower half leaves few records out of order, these are inserted; otherwise all digits are
sorted.
"""


@dataclass(frozen=True)
class RadixSort:
    """A least-significant-digit radix sort between two rows of arrays.

    It is stable. `side` has the row with the records. Both halves of a line are processed at once,
    with separate counts, so that a record does not wait for the updated count of an equal digit in
    the other half.
    """

    records: Records
    arrays: Sequence[Any]
    counts: Any
    total: Any
    side: Any
    bits: int

    @staticmethod
    def allocate(ib: Any, records: Records, capacity: Any, length: Any) -> RadixSort:
        """Allocate a sorter for `capacity` records of a line."""
        is_known = isinstance(length, int)
        is_wide = is_known and 2048 <= length <= MAX_WIDE_DIGITS and records.width > 16
        bits = 11 if is_wide else 8
        dtype = "int32" if is_known else "int64"
        arrays = records.allocate(ib, (2, capacity))
        counts = ib.allocate(dtype, (2, 1 << bits), "counts")
        total, side = ib.allocate(dtype, (1,), "total"), ib.allocate("int64", (1,), "side")
        ib.store(side, (0,), 0)
        return RadixSort(records, arrays, counts, total, side, bits)

    def load(self, ib: Any, i: Any) -> list[Any]:
        """Load the record at a position."""
        return self.records.load(ib, self.arrays, self.side(0), i)

    def store(self, ib: Any, i: Any, record: Any) -> None:
        """Store the record at a position."""
        self.records.store(ib, self.arrays, (self.side(0), i), record)

    def sort(self, ib: Any, count: Any) -> None:
        """Sort the first `count` records; digits that all keys share are skipped."""
        te, digits = self.records.te, -(-self.records.width // self.bits)
        keys = self.arrays[0]
        differing = self._bits_in_any(ib, count, lambda record, side: record ^ keys(side, 0))
        if self.records.width <= WIDEST_BY_ALL_DIGITS:
            self._sort_digits(ib, differing, 0, digits, count)
            return
        sign = te.const(self.records.width - 1, keys.dtype)
        beside_sign = self._bits_in_any(
            ib, count, lambda record, _: record ^ te.shift_right(record, sign)
        )
        low_digits = digits // 2
        low = te.const((1 << low_digits * self.bits) - 1, differing.dtype)
        differ_above = (differing > low) & (beside_sign > low)
        first, is_sorted = (
            ib.allocate("int64", (1,), "first"),
            ib.allocate("bool", (1,), "is_sorted"),
        )
        ib.store(first, (0,), te.Select(differ_above, low_digits, 0))
        ib.store(is_sorted, (0,), False)
        with ib.while_loop(te.Not(is_sorted(0))):
            self._sort_digits(ib, differing, first(0), digits, count)
            ib.store(is_sorted, (0,), (first(0) == 0) | ((differing & low) == 0))
            with ib.if_scope(te.Not(is_sorted(0))):
                ib.store(is_sorted, (0,), self._insert(ib, count))
            ib.store(first, (0,), 0)

    def _bits_in_any(self, ib: Any, count: Any, bits: Callable[[Any, Any], Any]) -> Any:
        """The union of unsigned bits that a function of each record and its row has."""
        keys, side = self.arrays[0], ib.let(self.side(0))
        found = ib.allocate(keys.dtype, (1,), "bits")
        ib.store(found, (0,), 0)
        with ib.for_range(0, count) as i:
            ib.store(found, (0,), found(0) | bits(ib.let(keys(side, i)), side))
        return ib.let(self.records.key_bits(found(0)))

    def _sort_digits(self, ib: Any, differing: Any, first: Any, digits: int, count: Any) -> None:
        """Sort by all digits from `first` on."""
        with ib.for_range(first, digits, "position") as position:
            bit = position * self.bits
            with ib.if_scope(self.records.bits_at(differing, bit, self.bits) != 0):
                side = ib.let(self.side(0))
                self._count(ib, side, bit, count)
                self._add_up(ib)
                self._move(ib, side, bit, count)
                ib.store(self.side, (0,), 1 - side)

    def _insert(self, ib: Any, count: Any) -> Any:
        """Insertion sort, with less than `count` moves in total.

        Returns whether the records are sorted.
        """
        te, side, keys = self.records.te, ib.let(self.side(0)), self.arrays[0]
        place = ib.allocate("int64", (1,), "place")
        ib.store(self.total, (0,), 0)
        with (
            ib.for_range(1, te.max(count, 1)) as i,
            ib.if_scope((keys(side, i) < keys(side, i - 1)) & (self.total(0) < count)),
        ):
            record = self.records.load(ib, self.arrays, side, i)
            ib.store(place, (0,), i)
            former = te.max(place(0) - 1, 0)
            is_larger = (place(0) > 0) & (record[0] < keys(side, former))
            with ib.while_loop(is_larger & (self.total(0) < count)):
                moved = self.records.load(ib, self.arrays, side, former)
                self.records.store(ib, self.arrays, (side, place(0)), moved)
                ib.store(place, (0,), place(0) - 1)
                ib.store(self.total, (0,), self.total(0) + 1)
            self.records.store(ib, self.arrays, (side, place(0)), record)
        return self.total(0) < count

    def sort_few(self, ib: Any, count: Any) -> None:
        """Sort the first `count` records, which are distinct, by comparing all pairs."""
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

    def _count(self, ib: Any, side: Any, bit: Any, count: Any) -> None:
        """Count the occurrences of each digit in each half."""
        with (
            ib.for_range(0, 2, "half") as half,
            ib.for_range(0, 1 << self.bits, "digit") as digit,
        ):
            ib.store(self.counts, (half, digit), 0)
        for places in self._in_halves(ib, count):
            self._next_of(
                ib, [self.records.digit(self.arrays[0](side, i), bit, self.bits) for i in places]
            )

    def _in_halves(self, ib: Any, count: Any) -> Iterator[Sequence[Any]]:
        """The bodies of loops over positions in both halves at once, and over an odd last one."""
        length = ib.let(count // 2)
        with ib.for_range(0, length) as i:
            yield i, i + length
        with ib.for_range(length * 2, count, "left") as i:
            yield (i,)

    def _next_of(self, ib: Any, digits: Sequence[Any]) -> list[Any]:
        """Increment the counts of digits in their halves; returns the previous counts.

        A single digit belongs to the last half.
        """
        first = 2 - len(digits)
        counted: list[tuple[int, Any]] = [(first + n, ib.let(d)) for n, d in enumerate(digits)]
        former = [ib.let(self.counts(half, digit)) for half, digit in counted]
        for (half, digit), count in zip(counted, former, strict=True):
            ib.store(self.counts, (half, digit), count + 1)
        return former

    def _add_up(self, ib: Any) -> None:
        """Replace counts by exclusive prefix sums: the first position of each digit and half."""
        ib.store(self.total, (0,), 0)
        with (
            ib.for_range(0, 1 << self.bits, "digit") as digit,
            ib.for_range(0, 2, "half") as half,
        ):
            count = ib.let(self.counts(half, digit))
            ib.store(self.counts, (half, digit), self.total(0))
            ib.store(self.total, (0,), self.total(0) + count)

    def _move(self, ib: Any, side: Any, bit: Any, count: Any) -> None:
        for places in self._in_halves(ib, count):
            found = [self.records.load(ib, self.arrays, side, i) for i in places]
            moved = self._next_of(
                ib, [self.records.digit(record[0], bit, self.bits) for record in found]
            )
            for place, record in zip(moved, found, strict=True):
                self.records.store(ib, self.arrays, (1 - side, place), record)


def keep_first(
    ib: Any, sorter: RadixSort, element: Callable[[Any], Any], length: Any, k: int, capacity: int
) -> None:
    """Keep the first `k` elements of a line, or all if there are fewer, sorted in a sorter.

    A block of elements is inspected only if one precedes the bound: the last of the first `k` so
    far, or that of a sample. `capacity` collected records are sorted.
    """
    te, records = sorter.records.te, sorter.records
    kept = _Kept(ib, sorter, k)
    if k <= MAX_SAMPLE:
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
    """The number of elements in a sorter, and the bound of keys of further ones, if any."""

    def __init__(self, ib: Any, sorter: RadixSort, k: int):
        self.sorter, self.k = sorter, k
        key = sorter.records.key_dtype
        self.count = ib.allocate("int64", (1,), "count")
        self.bound, self.least = (ib.allocate(key, (1,), n) for n in ("bound", "least"))
        self.is_open = ib.allocate("bool", (1,), "is_open")
        for tensor, value in ((self.count, 0), (self.bound, 0), (self.is_open, True)):
            ib.store(tensor, (0,), value)

    def sample(self, ib: Any, element: Callable[[Any], Any], length: Any) -> None:
        """Initialize the bound from a sample of the first elements.

        It is the `k`-th smallest of the minima of disjoint parts.
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
        """Keep the first `k` of the sorted records."""
        ib.store(self.count, (0,), self.k)
        key = self.sorter.records.key_of(self.sorter.load(ib, self.k - 1))
        ib.store(self.bound, (0,), key)
        ib.store(self.is_open, (0,), False)

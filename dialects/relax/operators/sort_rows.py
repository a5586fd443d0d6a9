"""A stable merge sort of the rows of a matrix, compared element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .language import TensorLanguage
from .sort_records import Records


@dataclass(frozen=True)
class RowSorting:
    """The rows of a matrix to sort in lexicographic order of their elements' keys."""

    te: TensorLanguage
    rows: Any
    records: Records

    def compute(self) -> Any:
        """The indices of the rows in ascending order, a column."""
        shape = (self.rows.shape[0], 1)
        return self.te.statements([shape], [self.rows], self._sort, ["int64"], (), "T_sorted_rows")[
            0
        ]

    def _sort(self, ib: Any, inputs: Any, outputs: Sequence[Any]) -> None:
        """Merge runs of 1, 2, 4 … rows."""
        te, (order,), count = self.te, outputs, self.rows.shape[0]
        with ib.for_range(0, count, "row") as row:
            ib.store(order, (row, 0), te.cast("int64", row))
        merged = ib.allocate("int64", (count,), "merged")
        run = ib.allocate("int64", (1,), "run")
        merge = _Merge(self, ib, order, merged)
        ib.store(run, (0,), te.const(1, "int64"))
        with ib.while_loop(run(0) < count):
            width = ib.let(run(0))
            with ib.for_range(0, (count + 2 * width - 1) // (2 * width), "pair") as pair:
                begin = ib.let(te.cast("int64", pair) * 2 * width)
                middle = ib.let(te.min(begin + width, count))
                merge.pair(begin, middle, ib.let(te.min(begin + 2 * width, count)))
            with ib.for_range(0, count, "row") as row:
                ib.store(order, (row, 0), merged(row))
            ib.store(run, (0,), width * 2)


class _Merge:
    """Merges two sorted runs of row numbers."""

    def __init__(self, sorting: RowSorting, ib: Any, order: Any, merged: Any):
        self.te, self.rows, self.records = sorting.te, sorting.rows, sorting.records
        self.ib, self.order, self.merged = ib, order, merged
        self.left, self.right, self.column = (
            ib.allocate("int64", (1,), name) for name in ("left", "right", "column")
        )
        self.is_equal, self.is_less, self.takes_right = (
            ib.allocate("bool", (1,), name) for name in ("is_equal", "is_less", "takes_right")
        )

    def pair(self, begin: Any, middle: Any, end: Any) -> None:
        """Merge the rows from `begin` to `middle` with those to `end`."""
        ib, left, right = self.ib, self.left, self.right
        ib.store(left, (0,), begin)
        ib.store(right, (0,), middle)
        with ib.for_range(begin, end, "k") as k:
            ib.store(self.takes_right, (0,), left(0) >= middle)
            with ib.if_scope((left(0) < middle) & (right(0) < end)):
                self._compare(ib.let(self.order(right(0), 0)), ib.let(self.order(left(0), 0)))
                ib.store(self.takes_right, (0,), self.is_less(0))
            source = ib.let(self.te.Select(self.takes_right(0), right(0), left(0)))
            ib.store(self.merged, (k,), self.order(source, 0))
            step = ib.let(self.te.cast("int64", self.takes_right(0)))
            ib.store(right, (0,), right(0) + step)
            ib.store(left, (0,), left(0) + 1 - step)

    def _compare(self, a: Any, b: Any) -> None:
        """Set `is_less` to whether row `a` precedes row `b`: by the first elements that differ."""
        ib, te = self.ib, self.te
        ib.store(self.is_equal, (0,), te.const(True, "bool"))
        ib.store(self.is_less, (0,), te.const(False, "bool"))
        ib.store(self.column, (0,), te.const(0, "int64"))
        with ib.while_loop((self.column(0) < self.rows.shape[1]) & self.is_equal(0)):
            column = ib.let(self.column(0))
            first, second = (self.records.key(ib, self.rows(row, column)) for row in (a, b))
            ib.store(self.is_less, (0,), first < second)
            ib.store(self.is_equal, (0,), te.EQ(first, second))
            ib.store(self.column, (0,), column + 1)

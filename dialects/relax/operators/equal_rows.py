"""The elements of a tensor, or its slices along an axis, in groups of equal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...int_expr import ONE, ZERO
from .language import TensorLanguage
from .ordering import Sorting
from .reshaping import element_at, product
from .sort_records import Records
from .sort_rows import RowSorting


class Rows:
    """The slices of a tensor along an axis as rows of a matrix; without an axis its elements."""

    def __init__(self, te: TensorLanguage, data: Any, axis: int | None):
        self.te, self.data, self.axis = te, data, axis
        self.dims = [te.dim_expr(d) for d in data.shape]
        self.others = [d for n, d in enumerate(self.dims) if n != axis] if axis is not None else []
        lengths = [product(self.dims) if axis is None else self.dims[axis], product(self.others)]
        self.count, self.width = te.shape_of(lengths)
        self.rows = te.compute((self.count, self.width), self._element, name="T_rows")

    @property
    def are_empty(self) -> bool:
        """Whether no row has an element, so that none is read or written."""
        return ZERO in self.others

    def _element(self, row: Any, column: Any) -> Any:
        if self.axis is None:
            return element_at(self.te, self.data, [self.te.dim_expr(self.count)], [row])
        if self.are_empty:
            return self.te.const(0, self.data.dtype)
        return self.data(*self.place(row, column))

    def place(self, row: Any, column: Any) -> list[Any]:
        """The indices of an element of a row in the tensor."""
        if self.axis is None:
            return [row]
        where: list[Any] = []
        for dim in self.te.shape_of(self.others[:0:-1]):
            where.insert(0, column % dim)
            column = column // dim
        where[:0] = [column] if self.others else []
        where.insert(self.axis, row)
        return where

    def order(self) -> Any:
        """The indices of the rows in ascending order, a column."""
        records = Records(self.te, self.data.dtype, False, is_indexed=True)
        if self.te.dim_expr(self.width) == ONE:
            return Sorting(self.te, self.rows, 0, records, [("indices", "int64")]).compute()[0]
        return RowSorting(self.te, self.rows, records).compute()

    def unique(self, size: Any, is_sorted: bool) -> tuple[Any, ...]:
        """The different slices, their first indices, the index of each slice's, and their counts.

        There are `size` slices: after the last there are zeros.
        """
        te, order = self.te, self.order()
        (heads,) = te.statements([(self.count,)], [self.rows, order], self._find_heads, ["int64"])
        groups = _Groups(self, size, is_sorted)
        shape = [*self.data.shape] if self.axis is not None else [size]
        shape[self.axis or 0] = size
        return te.statements(
            [shape, (size,), (self.count,), (size,)],
            [self.rows, order, heads],
            groups.collect,
            [self.data.dtype, "int64", "int64", "int64"],
            (),
            "T_unique",
        )

    def _find_heads(self, ib: Any, inputs: Any, outputs: Sequence[Any]) -> None:
        """Write the first of the equal rows for each row: sorts are stable."""
        te, (rows, order), (heads,) = self.te, inputs, outputs
        head, same = ib.allocate("int64", (1,), "head"), ib.allocate("bool", (1,), "same")
        with ib.for_range(0, self.count, "k") as k:
            row = ib.let(order(k, 0))
            before = ib.let(order(te.max(k - 1, 0), 0))
            ib.store(same, (0,), te.GT(k, 0))
            with ib.for_range(0, self.width, "column") as column:
                pair = ib.let(rows(before, column)), ib.let(rows(row, column))
                ib.store(same, (0,), same(0) & self._is_equal(ib, *pair))
            with ib.if_scope(te.Not(same(0))):
                ib.store(head, (0,), row)
            ib.store(heads, (row,), head(0))

    def _is_equal(self, ib: Any, a: Any, b: Any) -> Any:
        if self.axis is not None:
            return self.te.EQ(a, b)
        records = Records(self.te, self.data.dtype, False, is_indexed=True)
        return self.te.EQ(records.key(ib, a), records.key(ib, b))


class _Groups:
    """The statements that number groups of equal rows, and collect the results."""

    def __init__(self, rows: Rows, size: Any, is_sorted: bool):
        self.te, self.of, self.size, self.is_sorted = rows.te, rows, size, is_sorted

    def collect(self, ib: Any, inputs: Any, outputs: Sequence[Any]) -> None:
        """Write the values, the first indices, the number of each row's group, and the counts."""
        te, (rows, order, heads), (_, _, inverse, counts) = self.te, inputs, outputs
        found = ib.allocate("int64", (1,), "found")
        ib.store(found, (0,), te.const(0, "int64"))
        with ib.for_range(0, self.of.count, "k") as k:
            row = ib.let(order(k, 0) if self.is_sorted else te.cast("int64", k))
            with ib.if_scope(te.EQ(heads(row), row)):
                number = ib.let(found(0))
                ib.store(inverse, (row,), number)
                with ib.if_scope(number < self.size):
                    self._begin(ib, rows, outputs, number, row)
                ib.store(found, (0,), number + 1)
        with ib.for_range(found(0), self.size, "rest") as rest:
            self._clear(ib, outputs, rest)
        with ib.for_range(0, self.of.count, "row") as row:
            number = ib.let(inverse(heads(row)))
            ib.store(inverse, (row,), number)
            with ib.if_scope(number < self.size):
                ib.store(counts, (number,), counts(number) + 1)

    def _begin(self, ib: Any, rows: Any, outputs: Sequence[Any], number: Any, row: Any) -> None:
        values, first, _, counts = outputs
        ib.store(first, (number,), row)
        ib.store(counts, (number,), self.te.const(0, "int64"))
        if not self.of.are_empty:
            with ib.for_range(0, self.of.width, "column") as column:
                ib.store(values, self.of.place(number, column), rows(row, column))

    def _clear(self, ib: Any, outputs: Sequence[Any], number: Any) -> None:
        values, first, _, counts = outputs
        for output in (first, counts):
            ib.store(output, (number,), self.te.const(0, "int64"))
        if not self.of.are_empty:
            with ib.for_range(0, self.of.width, "column") as column:
                ib.store(values, self.of.place(number, column), self.te.const(0, values.dtype))

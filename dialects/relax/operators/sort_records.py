"""The records of sorts: elements as integers with the same order, with or without an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dtypes import bit_width, is_float, is_unsigned
from .language import TensorLanguage

_INFINITIES = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}
WIDEST_JOINED = 32


class Records:
    """The records of elements of a dtype: signed integers in one or two arrays.

    Without an index, a record is its key. With an index, which makes sorting stable, keys of up to
    32 bits share an integer with the index in its low bits; wider keys have a second array for it.
    """

    def __init__(self, te: TensorLanguage, dtype: str, descending: bool, is_indexed: bool):
        self.te = te
        self.dtype = dtype
        self.descending = descending
        self.is_indexed = is_indexed
        self.width = max(8, bit_width(dtype))
        self.key_dtype = f"int{self.width}"
        self.is_joined = is_indexed and self.width <= WIDEST_JOINED
        self.index_bits = 64 - self.width if self.is_joined else 0
        self.dtypes = ["int64"] if self.is_joined else [self.key_dtype, "int64"][: 1 + is_indexed]

    @property
    def bytes(self) -> int:
        """The size of a record in bytes."""
        return sum(bit_width(d) for d in self.dtypes) // 8

    def _limit(self, dtype: str) -> Any:
        return self.te.max_value(dtype)

    def key(self, ib: Any, value: Any) -> Any:
        """The key of an element: the largest for NaN; with an index, -0.0 has the key of 0.0."""
        te, dtype = self.te, self.key_dtype
        if is_float(self.dtype):
            key = self._float_key(ib, ib.let(te.reinterpret(dtype, value)))
        elif self.dtype != "bool" and is_unsigned(self.dtype):
            key = te.reinterpret(dtype, value) ^ te.min_value(dtype)
        else:
            key = te.cast(dtype, value)
        return ib.let(te.bitwise_not(key) if self.descending else key)

    def _float_key(self, ib: Any, bits: Any) -> Any:
        te, dtype = self.te, self.key_dtype
        most, infinity = self._limit(dtype), te.const(_INFINITIES[self.dtype], dtype)
        if self.is_indexed:
            bits = te.Select(bits == te.min_value(dtype), te.const(0, dtype), bits)
        bits = ib.let(te.Select((bits & most) > infinity, most, bits))
        return self._flipped(bits)

    def _flipped(self, bits: Any) -> Any:
        """Flip the bits of a float below the sign if the sign is set; its own inverse."""
        sign = self.te.shift_right(bits, self.te.const(self.width - 1, self.key_dtype))
        return bits ^ (sign & self._limit(self.key_dtype))

    def value(self, ib: Any, record: Sequence[Any]) -> Any:
        """The element of a record without index."""
        te, (key,) = self.te, record
        key = ib.let(te.bitwise_not(key) if self.descending else key)
        if is_float(self.dtype):
            return te.reinterpret(self.dtype, self._flipped(key))
        if self.dtype != "bool" and is_unsigned(self.dtype):
            return te.reinterpret(self.dtype, key ^ te.min_value(self.key_dtype))
        return te.cast(self.dtype, key)

    def of(self, ib: Any, value: Any, index: Any) -> list[Any]:
        """The record of an element."""
        te, key = self.te, self.key(ib, value)
        if self.is_joined:
            high = te.shift_left(te.cast("int64", key), te.const(self.index_bits, "int64"))
            return [high | te.cast("int64", index)]
        return [key, te.cast(self.dtypes[1], index)] if self.is_indexed else [key]

    def index(self, record: Sequence[Any]) -> Any:
        """The index of a record."""
        if self.is_joined:
            return record[0] & self.te.const((1 << self.index_bits) - 1, "int64")
        return self.te.cast("int64", record[1])

    def key_of(self, record: Sequence[Any]) -> Any:
        """The key of a record."""
        if not self.is_joined:
            return record[0]
        high = self.te.shift_right(record[0], self.te.const(self.index_bits, "int64"))
        return self.te.cast(self.key_dtype, high)

    def key_bits(self, record: Any) -> Any:
        """The key of a record as unsigned bits; `record` is its first part."""
        te, dtype = self.te, f"u{self.dtypes[0]}"
        return te.shift_right(te.reinterpret(dtype, record), te.const(self.index_bits, dtype))

    def bits_at(self, key: Any, start: Any, count: int) -> Any:
        """`count` bits of an unsigned key from `start` on, which is less than the key's width."""
        te, dtype = self.te, key.dtype
        # The mask tells LLVM that the shift is less than the width, so that it needs no test.
        first = te.cast(dtype, start) & te.const(self.width - 1, dtype)
        return te.shift_right(key, first) & te.const((1 << count) - 1, dtype)

    def digit(self, record: Any, start: Any, count: int) -> Any:
        """`count` bits of the key from `start` on; `record` is the first part of a record."""
        key = self.key_bits(record ^ self.te.min_value(self.dtypes[0]))
        return self.te.cast("int64", self.bits_at(key, start, count))

    def in_order(
        self, ib: Any, a: Sequence[Any], b: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Two records in order."""
        te = self.te
        if len(a) == 1:
            return [ib.let(te.min(a[0], b[0]))], [ib.let(te.max(a[0], b[0]))]
        swaps = ib.let(self.precedes(b, a))
        pairs = list(zip(a, b, strict=True))
        return (
            [ib.let(te.Select(swaps, y, x)) for x, y in pairs],
            [ib.let(te.Select(swaps, x, y)) for x, y in pairs],
        )

    def precedes(self, a: Sequence[Any], b: Sequence[Any]) -> Any:
        """Whether a record comes before another."""
        if len(a) == 1:
            return a[0] < b[0]
        return (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))

    def last(self) -> list[Any]:
        """A record that no other record follows."""
        return [self._limit(d) for d in self.dtypes]

    def allocate(self, ib: Any, shape: Sequence[Any]) -> list[Any]:
        """Arrays of records."""
        return [ib.allocate(d, shape, f"records_{n}") for n, d in enumerate(self.dtypes)]

    def load(self, ib: Any, arrays: Sequence[Any], *where: Any) -> list[Any]:
        """One record of arrays."""
        return [ib.let(array(*where)) for array in arrays]

    def store(self, ib: Any, arrays: Sequence[Any], where: Sequence[Any], record: Any) -> None:
        """Write one record."""
        for array, part in zip(arrays, [ib.let(p) for p in record], strict=True):
            ib.store(array, where, part)

"""Sums of products of a block with activations: floats, or integers of one or two bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .language import TensorLanguage
from .words import PackWordsOp

BYTES_IN_WORD, BITS_IN_BYTE = 4, 8
DIGITS = {"float32": 0, "int8": 1, "int16": 2}
"""The bytes of activations that are integers."""


def _shifted(word: Any, bits: int) -> Any:
    return word >> bits if bits else word


def largest_integer(digits: int) -> int:
    """The largest integer of so many signed digits of base 256."""
    return sum(127 * 256**i for i in range(digits))


class FloatProducts:
    """Products with floats: numbers of weights are converted in registers."""

    def __init__(self, te: TensorLanguage, x: Any, blocks: int, size: int):
        self._size, self.rows = size, x.shape[:-1]
        self._x = x
        if x.dtype != "float32":
            self._x = te.elementwise(lambda v: v.astype("float32"), x, name="wide")
        k = te.reduce_axis((0, size), name="k")
        self.sums = te.compute(
            (*x.shape[:-1], blocks),
            lambda *i: te.sum(self._x(*i[:-1], i[-1] * size + k), axis=k),
            name="sums",
        )

    def add(
        self, total: Any, row: Any, block: Any, word: Any, packed: Any, shift: int, mask: int
    ) -> Any:
        """The products of the numbers of a word that begin at the bit `shift` of bytes."""
        for byte in range(BYTES_IN_WORD):
            number = _shifted(packed, byte * BITS_IN_BYTE + shift) & mask
            at = block * self._size + word * BYTES_IN_WORD + byte
            product = number.astype("int32").astype("float32") * self._x(*row, at)
            total = product if total is None else total + product
        return total

    def scaled(self, partial: Any, row: Any, block: Any, column: Any, scale: Any) -> Any:
        """The sum of a block's products, by the scale of the weight."""
        return partial(*row, block, column) * scale

    def result(self, total: Any) -> Any:
        """The product, of the sum over the blocks."""
        return total


class IntegerProducts:
    """Dot products with integers of one or two bytes.

    Integers of one byte have a scale for each block. Those of two bytes have one for each row,
    which is precise enough, and multiplies the row's result. Their sums of products have a first
    axis for the bytes, of which the first are the highest.
    """

    def __init__(self, te: TensorLanguage, x: Any, blocks: int, size: int, digits: int):
        self._te, self._digits = te, digits
        self._words = size // BYTES_IN_WORD
        self.rows = (*((digits,) if digits > 1 else ()), *x.shape[:-1])
        shape = (*x.shape[:-1], *((blocks,) if digits == 1 else ()))
        extent, rank = (size if digits == 1 else blocks * size), len(x.shape) - 1
        k = te.reduce_axis((0, extent), name="k")

        def number(row: Any, at: Any) -> Any:
            return x(*row, at).astype("float32")

        def element(*i: Any) -> Any:
            at = i[rank] * size + k if digits == 1 else k
            return te.max(te.abs(number(i[:rank], at)), axis=k)

        largest = te.compute(shape, element, name="largest")
        part = te.const(1 / largest_integer(digits), "float32")
        self._scales = te.elementwise(lambda v: v * part, largest, name="scales")
        zero, most = te.const(0, "float32"), te.const(largest_integer(digits), "float32")
        inverse = te.elementwise(
            lambda v: te.if_then_else(v > zero, most / v, zero), largest, name="inverse"
        )

        def rounded(*i: Any) -> Any:
            return te.round(number(i[:-1], i[-1]) * inverse(*self._place(i[:-1], i[-1] // size)))

        kind = "int8" if digits == 1 else "int32"
        integers = te.compute(x.shape, lambda *i: rounded(*i).astype(kind), name="integers")
        self._packed = PackWordsOp.compute(te, [self._bytes(integers)], {"axis": -1})
        word = te.reduce_axis((0, self._words), name="word")
        ones = te.const(0x01010101, "int32")

        def total(*i: Any) -> Any:
            *row, block = i
            words = self._packed(*row, block * self._words + word)
            return te.sum(te.dp4a(words, ones), axis=word)

        totals = te.compute((*self.rows, blocks), total, name="totals")

        def whole(*i: Any) -> Any:
            found = self._whole(totals, *i)
            return self._scales(*i) * found if digits == 1 else found

        self.sums = te.compute((*x.shape[:-1], blocks), whole, name="sums")

    def _place(self, row: Sequence[Any], block: Any) -> tuple[Any, ...]:
        """Where the scale of a block is."""
        return (*row, block) if self._digits == 1 else tuple(row)

    def _bytes(self, integers: Any) -> Any:
        """The signed bytes of integers, of which the high one is rounded."""
        if self._digits == 1:
            return integers

        def element(digit: Any, *i: Any) -> Any:
            high = integers(*i) + 128 >> 8
            low = integers(*i) - (high << 8)
            return self._te.if_then_else(digit < 1, high, low).astype("int8")

        return self._te.compute((self._digits, *integers.shape), element, name="bytes")

    def _whole(self, sums: Any, *i: Any) -> Any:
        """The sum of products with both bytes, as a float."""
        if self._digits == 1:
            return sums(*i).astype("float32")
        return ((sums(0, *i) << 8) + sums(1, *i)).astype("float32")

    def add(
        self, total: Any, row: Any, block: Any, word: Any, packed: Any, shift: int, mask: int
    ) -> Any:
        """The dot product of the numbers of a word that begin at the bit `shift` of bytes."""
        numbers = _shifted(packed, shift) & mask * 0x01010101
        data = self._packed(*row, block * self._words + word)
        return self._te.dp4a(numbers, data, 0 if total is None else total)

    def scaled(self, partial: Any, row: Any, block: Any, column: Any, scale: Any) -> Any:
        """The sum of a block's products, as a float, by the scales of the data and the weight."""
        if self._digits == 1:
            scale = self._scales(*row, block) * scale
        return self._whole(partial, *row, block, column) * scale

    def result(self, total: Any) -> Any:
        """The product, of the sum over the blocks."""
        if self._digits == 1:
            return total
        return self._te.compute(
            total.shape, lambda *i: self._scales(*i[:-1]) * total(*i), name="scaled"
        )

"""Where elements come in the order of their line: what sorting operators are defined with.

An element finds its place by comparison with all others of its line. To find the first few of a
long line, each block of it gives its own first few, and their places are found in a second round.
Very few are found one after the other, each as the first of those that come after the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dtypes import is_float
from .language import TensorLanguage

MOST_TURNS = 8
"""The most elements that are found one after the other: there is a loop over the line for each."""


@dataclass(frozen=True)
class Ordered:
    """Elements along an axis with their places in the order, and which of them there are.

    All are functions of indices: `place`, a tensor, `value`, `index` in the line, and `is_there`.
    """

    axis: int
    place: Any
    value: Callable[..., Any]
    index: Callable[..., Any]
    is_there: Callable[..., Any]


def at(i: tuple[Any, ...], axis: int, index: Any) -> tuple[Any, ...]:
    """Indices with another one along an axis."""
    return (*i[:axis], index, *i[axis + 1 :])


def precedes(te: TensorLanguage, first: Any, second: Any, tie: Any, descending: bool) -> Any:
    """Whether an element comes before another: NaN is the largest, `tie` decides of equal ones."""
    if first.dtype == "bool":
        first, second = te.cast("int32", first), te.cast("int32", second)
    low, high = (second, first) if descending else (first, second)
    before = (low < high) | ((first == second) & tie)
    if is_float(first.dtype):
        before = before | ((low == low) & (high != high))
        before = before | ((first != first) & (second != second) & tie)
    return before


def ordered(te: TensorLanguage, data: Any, axis: int, descending: bool) -> Ordered:
    """All elements, with their places."""
    other = te.reduce_axis((0, data.shape[axis]), name="other")

    def element(*i: Any) -> Any:
        before = precedes(te, data(*at(i, axis, other)), data(*i), other < i[axis], descending)
        return te.sum(te.cast("int64", before), axis=other)

    place = te.compute(data.shape, element, name="T_place")
    return Ordered(axis, place, data, lambda *i: i[axis], lambda *i: te.const(True))


def _block(length: Any, k: int) -> int | None:
    """How many elements the blocks of a line have; `None` where the line is not cut into blocks."""
    block = round((2 * length * k * k) ** (1 / 3)) if isinstance(length, int) else 0
    return block if 2 * k <= block <= length // 4 else None


def ordered_first(te: TensorLanguage, data: Any, axis: int, k: int, descending: bool) -> Ordered:
    """At least the first `k` elements, with their places."""
    block = _block(data.shape[axis], k)
    if block is None:
        return ordered(te, data, axis, descending)
    index = _first_of_blocks(te, data, axis, k, block, descending)
    shape = index.shape

    def value(*i: Any) -> Any:
        source = data(*at(i, axis, te.max(index(*i), 0)))
        return te.if_then_else(index(*i) >= 0, source, te.const(0, data.dtype))

    values = te.compute(shape, value, name="T_first")
    other = te.reduce_axis((0, shape[axis]), name="other")

    def element(*i: Any) -> Any:
        j = at(i, axis, other)
        before = precedes(te, values(*j), values(*i), index(*j) < index(*i), descending)
        return te.sum(te.cast("int64", before & (index(*j) >= 0)), axis=other)

    place = te.compute(shape, element, name="T_place")
    return Ordered(axis, place, values, index, lambda *i: index(*i) >= 0)


def first_in_turn(
    te: TensorLanguage, data: Any, axis: int, k: int, descending: bool
) -> list[tuple[Any, Any]] | None:
    """Indices and values of the first `k` elements, each with 1 in place of the axis.

    `None` where other ways are quicker.
    """
    if k > MOST_TURNS or _block(data.shape[axis], k) is None or data.dtype == "bool":
        return None
    found = [_first(te, data, None, axis, descending)]
    for _ in range(k - 1):
        values, indices = _later(te, data, axis, found[-1], descending)
        found.append(_first(te, values, indices, axis, descending))
    return found


def _first(
    te: TensorLanguage, values: Any, indices: Any | None, axis: int, descending: bool
) -> tuple[Any, Any]:
    """The index and the value of the first element of each line."""
    other = te.reduce_axis((0, values.shape[axis]), name="other")

    def earlier(a: Any, b: Any) -> tuple[Any, Any]:
        (i, x), (j, y) = a, b
        takes = precedes(te, y, x, j < i, descending)
        return te.Select(takes, j, i), te.Select(takes, y, x)

    reducer = te.comm_reducer(earlier, lambda *_: _nothing(te, values.dtype, descending), "first")

    def element(*i: Any) -> Any:
        where = at(i, axis, other)
        index = te.cast("int32", other) if indices is None else indices(*where)
        return reducer((index, values(*where)), axis=other)

    return te.compute(at(values.shape, axis, 1), element, name="T_first")


def _later(
    te: TensorLanguage, data: Any, axis: int, last: tuple[Any, Any], descending: bool
) -> list[Any]:
    """Values and indices of the elements after a `last` one, in place of others `_nothing`."""
    none, behind_all = _nothing(te, data.dtype, descending)

    def is_later(*i: Any) -> Any:
        index, value = (tensor(*at(i, axis, 0)) for tensor in last)
        return precedes(te, value, data(*i), index < te.cast("int32", i[axis]), descending)

    chosen: list[Callable[..., Any]] = [
        lambda *i: te.Select(is_later(*i), data(*i), behind_all),
        lambda *i: te.Select(is_later(*i), te.cast("int32", i[axis]), none),
    ]
    return [te.compute(data.shape, function, name="T_later") for function in chosen]


def _nothing(te: TensorLanguage, dtype: str, descending: bool) -> tuple[Any, Any]:
    """An index and a value that come after all others."""
    if is_float(dtype):
        last = -te.infinity(dtype) if descending else te.const(float("nan"), dtype)
    else:
        last = te.min_value(dtype) if descending else te.max_value(dtype)
    return te.max_value("int32"), last


def _first_of_blocks(
    te: TensorLanguage, data: Any, axis: int, k: int, block: int, descending: bool
) -> Any:
    """The indices of the first `k` elements of each block of a line, -1 where there are fewer."""
    length = data.shape[axis]
    offset = te.reduce_axis((0, block), name="offset")

    def element(*i: Any) -> Any:
        other = i[axis] // block * block + offset
        value = te.if_then_else(other < length, data(*at(i, axis, other)), data(*i))
        before = precedes(te, value, data(*i), other < i[axis], descending)
        return te.sum(te.cast("int64", before & (other < length)), axis=offset)

    place = te.compute(data.shape, element, name="T_place_in_block")
    shape = at(data.shape, axis, (length + block - 1) // block * k)

    def none(*i: Any) -> Any:
        return te.const(-1, "int64")

    def update(*i: Any) -> tuple[Any, Callable[[Any], Any], Any]:
        target = i[axis] // block * k + te.max(te.min(place(*i), k - 1), 0)
        return at(i, axis, target), lambda old: te.cast("int64", i[axis]), place(*i) < k

    start = te.compute(shape, none, name="T_no_index")
    return te.scatter(start, data.shape, update, name="T_first_of_blocks")


def in_order(
    te: TensorLanguage, given: Ordered, length: Any, value: Callable[..., Any], dtype: str
) -> Any:
    """Values of the first `length` elements of each line in order, 0 where there are fewer."""
    axis, place = given.axis, given.place

    def nothing(*i: Any) -> Any:
        return te.const(0, dtype)

    def update(*i: Any) -> tuple[Any, Callable[[Any], Any], Any]:
        is_wanted = given.is_there(*i) & (place(*i) < length)
        return at(i, axis, place(*i)), lambda old: te.cast(dtype, value(*i)), is_wanted

    start = te.compute(at(place.shape, axis, length), nothing, name="T_none")
    return te.scatter(start, place.shape, update, name="T_in_order")


def side_by_side(
    te: TensorLanguage, tensors: Sequence[Any], axis: int, shape: Sequence[Any], dtype: str
) -> Any:
    """One tensor of several that have 1 in place of the axis."""

    def element(*i: Any) -> Any:
        values = [tensor(*at(i, axis, 0)) for tensor in tensors]
        result = values[-1]
        for place in range(len(values) - 2, -1, -1):
            result = te.if_then_else(i[axis] <= place, values[place], result)
        return te.cast(dtype, result)

    return te.compute(shape, element, name="T_side_by_side")


def numpy_order(data: NDArray[Any], axis: int, descending: bool) -> NDArray[Any]:
    """Indices that sort along an axis: stable, and NaN as the largest."""
    if not descending:
        return np.argsort(data, axis, stable=True)
    turned = np.argsort(np.flip(data, axis), axis, stable=True)
    return data.shape[axis] - 1 - np.flip(turned, axis)

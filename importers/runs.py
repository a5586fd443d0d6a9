"""The runs of equal elements of a vector, whose number depends on data."""

from __future__ import annotations

from ..dialects.int_expr import ONE
from .emitter import Emitter, Value, dims_of


class Runs:
    """The runs of equal elements of a vector; sorted, its different elements."""

    def __init__(self, emitter: Emitter, values: Value):
        self.emitter, self.elements = emitter, values
        (self.length,) = dims_of(values)
        index = emitter.op("arange", start=0, end=self.length, step=1, dtype="int64")
        place = emitter.op("subtract", index, emitter.number(1, "int64"))
        differs = emitter.op("not_equal", values, emitter.op("take", values, place, axis=0))
        is_first = emitter.op("equal", index, emitter.number(0, "int64"))
        self.begins = emitter.op("logical_or", is_first, differs)
        self.starts = emitter.op("squeeze", emitter.positions(self.begins), axis=[0])

    def values(self) -> Value:
        """The first element of each."""
        return self.emitter.op("take", self.elements, self.starts, axis=0)

    def numbers(self) -> Value:
        """The number of the run of each element."""
        found = self.emitter.op("cumsum", self.emitter.astype(self.begins, "int64"), axis=0)
        return self.emitter.op("subtract", found, self.emitter.number(1, "int64"))

    def numbers_before(self, order: Value) -> Value:
        """The number of the run of each element before a sort, which took them in this order."""
        zeros = self.emitter.op("zeros", shape=dims_of(order), dtype="int64")
        return self.emitter.op("scatter_elements", zeros, order, self.numbers())

    def lengths(self) -> Value:
        """The number of elements of each."""
        emitter, (count,) = self.emitter, dims_of(self.starts)
        end = emitter.reshape(emitter.number(self.length, "int64"), [ONE])
        bounds = emitter.op("concat", self.starts, end, axis=0)
        following = emitter.op("arange", start=1, end=count + 1, step=1, dtype="int64")
        return emitter.op("subtract", emitter.op("take", bounds, following, axis=0), self.starts)

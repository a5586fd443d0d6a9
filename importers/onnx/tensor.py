"""A tensor of an ONNX graph: a value of the module, or values that are known during the import."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dialects.dtypes import is_float
from ...dialects.int_expr import IntExpr
from ...dialects.relax import TensorData
from ...runtime.dtype import bfloat16_to_float32, to_bfloat16
from ..emitter import Emitter, Value, dims_of, dtype_of
from ..unsupported import Unsupported
from .ratio import Ratio, constant_of

Known = NDArray[Any]
"""Known values: numbers, or as an array of objects integer expressions, of floats ratios."""


class Tensor:
    """A tensor with a dtype and dims.

    One of `of_value` is an SSA value. One of `of_data` is a constant of the file, and one of
    `of_param` a parameter that stands for one. One of `of_known` has integers that may depend on
    symbols, such as the shape of another tensor. `value` emits the other two when an operator needs
    them.
    """

    def __init__(self, emitter: Emitter, dtype: str, dims: Sequence[IntExpr]):
        self.emitter = emitter
        self.dtype = dtype
        self.dims = list(dims)
        self._value: Value | None = None
        self._data: TensorData | None = None
        self._known: Known | None = None
        self._given: TensorData | None = None
        """What a parameter of the function stands for."""

    @staticmethod
    def of_value(emitter: Emitter, value: Value) -> Tensor:
        """An SSA value; raises ValueError for one of unknown shape."""
        made = Tensor(emitter, dtype_of(value), dims_of(value))
        made._value = value
        return made

    @staticmethod
    def of_data(emitter: Emitter, data: TensorData) -> Tensor:
        """A constant."""
        made = Tensor(emitter, data.dtype, [IntExpr.of(d) for d in data.shape])
        made._data = data
        if data.dtype != "bfloat16":  # whose array holds bits
            made._known = data.values
        return made

    @staticmethod
    def of_param(emitter: Emitter, value: Value, data: TensorData) -> Tensor:
        """A parameter with the values of a constant, which operators that need numbers read.

        A single number and integers of int64, such as a shape, are known in addition.
        """
        small = data.values.size <= 1 or data.dtype == "int64"
        made = Tensor.of_data(emitter, data) if small else Tensor.of_value(emitter, value)
        made._value, made._given = value, data
        return made

    @staticmethod
    def of_known(emitter: Emitter, known: Known, dtype: str) -> Tensor:
        """Numbers, integer expressions, or ratios of them."""
        if known.dtype == object:
            numbers = [constant_of(e) for e in known.flat]
            if None not in numbers:
                known = np.array(numbers, dtype).reshape(known.shape)
        if known.dtype != object:
            is_bfloat16 = dtype == "bfloat16"
            stored = to_bfloat16(known.astype(np.float32)) if is_bfloat16 else known.astype(dtype)
            return Tensor.of_data(emitter, TensorData.of(stored, dtype))
        made = Tensor(emitter, dtype, [IntExpr.of(d) for d in known.shape])
        made._known = known
        return made

    def bound(self, emitter: Emitter) -> Tensor:
        """The tensor for operations of another block, in which known values are emitted again."""
        made = Tensor(emitter, self.dtype, self.dims)
        made._data, made._known, made._given = self._data, self._known, self._given
        if self._given is not None or (self._data is None and self._known is None):
            made._value = self.value
        return made

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dims)

    @property
    def known(self) -> Known | None:
        """The values, if they are known during the import."""
        return self._known

    @property
    def value(self) -> Value:
        """The SSA value."""
        if self._value is None:
            self._value = self._emitted()
        return self._value

    @property
    def emitted(self) -> Value | None:
        """The SSA value, if it has been needed."""
        return self._value

    @property
    def data(self) -> TensorData | None:
        """The constant, if it is one."""
        return self._data

    def _emitted(self) -> Value:
        if self._data is not None:
            return self.emitter.constant(self._data)
        assert self._known is not None
        cells = [self._cell(e) for e in self._known.flat]
        if not cells or not self.rank:
            return cells[0]
        rows = [self.emitter.reshape(c, [IntExpr.of(1)]) for c in cells]
        whole = rows[0] if len(rows) == 1 else self.emitter.op("concat", *rows, axis=0)
        return self.emitter.reshape(whole, self.dims)

    def _cell(self, element: Any) -> Value:
        if not isinstance(element, Ratio):
            return self.emitter.number(IntExpr.of(element), self.dtype)
        top = self.emitter.number(element.numerator, self.dtype)
        bottom = self.emitter.number(element.denominator, self.dtype)
        return top if element.denominator == 1 else self.emitter.op("divide", top, bottom)

    # What converters need as numbers while the model is imported.

    def numbers(self, what: str) -> NDArray[Any]:
        """The values as numbers; raises Unsupported where they depend on data or symbols."""
        data = self._data or self._given
        if self._known is None and data is not None:
            is_bfloat16 = data.dtype == "bfloat16"  # whose array holds bits
            return bfloat16_to_float32(data.values) if is_bfloat16 else data.values
        if self._known is None:
            raise DataDependent(self, what)
        if self._known.dtype == object:
            elements = (getattr(e, "numerator", e) for e in self._known.flat)
            raise SizeDependent({s for e in elements for s in IntExpr.of(e).symbols()}, what)
        return self._known

    def number(self, what: str) -> Any:
        """The only value as a number of Python; raises Unsupported as `numbers`."""
        found = self.numbers(what)
        if found.size != 1:
            raise ValueError(f"expected {what} to be one number, got shape {found.shape}")
        return found.reshape(-1)[0].item()

    def ints(self, what: str) -> list[int]:
        """The values as ints; raises Unsupported as `numbers`."""
        return [int(v) for v in self._integers(what).numbers(what).reshape(-1)]

    def _integers(self, what: str) -> Tensor:
        if is_float(self.dtype):
            raise ValueError(f"expected {what} to be of integers, got {self.dtype}")
        return self

    def sizes(self, what: str) -> list[IntExpr]:
        """The values as integer expressions, such as a shape; raises Unsupported for data."""
        if self._integers(what).known is None:
            raise DataDependent(self, what)
        assert self._known is not None
        return [e if isinstance(e, IntExpr) else IntExpr.of(int(e)) for e in self._known.flat]

    def size(self, what: str) -> IntExpr:
        """The only value as an integer expression; raises as `sizes`."""
        found = self.sizes(what)
        if len(found) != 1:
            raise ValueError(f"expected {what} to be one number, got {len(found)}")
        return found[0]


class DataDependent(Unsupported):
    """What an operator needs as numbers depends on the values of inputs."""

    def __init__(self, tensor: Tensor, what: str):
        super().__init__(f"{what} that depends on data", "make it a constant of the model")
        self.tensor = tensor


class SizeDependent(Unsupported):
    """What an operator needs as numbers depends on the sizes of inputs: these symbols."""

    def __init__(self, symbols: Collection[str], what: str):
        named = ", ".join(sorted(symbols))
        super().__init__(f"{what} that depends on sizes", f"give {named} as numbers by shape_dict")
        self.symbols = frozenset(symbols)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front; raises ValueError for one that the tensor does not have."""
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"expected an axis from {-rank} to {rank - 1}, got {axis}")
    return axis + rank if axis < 0 else axis


def axes_of(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front."""
    return [axis_of(a, rank) for a in axes]

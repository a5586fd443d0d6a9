"""How the evaluator holds numbers: memory in its storage dtype, SSA values, poison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

from ..dialects.dtypes import dtype_name, is_float
from ..dialects.relax.constant import storage_dtype

Array: TypeAlias = "NDArray[Any]"
Value: TypeAlias = Any
"""An SSA value: a Python int (an index), a NumPy scalar, or an array over the lanes."""

POISON_BYTE = 0xFF
"""Fresh bytes of an arena: every float type reads them as NaN, integers as -1."""


class EvaluationError(Exception):
    """The program did something without a meaning, such as an access outside a buffer; one line."""


@cache
def value_dtype(type_: Attribute) -> str:
    """Dtype name of an SSA type or of its elements; integers are signless: "int8" to "int64"."""
    if isinstance(type_, VectorType):
        return dtype_name(cast("VectorType[Attribute]", type_).element_type)
    return dtype_name(type_)


def choose(condition: Value, on_true: Value, on_false: Value) -> Value:
    """`numpy.where` that gives a scalar for scalars."""
    return cast(Array, np.where(condition, on_true, on_false))[()]


def lanes_of(type_: Attribute) -> int | None:
    """Lanes of a vector type of one dim; `None` for a scalar type."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None


def round_to_bfloat16(values: Value) -> Array:
    """Round float32 to the nearest bfloat16, ties to even, kept as float32; NaN stays NaN."""
    single = np.asarray(values, np.float32)
    bits = single.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(
        0xFFFF0000
    )
    quiet = (bits | np.uint32(0x00400000)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), quiet, rounded).astype(np.uint32).view(np.float32)


def bfloat16_bits(values: Value) -> Array:
    """The 16 bits of float32 values that are bfloat16 values."""
    bits = round_to_bfloat16(values).view(np.uint32) >> np.uint32(16)
    return np.asarray(bits).astype(np.uint16)  # NumPy makes a scalar of what has no dims


def bfloat16_values(bits: Value) -> Array:
    """The float32 values of bfloat16 bits."""
    wide = np.asarray(bits).astype(np.uint32) << np.uint32(16)
    return np.asarray(wide).view(np.float32)  # NumPy makes a scalar of what has no dims


def round_to_odd(high: Array, error: Array) -> Array:
    """Make inexact float64 results odd, so that rounding them again to a narrower type rounds once.

    `high + error` is the exact value and `high` its nearest float64.
    """
    bits = high.view(np.int64)
    inexact = (error != 0) & np.isfinite(high) & np.isfinite(error) & ((bits & 1) == 0)
    step = np.where((error > 0) != np.signbit(high), 1, -1)
    return np.where(inexact, bits + step, bits).view(np.float64)


def _float64_to_bfloat16(values: Value) -> Array:
    wide = np.asarray(values, np.float64)
    single = wide.astype(np.float32)
    bits = single.view(np.int32)
    error = wide - single
    inexact = (error != 0) & np.isfinite(single) & np.isfinite(error) & ((bits & 1) == 0)
    step = np.where((error > 0) != np.signbit(single), 1, -1).astype(np.int32)
    return round_to_bfloat16(np.where(inexact, bits + step, bits).astype(np.int32).view(np.float32))


@dataclass(frozen=True)
class Precision:
    """Which NumPy dtypes stand for ours: the exact ones, or float64 for every float.

    Exact: float16, float32 and float64 are NumPy's, which round every operation; bfloat16 is held
    as float32 rounded after every operation, and stored as uint16. Integers are signed arrays that
    wrap, `bool` is NumPy's, `index` is int64.
    """

    float64: bool = False

    def storage(self, dtype: str) -> np.dtype[Any]:
        """NumPy's dtype of memory."""
        return np.dtype(np.float64) if self.float64 and is_float(dtype) else storage_dtype(dtype)

    def compute(self, dtype: str) -> np.dtype[Any]:
        """NumPy's dtype of SSA values."""
        if is_float(dtype):
            if self.float64:
                return np.dtype(np.float64)
            return np.dtype("float32" if dtype == "bfloat16" else dtype)
        if dtype == "index":
            return np.dtype(np.int64)
        return np.dtype(dtype.removeprefix("u"))

    def narrow(self, dtype: str, values: Value) -> Value:
        """Round values to a float dtype or wrap them to an integer one."""
        if dtype == "bfloat16" and not self.float64:
            wide = np.asarray(values).dtype == np.float64
            return _float64_to_bfloat16(values) if wide else round_to_bfloat16(values)
        return np.asarray(values).astype(self.compute(dtype), copy=False)[()]

    def load(self, dtype: str, stored: Value) -> Value:
        """SSA values of what memory holds."""
        if dtype == "bfloat16" and not self.float64:
            return bfloat16_values(stored)[()]
        if dtype == "bool":
            return stored != 0
        return stored.astype(self.compute(dtype), copy=False) if dtype.startswith("u") else stored

    def store(self, dtype: str, values: Value) -> Value:
        """What memory holds for SSA values."""
        if dtype == "bfloat16" and not self.float64:
            return bfloat16_bits(values)
        return np.asarray(values).astype(self.storage(dtype), copy=False)

    def fresh(self, dtype: str, shape: tuple[int, ...]) -> Array:
        """Memory with undefined content: NaN, or a pattern that is no plausible integer."""
        storage = self.storage(dtype)
        if is_float(dtype):
            nan = 0x7FC0 if storage.kind == "u" else np.nan
            return np.full(shape, nan, storage)
        if storage.kind == "b":
            return np.ones(shape, storage)
        return (
            np.full(int(np.prod(shape)) * storage.itemsize, 0xA5, np.uint8)
            .view(storage)
            .reshape(shape)
        )

    def widen(self, dtype: str, array: Array) -> Array:
        """An array of the user's in this precision; the same array where it is exact."""
        if not self.float64 or not is_float(dtype):
            return array
        return (bfloat16_values(array) if dtype == "bfloat16" else array).astype(np.float64)

    def native(self, dtype: str, array: Array) -> Array:
        """Memory of this precision as an array of the user's; the same array where it is exact."""
        if not self.float64 or not is_float(dtype):
            return array
        exact = Precision()
        return exact.store(dtype, exact.narrow(dtype, array))


def number_in(dtype: str, memory: Array) -> bool | int | float:
    """The number of Python that memory of rank 0 holds, in any precision."""
    is_bits = dtype == "bfloat16" and memory.dtype == storage_dtype(dtype)
    return (bfloat16_values(memory) if is_bits else memory).item()


def memory_of(dtype: str, number: bool | int | float) -> Array:
    """Memory of rank 0 with a number."""
    if not is_float(dtype):
        return np.asarray(number, storage_dtype(dtype))
    exact = Precision()
    return np.asarray(exact.store(dtype, exact.narrow(dtype, np.asarray(number, np.float64))))


ScalarFunction: TypeAlias = Callable[..., Value]
"""From operand values to the result, elementwise on arrays."""
Binary: TypeAlias = Callable[[Value, Value], Value]
"""A function of two operands."""
Maker: TypeAlias = Callable[[Any, Precision], ScalarFunction]
"""Translates one operation."""


def unsigned(values: Value) -> Value:
    """The same bits as unsigned integers; bool as 0 and 1."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    return array.view(f"u{array.dtype.itemsize}")[()]


def signed(values: Value) -> Value:
    """The same bits as signed integers; true is -1."""
    array = np.asarray(values)
    return -array.astype(np.int8) if array.dtype.kind == "b" else array[()]

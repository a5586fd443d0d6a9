"""Functions of TVM's virtual machine that programs call by name, as ``vm.builtin.…``.

`attention_kv_cache_…` keeps the keys or values of a decoder: `create` with the first rows, a shape
to reserve, and the number of rows that count (-1 for all); `append` grows it; `window_override`
writes over the oldest rows once `size` are there, except for some first ones `with_sinks`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .device import CPU_TYPE
from .layout import Layout
from .registry import get_global_func, register_func
from .tensor import Tensor, array, as_tensor, from_numpy


class AttentionKVCache:
    """Rows that a decoder has computed, in memory that grows.

    Rows have the dtype of `init` and the dims of `reserved` but for the first, which is the number
    of rows that there is room for. Of the rows of `init` the first `filled` count, or all if it is
    negative. Raises ValueError for rows of another shape, and for more than there are.
    """

    def __init__(self, init: Tensor, reserved: Sequence[int], filled: int):
        first = init.view()
        self.data: NDArray[Any] = np.empty(tuple(reserved), first.dtype)
        self.filled = self.position = 0
        self.append(init)
        if filled > self.filled:
            raise ValueError(f"expected at most {self.filled} rows to count, got {filled}")
        self.filled = self.position = self.filled if filled < 0 else filled

    def append(self, value: Tensor) -> None:
        """Append rows; raises ValueError for another dtype or shape of a row."""
        rows = self._rows(value)
        self._reserve(self.filled + len(rows))
        self.data[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)

    def override(self, value: Tensor, size: int, sinks: int = 0) -> None:
        """Write rows at the current position of a window of `size` rows, after the sinks if full.

        Raises ValueError for more rows than fit.
        """
        rows = self._rows(value)
        if len(rows) > size - sinks:
            raise ValueError(f"expected at most {size - sinks} rows of a window, got {len(rows)}")
        self._reserve(min(self.filled + len(rows), size))
        count = min(len(rows), size - self.position)
        self.data[self.position : self.position + count] = rows[:count]
        self.filled = min(self.filled + len(rows), size)
        self.position = min(self.position + len(rows), size)
        if count < len(rows):
            self.data[sinks : sinks + len(rows) - count] = rows[count:]
            self.position = len(rows) - count + sinks

    def view(self, shape: Sequence[int] | None = None) -> Tensor:
        """The rows, which must have this shape if one is given."""
        rows = self.data[: self.filled]
        if shape is not None and tuple(shape) != rows.shape:
            raise ValueError(f"expected shape {rows.shape} of the cache, got {tuple(shape)}")
        return from_numpy(rows)

    def _rows(self, value: Tensor) -> NDArray[Any]:
        rows = value.view()
        if rows.dtype != self.data.dtype or rows.shape[1:] != self.data.shape[1:]:
            expected = f"{self.data.dtype} of {self.data.shape[1:]}"
            raise ValueError(
                f"expected rows of {expected} for the cache, got {rows.dtype} of {rows.shape[1:]}"
            )
        return rows

    def _reserve(self, rows: int) -> None:
        reserved = max(len(self.data), 1)
        while reserved < rows:
            reserved *= 2
        if reserved > len(self.data):
            old, self.data = self.data, np.empty((reserved, *self.data.shape[1:]), self.data.dtype)
            self.data[: len(old)] = old


def _changed(change: Callable[..., None]) -> Callable[..., AttentionKVCache]:
    """A function that changes a cache and returns it."""

    def call(cache: AttentionKVCache, *args: Any) -> AttentionKVCache:
        change(cache, *args)
        return cache

    return call


def _multinomial_from_uniform(prob: Tensor, uniform: Tensor) -> Tensor:
    """For each row, the first index at which the sum of probabilities exceeds the sample."""
    sums: NDArray[Any] = np.cumsum(prob.numpy(), axis=1, dtype=np.float64)
    above = sums > uniform.numpy().reshape(-1, 1)
    above[:, -1] = True  # sums may be less than 1
    found: NDArray[Any] = above.argmax(axis=1)
    return array(found.reshape(-1, 1).astype(np.int64))


def _pop_all(caches: Sequence[AttentionKVCache], count: int) -> None:
    """Remove the last rows of each cache; raises ValueError for more than it has."""
    for cache in caches:
        if count > cache.filled:
            raise ValueError(f"expected at most {cache.filled} rows to remove, got {count}")
    for cache in caches:
        cache.filled -= count
        cache.position = min(cache.position, cache.filled)


def _clear_all(caches: Sequence[AttentionKVCache]) -> None:
    for cache in caches:
        cache.filled = cache.position = 0


def _field(value: Sequence[Any], index: int) -> Any:
    return value[index]


def _check_shape_info(value: Any, ndim: int, context: str = "") -> tuple[int, ...]:
    """A shape of a rank, or of any if it is negative; raises TypeError or ValueError for others."""
    subject = context or "the argument"
    if not isinstance(value, tuple) or not all(isinstance(d, int) for d in value):  # pyright: ignore[reportUnknownVariableType]
        raise TypeError(f"expected {subject} to be a shape, got {type(value).__name__}")  # pyright: ignore[reportUnknownArgumentType]
    dims = cast("tuple[int, ...]", value)
    if ndim >= 0 and len(dims) != ndim:
        raise ValueError(f"expected {subject} to have ndim {ndim}, got {len(dims)}")
    return dims


def _check_tensor_info(value: Any, ndim: int, *rest: str | None) -> Tensor:
    """A tensor of a rank, or of any if it is negative; after it come a dtype and a context.

    Raises TypeError for what is no tensor, and ValueError for one of another rank or dtype.
    """
    context = rest[-1] if rest else None
    dtype = rest[0] if len(rest) > 1 else None
    subject = context or "the argument"
    try:
        tensor = as_tensor(value)
    except (BufferError, RuntimeError, TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"expected {subject} to be a tensor, got {kind}") from None
    if dtype and tensor.dtype != dtype:
        raise ValueError(f"expected {subject} to have dtype {dtype}, got {tensor.dtype}")
    if ndim >= 0 and len(tensor.shape) != ndim:
        raise ValueError(f"expected {subject} to have ndim {ndim}, got {len(tensor.shape)}")
    return tensor


def _debug_print(line: str, value: Any) -> None:
    """Print a tensor, and the line of the program that asks for it."""
    tensor = as_tensor(value)
    print(f"{line}: shape = {tensor.shape}, dtype = {tensor.dtype}, data =\n{tensor.numpy()}")


def _invoke_debug_func(state: Any, name: str, line: str, *args: Any) -> Any:
    """Call a registered function for its effect; returns the state of effects, which orders it."""
    get_global_func(name)(line, *args)
    return state


def _identity(value: Any) -> Any:
    return value


def _reshape(value: Tensor, shape: Sequence[int]) -> Tensor:
    """A copy of another shape; raises ValueError for another number of elements."""
    copy = array(value)
    if math.prod(shape) != math.prod(copy.shape):
        raise ValueError(f"expected {math.prod(copy.shape)} elements, got shape {tuple(shape)}")
    return Tensor(copy.address, Layout(tuple(shape), copy.dtype, None, True), copy)


def _shape_of(value: Any) -> tuple[int, ...]:
    return tuple(as_tensor(value).shape)


def _shape_to_tensor(shape: Sequence[int]) -> Tensor:
    return array(np.array(shape, np.int64))


def _to_device(value: Tensor, device_type: int, device_id: int) -> Tensor:
    """A copy on a device, by its number of DLPack; raises ValueError for another than the CPU."""
    if (device_type, device_id) != (CPU_TYPE, 0):
        raise ValueError(f"expected the CPU, got device {device_id} of type {device_type}")
    return array(value)


BUILTINS: dict[str, Callable[..., Any]] = {
    "attention_kv_cache_create": AttentionKVCache,
    "attention_kv_cache_append": _changed(AttentionKVCache.append),
    "attention_kv_cache_window_override": _changed(AttentionKVCache.override),
    "attention_kv_cache_window_override_with_sinks": _changed(AttentionKVCache.override),
    "attention_kv_cache_view": AttentionKVCache.view,
    "attention_kv_cache_array_popn": _pop_all,
    "attention_kv_cache_array_clear": _clear_all,
    "check_shape_info": _check_shape_info,
    "check_tensor_info": _check_tensor_info,
    "debug_print": _debug_print,
    "invoke_debug_func": _invoke_debug_func,
    "make_object": _identity,
    "multinomial_from_uniform": _multinomial_from_uniform,
    "null_value": lambda: None,
    "reshape": _reshape,
    "shape_of": _shape_of,
    "to_device": _to_device,
    "tuple_getitem": _field,
}
"""The functions by name."""

register_func("relax.run.shape_to_tensor", _shape_to_tensor, override=True)
for _name, _function in BUILTINS.items():
    register_func(f"vm.builtin.{_name}", _function, override=True)

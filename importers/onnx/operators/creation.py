"""Constants, shapes, and tensors that are made from them."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from ....dialects.int_expr import ONE
from ....dialects.relax import TensorData
from ..context import Context
from ..registry import converts
from ..tensor import Tensor
from ..weights import dtype_of_element


@converts("Constant")
def constant(
    ctx: Context,
    *,
    value: TensorData | None = None,
    value_float: float | None = None,
    value_floats: list[float] | None = None,
    value_int: int | None = None,
    value_ints: list[int] | None = None,
) -> Tensor:
    """A constant of the file."""
    if value is not None:
        return Tensor.of_data(ctx.emitter, value)
    if value_float is not None or value_floats is not None:
        return ctx.array(value_floats if value_float is None else value_float, "float32")
    return ctx.array(value_ints if value_int is None else value_int, "int64")


@converts("Identity")
def identity(ctx: Context, x: Any) -> Any:
    """The same tensor, or sequence."""
    return x


@converts("Shape")
def shape(ctx: Context, x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    """The dims of a tensor."""
    return ctx.known(_objects(x.dims[start:end]), "int64")


@converts("Size")
def size(ctx: Context, x: Tensor) -> Tensor:
    """The number of elements of a tensor."""
    total = np.empty((), object)
    total[()] = reduce(mul, x.dims, ONE)
    return ctx.known(total, "int64")


def _objects(values: Any) -> Any:
    made = np.empty(len(values), object)
    for index, value in enumerate(values):
        made[index] = value
    return made


@converts("ConstantOfShape")
def constant_of_shape(ctx: Context, dims: Tensor, *, value: TensorData | None = None) -> Tensor:
    """A tensor of a shape, filled with the only element of `value`."""
    data = TensorData.of(np.zeros(1, np.float32)) if value is None else value
    fill = ctx.reshape(Tensor.of_data(ctx.emitter, data), [])
    return ctx.broadcast(fill, dims.sizes("sizes"))


@converts("Cast")
def cast(ctx: Context, x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """The values in another dtype."""
    return ctx.astype(x, dtype_of_element(to))

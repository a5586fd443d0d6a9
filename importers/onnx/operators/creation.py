"""Constants, shapes, and tensors that are made from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.bounds import is_non_negative
from ....dialects.dtypes import FLOATS
from ....dialects.int_expr import ONE, ZERO, IntExpr, floordiv, maximum
from ....dialects.relax import TensorData
from ..context import Context
from ..data_sizes import is_read, read_sizes, sizes_of
from ..fold_values import is_symbolic, objects
from ..formula import Formula
from ..parts import numbered, product
from ..ratio import Ratio, as_element
from ..registry import converts
from ..tensor import SizeDependent, Tensor
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
    ctx.importer.sizes.update(d for d in x.dims if not d.is_constant)
    return ctx.known(objects(x.dims[start:end], [len(x.dims[start:end])]), "int64")


@converts("Size")
def size(ctx: Context, x: Tensor) -> Tensor:
    """The number of elements of a tensor."""
    total = product(x.dims)
    ctx.importer.sizes.add(total)
    return ctx.known(objects([total], ()), "int64")


@converts("ConstantOfShape")
def constant_of_shape(ctx: Context, dims: Tensor, *, value: TensorData | None = None) -> Tensor:
    """A tensor of a shape, filled with the only element of `value`."""
    data = TensorData.of(np.zeros(1, np.float32)) if value is None else value
    fill = ctx.reshape(Tensor.of_data(ctx.emitter, data), [])
    return ctx.broadcast(fill, sizes_of(ctx, dims, "sizes"))


@converts("Cast")
def cast(ctx: Context, x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Tensor:
    """The values in another dtype."""
    return ctx.astype(x, dtype_of_element(to))


@converts("Range")
def range_(ctx: Context, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """Numbers from a start to a limit, exclusive, by a step."""
    bounds = start, limit, delta
    if all(b.known is not None or is_read(ctx, b) for b in bounds) and None in [
        b.known for b in bounds
    ]:
        return _range_by_data(ctx, *bounds)
    if start.dtype in FLOATS:
        return _float_range(ctx, start, limit, delta)
    first, last, step = (t.size("a bound") for t in (start, limit, delta))
    if not step.is_constant:
        raise SizeDependent(step.symbols(), "a step")
    if step.offset == 0:
        raise ValueError("expected a step other than 0")
    span, size = (last - first, step) if step.offset > 0 else (first - last, -step)
    count = floordiv(span + size - 1, size)
    line = numbered(ctx, count if is_non_negative(count) else maximum(count, 0))
    if step != ONE:
        line = ctx.elementwise("multiply", line, ctx.number(step, "int64"))
    if first != ZERO:
        line = ctx.elementwise("add", line, ctx.number(first, "int64"))
    return ctx.astype(line, start.dtype)


def _range_by_data(ctx: Context, *bounds: Tensor) -> Tensor:
    """Integers from bounds that depend on data: calls read how many."""
    if bounds[2].known is not None and 0 in bounds[2].known:
        raise ValueError("expected a step other than 0")
    first, last, step = (Formula(ctx, ctx.reshape(b, [])).to("int64") for b in bounds)
    count = -(first - last).with_("floor_divide", step)
    (size,) = read_sizes(ctx, count.at_least(0).tensor)
    return (Formula(ctx, numbered(ctx, size)) * step + first).to(bounds[0].dtype).tensor


def _float_range(ctx: Context, *bounds: Tensor) -> Tensor:
    start, _, delta = (ctx.reshape(b, []) for b in bounds)
    known = [b.known for b in bounds]
    if any(k is not None and is_symbolic(k) for k in known) and None not in known:
        first, last, step = (Ratio.of(as_element(k.reshape(-1)[0])) for k in known if k is not None)
        count = ((last - first) / step).ceil()
    else:
        first, last, step = (b.number("a bound") for b in bounds)
        count = IntExpr.of(max(int(np.ceil((last - first) / step)), 0))
    line = ctx.astype(numbered(ctx, count), start.dtype)
    return ctx.elementwise("add", ctx.elementwise("multiply", line, delta), start)


@converts("EyeLike")
def eye_like(ctx: Context, x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Ones on a diagonal of a matrix of the shape of another."""
    if x.rank != 2:
        raise ValueError(f"expected a matrix, got {x.rank} dims")
    wanted = x.dtype if dtype is None else dtype_of_element(dtype)
    return ctx.emit("eye", n=x.dims[0], m=x.dims[1], k=k, dtype=wanted)

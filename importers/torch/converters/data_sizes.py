"""Operators whose results have sizes that depend on data: nonzero, masks, unique, item."""

from __future__ import annotations

from typing import Any

import sympy  # pyright: ignore[reportMissingTypeStubs]
import torch

from ....dialects.int_expr import ONE, IntExpr
from ....dialects.relax.operators.inference import broadcast_dims
from ...emitter import Value, dims_of, dtype_of
from ...runs import Runs
from ...unsupported import Unsupported
from ..context import Context
from ..registry import converts
from ..shapes import is_size, upper_bound


@converts("aten.nonzero.default")
def nonzero(ctx: Context, x: Value) -> Value:
    """The positions of elements that are not 0, a row for each."""
    ctx.symbols.declare(ctx.result)
    return ctx.permute(ctx.positions(x, ctx.dims[0]), [1, 0])


@converts("aten.masked_select.default")
def masked_select(ctx: Context, x: Value, mask: Value) -> Value:
    """The elements where the mask, which broadcasts, holds."""
    ctx.symbols.declare(ctx.result)
    dims = broadcast_dims(dims_of(x), dims_of(mask))
    values, chosen = (ctx.flat(ctx.broadcast(v, dims)) for v in (x, mask))
    places = ctx.op("squeeze", ctx.positions(chosen, ctx.dims[0]), axis=[0])
    return ctx.op("take", values, places, axis=0)


@converts("aten._unique2.default")
def unique2(
    ctx: Context, x: Value, sorted: bool = True, inverse: bool = False, counts: bool = False
) -> tuple[Value, ...]:
    """The different elements in order, where each element is among them, and how often each is."""
    ctx.symbols.declare(ctx.result)
    flat = ctx.flat(x)
    order = ctx.op("argsort", flat, dtype="int64")
    runs = Runs(ctx, ctx.op("take", flat, order, axis=0))
    empty = ctx.op("zeros", shape=[0], dtype="int64")
    places = ctx.reshape(runs.numbers_before(order), dims_of(x)) if inverse else empty
    return runs.values(), places, runs.lengths() if counts else empty


@converts("aten.unique_dim.default")
def unique_dim(
    ctx: Context,
    x: Value,
    dim: int,
    sorted: bool = True,
    inverse: bool = False,
    counts: bool = False,
) -> tuple[Value, ...]:
    """The different slices in order, where each slice is among them, and how often each is."""
    if len(dims_of(x)) == 1:
        return unique2(ctx, x, sorted, True, True)
    ctx.symbols.declare(ctx.result)
    return ctx.fields(ctx.op("unique", x, axis=dim, return_inverse=True, return_counts=True))


@converts("aten.unique_consecutive.default")
def unique_consecutive(
    ctx: Context, x: Value, inverse: bool = False, counts: bool = False, dim: int | None = None
) -> tuple[Value, ...]:
    """The first element of each run of equal ones, the run of each element, and the lengths."""
    if dim is not None and len(dims_of(x)) > 1:
        raise Unsupported("expected unique_consecutive of single elements, got a dim")
    ctx.symbols.declare(ctx.result)
    runs = Runs(ctx, ctx.flat(x))
    empty = ctx.op("zeros", shape=[0], dtype="int64")
    places = ctx.reshape(runs.numbers(), dims_of(x)) if inverse else empty
    return runs.values(), places, runs.lengths() if counts else empty


@converts("aten._local_scalar_dense.default", "aten.item.default")
def item(ctx: Context, x: Value) -> IntExpr | Value:
    """The value of a tensor of one integer as a size; that of a float as a tensor of rank 0."""
    if isinstance(ctx.result, torch.SymFloat):
        return real_number(ctx, ctx.op("reshape", x, shape=[]))  # no other use is a Python number
    size = ctx.result.node.expr
    if dtype_of(x) not in ("int8", "uint8", "int16", "int32", "int64"):
        raise Unsupported("", "")
    if not isinstance(size, sympy.Symbol):  # an assertion of the model says what it is
        return ctx.symbols.expr(size)
    limit = upper_bound(ctx.result.node.shape_env, size)
    if limit is None and not (ctx.reads_sizes and is_size(ctx.result.node.shape_env, size)):
        raise Unsupported(
            f"expected limits of the size '{size}', which depends on data",
            "call torch._check(0 <= n) and torch._check(n <= limit) after n = x.item()",
        )
    ctx.symbols.declare(ctx.result)
    number = ctx.reshape(ctx.astype(x, "int64"), [ONE])
    limits = None if limit is None else [ctx.symbols.expr(limit)]
    return ctx.read_sizes(number, [ctx.symbols.expr(size)], limits)[0]


def real_number(ctx: Context, value: Value) -> Value:
    """A tensor of rank 0 that type promotion treats as the Python float of the node's result."""
    ctx.reals.add(value)
    ctx.real_symbols[str(ctx.result.node.expr)] = value
    return value


def expanded(ctx: Context, indices: list[Any]) -> list[Any]:
    """Indices of a tensor in which integers replace masks: a vector for each dim of a mask."""
    found: list[Any] = []
    for index in indices:
        if index is None or dtype_of(index) != "bool":
            found.append(index)
            continue
        ctx.symbols.declare(ctx.result)
        places = ctx.positions(index)
        for row in range(len(dims_of(index))):
            found.append(ctx.op("take", places, ctx.number(row, "int64"), axis=0))
    return found

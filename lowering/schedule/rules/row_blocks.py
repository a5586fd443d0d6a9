"""Long sums in memory are made in blocks of rows, whose totals are added to the results.

::

    for k in (0, n): for j: Y[j] += X[k, j]

  ⇒
    for k0 in (0, n // 256):
      for j: P[j] = -0.0
      for k1 in (0, 256): for j: P[j] += X[k0 * 256 + k1, j]
      for j: Y[j] += P[j]
    for k in (n // 256 * 256, n % 256): for j: Y[j] += X[k, j]

The totals of many blocks are added up in blocks too. The pass `block-sums` does so with sums in
registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import SSAValue

from ....dialects import tir
from ....dialects.int_expr import ZERO, IntExpr
from ....dialects.sym import exprs_of
from ...loops.scope import Scope
from ..blocks import ScheduleError, blocks_in, function_of, own_nest, statements
from ..copy_block import new_scratch, redirect
from ..copy_scalars import ScalarCopier
from ..loops import split
from ..new_block import NewBlock, take_over
from ..partition import split_at
from ..reducer import reducer_of
from ..regions import refresh_around

BLOCK = 256
"""Additions one after the other: what a block costs besides is that of two or three."""

TOTALS = 64
"""Totals of blocks that are added one after the other."""

LEVELS = 2
"""Of blocks in blocks, where the number of rows is not known."""

Value = Callable[[tir.StoreOp, Sequence[IntExpr], Scope], SSAValue]
"""Emits what a store at these indices stores instead."""


def is_long_sum(block: tir.BlockOp, reduce: Sequence[tir.ForOp]) -> bool:
    """Whether a block sums up floats, in any order, in loops of more iterations than two blocks."""
    rows = 1
    for loop in reduce:
        trips = loop.extent.data.constant
        rows *= 2 * BLOCK + 1 if trips is None else trips
    try:
        updates = reducer_of(block).updates
    except ScheduleError:
        return False
    return rows > 2 * BLOCK and all(isinstance(u.store.value.owner, arith.AddfOp) for u in updates)


def sum_in_blocks(start: tir.BlockOp, reduce: Sequence[tir.ForOp], additions: int) -> None:
    """Let a sum that `start` begins run in blocks.

    Loops are given outermost first; the innermost one makes so many additions in an iteration.
    """
    for loop in reversed(reduce):
        trips = loop.extent.data.constant
        if trips is not None and trips * additions <= 2 * BLOCK:
            additions *= trips
        else:
            _split(start, loop, max(1, BLOCK // additions))
            additions = BLOCK


def _split(start: tir.BlockOp, loop: tir.ForOp, size: int, levels: int = LEVELS) -> None:
    extent = loop.extent.data
    count, rest = extent // size, extent % size
    parts = [(ZERO, count * size), (count * size, rest)]
    whole = split_at(loop, parts[: 1 if rest == ZERO else 2])[0]
    outer, inner = split(whole, [count, size], disable_predication=True)
    totals = {store.buffer: _scratch_like(store.buffer, start) for store in _stores(start)}
    zero, add = own_nest(start).clone(), own_nest(start).clone()
    outer.body.block.insert_op_before(zero, inner)
    outer.body.block.add_op(add)
    for buffer, scratch in totals.items():
        redirect(zero, buffer, scratch)
        redirect(inner, buffer, scratch)
    _refill(blocks_in(zero)[0], "start", _nothing)
    _refill(blocks_in(add)[0], "total", partial(_total, totals), outer)
    refresh_around(blocks_in(outer))
    trips = outer.extent.data.constant
    if levels > 1 and (trips is None or trips > 2 * TOTALS):
        _split(start, outer, TOTALS, levels - 1)


def _scratch_like(buffer: SSAValue, block: tir.BlockOp) -> SSAValue:
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    name = f"{buffer.name_hint or 'T'}_block"
    return new_scratch(name, type_.dims, buffer, "global", statements(function_of(block)))


def _stores(block: tir.BlockOp) -> list[tir.StoreOp]:
    return [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]


def _refill(
    block: tir.BlockOp, suffix: str, value: Value, reducing: tir.ForOp | None = None
) -> None:
    """Let a block that starts results store other values, one for each iteration of a loop."""
    new = NewBlock(block, {})
    if reducing is not None:
        new.add_axis("reduce", reducing)
    copier = ScalarCopier(new.values, new.meaning)
    scope = copier.scope
    for store in _stores(block):
        indices = scope.exprs(exprs_of(store.indices), store.operands_)
        scope.emit(
            tir.StoreOp(value(store, indices, scope), store.buffer, indices, scope.values.list)
        )
    new.add(copier.block)
    bounds = [
        (new.over_loops(b.lhs.data), new.over_loops(b.rhs.data)) for b in block.predicates.data
    ]
    take_over(block, new.finish(block.block_name.data.replace("init", suffix), bounds))


def _nothing(store: tir.StoreOp, indices: Sequence[IntExpr], scope: Scope) -> SSAValue:
    """What leaves numbers as they are when they are added to it."""
    number = arith.ConstantOp(FloatAttr(-0.0, cast(AnyFloat, store.value.type)))
    scope.emit(number)
    return number.result


def _total(
    totals: Mapping[SSAValue, SSAValue],
    store: tir.StoreOp,
    indices: Sequence[IntExpr],
    scope: Scope,
) -> SSAValue:
    """The result so far and the total of a block."""
    buffers = (store.buffer, totals[store.buffer])
    so_far, total = (tir.LoadOp(b, indices, scope.values.list) for b in buffers)
    sum_ = arith.AddfOp(so_far.result, total.result)
    for op in (so_far, total, sum_):
        scope.emit(op)
    return sum_.result

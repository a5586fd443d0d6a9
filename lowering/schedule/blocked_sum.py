"""`blocked_sum`: compute sums in memory in blocks, whose totals are added to the results.

::

    for k in (0, n): for j: Y[j] += X[k, j]

  ⇒
    for k0 in (0, n // 256):
      for j: P[j] = -0.0
      for k1 in (0, 256): for j: P[j] += X[k0 * 256 + k1, j]
      for j: Y[j] += P[j]
    for k in (n // 256 * 256, n % 256): for j: Y[j] += X[k, j]

This bounds the rounding errors of long sums. The pass `block-sums` does the same in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.bounds import is_less
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..scope import Scope
from .blocks import (
    ScheduleError,
    blocks_in,
    function_of,
    loaded_buffers,
    perfect_nest,
    statement_in,
    statements,
)
from .copy_block import new_scratch, redirect
from .copy_scalars import ScalarCopier
from .loop_checks import loop_text, verify_only_blocks, verify_plain
from .loops import split
from .new_block import NewBlock, take_over
from .partition import split_at
from .regions import contains, refresh_around

Value = Callable[[tir.StoreOp, Sequence[IntExpr], Scope], SSAValue]
"""Emits what a store at these indices stores instead."""


def blocked_sum(start: tir.BlockOp, loop: tir.ForOp, size: int) -> tir.ForOp:
    """Add blocks of `size` iterations of `loop` at a time to the results that `start` initializes.

    The total of a block is computed in scratch memory first. The remainder has a loop of its own.
    Returns the loop over blocks. Raises ScheduleError for a loop with annotations or of a kind, and
    unless all that it does with the results of `start` is to add floats to them.
    """
    _verify(start, loop, size)
    extent = loop.extent.data
    count, rest = extent // size, extent % size
    parts = [(ZERO, count * size), (count * size, rest)]
    whole = split_at(loop, parts[: 1 if rest == ZERO else 2])[0]
    outer, inner = split(whole, [count, size], disable_predication=True)
    totals = {store.buffer: _scratch_like(store.buffer, start) for store in _stores(start)}
    zero, add = perfect_nest(start).clone(), perfect_nest(start).clone()
    outer.body.block.insert_op_before(zero, inner)
    outer.body.block.add_op(add)
    for buffer, scratch in totals.items():
        redirect(zero, buffer, scratch)
        redirect(inner, buffer, scratch)
    _refill(blocks_in(zero)[0], "start", _nothing)
    _refill(blocks_in(add)[0], "total", partial(_total, totals), outer)
    refresh_around(blocks_in(outer))
    return outer


def _verify(start: tir.BlockOp, loop: tir.ForOp, size: int) -> None:
    verify_plain(loop)
    verify_only_blocks(loop)
    if size < 1:
        raise ScheduleError(f"expected a size of at least 1, got {size}", loop)
    if is_less(loop.extent.data, size):
        raise ScheduleError(f"expected at least {size} iterations of {loop_text(loop)}", loop)
    nest, stores = perfect_nest(start), _stores(start)
    is_start = set(start.axis_kinds) <= {"spatial"} and not start.predicates.data
    parent, values = nest.parent, Values()
    statement = None if parent is None else statement_in(parent, loop)
    if not is_start or not stores or loaded_buffers(start) or statement in (None, nest):
        raise ScheduleError(
            f"expected block '{start.block_name.data}' to initialize results before "
            f"{loop_text(loop)}",
            start,
        )
    assert parent is not None and statement is not None
    started = infer_regions(parent, values, [nest])[1]
    reads, writes = infer_regions(parent, values, [statement])
    buffers = {store.buffer for store in stores}
    for op in operations_in(loop):
        if isinstance(op, tir.StoreOp) and op.buffer in buffers and not _adds(op):
            raise ScheduleError(
                f"expected {loop_text(loop)} only to add floats to {buffer_text(op.buffer)}", op
            )
        if isinstance(op, tir.LoadOp) and op.buffer in buffers and not _is_added_to(op):
            raise ScheduleError(
                f"expected {loop_text(loop)} to load {buffer_text(op.buffer)} only to add to it", op
            )
    for region in (*reads, *writes):
        known = [r for r in started if r.buffer is region.buffer]
        if region.buffer in buffers and not contains(known[0], region, values):
            raise ScheduleError(
                f"expected {loop_text(loop)} to add only to elements of "
                f"{buffer_text(region.buffer)} "
                f"that block '{start.block_name.data}' initializes",
                loop,
            )


def _adds(store: tir.StoreOp) -> bool:
    """Whether a store adds to the element that it stores."""
    total = store.value.owner
    return isinstance(total, arith.AddfOp) and any(_is_of(v, store) for v in total.operands)


def _is_of(value: SSAValue, store: tir.StoreOp) -> bool:
    op = value.owner
    place = (store.buffer, store.indices, *store.operands_)
    return isinstance(op, tir.LoadOp) and (op.buffer, op.indices, *op.operands_) == place


def _is_added_to(load: tir.LoadOp) -> bool:
    """Whether the only use of a load is the sum that replaces it in memory."""
    uses = list(load.result.uses)
    total = uses[0].operation if len(uses) == 1 else None
    if not isinstance(total, arith.AddfOp):
        return False
    users = [use.operation for use in total.result.uses]
    return len(users) == 1 and isinstance(users[0], tir.StoreOp) and _is_of(load.result, users[0])


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
    """Let an initializing block store other values, for each iteration of a loop."""
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
    """The identity of addition, -0.0."""
    number = arith.ConstantOp(FloatAttr(-0.0, cast(AnyFloat, store.value.type)))
    scope.emit(number)
    return number.result


def _total(
    totals: Mapping[SSAValue, SSAValue],
    store: tir.StoreOp,
    indices: Sequence[IntExpr],
    scope: Scope,
) -> SSAValue:
    """Emit the sum of the result so far and the total of a block."""
    buffers = (store.buffer, totals[store.buffer])
    so_far, total = (tir.LoadOp(b, indices, scope.values.list) for b in buffers)
    sum_ = arith.AddfOp(so_far.result, total.result)
    for op in (so_far, total, sum_):
        scope.emit(op)
    return sum_.result

"""`fuse_reduction_epilogue`: start a sum with what is added to it afterwards.

::

    for i, k: init T[i] = 0; T[i] += X[i, k]
    for i: Y[i] = T[i] + B[i]                   ⇒      for i, k: init Y[i] = B[i]; Y[i] += X[i, k]
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.nesting import ancestors
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.block_accesses import accessed_axes
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    common_block,
    erase_nest,
    iterator_kinds,
    loaded_buffers,
    loops_around,
    statement_in,
    stored_buffers,
    uses_of,
)
from .copy_block import redirect_access
from .copy_scalars import ScalarCopier
from .inline import Definition, axis_values, defines
from .reducer import Reducer, reducer_of
from .regions import refresh_around

_SUMS = (arith.AddfOp, arith.AddiOp)


def fuse_reduction_epilogue(reduction: tir.BlockOp, epilogue: tir.BlockOp) -> None:
    """Start a sum with the term that another block adds to it; TVM's primitive of the name.

    Then the reduction computes the elements of the epilogue, which is erased. The scratch buffer of
    the sum is left without uses. Sums of floats are reassociated. Raises ScheduleError for a
    reduction that is no sum from 0, and for an epilogue that does anything but add one value.
    """
    reducer = _sum_of(reduction)
    store = reducer.updates[0].store
    definition = defines(epilogue)
    load, term = _added(definition, store)
    axes = accessed_axes(epilogue, load)
    if axes is None or accessed_axes(reduction, store) is None:
        raise ScheduleError(
            f"expected block '{reduction.block_name.data}' to store, and block "
            f"'{epilogue.block_name.data}' to load, each element of {buffer_text(load.buffer)} "
            "at its axes",
            epilogue,
        )
    _verify_order(reduction, definition, load.buffer)
    init = reduction.init
    assert init is not None
    values = Values()
    stored = values.exprs(store.indices, store.operands_)
    copier = ScalarCopier(values, axis_values(epilogue, axes, stored))
    copier.copy_all([op for op in definition.ops if op not in (load, definition.store.value.owner)])
    scope = copier.scope
    indices = scope.exprs(exprs_of(definition.store.indices), definition.store.operands_)
    result = definition.store.buffer
    scope.emit(tir.StoreOp(copier.value(term), result, indices, values.list))
    for op in list(init.body.block.ops)[::-1]:
        op.detach()
        op.erase()
    for op in list(copier.block.ops):
        op.detach()
        init.body.block.add_op(op)
    for op in [op for op in reduction.body.block.ops if _accesses(op, load.buffer)]:
        redirect_access(op, result, indices, values)
    erase_nest(epilogue)
    refresh_around([reduction])


def _sum_of(block: tir.BlockOp) -> Reducer:
    """The reducer of a block that computes one sum from 0; else ScheduleError."""
    where = f"block '{block.block_name.data}'"
    if block.init is None:
        raise ScheduleError(f"expected {where} to be a reduction with an initial value", block)
    reducer = reducer_of(block)
    sums = [u for u in reducer.updates if isinstance(u.store.value.owner, _SUMS)]
    if len(reducer.updates) != 1 or len(sums) != 1 or not reducer.may_start_again(block.init):
        raise ScheduleError(f"expected {where} to compute one sum from 0", block)
    return reducer


def _added(definition: Definition, store: tir.StoreOp) -> tuple[tir.LoadOp, SSAValue]:
    """The load of the sum in an epilogue, and what is added to it; else ScheduleError."""
    block, add = definition.block, definition.store.value.owner
    loads = [op for op in definition.ops if isinstance(op, tir.LoadOp)]
    own = [op for op in loads if op.buffer is store.buffer]
    if len(own) == 1 and isinstance(add, _SUMS) and add.parent is block.body.block:
        operands = [add.lhs, add.rhs]
        if operands.count(own[0].result) == 1 and own[0].result.uses.get_length() == 1:
            operands.remove(own[0].result)
            return own[0], operands[0]
    raise ScheduleError(
        f"expected block '{block.block_name.data}' to add one value to "
        f"{buffer_text(store.buffer)}, and to use it once",
        block,
    )


def _verify_order(reduction: tir.BlockOp, epilogue: Definition, scratch: SSAValue) -> None:
    """Raise ScheduleError unless the epilogue alone uses the whole sums, and can be earlier."""
    block = epilogue.block
    names = f"block '{reduction.block_name.data}' and block '{block.block_name.data}'"
    uses = uses_of(scratch)
    users = [*uses.loads, *uses.stores]
    if not isinstance(scratch.owner, tir.AllocBufferOp) or uses.others:
        raise ScheduleError(f"expected {buffer_text(scratch)} to be a scratch buffer", block)
    if any({reduction, block}.isdisjoint(ancestors(op)) for op in users):
        raise ScheduleError(f"expected only {names} to use {buffer_text(scratch)}", block)
    parent = common_block([reduction, block])
    order = list(parent.ops)
    first, last = (statement_in(parent, b) for b in (reduction, block))
    assert first is not None and last is not None
    partial = [op for op in loops_around(reduction) if "reduce" in iterator_kinds(op, reduction)]
    if order.index(first) >= order.index(last) or any(op in ancestors(block) for op in partial):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to come after the loops of "
            f"block '{reduction.block_name.data}'",
            block,
        )
    read, written = loaded_buffers(block) - {scratch}, stored_buffers(block)
    for a in read:
        if any(may_share_memory(a, b) for b in written):
            raise ScheduleError(
                f"expected block '{block.block_name.data}' not to read {buffer_text(a)}, "
                "which it writes",
                block,
            )
    for op in order[order.index(first) : order.index(last)]:
        stored = stored_buffers(op) - {scratch}
        pairs = [(a, b) for a in read for b in stored]
        pairs += [(a, b) for a in written for b in (stored | loaded_buffers(op))]
        for a, b in pairs:
            if may_share_memory(a, b):
                raise ScheduleError(
                    f"expected {buffer_text(a)} not to be used between {names}", block
                )


def _accesses(op: Operation, buffer: SSAValue) -> bool:
    return isinstance(op, tir.LoadOp | tir.StoreOp) and op.buffer is buffer

"""`peel` and `specialize`: make two versions of a block and its consumer.

::

    for i in (0, m), j, k: T[i, j] += X[i, k] * W[k, j]
    for i in (0, m), j: Y[i, j] = max(T[i, j], 0)
  ⇒ peel by 4
    for i in (0, m floordiv 4 * 4), j, k: T0[i, j] += X[i, k] * W[k, j]
    for i in (0, m floordiv 4 * 4), j: Y[i, j] = max(T0[i, j], 0)
    for i in (0, m mod 4), j, k: T1[i, j] += X[i + m floordiv 4 * 4, k] * W[k, j]
    for i in (0, m mod 4), j: Y[i + m floordiv 4 * 4, j] = max(T1[i, j], 0)

Each version can have a schedule of its own: whole tiles, and small m.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike, minimum
from ...dialects.nesting import operations_in
from ...dialects.sym import ExprAttr, Values, expr_array, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    blocks_in,
    loaded_buffers,
    loops_around,
    perfect_nest,
    plain_loops,
    stored_buffers,
    uses_of,
)
from .copy_block import new_scratch, redirect
from .loop_checks import loop_text
from .partition import rename_blocks
from .regions import axes_of, refresh_around, replace_header


def peel(
    block: tir.BlockOp, loop: tir.ForOp, size: int, consumers: Sequence[tir.BlockOp]
) -> tuple[tir.BlockOp, tir.BlockOp]:
    """Peel the remainder of a spatial loop modulo `size` into nests of its own.

    The first consumer alone uses the block's results, which are in scratch memory, in a
    corresponding loop; each other one so those of the one before. Returns the two versions of the
    block. Raises ScheduleError if there is no remainder, or if a consumer has no such loop or may
    change an operand.
    """
    if size < 1:
        raise ScheduleError(f"expected a size of at least 1, got {size}", loop)
    if not consumers:
        raise ScheduleError("expected a consumer of the block's results, got none", block)
    chain, axes = [block], [_axis_of(block, loop)]
    scratch: dict[SSAValue, int] = {}
    for consumer in consumers:
        store = _store_of(chain, consumer)
        position = _dim_of(store, chain[-1].axis_vars[axes[-1]])
        other = None if position is None else _axis_at(consumer, store.buffer, position)
        if position is None or other is None or consumer.axis_kinds[other] != "spatial":
            raise ScheduleError(
                f"expected {loop_text(loop)} to be over one dim of {buffer_text(store.buffer)}, "
                f"and block '{consumer.block_name.data}' to have a loop over it",
                loop,
            )
        scratch[store.buffer] = position
        chain.append(consumer)
        axes.append(other)
    extent = loop.extent.data
    whole = extent // size * size
    if whole == extent:
        raise ScheduleError(
            f"expected parts of {size} iterations to leave some of {loop_text(loop)}, "
            f"got extent {extent}",
            loop,
        )
    nests, made = list(map(perfect_nest, chain)), list[tir.BlockOp]()
    for suffix, start, count in (("whole", ZERO, whole), ("rest", whole, extent % size)):
        copies = [_copy(nest, nests[0], suffix) for nest in nests]
        new = {b: _resized(b, dim, count, copies[0]) for b, dim in scratch.items()}
        for copy, own in zip(copies, axes, strict=True):
            for old in scratch:
                redirect(copy, old, new[old])
            _narrow(blocks_in(copy)[0], own, start, count, new.values())
        made.append(blocks_in(copies[0])[0])
    _erase(nests, scratch)
    return made[0], made[1]


def specialize(
    block: tir.BlockOp, loop: tir.ForOp, limit: int, consumer: tir.BlockOp
) -> tuple[tir.BlockOp, tir.BlockOp]:
    """Make one version for fewer than `limit` iterations of a loop, and one for all others.

    The trip count at run time selects the version. Only `consumer` uses the block's results, which
    are in scratch memory. Returns the versions, each in a loop of one iteration or none. Raises
    ScheduleError if the consumer may change an operand.
    """
    if limit < 1:
        raise ScheduleError(f"expected a limit of at least 1, got {limit}", loop)
    scratch = _store_of([block], consumer).buffer
    extent = block.axes.data[_axis_of(block, loop)].extent.data
    type_ = scratch.type
    assert isinstance(type_, tir.BufferType)
    nests = perfect_nest(block), perfect_nest(consumer)
    is_many = minimum(extent // limit, 1)
    made: list[tir.BlockOp] = []
    for suffix, times in (("few", 1 - is_many), ("many", is_many)):
        copies = [_copy(nest, nests[0], suffix) for nest in nests]
        new = new_scratch(
            scratch.name_hint or "T", type_.dims, scratch, "global", _parent(nests[0])
        )
        for copy in copies:
            redirect(copy, scratch, new)
        made.append(blocks_in(copies[0])[0])
        _put_in_loop(copies, times)
    _erase(nests, [scratch])
    return made[0], made[1]


def _axis_of(block: tir.BlockOp, loop: tir.ForOp) -> int:
    """The spatial axis of a block that a loop is for."""
    loops = plain_loops(block) or {}
    for axis, own in loops.items():
        if own is loop and block.axis_kinds[axis] == "spatial" and not loop.operands_:
            return axis
    raise ScheduleError(
        f"expected {loop_text(loop)} to be one of the loops of block '{block.block_name.data}', "
        "which are plain, from 0, and one for each axis",
        loop,
    )


def _store_of(chain: Sequence[tir.BlockOp], consumer: tir.BlockOp) -> tir.StoreOp:
    """The store of the results of the last block, which `consumer` alone uses."""
    block = chain[-1]
    for own in (block, consumer):
        if blocks_in(own) != [own]:
            name = own.block_name.data
            raise ScheduleError(f"expected block '{name}' to have no blocks inside", own)
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    places = {(op.buffer, op.indices, *op.operands_) for op in stores}
    scratch = stores[0].buffer if stores else None
    if scratch is None or len(places) != 1 or not isinstance(scratch.owner, tir.AllocBufferOp):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to store one element of scratch memory",
            block,
        )
    uses = uses_of(scratch)
    others = [op for op in (*uses.stores, *uses.loads, *uses.others) if not block.is_ancestor(op)]
    own = [op for op in uses.loads if block.is_ancestor(op)]
    is_used = all(isinstance(op, tir.LoadOp) and consumer.is_ancestor(op) for op in others)
    nests = perfect_nest(block), perfect_nest(consumer)
    is_used &= all(any(n.is_ancestor(use.operation) for n in nests) for use in scratch.uses)
    is_same = all((op.buffer, op.indices, *op.operands_) in places for op in own)
    if not is_used or not is_same or not _is_apart(chain, consumer):
        raise ScheduleError(
            f"expected block '{consumer.block_name.data}' to follow block "
            f"'{block.block_name.data}', to be all that uses {buffer_text(scratch)}, and to store "
            "nothing that either of them loads",
            consumer,
        )
    return stores[-1]


def _put_in_loop(ops: Sequence[Operation], times: IntExpr) -> None:
    """Move adjacent operations into a loop."""
    body = Block(arg_types=[IndexType()])
    loop = tir.ForOp(ZERO, times, [], Region(body))
    _parent(ops[0]).insert_op_before(loop, ops[0])
    for op in ops:
        op.detach()
        body.add_op(op)


def _erase(nests: Sequence[Operation], scratch: Iterable[SSAValue]) -> None:
    """Erase the nests that produce and use scratch buffers, and the buffers."""
    for op in (*nests[::-1], *(buffer.owner for buffer in scratch)):
        assert isinstance(op, Operation)
        op.detach()
        op.erase()


def _parent(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _dim_of(op: tir.LoadOp | tir.StoreOp, var: SSAValue) -> int | None:
    """The dim that a variable alone indexes, if it is used there only."""
    used = [
        (dim, index.as_atom)
        for dim, index in enumerate(exprs_of(op.indices))
        if any(op.operands_[i] is var for i in index.args())
    ]
    return used[0][0] if len(used) == 1 and isinstance(used[0][1], Arg) else None


def _axis_at(consumer: tir.BlockOp, buffer: SSAValue, position: int) -> int | None:
    """The axis at which a block loads a dim of a buffer, if that has a loop of its own."""
    loops = plain_loops(consumer)
    found: set[SSAValue] = set()
    for op in operations_in(consumer):
        if isinstance(op, tir.LoadOp) and op.buffer is buffer:
            atom = exprs_of(op.indices)[position].as_atom
            if not isinstance(atom, Arg) or _dim_of(op, op.operands_[atom.index]) != position:
                return None
            found.add(op.operands_[atom.index])
    if loops is None or len(found) != 1 or consumer.predicates.data:
        return None
    (var,) = found
    moved = (tir.LoadOp, tir.StoreOp, tir.ApplyOp, tir.BlockOp)
    if var not in consumer.axis_vars or any(not isinstance(u.operation, moved) for u in var.uses):
        return None
    axis = consumer.axis_vars.index(var)
    return axis if axis in loops else None


def _is_apart(chain: Sequence[tir.BlockOp], consumer: tir.BlockOp) -> bool:
    """Whether the consumer's nest is next, and no block reads what the consumer changes.

    A consumer that is a reduction reads the elements that it updates.
    """
    nest, after = perfect_nest(chain[-1]), perfect_nest(consumer)
    following = nest.next_op
    while isinstance(following, tir.AllocBufferOp):
        following = following.next_op
    read = set[SSAValue]().union(*map(loaded_buffers, chain))
    read |= loaded_buffers(consumer) - _updated(consumer)
    return following is after and not any(
        may_share_memory(stored, buffer) for stored in stored_buffers(consumer) for buffer in read
    )


def _updated(block: tir.BlockOp) -> set[SSAValue]:
    """The buffers of which a block loads only the element that it stores."""
    found: dict[SSAValue, set[tuple[Any, ...]]] = {}
    stored = stored_buffers(block)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp | tir.StoreOp):
            found.setdefault(op.buffer, set()).add((op.indices, *op.operands_))
    return {buffer for buffer, places in found.items() if buffer in stored and len(places) == 1}


def _copy(nest: Operation, before: Operation, suffix: str) -> Operation:
    copy = nest.clone()
    rename_blocks(copy, suffix)
    for old, new in zip(operations_in(nest), operations_in(copy), strict=True):
        new.location = old.location
    _parent(before).insert_op_before(copy, before)
    return copy


def _resized(buffer: SSAValue, position: int, size: IntExpr, before: Operation) -> SSAValue:
    """Allocate a scratch buffer like another one, with another extent of one dim."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    dims = [size if dim == position else d for dim, d in enumerate(type_.dims)]
    return new_scratch(buffer.name_hint or "T", dims, buffer, "global", _parent(before))


def _narrow(
    block: tir.BlockOp, axis: int, start: IntExpr, size: IntExpr, scratch: Collection[SSAValue]
) -> None:
    """Replace the range of an axis by `size` values from `start`, numbered from 0."""
    var = block.axis_vars[axis]
    numbering = block.numbering()
    (bound,) = exprs_of(block.bindings)[axis].args()
    for loop in loops_around(block):
        if loop.loop_var is numbering[bound]:
            loop.properties["extent"] = ExprAttr(size)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp | tir.StoreOp) and op.buffer not in scratch:
            op.properties["indices"] = expr_array(_moved(exprs_of(op.indices), op, var, start))
        elif isinstance(op, tir.ApplyOp):
            (expr,) = _moved([op.expr.data], op, var, start)
            op.properties["expr"] = ExprAttr(expr)
    values = Values()
    for value in numbering:
        values.expr(value)
    axes = axes_of(block)
    axes[axis] = tir.Axis(axes[axis].kind, ZERO, size, axes[axis].binding)
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, values, reads, writes)
    refresh_around([block])


def _moved(
    exprs: Sequence[IntExpr],
    op: tir.LoadOp | tir.StoreOp | tir.ApplyOp,
    var: SSAValue,
    start: IntExpr,
) -> list[IntExpr]:
    operands = op.operands if isinstance(op, tir.ApplyOp) else op.operands_
    moved = [Arg(i) for i, v in enumerate(operands) if v is var]
    mapping: dict[Atom, IntLike] = {atom: IntExpr.of(atom) + start for atom in moved}
    return [e.substitute(mapping) for e in exprs]

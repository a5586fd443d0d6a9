"""`reverse_compute_inline`: what follows a scratch buffer is computed where that is stored.

::

    for i, j: T[i, j] = exp(X[i, j])
    for i, j: Y[i, j] = T[j, i] + 1          ⇒      for i, j: Y[j, i] = exp(X[i, j]) + 1
"""

from __future__ import annotations

from xdsl.ir import Operation

from ...dialects import tir
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    common_block,
    erase_nest,
    loaded_buffers,
    statement_in,
    stored_buffers,
    uses_of,
)
from .copy_scalars import ScalarCopier
from .inline import Definition, accessed_axes, axis_values, defines, drop_unused_buffer
from .regions import refresh_around


def reverse_compute_inline(block: tir.BlockOp) -> None:
    """Inline a block into the producer of the scratch buffer that it loads.

    The block must define every element of its own buffer from the same element, up to the order of
    dims, of the scratch buffer, which one other block defines and nothing else loads. Raises
    ScheduleError with one line otherwise.
    """
    consumer = defines(block)
    producer, load, axes = _sole_producer(consumer)
    values = Values()
    stored = values.exprs(producer.store.indices, producer.store.operands_)
    copier = ScalarCopier(values, axis_values(block, axes, stored))
    loads = [op for op in consumer.ops if _is_same_load(op, load)]
    for op in loads:
        copier.scope.data[op.results[0]] = producer.store.value
    copier.copy_all([op for op in consumer.ops if op not in loads])
    value = copier.value(consumer.store.value)
    copier.insert_before(producer.store)
    indices = copier.scope.exprs(exprs_of(consumer.store.indices), consumer.store.operands_)
    new = tir.StoreOp(value, consumer.store.buffer, indices, values.list)
    parent = producer.store.parent
    assert parent is not None
    parent.insert_op_before(new, producer.store)
    scratch = producer.store.buffer
    producer.store.detach()
    producer.store.erase()
    erase_nest(block)
    refresh_around([new])
    drop_unused_buffer(scratch)


def _sole_producer(
    consumer: Definition,
) -> tuple[Definition, tir.LoadOp, tuple[int | None, ...]]:
    """The block that defines the scratch buffer that the consumer transforms, its load and axes."""
    block = consumer.block
    where = f"block '{block.block_name.data}'"
    for load in [op for op in consumer.ops if isinstance(op, tir.LoadOp)]:
        uses = uses_of(load.buffer)
        owned = isinstance(load.buffer.owner, tir.AllocBufferOp) and not uses.others
        if owned and len(uses.stores) == 1 and all(_is_same_load(u, load) for u in uses.loads):
            around = uses.stores[0].parent_op()
            if isinstance(around, tir.BlockOp) and all(u.parent is load.parent for u in uses.loads):
                axes = _axes_of_indices(load, block)
                producer = defines(around)
                _verify_movable(consumer, producer)
                return producer, load, axes
    raise ScheduleError(
        f"expected {where} to load a scratch buffer that one block stores to and no other loads",
        block,
    )


def _verify_movable(consumer: Definition, producer: Definition) -> None:
    parent = common_block([producer.block, consumer.block])
    order = list(parent.ops)
    first, last = (statement_in(parent, d.block) for d in (producer, consumer))
    assert first is not None and last is not None
    read, written = loaded_buffers(consumer.block), stored_buffers(consumer.block)
    for op in order[order.index(first) : order.index(last)]:
        touched = stored_buffers(op) - {producer.store.buffer}
        pairs = [(a, b) for a in read for b in touched]
        pairs += [(a, b) for a in written for b in (touched | loaded_buffers(op))]
        for a, b in pairs:
            if may_share_memory(a, b):
                raise ScheduleError(
                    f"expected {buffer_text(a)} not to be used between block "
                    f"'{producer.block.block_name.data}' and block "
                    f"'{consumer.block.block_name.data}'",
                    consumer.block,
                )


def _is_same_load(op: Operation, load: tir.LoadOp) -> bool:
    return isinstance(op, tir.LoadOp) and (op.buffer, op.indices, tuple(op.operands_)) == (
        load.buffer,
        load.indices,
        tuple(load.operands_),
    )


def _axes_of_indices(load: tir.LoadOp, block: tir.BlockOp) -> tuple[int | None, ...]:
    """For each dim of a load the axis that is its index, each axis once; else ScheduleError."""
    axes = accessed_axes(block, load)
    if axes is None:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to load {buffer_text(load.buffer)} "
            "at its axes, each once",
            block,
        )
    return axes

"""`reverse_compute_inline`: what follows a scratch buffer is computed where that is stored.

::

    for i, j: T[i, j] = exp(X[i, j])
    for i, j: Y[i, j] = T[j, i] + 1          ⇒      for i, j: Y[j, i] = exp(X[i, j]) + 1

    for i: T[i] = exp(X[i])
    for i, j in (n, 4): Y[i, j] = T[i * 4 + j]     ⇒      for i: Y[i // 4, i % 4] = exp(X[i])

Elements of the scratch buffer that are not loaded are not computed: the producer gets predicates.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from ..analysis.block_accesses import wide_axes
from ..analysis.independence import may_share_memory
from ..scope import Bound, name_of
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
from .index_map import IndexMap
from .index_values import add_predicates, undecided
from .inline import Definition, drop_unused_buffer, sole_store
from .regions import refresh_around
from .required_ranges import extents_run
from .stored_box import indices_over_axes


def reverse_compute_inline(block: tir.BlockOp) -> None:
    """Inline a block into the producer of the scratch buffer that it loads.

    The block must store different elements from one element each of the scratch buffer, which one
    other block defines and nothing else loads. The indices of that element determine the axes of
    the block. Raises ScheduleError with one line otherwise.
    """
    consumer = Definition(block, _store(block, is_complete=False), ())
    producer, load = _sole_producer(consumer)
    values = Values()
    stored = values.exprs(producer.indices, producer.operands_)
    around = producer.parent_op()
    assert isinstance(around, tir.BlockOp)
    axes, bounds = _axes_of_element(load, block, stored)
    copier = ScalarCopier(values, axes)
    loads = [op for op in consumer.ops if _is_same_load(op, load)]
    for op in loads:
        copier.scope.data[op.results[0]] = producer.value
    copier.copy_all([op for op in consumer.ops if op not in loads])
    value = copier.value(consumer.store.value)
    copier.insert_before(producer)
    indices = copier.scope.exprs(exprs_of(consumer.store.indices), consumer.store.operands_)
    new = tir.StoreOp(value, consumer.store.buffer, indices, values.list)
    around.body.block.insert_op_before(new, producer)
    _restrict(around, bounds, values)
    scratch = producer.buffer
    producer.detach()
    producer.erase()
    erase_nest(block)
    refresh_around([new])
    drop_unused_buffer(scratch)


def _sole_producer(consumer: Definition) -> tuple[tir.StoreOp, tir.LoadOp]:
    """The store that defines the scratch buffer that the consumer transforms, and its load."""
    block = consumer.block
    where = f"block '{block.block_name.data}'"
    for load in [op for op in consumer.ops if isinstance(op, tir.LoadOp)]:
        uses = uses_of(load.buffer)
        owned = isinstance(load.buffer.owner, tir.AllocBufferOp) and not uses.others
        if owned and len(uses.stores) == 1 and all(_is_same_load(u, load) for u in uses.loads):
            around = uses.stores[0].parent_op()
            if isinstance(around, tir.BlockOp) and all(u.parent is load.parent for u in uses.loads):
                producer = _store(around, is_complete=True)
                _verify_movable(consumer, around, producer.buffer)
                return producer, load
    raise ScheduleError(
        f"expected {where} to load a scratch buffer that one block stores to and no other loads",
        block,
    )


def _store(block: tir.BlockOp, is_complete: bool) -> tir.StoreOp:
    """The store of a block that stores elements once each, of a buffer all if `is_complete`.

    Raises ScheduleError for other blocks.
    """
    store = sole_store(block, with_predicates=True)
    used, extents = indices_over_axes(store, block), extents_run(block)
    is_covered = uncovered_axis(block) is None and extents is not None
    if used is not None and is_covered and wide_axes(block) <= set(used[0]):
        place = _place([block.axis_vars[axis] for axis in used[0]], used[1])
        assert extents is not None
        dims = [extents[axis] for axis in used[0]]
        if _has_inverse(place, dims) and (not is_complete or _covers(place, dims, store.buffer)):
            return store
    elements = "each element" if is_complete else "elements"
    raise ScheduleError(
        f"expected block '{block.block_name.data}' to store {elements} of "
        f"{buffer_text(store.buffer)} once",
        block,
    )


def _place(variables: Sequence[SSAValue], indices: Sequence[IntExpr]) -> IndexMap:
    return IndexMap(tuple(map(name_of, variables)), tuple(indices))


def _has_inverse(place: IndexMap, dims: Sequence[IntExpr]) -> bool:
    try:
        place.inverse(dims)
    except ValueError:
        return False
    return True


def _covers(place: IndexMap, dims: Sequence[IntExpr], buffer: SSAValue) -> bool:
    """Whether the indices of this domain, with an inverse, are those of all of a buffer."""
    assert isinstance(buffer.type, tir.BufferType)
    try:
        return place.shape(dims) == list(buffer.type.dims) and place.is_onto(dims)
    except ValueError:
        return False


def _verify_movable(consumer: Definition, producer: tir.BlockOp, scratch: SSAValue) -> None:
    """Raise ScheduleError if a buffer of the consumer is used otherwise between the blocks."""
    parent = common_block([producer, consumer.block])
    order = list(parent.ops)
    first, last = (statement_in(parent, block) for block in (producer, consumer.block))
    assert first is not None and last is not None
    read, written = loaded_buffers(consumer.block), stored_buffers(consumer.block)
    for op in order[order.index(first) : order.index(last)]:
        touched = stored_buffers(op) - {scratch}
        pairs = [(a, b) for a in read for b in touched]
        pairs += [(a, b) for a in written for b in (touched | loaded_buffers(op))]
        for a, b in pairs:
            if may_share_memory(a, b):
                raise ScheduleError(
                    f"expected {buffer_text(a)} not to be used between block "
                    f"'{producer.block_name.data}' and block '{consumer.block.block_name.data}'",
                    consumer.block,
                )


def _is_same_load(op: Operation, load: tir.LoadOp) -> bool:
    return isinstance(op, tir.LoadOp) and (op.buffer, op.indices, tuple(op.operands_)) == (
        load.buffer,
        load.indices,
        tuple(load.operands_),
    )


def _axes_of_element(
    load: tir.LoadOp, block: tir.BlockOp, element: Sequence[IntExpr]
) -> tuple[dict[SSAValue, IntExpr], list[Bound]]:
    """The axes for the element that a block loads, and bounds that hold for elements it loads.

    Raises ScheduleError where the element does not determine the axes.
    """
    where = f"expected block '{block.block_name.data}' to load {buffer_text(load.buffer)}"
    used = indices_over_axes(load, block)
    if used is None:
        raise ScheduleError(f"{where} at indices over its axes alone", block)
    variables = [block.axis_vars[axis] for axis in used[0]]
    extents = extents_run(block)
    assert extents is not None  # as for its store
    dims = [extents[axis] for axis in used[0]]
    place = _place(variables, used[1])
    try:
        inverse = place.inverse(dims)
    except ValueError:
        raise ScheduleError(f"{where} at indices that determine its axes", block) from None
    found: dict[SSAValue, IntExpr] = {
        var: axis.min.data for var, axis in zip(block.axis_vars, block.axes.data, strict=True)
    }
    wide = {block.axis_vars[axis] for axis in wide_axes(block)}
    if not wide <= set(variables):
        raise ScheduleError(f"{where} at indices that determine its axes", block)
    for var, old in zip(variables, inverse(element), strict=True):
        found[var] = old + found[var]
    if _covers(place, dims, load.buffer):
        return found, []
    return found, place.conditions(inverse, element, dims)


def _restrict(block: tir.BlockOp, bounds: Sequence[Bound], values: Values) -> None:
    """Let a block run for those values of its axes that are in bounds over `values`."""
    bindings = zip(block.axis_vars, exprs_of(block.bindings), strict=True)
    over_loops = {
        values.atom(var): values.rebase(binding, block.numbering()) for var, binding in bindings
    }
    conditions = undecided(bounds, values)
    moved = [(a.substitute(over_loops), b.substitute(over_loops)) for a, b in conditions]
    add_predicates(block, undecided(moved, values), values)

"""`reverse_compute_inline`: what follows a scratch buffer is computed where that is stored.

::

    for i, j: T[i, j] = exp(X[i, j])
    for i, j: Y[i, j] = T[j, i] + 1          ⇒      for i, j: Y[j, i] = exp(X[i, j]) + 1

    for i: T[i] = exp(X[i])
    for i, j in (n, 4): Y[i, j] = T[i * 4 + j]     ⇒      for i: Y[i // 4, i % 4] = exp(X[i])

    for i, k: T[i] += X[i, k]
    for i: Y[0, i] = T[i]                          ⇒      for i, k: Y[0, i] += X[i, k]

Elements of the scratch buffer that are not loaded are not computed: the producer gets predicates.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import enclosing
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
from .stored_once import stores_all_once


def reverse_compute_inline(block: tir.BlockOp) -> None:
    """Inline a block into the producer of the scratch buffer that it loads.

    The block must store different elements from one element each of the scratch buffer, which one
    other block defines and nothing else loads. The indices of that element determine the axes of
    the block. A block that only copies may also follow a reduction. Raises ScheduleError with one
    line otherwise.
    """
    consumer = Definition(block, _store(block, is_complete=False), ())
    producer, load = _sole_producer(consumer)
    values = Values()
    stored = values.exprs(producer.indices, producer.operands_)
    around = enclosing(producer, tir.BlockOp)
    assert around is not None
    axes, bounds = _axes_of_element(load, block, stored)
    scratch = producer.buffer
    if around.init is None:
        _append(consumer, load, producer, ScalarCopier(values, axes))
    else:
        _accumulate_there(consumer, load)
    _restrict(around, bounds, values)
    erase_nest(block)
    refresh_around([around])
    drop_unused_buffer(scratch)


def _append(
    consumer: Definition, load: tir.LoadOp, producer: tir.StoreOp, copier: ScalarCopier
) -> None:
    """Compute what the consumer stores in the place of the producer's store."""
    loads = [op for op in consumer.ops if _is_same_load(op, load)]
    for op in loads:
        copier.scope.data[op.results[0]] = producer.value
    copier.copy_all([op for op in consumer.ops if op not in loads])
    value = copier.value(consumer.store.value)
    copier.insert_before(producer)
    store, parent = consumer.store, producer.parent
    assert parent is not None
    indices = copier.scope.exprs(exprs_of(store.indices), store.operands_)
    new = tir.StoreOp(value, store.buffer, indices, copier.scope.values.list)
    parent.insert_op_before(new, producer)
    producer.detach()
    producer.erase()


def _accumulate_there(consumer: Definition, load: tir.LoadOp) -> None:
    """Let a reduction accumulate in the elements that the consumer copies its results to."""
    store, uses = consumer.store, uses_of(load.buffer)
    accesses = [op for op in (*uses.stores, *uses.loads) if op.parent is not load.parent]
    for access in accesses:
        values = Values()
        element = values.exprs(access.indices, access.operands_)
        copier = ScalarCopier(values, _axes_of_element(load, consumer.block, element)[0])
        indices = copier.scope.exprs(exprs_of(store.indices), store.operands_)
        if isinstance(access, tir.LoadOp):
            Rewriter.replace_op(access, tir.LoadOp(store.buffer, indices, values.list))
        else:
            Rewriter.replace_op(
                access, tir.StoreOp(access.value, store.buffer, indices, values.list)
            )


def _sole_producer(consumer: Definition) -> tuple[tir.StoreOp, tir.LoadOp]:
    """The store that defines the scratch buffer that the consumer transforms, and its load."""
    block = consumer.block
    where = f"block '{block.block_name.data}'"
    for load in [op for op in consumer.ops if isinstance(op, tir.LoadOp)]:
        uses = uses_of(load.buffer)
        if not isinstance(load.buffer.owner, tir.AllocBufferOp) or uses.others:
            continue
        around = _only_block(
            [*uses.stores, *(u for u in uses.loads if u.parent is not load.parent)]
        )
        own = [u for u in uses.loads if u.parent is load.parent]
        if around is None or not all(_is_same_load(u, load) for u in own):
            continue
        if around.init is not None:
            producer = _accumulated(around, consumer)
        elif len(uses.stores) == 1 and len(own) == len(uses.loads):
            producer = _store(around, is_complete=True)
        else:
            continue
        _verify_movable(consumer, around, producer.buffer)
        return producer, load
    raise ScheduleError(
        f"expected {where} to load a scratch buffer that one block stores to and no other loads",
        block,
    )


def _only_block(accesses: Sequence[Operation]) -> tir.BlockOp | None:
    """The block that all accesses are in, if there is one."""
    blocks = {enclosing(op, tir.BlockOp) for op in accesses}
    return blocks.pop() if len(blocks) == 1 else None


def _accumulated(block: tir.BlockOp, consumer: Definition) -> tir.StoreOp:
    """The update of a reduction into each element of the buffer that the consumer copies.

    Raises ScheduleError for a consumer that computes, and for other reductions.
    """
    name = consumer.block.block_name.data
    source = consumer.store.value.owner
    if not isinstance(source, tir.LoadOp) or consumer.ops != [source]:
        raise ScheduleError(
            f"expected block '{name}' to copy the result of reduction '{block.block_name.data}', "
            "got one that computes",
            consumer.block,
        )
    uses = uses_of(source.buffer)
    update = next(s for s in uses.stores if enclosing(s, tir.InitOp) is not block.init)
    own = [op for op in (*uses.stores, *uses.loads) if op is not source]
    if len({(op.indices, tuple(op.operands_)) for op in own}) != 1:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to use one element of "
            f"{buffer_text(source.buffer)} at a time",
            block,
        )
    return _once(update, block, is_complete=True)


def _store(block: tir.BlockOp, is_complete: bool) -> tir.StoreOp:
    """The store of a block that stores elements once each, of a buffer all if `is_complete`.

    Raises ScheduleError for other blocks.
    """
    return _once(sole_store(block, with_predicates=True), block, is_complete)


def _once(store: tir.StoreOp, block: tir.BlockOp, is_complete: bool) -> tir.StoreOp:
    """A store, if its block stores elements once each, or reduces to them."""
    used, extents = indices_over_axes(store, block), extents_run(block)
    is_covered = uncovered_axis(block) is None and extents is not None
    spatial = {a for a in wide_axes(block) if block.axis_kinds[a] != "reduce"}
    if used is not None and is_covered and spatial <= set(used[0]):
        place = _place([block.axis_vars[axis] for axis in used[0]], used[1])
        assert extents is not None
        dims = [extents[axis] for axis in used[0]]
        if _has_inverse(place, dims) and (not is_complete or _covers(place, dims, store.buffer)):
            return store
    if is_complete and block.init is None and stores_all_once(store, block):
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

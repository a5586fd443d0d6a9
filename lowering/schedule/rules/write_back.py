"""Schedule the blocks that consume, copy or pack a tile of a contraction."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO
from ....dialects.nesting import operations_in
from ....dialects.tir.scalar_ops import ARITHMETIC
from ...analysis.block_accesses import dim_axes
from ...analysis.strides import Strides
from ..blocks import blocks_in, loop_of, loops_around, loops_between, only_reader
from ..primitives.schedule import Schedule
from .match_contraction import Contraction
from .storage import compact_scratch
from .whole_reductions import moves_whole

CHEAP_OPERATIONS = 8
"""The most operations of a block that is repeated for each vector of a tile."""

EXPENSIVE = ("math.", "arith.divsi", "arith.divui", "scf.")
"""Prefixes of operations that are lowered to many instructions."""

UNROLLED = 32
"""The maximum trip count of unrolled loops over rows, and over the vectors of a row."""


def consumer_of(contraction: Contraction) -> tir.BlockOp | None:
    """The elementwise consumer of the result, if it is the only use."""
    user = only_reader(contraction.store.buffer, contraction.block)
    return user if user is not None and is_element_wise(user, contraction) else None


def copy_results(sch: Schedule, block: tir.BlockOp) -> tir.BlockOp:
    """Let a block write scratch memory; returns the block that copies it to the result.

    Raises ScheduleError for a block that is not known to store all of its result.
    """
    return sch.block(sch.cache_write(sch.rv(block), 0, "global"))


def write_back(
    sch: Schedule,
    block: tir.BlockOp,
    consumer: tir.BlockOp | None,
    loop: tir.ForOp,
    lanes: int,
) -> None:
    """Move the consumer of the results into `loop`, or else a copy of each tile to the result."""
    if consumer is not None and is_cheap(consumer) and move_into(sch, consumer, loop, lanes, True):
        return
    copy = sch.try_(copy_results, sch, block)
    if copy is None:
        return
    move_into(sch, copy, loop, lanes, True)
    if consumer is not None and move_into(sch, consumer, loop, lanes, False):
        compact_scratch(sch, copy.write_buffers[0])


def move_into(
    sch: Schedule, block: tir.BlockOp, loop: tir.ForOp, lanes: int, is_unrolled: bool
) -> bool:
    """Move a block into a loop of its producer, vectorized, if that is possible; whether it was."""
    if not moves_whole(sch, block, loop):
        return False
    vectorize_tile(sch, block, loops_between(block, loop), lanes, is_unrolled)
    return True


def is_cheap(block: tir.BlockOp) -> bool:
    """Whether a block has few and simple operations, so that it may be unrolled."""
    ops = [op for op in operations_in(block) if op.name.startswith((*ARITHMETIC, "scf."))]
    work = [op for op in ops if op.name != "arith.constant"]
    return len(work) <= CHEAP_OPERATIONS and not any(op.name.startswith(EXPENSIVE) for op in ops)


def is_element_wise(block: tir.BlockOp, contraction: Contraction) -> bool:
    """Whether a block is an elementwise consumer of a contraction, also contiguous along n."""
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    if len(stores) != 1 or block.init is not None or set(block.axis_kinds) - {"spatial"}:
        return False
    (store,) = stores
    var = column_of(block, store)
    if var is None:
        return False
    axes = dim_axes(contraction.block, contraction.store)
    dims = [dim for dim, axis in enumerate(axes) if axis == contraction.n]
    loads = [
        op
        for op in operations_in(block)
        if isinstance(op, tir.LoadOp) and op.buffer is contraction.store.buffer
    ]
    axis = [v is var for v in block.axis_vars].index(True)
    return all(dim_axes(block, op)[d] == axis for op in loads for d in dims)


def column_of(block: tir.BlockOp, store: tir.StoreOp) -> SSAValue | None:
    """The axis along which a store of a block is contiguous."""
    type_ = store.buffer.type
    assert isinstance(type_, tir.BufferType)
    wide = [i for i, dim in enumerate(type_.dims) if dim != ONE]
    if not wide or type_.element_strides()[wide[-1]] != ONE:
        return None
    strides = Strides(block, bound=False)
    index, values = strides.indices[store][wide[-1]], strides.scope.values
    used = [var for var in block.axis_vars if values.atom(var) in index.atoms()]
    return used[0] if [index.coefficient_of(values.atom(v)) for v in used] == [ONE] else None


def vectorize_tile(
    sch: Schedule, block: tir.BlockOp, made: Sequence[tir.ForOp], lanes: int, is_unrolled: bool
) -> None:
    """Vectorize a block's loops over a tile along its contiguous axis."""
    (store,) = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    column = column_of(block, store)
    loop = None if column is None else _loop_over(block, column, made)
    if loop is None:
        return
    rest = [sch.rv(op) for op in made if op is not loop]
    parts = sch.try_(sch.split, sch.rv(loop), [None, lanes])
    if parts is None or not sch.applies(sch.reorder, *rest, *parts):
        return
    vector, lane = parts
    sch.vectorize(lane)
    for variable in (vector, *(rest if is_unrolled else ())):
        size = sch.loop(variable).extent.data.constant
        if size is not None and size <= UNROLLED:
            sch.unroll(variable)


def vectorize_copy(
    sch: Schedule, block: tir.BlockOp, made: Sequence[tir.ForOp], lanes: int
) -> None:
    """Vectorize the loops of a copy along its stores.

    If its loads are contiguous along another loop, it copies squares of as many rows as lanes,
    which are transposed in registers, and then the remainder. Out-of-range columns are copied too
    if the stored buffer is padded. Squares span as few columns as possible, since columns that are
    a power of two apart share few cache sets.
    """
    (store,) = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    column = column_of(block, store)
    loop = None if column is None else _loop_over(block, column, made)
    across = None if column is None else _strided_source(block, column, made)
    if loop is None or across is None:
        vectorize_tile(sch, block, made, lanes, False)
        return
    others = [op for op in made if op is not loop and op is not across]
    sch.reorder(*map(sch.rv, [*others, loop, across]))
    for columns in _full_vectors(sch, loop, store, lanes):
        inner = loops_around(blocks_in(columns)[0])[-1]
        sch.reorder(sch.rv(inner), sch.rv(columns))
        for rows in _full_squares(sch, inner, lanes):
            _transpose_squares(sch, rows, lanes)


def _full_vectors(
    sch: Schedule, loop: tir.ForOp, store: tir.StoreOp, lanes: int
) -> list[tir.ForOp]:
    """The loop along which stores are contiguous, peeled unless the buffer has whole vectors."""
    type_ = store.buffer.type
    assert isinstance(type_, tir.BufferType)
    room = type_.dims[-1].constant
    return [loop] if room is None or room % lanes == 0 else _full_squares(sch, loop, lanes)


def _transpose_squares(sch: Schedule, rows: tir.ForOp, lanes: int) -> None:
    """Tile a loop along which loads are contiguous, and the loop in it, by squares."""
    (block,) = blocks_in(rows)
    column = loops_around(block)[-1]
    count = column.extent.data.constant
    *vectors, lane = [sch.rv(column)]
    if count is None or count >= lanes:
        *vectors, lane = sch.split(lane, [None, lanes])
    squares = [sch.rv(rows)]
    if rows.extent.data % lanes == ZERO:
        squares = sch.split(squares[0], [None, lanes])
    sch.reorder(*vectors, *squares, lane)
    sch.vectorize(lane)
    sch.applies(sch.drop_predicates, sch.rv(block))  # if refused, out-of-range columns are masked


def _full_squares(sch: Schedule, loop: tir.ForOp, lanes: int) -> list[tir.ForOp]:
    """Peel the loop so that the first part is whole squares; returns the parts, or the loop."""
    count = loop.extent.data
    if count.constant is not None and (count.constant < lanes or count.constant % lanes == 0):
        return [loop]
    parts = sch.try_(sch.loop_partition, sch.rv(loop), [count // lanes * lanes, None])
    return [loop] if parts is None else [sch.loop(part) for part in parts]


def _strided_source(
    block: tir.BlockOp, column: SSAValue, loops: Sequence[tir.ForOp]
) -> tir.ForOp | None:
    """The loop along which a copy's load is contiguous, if its stores are contiguous elsewhere."""
    (load, *more) = [op for op in operations_in(block) if isinstance(op, tir.LoadOp)]
    type_ = load.buffer.type
    assert isinstance(type_, tir.BufferType)
    axis = None if more or type_.element_strides()[-1] != ONE else dim_axes(block, load)[-1]
    if axis is None or block.axis_vars[axis] is column:
        return None
    return loop_of(block, axis, loops)


def _loop_over(
    block: tir.BlockOp, variable: SSAValue, loops: Sequence[tir.ForOp]
) -> tir.ForOp | None:
    """The loop that the axis of a variable is bound to."""
    return loop_of(block, [var is variable for var in block.axis_vars].index(True), loops)

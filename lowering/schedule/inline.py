"""`compute_inline`: compute the elements of a scratch buffer where they are used.

::

    for i, j: T[i, j] = exp(X[i, j])
    for i, j: Y[i, j] = T[j, i] + 1          ⇒      for i, j: Y[i, j] = exp(X[j, i]) + 1

Each load of the scratch buffer is replaced by the computation of its element; equal loads of one
statement share it. Values are rounded to the dtype of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import ExtFOp, TruncFOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.bounds import never_negative
from ...dialects.int_expr import ZERO, IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values
from ...dialects.tir.ranges import ranges_of
from ...dialects.tir.scalar_ops import ARITHMETIC
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from ..analysis.block_accesses import accessed_axes
from ..analysis.independence import may_share_memory
from .blocks import (
    ScheduleError,
    Uses,
    common_block,
    erase_nest,
    function_of,
    loaded_buffers,
    statement_in,
    statements,
    stored_buffers,
    uses_of,
)
from .conditions import facts_at
from .copy_scalars import ScalarCopier
from .regions import refresh_around

EXPRESSIONS = (*ARITHMETIC, "tir.load", "tir.apply", "scf.if", "scf.yield")
"""Operations that only compute scalars, perhaps from memory."""


STEPS = {
    *(f"math.{name}" for name in ("ceil", "floor", "round", "roundeven", "trunc")),
    *(f"arith.{name}" for name in ("cmpf", "fptosi", "fptoui")),
}
"""Operations for which a small difference of an operand may be a large one of the result."""


@dataclass(frozen=True)
class Definition:
    """The definition of the elements of a buffer by a block: ``buffer[axes] = value``.

    `axis_of` has for each dim the axis that indexes it, or `None` where the dim is 1.
    """

    block: tir.BlockOp
    store: tir.StoreOp
    axis_of: tuple[int | None, ...]

    @property
    def ops(self) -> list[Operation]:
        """The operations that compute the value, in order."""
        return [op for op in self.block.body.block.ops if op is not self.store]

    def meaning(self, indices: Sequence[IntExpr]) -> dict[SSAValue, IntExpr]:
        """The values of the axes for an element."""
        return axis_values(self.block, self.axis_of, indices)


def axis_values(
    block: tir.BlockOp, axis_of: Sequence[int | None], indices: Sequence[IntExpr]
) -> dict[SSAValue, IntExpr]:
    """The values of a block's axes for the element at `indices`."""
    found: dict[SSAValue, IntExpr] = {
        var: axis.min.data for var, axis in zip(block.axis_vars, block.axes.data, strict=True)
    }
    for axis, index in zip(axis_of, indices, strict=True):
        if axis is not None:
            found[block.axis_vars[axis]] = index
    return found


def compute_inline(block: tir.BlockOp) -> None:
    """Inline the computation of a block into its uses, and erase the block and its buffer.

    A block without uses is erased.

    The block must define every element of a scratch buffer that only later statements load, from
    memory that nothing changes in between. Raises ScheduleError with one line otherwise.
    """
    definition = defines(block)
    buffer, uses = definition.store.buffer, uses_of(definition.store.buffer)
    is_unused = not (uses.loads or uses.others) and uses.stores == [definition.store]
    if is_unused and isinstance(buffer.owner, tir.AllocBufferOp):
        erase_nest(block)
    else:
        refresh_around(inline_block(definition).consumers)
    drop_unused_buffer(buffer)


@dataclass(frozen=True)
class Inlining:
    """A buffer without accesses, and the blocks whose declared regions still name it."""

    buffer: SSAValue
    consumers: list[tir.BlockOp]


def inline_block(definition: Definition, drops_roundings: bool = False) -> Inlining:
    """`compute_inline` without updating the declared regions of other blocks.

    With `drops_roundings` a result that is rounded to a shorter float, and is not the mere
    conversion of an element, is used in its own precision, if none of its uses is in `STEPS`.
    """
    uses = _inlinable_uses(definition)
    buffer = definition.store.buffer
    loads = _in_order(uses.loads)
    consumers = [p for op in loads for p in ancestors(op) if isinstance(p, tir.BlockOp)]
    _replace_loads(definition, loads, drops_roundings)
    erase_nest(definition.block)
    return Inlining(buffer, list(dict.fromkeys(consumers)))


def inline_blocks(
    blocks: Iterable[tir.BlockOp],
    is_profitable: Callable[[Definition], bool],
    drops_roundings: bool = False,
) -> None:
    """Inline the blocks for which this is possible and profitable; consumers before producers."""
    done: list[Inlining] = []
    for block in blocks:
        try:
            definition = defines(block)
            if is_profitable(definition):
                done.append(inline_block(definition, drops_roundings))
        except ScheduleError:
            continue
    refresh_around(b for inlining in done for b in inlining.consumers)
    for inlining in done:
        drop_unused_buffer(inlining.buffer)


def defines(block: tir.BlockOp) -> Definition:
    """The definition by a block; raises ScheduleError for any other block."""
    store = sole_store(block)
    axes = accessed_axes(block, store, in_part=True)
    if axes is None or uncovered_axis(block) is not None:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to store each element of "
            f"{buffer_text(store.buffer)} at its axes",
            block,
        )
    return Definition(block, store, axes)


def sole_store(block: tir.BlockOp, with_predicates: bool = False) -> tir.StoreOp:
    """The store of a block that computes one value; raises ScheduleError for any other block.

    A block `with_predicates` does so where these hold.
    """
    where = f"block '{block.block_name.data}'"
    if set(block.axis_kinds) - {"spatial"} or block.init is not None:
        raise ScheduleError(f"expected {where} to have spatial axes only", block)
    if block.predicates.data and not with_predicates:
        raise ScheduleError(f"expected {where} to have no predicates", block)
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    others = [o for o in operations_in(block) if o is not block and not is_expression(o)]
    if len(stores) != 1 or others != stores or stores[0].parent is not block.body.block:
        raise ScheduleError(f"expected {where} to compute one value and store it", block)
    return stores[0]


def is_expression(op: Operation) -> bool:
    """Whether the operation only computes a scalar."""
    return op.name.startswith(EXPRESSIONS)


def _inlinable_uses(definition: Definition) -> Uses:
    block, buffer = definition.block, definition.store.buffer
    name = buffer_text(buffer)
    if not isinstance(buffer.owner, tir.AllocBufferOp):
        raise ScheduleError(f"expected {name} to be a scratch buffer, got a parameter", block)
    uses = uses_of(buffer)
    if uses.stores != [definition.store]:
        raise ScheduleError(f"expected {name} to be stored to by one block", block)
    if uses.others:
        raise ScheduleError(f"expected {name} only to be loaded, got a view or call of it", block)
    if not uses.loads:
        raise ScheduleError(f"expected {name} to be loaded", block)
    parent = common_block([block, *uses.loads])
    order = list(parent.ops)
    own = statement_in(parent, block)
    assert own is not None
    first = order.index(own)
    last = first
    for load in uses.loads:
        user = statement_in(parent, load)
        assert user is not None
        last = max(last, order.index(user))
        if order.index(user) <= first:
            raise ScheduleError(f"expected {name} to be loaded after it is stored", block)
        if not _is_stored(definition, load):
            raise ScheduleError(
                f"expected {name} to be loaded where block '{block.block_name.data}' stores", block
            )
    _verify_unchanged(definition, parent, order[first : last + 1])
    return uses


def _is_stored(definition: Definition, load: tir.LoadOp) -> bool:
    """Whether a load is surely of elements that a block defines."""
    type_, values = definition.store.buffer.type, Values()
    assert isinstance(type_, tir.BufferType)
    indices = values.exprs(load.indices, load.operands_)
    ranges = ranges_of(values.list)
    for axis, index, dim in zip(definition.axis_of, indices, type_.dims, strict=True):
        bounds = None if axis is None else definition.block.axes.data[axis]
        if bounds is None or (bounds.min.data == ZERO and bounds.extent.data == dim):
            continue
        start, extent = bounds.min.data, bounds.extent.data
        before, after = index - start, start + extent - 1 - index
        if (
            start.args()
            or extent.args()
            or not all(never_negative(room, ranges) for room in (before, after))
        ):
            return False
    return True


def _verify_unchanged(definition: Definition, parent: Block, between: list[Operation]) -> None:
    """Raise ScheduleError if a buffer that the block reads may change before a use of its value."""
    func = function_of(definition.block)
    outermost = statement_in(statements(func), definition.block)
    if parent is not statements(func) and outermost is not None:
        between = [outermost]  # an earlier or later iteration of the loops around counts as well
    read = loaded_buffers(definition.block)
    for op in between:
        for written in stored_buffers(op):
            for buffer in read:
                if may_share_memory(buffer, written):
                    raise ScheduleError(
                        f"expected {buffer_text(buffer)} not to change between block "
                        f"'{definition.block.block_name.data}' and where its result is used",
                        definition.block,
                    )


def _in_order(loads: Sequence[tir.LoadOp]) -> list[tir.LoadOp]:
    if len({op.parent for op in loads}) == 1 and (parent := loads[0].parent) is not None:
        wanted = set(loads)
        return [op for op in parent.ops if isinstance(op, tir.LoadOp) and op in wanted]
    wanted = set(loads)
    func = function_of(loads[0])
    return [op for op in operations_in(func) if isinstance(op, tir.LoadOp) and op in wanted]


def _replace_loads(
    definition: Definition, loads: Sequence[tir.LoadOp], drops_roundings: bool
) -> None:
    numbering = Values()
    known: dict[tuple[Block | None, tuple[IntExpr, ...]], SSAValue] = {}
    copies: list[Operation] = []
    # What compares an element with another one's result needs the same roundings in both.
    drops_roundings = drops_roundings and not any(map(_is_stepped, loads))
    for load in loads:
        values = Values()
        indices = values.exprs(load.indices, load.operands_)
        key = load.parent, tuple(numbering.exprs(load.indices, load.operands_))
        if key not in known:
            meaning = definition.meaning(indices)
            copier = ScalarCopier(values, meaning, facts_at(load, values))
            copier.copy_all(definition.ops)
            known[key] = copier.value(definition.store.value)
            copies += copier.insert_before(load)
        if drops_roundings:
            _drop_rounding(known[key], load)
        load.result.replace_all_uses_with(known[key])
        load.detach()
        load.erase()
    for op in reversed(copies):  # conditions of choices that are decided
        if not any(r.uses for r in op.results):
            op.detach()
            op.erase()


def _is_stepped(load: tir.LoadOp) -> bool:
    """Whether one of the `STEPS` uses the result of a load, extended to a longer float."""
    extended = (use.operation for use in load.result.uses)
    users = (u for op in extended if isinstance(op, ExtFOp) for u in op.result.uses)
    return any(user.operation.name in STEPS for user in users)


def _drop_rounding(value: SSAValue, load: tir.LoadOp) -> None:
    """Let what extends the result of a load use a value before it is rounded."""
    rounding = value.owner
    if not isinstance(rounding, TruncFOp) or isinstance(rounding.input.owner, tir.LoadOp):
        return
    for use in list(load.result.uses):
        extended = use.operation
        if isinstance(extended, ExtFOp) and extended.result.type == rounding.input.type:
            Rewriter.replace_op(extended, [], [rounding.input])


def drop_unused_buffer(buffer: SSAValue) -> None:
    """Erase the allocation of a buffer that nothing uses any more."""
    if buffer.first_use is None and isinstance(buffer.owner, tir.AllocBufferOp):
        buffer.owner.detach()
        buffer.owner.erase()

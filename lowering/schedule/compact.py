"""`compact_buffer`: shrink a scratch buffer to the part that one iteration of its loops uses.

::

    T: [n, m]                                          for i:
    for i:                                               T: [1, m]
      for j: T[i, j] = exp(X[i, j])             ⇒        for j: T[0, j] = exp(X[i, j])
      for j: Y[i, j] = T[i, j] / S[i]                    for j: Y[i, j] = T[0, j] / S[i]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from ...dialects import tir
from ...dialects.bounds import constant_limit
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text, uncovered_axis
from .blocks import ScheduleError, Uses, common_block, function_of, stored_buffers, uses_of
from .loop_checks import loop_text
from .regions import contains, refresh_around
from .required_ranges import is_complete_in


def compact_buffer(alloc: tir.AllocBufferOp) -> None:
    """Move an allocation into the innermost loop around its uses, and shrink it to their region.

    TVM does so to all buffers, in its pass ``CompactBufferAllocation``. Raises ScheduleError for a
    buffer that is viewed, passed on or not dense, and unless each iteration of that loop stores
    what it loads.
    """
    _shrink(alloc, part_of_iteration(alloc))


def part_of_iteration(alloc: tir.AllocBufferOp, in_part: bool = False) -> Part:
    """The region of a scratch buffer that an iteration of the innermost loop around it uses.

    Raises ScheduleError where `compact_buffer` does, but with `in_part` not for axes that take a
    part of the values of their ranges, which may be no indices of a smaller buffer.
    """
    plan = _plan_of(alloc, in_part)
    if isinstance(plan, ScheduleError):
        raise plan
    return plan


def private_buffers(loop: tir.ForOp) -> list[tir.AllocBufferOp]:
    """The scratch buffers from outside of a loop that `compact_buffer` would move into it."""
    found: list[tir.AllocBufferOp] = []
    stored = stored_buffers(loop)
    for alloc in operations_in(function_of(loop)):
        if not isinstance(alloc, tir.AllocBufferOp) or alloc.result not in stored:
            continue
        if loop in ancestors(alloc):
            continue
        plan = _plan_of(alloc)
        inner = plan.parent.parent_op() if isinstance(plan, Part) else None
        if inner is not None and loop in (inner, *ancestors(inner)):
            found.append(alloc)
    return found


@dataclass(frozen=True)
class Part:
    """The body of the innermost loop around a buffer's uses, and the region, over `values`, that
    an iteration stores before it loads any of it."""

    parent: Block
    region: tir.BufferRegion
    values: Values
    accesses: Sequence[tir.LoadOp | tir.StoreOp]


def _plan_of(alloc: tir.AllocBufferOp, in_part: bool = False) -> Part | ScheduleError:
    """The plan for a buffer, or the error that explains why it cannot move."""
    uses, name = uses_of(alloc.result), buffer_text(alloc.result)
    accesses: list[tir.LoadOp | tir.StoreOp] = [*uses.stores, *uses.loads]
    if uses.others or not alloc.result.type.is_dense:
        return ScheduleError(f"expected {name} to be dense, and only loaded and stored to", alloc)
    if not uses.stores or not uses.loads:
        return ScheduleError(f"expected {name} to be stored to and loaded", alloc)
    parent = _innermost_loop(accesses)
    if parent is None:
        return ScheduleError(f"expected a loop around all blocks that use {name}", alloc)
    loop = parent.parent_op()
    assert isinstance(loop, tir.ForOp)
    values = Values()
    stored = _stored_region(parent, alloc, values) if _is_stored_first(loop, uses) else None
    writers = [b for s in uses.stores if (b := enclosing(s, tir.BlockOp)) is not None]
    if stored is None or not (in_part or all(uncovered_axis(b) is None for b in writers)):
        return ScheduleError(
            f"expected each iteration of {loop_text(loop)} to store all of {name} that it loads",
            alloc,
        )
    return Part(parent, stored, values, accesses)


def _stored_region(
    parent: Block, alloc: tir.AllocBufferOp, values: Values
) -> tir.BufferRegion | None:
    """The region of a buffer that is stored in a block, if all its loads there are inside."""
    for by_predicates in (False, True):
        reads, writes = infer_regions(parent, values, by_predicates=by_predicates)
        written = [r for r in writes if r.buffer is alloc.result]
        read = [r for r in reads if r.buffer is alloc.result]
        if len(written) == 1 and (not read or contains(written[0], read[0], values)):
            return written[0]
    return None


def _innermost_loop(accesses: Sequence[Operation]) -> Block | None:
    """The body of the innermost loop around the accesses and outside of their blocks."""
    around = [enclosing(op, tir.BlockOp) for op in accesses]
    if any(b is None for b in around):
        return None
    block: Block | None = common_block([b for b in around if b is not None])
    while block is not None:
        parent = block.parent_op()
        if isinstance(parent, tir.ForOp):
            return block
        if not isinstance(parent, tir.BlockOp) or parent in around:
            return None
        block = parent.parent
    return None


def _is_stored_first(loop: tir.ForOp, uses: Uses) -> bool:
    """Whether statements store the whole region before others load it."""
    parent = loop.body.block
    stored = {s for u in uses.stores for s in parent.ops if s is u or s in ancestors(u)}
    loaded = {
        s
        for u in uses.loads
        for s in parent.ops
        if s in ancestors(u) and not _is_own_accumulation(u, uses)
    }
    if any(_is_reduced_over(u, loop) for u in uses.loads if _is_own_accumulation(u, uses)):
        return False
    order = {op: i for i, op in enumerate(parent.ops)}
    if not stored or (loaded and max(order[s] for s in stored) >= min(order[s] for s in loaded)):
        return False
    return all(is_complete_in(store, loop) for store in uses.stores)


def _is_own_accumulation(load: tir.LoadOp, uses: Uses) -> bool:
    """Whether a reduction loads the element that its own init has stored."""
    block = enclosing(load, tir.BlockOp)
    if block is None or block.init is None:
        return False
    init = block.init
    return any(
        init in ancestors(s) and (s.indices, tuple(s.operands_)) == _place(load)
        for s in uses.stores
    )


def _is_reduced_over(load: tir.LoadOp, loop: tir.ForOp) -> bool:
    """Whether a reduction continues over iterations of a loop or of one around it."""
    block = enclosing(load, tir.BlockOp)
    assert block is not None
    variables = {p.loop_var for p in (loop, *ancestors(loop)) if isinstance(p, tir.ForOp)}
    numbering = block.numbering()
    return any(
        numbering[i] in variables
        for kind, binding in zip(block.axis_kinds, exprs_of(block.bindings), strict=True)
        for i in binding.args()
        if kind == "reduce"
    )


def _place(load: tir.LoadOp) -> tuple[object, tuple[object, ...]]:
    return load.indices, tuple(load.operands_)


def _shrink(alloc: tir.AllocBufferOp, plan: Part) -> None:
    type_, parent, region = alloc.result.type, plan.parent, plan.region
    mins: list[IntExpr | None] = []
    dims: list[IntExpr] = []
    for low, extent, dim in zip(region.mins, region.extents, type_.dims, strict=True):
        most = constant_limit(extent) if extent.args() else None
        size = IntExpr.of(most) if most is not None else dim if extent.args() else extent
        fits = size != dim
        mins.append(low if fits else None)
        dims.append(size)
    new = tir.AllocBufferOp(
        tir.BufferType.of(dims, type_.element_type, scope=type_.scope.data),
        None if alloc.buffer_name is None else alloc.buffer_name.data,
    )
    new.result.name_hint = alloc.result.name_hint
    assert parent.first_op is not None
    parent.insert_op_before(new, parent.first_op)
    alloc.result.replace_all_uses_with(new.result)
    alloc.detach()
    alloc.erase()
    for op in plan.accesses:
        _shift(op, mins, plan.values)
    refresh_around(plan.accesses)


def _shift(op: tir.LoadOp | tir.StoreOp, mins: Sequence[IntExpr | None], outer: Values) -> None:
    """Make the indices of an access relative to the buffer's new first element."""
    values = Values()
    indices = values.exprs(op.indices, op.operands_)
    moved = [
        index if low is None else index - values.rebase(low, outer.list)
        for index, low in zip(indices, mins, strict=True)
    ]
    replace_indices_of(op, moved, values)


def replace_indices_of(
    op: tir.LoadOp | tir.StoreOp, indices: Sequence[IntExpr], values: Values
) -> None:
    """Let an access be at other indices, over `values`; the operation stays the same one."""
    if isinstance(op, tir.LoadOp):
        new: tir.LoadOp | tir.StoreOp = tir.LoadOp(op.buffer, indices, values.list)
    else:
        new = tir.StoreOp(op.value, op.buffer, indices, values.list)
    op.operands = list(new.operands)
    op.properties = dict(new.properties)
    new.erase()

"""`rfactor`: factor a reduction into partial results, one per iteration of a loop, and their sum.

::

    for i, k_0, k_1 in (n, 8, 16):                    for i, k_0, k_1 in (n, 8, 16):
      Y[i] += X[i, k_0 * 16 + k_1]            ⇒         Y_rf[i, k_1] += X[i, k_0 * 16 + k_1]
                                                      for i, k_1 in (n, 16):
                                                        Y[i] += Y_rf[i, k_1]

Partial results are independent: their loop can be vectorized or parallel. An initial value other
than the identity is used once: partial results start with the identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, Atom, IntExpr, IntLike
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import exprs_of
from ..analysis.reductions import Accumulation, identity
from ..scope import Bound
from .blocks import ScheduleError, blocks_in, function_of, loops_around, perfect_nest
from .copy_block import new_scratch
from .copy_scalars import ScalarCopier
from .index_values import is_certain
from .loop_checks import loop_text
from .new_block import NewBlock, take_over
from .reducer import Reducer, reducer_of
from .reduction_checks import verify_starts_once
from .regions import refresh_around


@dataclass(frozen=True)
class _Plan:
    """A reduction in its own loops, outermost first, one of which gets partial results."""

    block: tir.BlockOp
    reducer: Reducer
    loops: list[tir.ForOp]
    loop: tir.ForOp
    spatial: list[tir.ForOp]
    position: int


def rfactor(loop: tir.ForOp, factor_axis: int = 0) -> tir.BlockOp:
    """Compute partial results for each iteration of a reduction loop first; TVM's ``rfactor``.

    The buffers of the partial results have the loop's extent as dim `factor_axis`, which counts
    from the end where it is negative. Loops bound to reduction axes must be the block's own, start
    at 0, and be bound to nothing else; the block must combine its result with one value by an
    associative and commutative operation, or choose between them. Returns the block of the partial
    results, which stays in the loops; the given block then reduces them, in loops after these.
    Raises ScheduleError for other loops and blocks, before any change.
    """
    plan = _plan(loop, factor_axis)
    partial = [_allocate(u.buffer, plan) for u in plan.reducer.updates]
    made = _partial_block(plan, partial)
    loops = {op: _copy_of(op) for op in plan.loops if op is loop or op in plan.spatial}
    final = _final_block(plan, partial, loops)
    order = list(loops.values())
    block, nest = plan.block, plan.loops[0]
    parent, place = nest.parent, block.parent
    assert parent is not None and place is not None
    place.insert_op_before(made, block)
    block.detach()
    take_over(block, final)
    for outer, inner in zip(order, [*order[1:], block], strict=True):
        outer.body.block.add_op(inner)
    parent.insert_op_after(order[0], nest)
    refresh_around([made, block])
    return made


def _plan(loop: tir.ForOp, factor_axis: int) -> _Plan:
    found = blocks_in(loop)
    if len(found) != 1:
        raise ScheduleError(f"expected one block in the loop, got {len(found)}", loop)
    (block,) = found
    where = f"block '{block.block_name.data}'"
    if block.init is None or set(block.axis_kinds) - {"spatial", "reduce"}:
        raise ScheduleError(f"expected {where} to be a reduction with an initial value", block)
    outermost, around = perfect_nest(block), loops_around(block)
    own = around[around.index(outermost) :] if isinstance(outermost, tir.ForOp) else []
    if loop not in own:
        raise ScheduleError(f"expected {where} to be the only statement in the loop", block)
    spatial, reduce = (_loops_bound_to(block, around, kind) for kind in ("spatial", "reduce"))
    if loop not in (*spatial, *reduce) and loop.extent.data == ONE:
        reduce.append(loop)
    if loop not in reduce:
        raise ScheduleError(f"expected the loop to be bound to a reduction axis of {where}", loop)
    if set(spatial) & set(reduce) or set(reduce) - set(own):
        raise ScheduleError(f"expected loops of {where} to be bound to axes of one kind", block)
    for op in own:
        if op.min.data != ZERO or op.extent.data.args():
            raise ScheduleError(
                f"expected loops of {where} to start at 0 and to have fixed extents", op
            )
    for op in reduce:
        if op.kind.data not in (("serial",) if op is loop else ("serial", "unrolled")):
            raise ScheduleError(
                f"expected {loop_text(op)}, over which {where} reduces, to be serial, "
                f"got {op.kind.data}",
                op,
            )
    verify_starts_once(block, reduce)
    reducer = reducer_of(block)
    rank = len(reducer.updates[0].store.indices)
    position = factor_axis + rank + 1 if factor_axis < 0 else factor_axis
    if not 0 <= position <= rank:
        raise ScheduleError(
            f"expected factor_axis of {where} from {-rank - 1} to {rank}, got {factor_axis}", block
        )
    return _Plan(block, reducer, own, loop, [op for op in own if op not in reduce], position)


def _loops_bound_to(block: tir.BlockOp, loops: Sequence[tir.ForOp], kind: str) -> list[tir.ForOp]:
    """The loops that axes of a kind depend on."""
    numbering = block.numbering()
    used = {
        numbering[i]
        for k, binding in zip(block.axis_kinds, exprs_of(block.bindings), strict=True)
        for i in binding.args()
        if k == kind
    }
    return [op for op in loops if op.loop_var in used]


def _allocate(buffer: SSAValue, plan: _Plan) -> SSAValue:
    """Allocate the partial results of a buffer in the block of its allocation."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    dims = list(type_.dims)
    dims.insert(plan.position, plan.loop.extent.data)
    outer = [p for p in ancestors(plan.block) if isinstance(p, tir.BlockOp)]
    parent = outer[-1].body.block if outer else function_of(plan.block).body.block
    if isinstance(buffer.owner, tir.AllocBufferOp) and buffer.owner.parent is not None:
        parent = buffer.owner.parent
    name = f"{buffer.name_hint or 'buffer'}_rf"
    made = new_scratch(name, dims, buffer, "global", parent)
    assert isinstance(made.owner, tir.AllocBufferOp)
    made.owner.buffer_name = StringAttr(name)
    return made


def _copy_of(loop: tir.ForOp) -> tir.ForOp:
    """An empty loop over the same range."""
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = loop.loop_var.name_hint
    tag = None if loop.thread_tag is None else loop.thread_tag.data
    copy = tir.ForOp(ZERO, loop.extent.data, [], Region(body), loop.kind.data, tag)
    copy.location = loop.location
    return copy


def _partial_block(plan: _Plan, partial: Sequence[SSAValue]) -> tir.BlockOp:
    """A copy of the block with a result for each iteration of the loop."""
    old = plan.block
    new = NewBlock(old, {})
    own = new.add_axis("spatial", plan.loop, is_first=True)
    steps: dict[SSAValue, IntExpr] = {plan.loop.loop_var: own}
    numbering, bindings = old.numbering(), exprs_of(old.bindings)
    used = [{numbering[i] for i in binding.args()} for binding in bindings]
    reduced = [i for i, kind in enumerate(old.axis_kinds) if kind == "reduce"]
    factored = [i for i in reduced if plan.loop.loop_var in used[i]]
    for loop in plan.loops:
        if loop is not plan.loop and any(loop.loop_var in used[i] for i in factored):
            steps[loop.loop_var] = new.add_axis("reduce", loop)
    for number in reduced:
        if number in factored:
            new.meaning[old.axis_vars[number]] = new.over_loops(bindings[number], steps)
        else:
            new.keep_axis(number)
    if "reduce" not in [axis.kind for axis in new.axes] and not plan.reducer.is_choice:
        new.add(_single_values(plan, new, partial, own))
    else:
        new.body.add_op(tir.InitOp(Region(_start(plan, new, partial, own))))
        body = [op for op in old.body.block.ops if op is not old.init]
        new.add(_copy(body, plan, new, partial, own))
    return new.finish(f"{old.block_name.data}_rf", _bounds(old, new, {}))


def _single_values(plan: _Plan, new: NewBlock, partial: Sequence[SSAValue], own: IntExpr) -> Block:
    """The values themselves as partial results, of which each has one."""
    ops = list(plan.block.body.block.ops)
    needed = {u.value for u in plan.reducer.updates}
    for op in reversed(ops):
        if needed & set(op.results):
            needed |= {v for inner in operations_in(op) for v in inner.operands}
    copier = ScalarCopier(new.values, new.meaning)
    copier.copy_all([op for op in ops if needed & set(op.results)])
    scope = copier.scope
    for update, buffer in zip(plan.reducer.updates, partial, strict=True):
        indices = scope.exprs(exprs_of(update.store.indices), update.store.operands_)
        indices.insert(plan.position, own)
        scope.emit(tir.StoreOp(copier.value(update.value), buffer, indices, scope.values.list))
    return copier.block


def _start(plan: _Plan, new: NewBlock, partial: Sequence[SSAValue], own: IntExpr) -> Block:
    """Initialize partial results as the result is, or with the identity."""
    init = plan.block.init
    assert init is not None
    if plan.reducer.may_start_again(init):
        return _copy(list(init.body.block.ops), plan, new, partial, own)
    copier = ScalarCopier(new.values, new.meaning)
    scope = copier.scope
    for update, buffer in zip(plan.reducer.updates, partial, strict=True):
        operation = update.store.value.owner
        assert isinstance(operation, Accumulation)
        neutral = arith.ConstantOp(identity(operation, update.store.value.type))
        indices = scope.exprs(exprs_of(update.store.indices), update.store.operands_)
        indices.insert(plan.position, own)
        scope.emit(neutral)
        scope.emit(tir.StoreOp(neutral.result, buffer, indices, scope.values.list))
    return copier.block


def _bounds(old: tir.BlockOp, new: NewBlock, loops: Mapping[SSAValue, IntExpr]) -> list[Bound]:
    """The predicates of the old block over loops, some of which are replaced."""
    bindings: dict[Atom, IntLike] = {Arg(i): e for i, e in enumerate(exprs_of(old.bindings))}
    return [
        (
            new.over_loops(b.lhs.data.substitute(bindings), loops),
            new.over_loops(b.rhs.data.substitute(bindings), loops),
        )
        for b in old.predicates.data
    ]


def _copy(
    ops: Sequence[Operation],
    plan: _Plan,
    new: NewBlock,
    partial: Sequence[SSAValue],
    own: IntExpr,
) -> Block:
    """A copy of operations in which partial results replace the results."""
    buffers = dict(zip((u.buffer for u in plan.reducer.updates), partial, strict=True))
    copier = ScalarCopier(new.values, new.meaning)
    scope = copier.scope
    for op in ops:
        if not (isinstance(op, tir.LoadOp | tir.StoreOp) and op.buffer in buffers):
            copier.copy(op)
            continue
        indices = scope.exprs(exprs_of(op.indices), op.operands_)
        indices.insert(plan.position, own)
        if isinstance(op, tir.LoadOp):
            load = tir.LoadOp(buffers[op.buffer], indices, scope.values.list)
            scope.emit(load)
            scope.define(op.result, load.result)
        else:
            value = copier.value(op.value)
            scope.emit(tir.StoreOp(value, buffers[op.buffer], indices, scope.values.list))
    return copier.block


def _final_block(
    plan: _Plan, partial: Sequence[SSAValue], loops: Mapping[tir.ForOp, tir.ForOp]
) -> tir.BlockOp:
    """The block that combines the partial results that were initialized."""
    old = plan.block
    new = NewBlock(old, {a.loop_var: b.loop_var for a, b in loops.items()})
    own = new.add_axis("reduce", loops[plan.loop], is_first=True)
    init = old.init
    assert init is not None
    start = ScalarCopier(new.values, new.meaning)
    _copy_stores(start, list(init.body.block.ops))
    new.body.add_op(tir.InitOp(Region(start.block)))
    copier = ScalarCopier(new.values, new.meaning)
    scope = copier.scope
    values: list[SSAValue] = []
    for update, buffer in zip(plan.reducer.updates, partial, strict=True):
        indices = scope.exprs(exprs_of(update.store.indices), update.store.operands_)
        indices.insert(plan.position, own)
        load = tir.LoadOp(buffer, indices, scope.values.list)
        scope.emit(load)
        values.append(load.result)
    results = plan.reducer.combine(copier, values)
    for update, result in zip(plan.reducer.updates, results, strict=True):
        indices = scope.exprs(exprs_of(update.store.indices), update.store.operands_)
        scope.emit(tir.StoreOp(result, update.buffer, indices, scope.values.list))
    new.add(copier.block)
    return new.finish(old.block_name.data, _first_bounds(plan, new))


def _copy_stores(copier: ScalarCopier, ops: Sequence[Operation]) -> None:
    for op in ops:
        if isinstance(op, tir.StoreOp):
            indices = copier.scope.exprs(exprs_of(op.indices), op.operands_)
            value = copier.value(op.value)
            copier.scope.emit(tir.StoreOp(value, op.buffer, indices, copier.scope.values.list))
        else:
            copier.copy(op)


def _first_bounds(plan: _Plan, new: NewBlock) -> list[Bound]:
    """The predicates where the other reduction loops start: whether a partial result was begun."""
    old = plan.block
    zeros: dict[SSAValue, IntExpr] = {
        loop.loop_var: ZERO
        for loop in plan.loops
        if loop is not plan.loop and loop not in plan.spatial
    }
    return [b for b in _bounds(old, new, zeros) if not is_certain(b, new.values)]

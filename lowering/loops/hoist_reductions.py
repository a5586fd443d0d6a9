"""Lanes that a loop adds up in each iteration are added up once, after it.

::

    %s = loops.for … carry (%c = %s0) {         %v = loops.for … carry (%c = %zeros) {
      %v = arith.addf %zeros, %x                  %d = arith.addf %c, %x
      %r = vector.reduction <add>, %v     ⇒       loops.yield %d : vector<16xf32>
      %d = arith.addf %c, %r                    }
      loops.yield %d : f32                      %r = vector.reduction <add>, %v
    }                                           %s = arith.addf %s0, %r
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.vector import BroadcastOp, ReductionOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import loops
from ..analysis.reductions import Accumulation, accumulations, identity, is_reordered
from ..scope import Scope, replace_by_block
from .horizontal_reductions import add_lanes, start


@dataclass
class _Reduction:
    """A value that a loop carries at `position`, and lanes that it is given in each iteration."""

    position: int
    op: Accumulation
    reduction: ReductionOp
    origin: BroadcastOp


def hoist_reductions(block: Block) -> None:
    """Keep lanes apart in the serial loops of a block, inner ones first."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                hoist_reductions(inner)
        if isinstance(op, loops.ForOp) and op.kind.data in ("serial", "unrolled"):
            found = [t for i in range(len(op.inits)) for t in _reductions(op, i)]
            if found:
                _hoist(op, found)


def _reductions(loop: loops.ForOp, position: int) -> list[_Reduction]:
    found: list[_Reduction] = []
    for op in accumulations(loop.carry_vars[position], loop.yielded[position]):
        if op.parent is not loop.body.block or not is_reordered(op):
            continue
        reduction = op.rhs.owner
        if not isinstance(reduction, ReductionOp) or not op.rhs.has_one_use():
            continue
        origin = _origin(op, reduction)
        if origin is not None and origin.parent is loop.body.block:
            found.append(_Reduction(position, op, reduction, origin))
    return found


def _origin(op: Accumulation, reduction: ReductionOp) -> BroadcastOp | None:
    """The identity with which the lanes start, if nothing else sees them on the way."""
    users: set[Operation] = {reduction}
    values: list[SSAValue] = []
    root = _follow(reduction.vector, type(op), users, values)
    if root is None or not isinstance(origin := root.owner, BroadcastOp):
        return None
    number = origin.source.owner
    if not isinstance(number, ConstantOp) or number.value != identity(op, op.result.type):
        return None
    seen = all(use.operation in users for value in values for use in value.uses)
    return origin if seen else None


def _follow(
    value: SSAValue, kind: type[Operation], users: set[Operation], values: list[SSAValue]
) -> SSAValue | None:
    """The value that lanes start with: a block argument, or an operation's that accumulates not."""
    values.append(value)
    owner = value.owner
    if isinstance(value, BlockArgument) or isinstance(owner, BroadcastOp):
        return value
    assert isinstance(owner, Operation)
    users.add(owner)
    if isinstance(owner, loops.ForOp):
        position = [*map(id, owner.carried)].index(id(value))
        last = owner.body.block.last_op
        assert last is not None
        users.add(last)
        inside = _follow(owner.yielded[position], kind, users, values)
        if inside is not owner.carry_vars[position]:
            return None
        return _follow(owner.inits[position], kind, users, values)
    if isinstance(owner, loops.LanewiseOp) and owner.operation.data == "arith.select":
        _, new, old = owner.inputs
        root = _follow(old, kind, users, values)
        return root if _follow(new, kind, users, values) is root else None
    return _follow(owner.operands[0], kind, users, values) if isinstance(owner, kind) else None


def _hoist(loop: loops.ForOp, totals: Sequence[_Reduction]) -> None:
    """Rebuild a loop that carries the lanes of all totals, and no value that it leaves as it is."""
    before, after = Scope(Block(), in_place=True), Scope(Block(), in_place=True)
    body = loop.body.block
    starts: list[SSAValue] = []
    for total in totals:
        type_ = total.origin.vector.type
        starts.append(start(total.op, type_.get_shape()[0], before))
        lanes = body.insert_arg(type_, len(body.args))
        total.origin.vector.replace_all_uses_with(lanes)
        total.op.result.replace_all_uses_with(total.op.lhs)
    kept = [
        p for p, (var, v) in enumerate(zip(loop.carry_vars, loop.yielded, strict=False)) if var != v
    ]
    new = _rebuilt(loop, kept, starts, [t.reduction.vector for t in totals])
    current = list(loop.inits)
    for position, result in zip(kept, new.carried, strict=False):
        current[position] = result
    for total, lanes in zip(totals, new.carried[len(kept) :], strict=True):
        current[total.position] = add_lanes(total.op, current[total.position], lanes, after)
        for op in (total.op, total.reduction, total.origin):
            op.detach()
            op.erase()
    before.emit(new)
    for op in list(after.block.ops):
        op.detach()
        before.emit(op)
    replace_by_block(loop, before.block, current)


def _rebuilt(
    loop: loops.ForOp,
    kept: Sequence[int],
    starts: Sequence[SSAValue],
    ends: Sequence[SSAValue],
) -> loops.ForOp:
    """A loop with the body of another that carries some of its values, and further ones."""
    body, inits, yielded = loop.body.block, list(loop.inits), list(loop.yielded)
    assert body.last_op is not None
    body.erase_op(body.last_op)
    body.add_op(loops.YieldOp([*(yielded[p] for p in kept), *ends]))
    for position in reversed(range(len(inits))):
        if position not in kept:
            var = body.args[1 + position]
            var.replace_all_uses_with(inits[position])
            body.erase_arg(var)
    return loops.ForOp(
        loop.lower.data,
        loop.extent.data,
        list(loop.operands_),
        [*(inits[p] for p in kept), *starts],
        loop.detach_region(loop.body),
        loop.kind.data,
    )

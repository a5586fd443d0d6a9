"""Hoist horizontal reductions out of the serial loops that accumulate them.

::

    %s = loops.for … carry (%c = %s0) {               %v = loops.for … carry (%c = %zeros) {
      %v = arith.addf %zeros, %x                        %d = arith.addf %c, %x
      %d = loops.multi_reduction <add>, %c, %v    ⇒     loops.yield %d : vector<16xf32>
      loops.yield %d : f32                            }
    }                                                 %s = loops.multi_reduction <add>, %s0, %v
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import loops
from ..analysis.reductions import Reduction, accumulations, identity
from ..scope import Scope, replace_by_block


def start(op: Reduction, width: int, scope: Scope) -> SSAValue:
    """Emit the vector with which an accumulation of `width` lanes starts."""
    element = op.result.type
    number = ConstantOp(identity(op, element))
    spread = BroadcastOp(number.result, VectorType(element, [width]))
    scope.emit(number)
    scope.emit(spread)
    return spread.vector


@dataclass
class _Partial:
    """A carried value at `position`, and the lanes that are added in each iteration."""

    position: int
    op: loops.MultiReductionOp
    origins: list[BroadcastOp]


def hoist_reductions(block: Block) -> None:
    """Reduce lanes after the serial loops of a block that accumulate them, inner ones first."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                hoist_reductions(inner)
        if isinstance(op, loops.ForOp) and op.kind.data in ("serial", "unrolled"):
            found = [p for i in range(len(op.inits)) for p in _partials(op, i)]
            if found:
                _hoist(op, found)


def _partials(loop: loops.ForOp, position: int) -> list[_Partial]:
    found: list[_Partial] = []
    for op in accumulations(loop.carry_vars[position], loop.yielded[position]):
        if not isinstance(op, loops.MultiReductionOp) or op.parent is not loop.body.block:
            continue
        origins = [o for v in op.vectors if (o := _origin(op, v)) and o.parent is op.parent]
        if len(origins) == len(op.vectors):
            found.append(_Partial(position, op, origins))
    return found


def _origin(op: loops.MultiReductionOp, vector: SSAValue) -> BroadcastOp | None:
    """The identity with which the lanes start, if they have no other uses."""
    users: set[Operation] = {op}
    values: list[SSAValue] = []
    root = _follow(vector, op.combiner, users, values)
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
    """The initial value of lanes: a block argument, or the result of no accumulation."""
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


def _hoist(loop: loops.ForOp, partials: Sequence[_Partial]) -> None:
    """Rebuild a loop to carry the lanes of all totals, and no invariant value."""
    scope, body = Scope(Block(), in_place=True), loop.body.block
    starts: list[SSAValue] = []
    for partial in partials:
        for origin in partial.origins:
            type_ = origin.vector.type
            starts.append(start(partial.op, type_.get_shape()[0], scope))
            origin.vector.replace_all_uses_with(body.insert_arg(type_, len(body.args)))
        partial.op.result.replace_all_uses_with(partial.op.acc)
    pairs = zip(loop.carry_vars, loop.yielded, strict=False)
    kept = [p for p, (var, value) in enumerate(pairs) if var != value]
    new = _rebuilt(loop, kept, starts, [v for p in partials for v in p.op.vectors])
    scope.emit(new)
    current, lanes = list(loop.inits), iter(new.carried[len(kept) :])
    for position, result in zip(kept, new.carried, strict=False):
        current[position] = result
    for partial in partials:
        op, acc = partial.op, current[partial.position]
        vectors = [next(lanes) for _ in op.vectors]
        total = loops.MultiReductionOp(op.combiner, acc, vectors, op.fastmath)
        scope.emit(total)
        current[partial.position] = total.result
        for old in (op, *partial.origins):
            old.detach()
            old.erase()
    replace_by_block(loop, scope.block, current)


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
    return loop.like(
        loop.lower.data,
        loop.extent.data,
        list(loop.operands_),
        [*(inits[p] for p in kept), *starts],
        loop.detach_region(loop.body),
    )

"""`merge`, `fuse_horizontally`: nests that follow each other become one.

`merge` does an iteration of each in turn.

::

    for i: T[i] = X[i] * 2                 for i:
    for i: Y[i] = T[i] + 1        ⇒          T[i] = X[i] * 2
                                             Y[i] = T[i] + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, IntExpr, maximum, minimum
from ...dialects.sym import Values
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import conflicts_between
from .blocks import ScheduleError, common_block
from .copy_block import new_loops
from .index_values import replace_indices
from .loop_checks import loop_text, verify_only_blocks, verify_plain

Chain = list[tir.ForOp]


def merge_loops(loops: Sequence[tir.ForOp]) -> tir.ForOp:
    """Merge loops, with the loops around them up to their common block.

    The nests must be adjacent and perfect, with equal bounds at each level. Returns the merged
    loop, the first one. Raises ScheduleError for other nests, and if an iteration would depend on a
    later one.
    """
    if len(loops) < 2 or len(set(loops)) < len(loops):
        raise ScheduleError("expected at least two different loops to merge")
    parent = common_block(loops)
    chains = [_chain(loop, parent) for loop in loops]
    first, *others = chains
    for chain in others:
        _verify_alike(first, chain)
    _verify_adjacent(parent, chains)
    for number, chain in enumerate(chains):
        verify_only_blocks(chain[-1])
        for earlier in chains[:number]:
            _verify_in_step(earlier, chain)
    for chain in others:
        _append(first, chain)
    return first[-1]


def _chain(loop: tir.ForOp, parent: Block) -> Chain:
    """The loops from a statement of `parent` in to the loop, each alone in the one before."""
    chain = [loop]
    while chain[0].parent is not parent:
        around = chain[0].parent_op()
        if not isinstance(around, tir.ForOp) or chain[0].prev_op or chain[0].next_op:
            raise ScheduleError(
                f"expected {loop_text(chain[0])} to be the only statement of its parent", chain[0]
            )
        chain.insert(0, around)
    return chain


def _verify_alike(first: Chain, chain: Chain) -> None:
    if len(first) != len(chain):
        raise ScheduleError(
            f"expected {loop_text(chain[-1])} to be as deep as {loop_text(first[-1])}, "
            f"got {len(chain)} loops and {len(first)}",
            chain[-1],
        )
    renamed: dict[SSAValue, SSAValue] = {}
    for one, other in zip(first, chain, strict=True):
        verify_plain(one)
        verify_plain(other)
        values = Values()
        ours = [values.rebase(e, one.operands_) for e in (one.min.data, one.extent.data)]
        operands = [renamed.get(o, o) for o in other.operands_]
        theirs = [values.rebase(e, operands) for e in (other.min.data, other.extent.data)]
        if ours != theirs:
            raise ScheduleError(
                f"expected {loop_text(other)} to have the bounds of {loop_text(one)}, "
                f"got extents {other.extent.data} and {one.extent.data}",
                other,
            )
        renamed[other.loop_var] = one.loop_var


def _verify_adjacent(parent: Block, chains: Sequence[Chain]) -> None:
    """Nothing but the nests and allocations may be between them, and they are in order."""
    order = list(parent.ops)
    places = [order.index(chain[0]) for chain in chains]
    if places != sorted(places):
        raise ScheduleError("expected loops to merge in the order in which they run", chains[0][-1])
    for op in order[places[0] : places[-1]]:
        if not isinstance(op, tir.AllocBufferOp) and all(op is not c[0] for c in chains):
            raise ScheduleError(f"expected nothing between the loops to merge, got '{op.name}'", op)


def _verify_in_step(earlier: Chain, later: Chain) -> None:
    """An iteration of either nest must not access what another iteration of the other nest "
    "stores."""
    for conflict in conflicts_between(earlier, earlier[-1], later, later[-1]):
        raise ScheduleError(
            f"expected an iteration of {loop_text(later[-1])} to use from "
            f"{buffer_text(conflict.store.region.buffer)} only what the same iteration of "
            f"{loop_text(earlier[-1])} stores",
            later[-1],
        )


def _append(first: Chain, chain: Chain) -> None:
    """Move what a nest does to the end of the first nest, and its allocations before that."""
    parent = first[0].parent
    assert parent is not None
    op: Operation | None = first[0].next_op
    while op is not None and op is not chain[0]:
        following = op.next_op
        op.detach()
        parent.insert_op_before(op, first[0])
        op = following
    statements = list(chain[-1].body.block.ops)
    for statement in statements:
        statement.detach()
    first[-1].body.block.add_ops(statements)
    values = Values()
    pairs = zip(chain, first, strict=True)
    replace_indices({other.loop_var: values.expr(one.loop_var) for other, one in pairs}, values)
    chain[0].detach()
    chain[0].erase()


def fuse_horizontally(nests: Sequence[tir.ForOp]) -> tir.ForOp:
    """Replace nests by a serial loop, returned, that runs an iteration of one of them at a time.

    ::

        for i in (0, 25): A                 for s in (0, 26)
        for j in (25, 1): B          ⇒        for i in (s, min(1, max(0, 25 - s))): A
                                              for j in (25, max(0, s - 24)): B

    Their order stays. Raises ScheduleError for loops with annotations, those that do not follow
    each other, and numbers of iterations that are not constant.
    """
    _verify(nests)
    values = Values()
    counts = [nest.extent.data.constant or 0 for nest in nests]
    (loop,) = new_loops(["section"], [IntExpr.of(sum(counts))], values)
    parent = nests[0].parent
    assert parent is not None
    parent.insert_op_before(loop, nests[0])
    first = 0
    for nest, count in zip(nests, counts, strict=True):
        position = values.expr(loop.loop_var) - first
        low = values.rebase(nest.min.data, nest.operands_)
        start = low if count == 1 else low + position
        size = _is_in(position, count, first == 0, nest is nests[-1])
        loop.body.block.add_op(tir.ForOp(start, size, values.list, nest.detach_region(nest.body)))
        nest.detach()
        nest.erase()
        first += count
    return loop


def _is_in(position: IntExpr, count: int, is_first: bool, is_last: bool) -> IntExpr:
    """1 where a position is in ``[0, count)``, 0 elsewhere."""
    behind = count - position
    before = position + 1
    inside = before if is_last else behind if is_first else minimum(before, behind)
    low = maximum(ZERO, inside)
    return low if count == 1 else minimum(ONE, low)


def _verify(nests: Sequence[tir.ForOp]) -> None:
    if not nests:
        raise ScheduleError("expected at least one loop to fuse")
    for nest in nests:
        if nest.kind.data != "parallel":
            verify_plain(nest)
        if nest.extent.data.constant is None:
            raise ScheduleError(
                f"expected {loop_text(nest)} to have a constant number of iterations, "
                f"got {nest.extent.data}",
                nest,
            )
    for nest, following in pairwise(nests):
        if nest.next_op is not following:
            raise ScheduleError(
                f"expected {loop_text(following)} to follow {loop_text(nest)}", following
            )

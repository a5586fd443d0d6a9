"""Preconditions of reordering loops: no bounds and no results depend on the order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import infer_regions, root_buffer
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import conflict_of_axes, conflicts_between
from .blocks import ScheduleError
from .loop_checks import loop_text, outermost_blocks, verify_only_blocks, verify_unordered
from .regions import contains
from .required_ranges import is_complete_in


def chain_of(loops: Sequence[tir.ForOp]) -> list[tir.ForOp]:
    """The loops from the outermost of these to the innermost, each alone in the one before."""
    if not loops:
        raise ScheduleError("expected at least one loop to reorder")
    for position, loop in enumerate(loops):
        if loop in loops[:position]:
            raise ScheduleError(f"expected {loop_text(loop)} once in the order, got it twice", loop)
    bottom = max(loops, key=lambda loop: sum(1 for _ in ancestors(loop)))
    chain: list[tir.ForOp] = [bottom]
    while any(loop not in chain for loop in loops):
        parent = chain[0].parent_op()
        if not isinstance(parent, tir.ForOp):
            missing = next(loop for loop in loops if loop not in chain)
            raise ScheduleError(
                f"expected {loop_text(missing)} and {loop_text(bottom)} to be nested in each other",
                missing,
            )
        if parent.body.block.first_op is not parent.body.block.last_op:
            raise ScheduleError(
                f"expected {loop_text(parent)} to contain only {loop_text(chain[0])}", parent
            )
        chain.insert(0, parent)
    return chain


def verify_reorder(chain: Sequence[tir.ForOp], order: Sequence[tir.ForOp]) -> None:
    """Raise ScheduleError where loops of a chain, or the blocks inside, depend on their order."""
    for position, loop in enumerate(order):
        inner: dict[SSAValue, tir.ForOp] = {o.loop_var: o for o in order[position + 1 :]}
        for value in loop.operands_:
            if value in inner:
                raise ScheduleError(
                    f"expected bounds of {loop_text(loop)} not to depend on "
                    f"{loop_text(inner[value])}, which would come inside",
                    loop,
                )
    if list(chain) == list(order):
        return
    verify_only_blocks(chain[-1])
    for block in outermost_blocks(chain[0]):
        verify_unordered(block)
        _verify_start(block, chain, order)
        verify_instances_apart(block, next(a for a, b in zip(chain, order, strict=True) if a != b))
    _verify_iterations_apart(chain)


def _verify_start(
    block: tir.BlockOp, chain: Sequence[tir.ForOp], order: Sequence[tir.ForOp]
) -> None:
    """The iteration that initializes a reduction must remain the first one of each element.

    It does if no loop is bound to both spatial and reduction axes, or if the loops that are, and
    all that share an axis with them, stay in order.
    """
    if not any(isinstance(op, tir.InitOp) for op in operations_in(block)):
        return
    kept = _loops_of_mixed_axes(block, chain)
    before, after = ([loop for loop in loops if loop in kept] for loops in (chain, order))
    for old, new in zip(before, after, strict=True):
        if old is not new:
            raise ScheduleError(
                f"expected {loop_text(old)} to stay outside of {loop_text(new)}: both are "
                f"bound to spatial and to reduction axes of block '{block.block_name.data}'",
                new,
            )


def _loops_of_mixed_axes(block: tir.BlockOp, chain: Sequence[tir.ForOp]) -> list[tir.ForOp]:
    """The loops bound to reduction axes, and those that share an axis or a predicate with them.

    None where these are not bound to spatial axes.
    """
    numbering = block.numbering()
    variables: set[SSAValue] = {loop.loop_var for loop in chain}

    def used(*exprs: IntExpr) -> set[SSAValue]:
        return variables & {numbering[i] for e in exprs for i in e.args()}

    axes = [used(b) for b in exprs_of(block.bindings)]
    shared = [*axes, *(used(b.lhs.data, b.rhs.data) for b in block.predicates.data)]
    kinds = block.axis_kinds
    found = {v for kind, a in zip(kinds, axes, strict=True) if kind == "reduce" for v in a}
    while any(a & found and a - found for a in shared):
        found |= {v for a in shared if a & found for v in a}
    if not any(kind == "spatial" and a & found for kind, a in zip(kinds, axes, strict=True)):
        return []
    return [loop for loop in chain if loop.loop_var in found]


def verify_instances_apart(block: tir.BlockOp, outermost: tir.ForOp) -> None:
    """Raise ScheduleError if an instance accesses elements that another one writes, but to reduce.

    Only loops from the outermost one that moves inwards are compared.
    """
    numbering = block.numbering()
    moved: set[SSAValue] = {outermost.loop_var}
    for parent in ancestors(block):
        if isinstance(parent, tir.ForOp) and outermost in ancestors(parent):
            moved.add(parent.loop_var)
    axes = zip(block.axis_vars, block.axis_kinds, exprs_of(block.bindings), strict=True)
    conflict = conflict_of_axes(
        block,
        [
            var
            for var, kind, binding in axes
            if kind == "spatial" and moved & {numbering[i] for i in binding.args()}
        ],
    )
    if conflict is not None:
        verb = "write" if conflict.other.is_store else "read"
        raise ScheduleError(
            f"expected other instances of block '{block.block_name.data}' not to {verb} "
            f"elements of {buffer_text(conflict.store.region.buffer)} that one of them writes",
            block,
        )


def reduces_over(loops: Sequence[tir.ForOp], statement: Operation) -> bool:
    """Whether a block in a statement reduces over one of the loops."""
    variables: set[SSAValue] = {loop.loop_var for loop in loops}
    for op in operations_in(statement):
        if isinstance(op, tir.BlockOp):
            numbering = op.numbering()
            for kind, binding in zip(op.axis_kinds, exprs_of(op.bindings), strict=True):
                if kind == "reduce" and variables & {numbering[i] for i in binding.args()}:
                    return True
    return False


def _verify_iterations_apart(chain: Sequence[tir.ForOp]) -> None:
    """Raise ScheduleError unless statements use results of the same iteration only."""
    loop = chain[-1]
    statements = [op for op in loop.body.block.ops if not isinstance(op, tir.AllocBufferOp)]
    for earlier, later in combinations(statements, 2):
        for conflict in conflicts_between(chain, earlier, chain, later):
            buffer = root_buffer(conflict.store.region.buffer)
            if not _makes(chain, earlier, later, buffer):
                raise ScheduleError(
                    f"expected each iteration of {loop_text(loop)} to store the elements of "
                    f"{buffer_text(buffer)} that it uses first",
                    loop,
                )


def _makes(
    chain: Sequence[tir.ForOp], earlier: Operation, later: Operation, buffer: SSAValue
) -> bool:
    """Whether a statement stores, in every iteration, all elements that a later one uses."""
    loop = chain[-1]
    stores = [op for op in operations_in(earlier) if isinstance(op, tir.StoreOp)]
    own = [op for op in stores if op.buffer is buffer]
    if not own or reduces_over(chain, earlier):
        return False
    if not all(is_complete_in(store, loop) for store in own):
        return False
    values = Values()
    outer = _box(loop, earlier, buffer, values, "writes")
    used = (_box(loop, later, buffer, values, which) for which in ("reads", "writes"))
    return outer is not None and all(u is None or contains(outer, u, values) for u in used)


def _box(
    loop: tir.ForOp, statement: Operation, buffer: SSAValue, values: Values, which: str
) -> tir.BufferRegion | None:
    regions = infer_regions(loop.body.block, values, [statement])[which == "writes"]
    return next((r for r in regions if r.buffer is buffer), None)

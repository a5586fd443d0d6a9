"""What rearranges loops: split, fuse, reorder, strips, and loops of one iteration.

::

    for i in (0, n)                         for i_0 in (0, (n + 3) // 4), i_1 in (0, 4)
      block "Y" (v = i)        ⇒ split        block "Y" (v = i_0 * 4 + i_1) where i_0 * 4 + i_1 < n

A loop may be around several blocks, and blocks inside of blocks. Blocks and what else is in a loop
stay the same operations. Nothing has changed where a ScheduleError is raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ...dialects import tir
from ...dialects.bounds import cases_of_minimum, is_non_negative
from ...dialects.int_expr import ONE, ZERO, IntExpr, minimum
from ...dialects.sym import Values
from .blocks import ScheduleError, function_of, insert_before, statements
from .copy_block import new_loops
from .index_values import add_predicates, is_certain, replace_indices
from .loop_checks import (
    loop_text,
    outermost_blocks,
    split_sizes,
    verify_annotations,
    verify_fusible,
    verify_only_blocks,
    verify_plain,
)
from .partition import partition as partition
from .reduction_checks import verify_splittable, verify_starts_fused, verify_strips
from .reorder_checks import chain_of, verify_reorder

Factor = int | IntExpr | None


def split(
    loop: tir.ForOp,
    factors: Sequence[Factor],
    preserve_unit_iters: bool = True,
    disable_predication: bool = False,
) -> list[tir.ForOp]:
    """Replace a loop by nested loops of `factors` iterations, outermost first; TVM's ``split``.

    One factor may be `None`: the smallest that covers the loop. Where the factors are not known to
    divide the extent, the blocks inside run under a predicate, unless `disable_predication` says
    that they do divide it. Without `preserve_unit_iters`, loops of one iteration are not used in
    bindings. Raises ScheduleError for a loop with annotations or of a kind, factors below 1, and
    factors whose product is not known to reach the extent.
    """
    verify_plain(loop)
    values = Values()
    extent = values.rebase(loop.extent.data, loop.operands_)
    sizes = split_sizes(loop, factors, extent)
    first = values.rebase(loop.min.data, loop.operands_)
    name = loop.loop_var.name_hint or "i"
    made = new_loops([f"{name}_{i}" for i in range(len(sizes))], sizes, values)
    step, product = ZERO, prod(sizes, start=ONE)
    for new, size in zip(made, sizes, strict=True):
        is_unit = size == ONE and not preserve_unit_iters
        step = step * size + (ZERO if is_unit else values.expr(new.loop_var))
    cases = [] if disable_predication else cases_of_minimum(extent)
    ends = [e for e in cases if not (is_non_negative(e - product) or is_certain((step, e), values))]
    if ends:
        try:
            verify_only_blocks(loop)
            verify_splittable(loop, first + step, values)
        except ScheduleError:
            made[0].erase()
            raise
    blocks = outermost_blocks(loop)
    _replace([loop], made, [first + step], values)
    for block in blocks if ends else ():
        add_predicates(block, [(first + step, first + end) for end in ends], values)
    return made


def verify_divides(loop: tir.ForOp, factors: Sequence[Factor]) -> None:
    """Raise ScheduleError for factors of a split whose product is known not to be the extent."""
    extent, product = loop.extent.data, ONE
    for size in split_sizes(loop, factors, extent):
        product = product * size
    if (product - extent).constant not in (0, None):
        raise ScheduleError(
            f"expected the product of the factors of {loop_text(loop)} to be its extent {extent} "
            f"without predicates, got {product}",
            loop,
        )


def fuse(loops: Sequence[tir.ForOp], preserve_unit_iters: bool = True) -> tir.ForOp:
    """Replace loops, each alone in the one before, by one over all their iterations.

    Raises ScheduleError for loops that are not nested like that, have annotations or a kind, or
    whose bounds depend on each other, and for a reducing loop that may be empty beside one that
    does not reduce, where the block has an initialization. Without `preserve_unit_iters`, a loop of
    one iteration is not used in bindings.
    """
    verify_fusible(loops)
    verify_starts_fused(loops)
    values = Values()
    sizes = [values.rebase(loop.extent.data, loop.operands_) for loop in loops]
    total = ONE
    for size in sizes:
        total = total * size
    name = "_".join(loop.loop_var.name_hint or "i" for loop in loops) + "_fused"
    made = new_loops([name], [total], values)
    number, inner = values.expr(made[0].loop_var), ONE
    meanings: list[IntExpr] = []
    for loop, size in list(zip(loops, sizes, strict=True))[::-1]:
        is_first = loop is loops[0]
        digit = (number if is_first else number % (size * inner)) // inner
        if size == ONE and not (is_first and preserve_unit_iters):
            digit = ZERO
        inner = inner * size
        meanings.insert(0, values.rebase(loop.min.data, loop.operands_) + digit)
    _replace(loops, made, meanings, values)
    return made[0]


def reorder(loops: Sequence[tir.ForOp]) -> list[tir.ForOp]:
    """Nest loops in this order, outermost first; loops between them stay where they are.

    Returns `loops`, which stay the same operations. Raises ScheduleError for loops that are not on
    one chain of loops alone in each other, whose bounds depend on one that would come inside, or
    whose blocks depend on the order.
    """
    chain = chain_of(loops)
    places = [i for i, loop in enumerate(chain) if loop in loops]
    order = list(chain)
    for place, loop in zip(places, loops, strict=True):
        order[place] = loop
    verify_reorder(chain, order)
    statements = list(chain[-1].body.block.ops)
    parent, following = chain[0].parent, chain[0].next_op
    assert parent is not None
    for op in [*chain, *statements]:
        op.detach()
    insert_before(order[0], parent, following)
    for outer, inner in pairwise(order):
        outer.body.block.add_op(inner)
    order[-1].body.block.add_ops(statements)
    return list(loops)


def add_unit_loop(op: tir.ForOp | tir.BlockOp) -> tir.ForOp:
    """Put a loop of one iteration around a loop or block; returns the new loop.

    Raises ScheduleError for the block around all of a function's loops.
    """
    parent = op.parent
    if parent is None:
        raise ScheduleError(f"expected '{op.name}' to be in a function", op)
    if op.body.block is statements(function_of(op)):
        raise ScheduleError("expected a loop or block in the root block, got the root block", op)
    (loop,) = new_loops(["u"], [ONE], Values())
    loop.location = op.location
    parent.insert_op_before(loop, op)
    op.detach()
    loop.body.block.add_op(op)
    return loop


def _replace(
    old: Sequence[tir.ForOp],
    new: Sequence[tir.ForOp],
    meanings: Sequence[IntExpr],
    values: Values,
) -> None:
    """Replace nested loops by others with the same body; replace variables by expressions."""
    parent = old[0].parent
    assert parent is not None
    parent.insert_op_before(new[0], old[0])
    for loop in new:
        loop.location = old[0].location
    statements: list[Operation] = list(old[-1].body.block.ops)
    for op in statements:
        op.detach()
    new[-1].body.block.add_ops(statements)
    variables = [loop.loop_var for loop in old]
    replace_indices(dict(zip(variables, meanings, strict=True)), values)
    old[0].detach()
    old[0].erase()


def strip_mine(loop: tir.ForOp, size: int) -> list[tir.ForOp]:
    """Cut a loop into strips of `size` iterations; returns the loop over them and the one in it.

    ::

        for i in (0, n) vectorized    ⇒    for i_0 in (0, (n + 4095) // 4096)
                                             for i in (0, min(4096, n - i_0 * 4096)) vectorized

    The inner loop has the kind of `loop`, and no iterations that blocks need a predicate for.
    Raises ScheduleError for a loop with annotations, a size below 1, and a loop of a reduction that
    may be empty.
    """
    verify_annotations(loop)
    verify_strips(loop)
    if size < 1:
        raise ScheduleError(f"expected a size of at least 1, got {size}", loop)
    values, kind = Values(), loop.kind.data
    extent = values.rebase(loop.extent.data, loop.operands_)
    loop.properties["kind"] = StringAttr("serial")
    strips, inner = split(loop, [None, size], disable_predication=True)
    start = values.expr(strips.loop_var) * size
    length = IntExpr.of(size) if extent % size == ZERO else minimum(size, extent - start)
    new = tir.ForOp(ZERO, length, values.list, inner.detach_region(inner.body), kind)
    new.location = inner.location
    strips.body.block.add_op(new)
    inner.detach()
    inner.erase()
    return [strips, new]

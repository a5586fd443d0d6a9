"""Partition loops over padded buffers, so that the interior has no conditions.

So do tiles that are not whole, with as many rows and columns as exist.

::

    for i in (0, n + 2):                            for i in (0, 1): Y[i] = 0
      Y[i] = X[i - 1] if 1 <= i < n + 1 else 0  ⇒   for i in (1, n): Y[i] = X[i - 1]
                                                    for i in (n + 1, 1): Y[i] = 0

Windows that extend over the border, such as those of pooling, are partitioned in the same way.
Loads without conditions are vectorized whole, and transposed if they are stored along another dim.

A concatenation of several buffers gets one loop for each::

    for i in (0, n + m):                            for i in (0, n): Y[i] = A[i]
      Y[i] = A[i] if i < n else B[i - n]        ⇒   for i in (n, m): Y[i] = B[i - n]
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp

from ....backend.target import Target
from ....dialects import tir
from ....dialects.bounds import interval_of
from ....dialects.int_expr import ONE, ZERO, Atom, IntExpr, IntLike
from ....dialects.nesting import operations_in
from ....dialects.sym import Values
from ....dialects.tir.conditions import conjuncts
from ....dialects.tir.ranges import ranges_of
from ...analysis.strides import Strides
from ..blocks import blocks_in, iterator_kinds, statements
from ..conditions import choices_of, folded_conditions, yielded
from ..primitives.schedule import Schedule

MAX_OPERATIONS = 64
"""Loops with more operations are unchanged: each part would repeat them."""


def partition_loops(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Partition loops over mostly unpadded elements, and loops over concatenated buffers.

    The bounds of the parts must be constant.
    """
    for op in list(statements(func).ops):
        if isinstance(op, tir.ForOp):
            _visit(sch, op)


def _visit(sch: Schedule, loop: tir.ForOp) -> None:
    if not any(choices_of(block) for block in blocks_in(loop)):
        return
    parts = [loop]
    sizes = _inside(loop) or _halves(loop)
    if sizes is not None:
        made = sch.try_(sch.loop_partition, sch.rv(loop), sizes)
        parts = parts if made is None else [sch.loop(part) for part in made]
    for part in parts:
        for block in blocks_in(part):
            if folded_conditions(block):
                sch.fold_conditions(sch.rv(block))
        if len(parts) > 1 and _halves(part) is not None:
            _visit(sch, part)
            continue
        for op in list(part.body.block.ops):
            if isinstance(op, tir.ForOp):
                _visit(sch, op)


def _pads(choice: scf.IfOp) -> bool:
    """Whether an `scf.if` yields a constant if its condition does not hold."""
    return isinstance(yielded(choice, 1).owner, ConstantOp)


def _may_part(loop: tir.ForOp) -> bool:
    """Whether a loop can be partitioned, and the parts are worth their code size."""
    blocks = blocks_in(loop)
    return (
        loop.min.data.constant is not None
        and loop.extent.data.constant is not None
        and not any(iterator_kinds(loop, b) - {"spatial"} for b in blocks)
        and sum(1 for _ in operations_in(loop)) <= MAX_OPERATIONS
        and not any(_strides_in_lanes(loop, block) for block in blocks)
    )


def _halves(loop: tir.ForOp) -> list[int] | None:
    """The trip counts of the two parts between which a condition changes; `None` without one."""
    lower, extent = loop.min.data.constant, loop.extent.data.constant
    if lower is None or extent is None or not _may_part(loop):
        return None
    for block in blocks_in(loop):
        for choice in choices_of(block):
            if not _pads(choice) and (cut := _cut(loop, block, choice)) is not None:
                if lower < cut < lower + extent:
                    return [cut - lower, lower + extent - cut]
    return None


def _cut(loop: tir.ForOp, block: tir.BlockOp, choice: scf.IfOp) -> int | None:
    """The first iteration after the change of a condition that depends on this loop only."""
    values = Values()
    variable = values.atom(loop.loop_var)
    excesses = conjuncts(choice.cond, values)
    if excesses is None or len(excesses) != 1:
        return None
    split = excesses[0].substitute(_bindings(block, values)).split_on(variable)
    if split is None or split[1].constant is None:
        return None
    first, last = _range(loop, block, choice)
    return last if first is None else first


def _inside(loop: tir.ForOp) -> list[int] | None:
    """The trip counts of border, interior and border; empty parts are left out.

    `None` if the interior has less than half of the iterations, or all.
    """
    lower, extent = loop.min.data.constant, loop.extent.data.constant
    if lower is None or extent is None or not _may_part(loop):
        return None
    start, end = interior(loop, lower, lower + extent)
    sizes = [start - lower, end - start, lower + extent - end]
    if 2 * sizes[1] < extent or sizes[1] == extent:
        return None
    return [size for size in sizes if size]


def interior(loop: tir.ForOp, start: int, end: int) -> tuple[int, int]:
    """The iterations of a loop from `start` to `end` that read no padding, as far as is known."""
    for block in blocks_in(loop):
        for choice in filter(_pads, choices_of(block)):
            first, last = _range(loop, block, choice)
            start = start if first is None else max(start, first)
            end = end if last is None else min(end, last)
    return start, end


def _strides_in_lanes(loop: tir.ForOp, block: tir.BlockOp) -> bool:
    """Whether stores of a block are contiguous along a loop, and a load is strided.

    Partitioning such a loop gains nothing: its vectors are gathered with or without conditions.
    """
    strides = Strides(block)
    loaded = strides.load_steps(loop.loop_var)
    return ONE in strides.store_steps(loop.loop_var) and any(s not in (ZERO, ONE) for s in loaded)


def _range(loop: tir.ForOp, block: tir.BlockOp, choice: scf.IfOp) -> tuple[int | None, int | None]:
    """The iterations of a loop, as (first, end), in which its part of a condition always holds.

    `None` where the loop does not bound them.
    """
    values = Values()
    variable = values.atom(loop.loop_var)
    meaning = _bindings(block, values)
    first: int | None = None
    last: int | None = None
    for excess in conjuncts(choice.cond, values) or ():
        split = excess.substitute(meaning).split_on(variable)
        span = None if split is None else interval_of(split[1], ranges_of(values.list))
        if split is None or span is None:
            continue
        step, least = split[0].constant, span.lower.constant
        if not step or least is None:
            continue
        if step > 0:
            begin = -(least // step)
            first = begin if first is None else max(first, begin)
        else:
            stop = least // -step + 1
            last = stop if last is None else min(last, stop)
    return first, last


def _bindings(block: tir.BlockOp, values: Values) -> dict[Atom, IntLike]:
    """The bindings of a block's axes, over loop variables."""
    axes = [values.atom(var) for var in block.axis_vars]
    return dict(zip(axes, values.exprs(block.bindings, block.numbering()), strict=True))


def peel_remainder(sch: Schedule, loop: tir.ForOp, extent: IntExpr, size: int) -> list[tir.ForOp]:
    """Peel the last iteration of a loop over tiles if its tile is partial; returns the parts."""
    count = extent.constant
    if count is None or count < size or count % size == 0:
        return [loop]
    parts = sch.try_(sch.loop_partition, sch.rv(loop), [None, 1], preserve_unit_iters=False)
    # if partitioning is refused, out-of-range elements are computed too
    return [loop] if parts is None else [sch.loop(part) for part in parts]


def trim_remainder(sch: Schedule, part: tir.ForOp, *, trims_lanes: bool = False) -> None:
    """Drop out-of-range iterations of the loops in a part.

    Vectorized loops stay whole, under masks, unless `trims_lanes` asks for shorter vectors.
    """
    for inner in operations_in(part):
        if not isinstance(inner, tir.ForOp) or inner is part:
            continue
        if trims_lanes or inner.kind.data != "vectorized":
            sch.applies(sch.loop_trim, sch.rv(inner))  # refused if their number is symbolic

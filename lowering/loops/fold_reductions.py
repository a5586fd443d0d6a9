"""Lanes of several vectors that become one value are combined before they are added up.

::

    %r = vector.reduction <add>, %v : vector<16xf32>      %l = vector.shuffle %v, %v [0, …, 7]
    %a = arith.addf %s, %r                                %h = vector.shuffle %v, %v [8, …, 15]
    %q = vector.reduction <add>, %w : vector<4xf32>   ⇒   %f = arith.addf %l, %h
    %b = arith.addf %a, %q                                %p = vector.shuffle %w, %neutral
                                                          %g = arith.addf %f, %p
                                                          %t = vector.reduction <add>, %g
                                                          %b = arith.addf %s, %t

The longer vector is halved until it is as long as the other or fills a register, as its reduction
does too; a shorter one is filled up with numbers that change nothing.
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import ReductionOp
from xdsl.ir import Block, SSAValue

from ...backend.target import Target
from ...dialects import loops
from ...dialects.dtypes import byte_width
from ..analysis.reductions import Accumulation, is_reordered
from ..scope import Scope, replace_by_block
from .horizontal_reductions import (
    add_lanes,
    combined,
    halved,
    is_horizontal_reduction,
    lanes_of,
    start,
)
from .strided_load import shuffle


def fold_reductions(func: loops.FuncOp, target: Target) -> None:
    """Leave one reduction where a value is the total of several vectors, the longest one first."""
    for op in list(func.walk()):
        if not isinstance(op, Accumulation):
            continue
        first, second = _lanes(op.lhs.owner), _lanes(op)
        if first is None or second is None or not _is_before(op):
            continue
        long, short = lanes_of(first), lanes_of(second)
        width = max(short, min(long, target.lanes(8 * byte_width(op.result.type))))
        times, rest = divmod(long, width)
        if rest == 0 and times.bit_count() == 1:
            _fold(op, first, second, width)


def _is_before(op: Accumulation) -> bool:
    """Whether an accumulation continues another of its kind right before it."""
    other = op.lhs.owner
    return type(other) is type(op) and other.parent is op.parent and op.lhs.has_one_use()


def _lanes(op: object) -> SSAValue | None:
    """The vector whose lanes an accumulation adds to its value, if nothing else sees their sum."""
    if not isinstance(op, Accumulation) or not is_reordered(op):
        return None
    reduction = op.rhs.owner
    if not isinstance(reduction, ReductionOp) or not op.rhs.has_one_use():
        return None
    return reduction.vector if is_horizontal_reduction(op, reduction) else None


def _fold(op: Accumulation, first: SSAValue, second: SSAValue, width: int) -> None:
    """Put one reduction, of `width` lanes, in the place of two."""
    before, scope = op.lhs.owner, Scope(Block(), in_place=True)
    assert isinstance(before, Accumulation)
    while lanes_of(first) // 2 >= width:
        first = halved(op, first, scope)
    if (short := lanes_of(second)) < width:
        neutral = start(op, short, scope)
        order = [min(i, short) for i in range(width)]
        second = shuffle(second, neutral, order, VectorType(op.result.type, [width]), scope)
    total = add_lanes(op, before.lhs, combined(op, first, second, scope), scope)
    reductions = [op.rhs.owner, before.rhs.owner]
    replace_by_block(op, scope.block, [total])
    for old in (before, *reductions):
        assert isinstance(old, Accumulation | ReductionOp)
        old.detach()
        old.erase()

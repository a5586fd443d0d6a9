"""`skip_padding`: run a loop of a reduction over a window only where there is data.

::

    for k in (0, 3)                                  for k in (max(1 - i, 0), min(n - i + 1, 3) - …)
      block "Y" (vi = i, vk = k)                       block "Y" (vi = i, vk = k)
        x = X[vi + vk - 1]                     ⇒         x = X[vi + vk - 1]
              if 1 <= vi + vk < n + 1 else 0
        Y[vi] = Y[vi] + x * W[vk]                        Y[vi] = Y[vi] + x * W[vk]

Outside of the data are elements that do not change the result: a product with 0 in a sum, the
lowest number in a maximum. A product of padding with a weight that is infinite or NaN counts as 0.

The block that stores what is loaded may have the condition, as with the mask of a causal attention.
The loop then runs until the last iteration that combines data for any of the loops inside::

    for j in (0, n): P[i, j] = exp(S[i, j]) if j <= i else 0
    for j in (0, n):                                 for j in (0, min(n, i0 * 4 + 4))
      for i1 in (0, 4)                       ⇒         for i1 in (0, 4)
        Y[i0 * 4 + i1] += P[i0 * 4 + i1, j] * V[j]       Y[…] += P[…] * V[j]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeGuard

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import Interval, constant_limit, interval_of, never_negative
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr, maximum, minimum
from ...dialects.nesting import operations_in
from ...dialects.sym import ExprAttr, Values, pack
from ...dialects.tir.conditions import conjuncts
from ...dialects.tir.ranges import ranges_of
from ..analysis.block_accesses import dim_axes
from ..analysis.reductions import Accumulation, identity
from ..scope import is_inside
from .blocks import ScheduleError, blocks_in, only_writer
from .conditions import erase_unused, fold_if, yielded
from .loop_checks import loop_text, verify_only_blocks, verify_plain
from .reducer import reducer_of
from .reduction_checks import reducing_loops, reductions_over
from .regions import refresh_around, refresh_regions

CONVERSIONS = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.SIToFPOp, arith.TruncFOp)
KEEP_ZERO = (arith.MulfOp, arith.MuliOp, tir.BFDotOp, tir.DotOp, *CONVERSIONS)
"""Operations whose result is 0 if an operand is."""


def skip_padding(loop: tir.ForOp, align: int = 1) -> None:
    """Run a loop only over the iterations in which its block combines data.

    With `align` also over others, so that all are counted from 0 in whole groups of so many. The
    bounds may then depend on loops around, and the conditions that always hold go away. Raises
    ScheduleError for a loop with annotations or of a kind, unless it holds one reduction block that
    is initialized before it or reduces over it alone from the first iteration, and without a
    condition on the loop outside of which the block does not change its result.
    """
    verify_plain(loop)
    verify_only_blocks(loop)
    block = _block_of(loop)
    values = Values()
    first = start = values.rebase(loop.min.data, loop.operands_)
    end = start + values.rebase(loop.extent.data, loop.operands_)
    found = [c for choice in _choices(block) for c in choice.limits(loop, block, values)]
    if not found:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to have a condition on {loop_text(loop)} "
            "outside of which it does not change its result",
            block,
        )
    for limit in found:
        if limit.is_lower:
            start = maximum(start, limit.bound // align * align)
        else:
            least = (limit.bound + (align - 1)) // align * align
            is_after = never_negative(least - first, ranges_of(values.list))
            end = minimum(end, least if is_after else maximum(least, first))
    count = _count(start, end, values)
    is_alone = reducing_loops(block) == [loop]  # then an empty sum is its initial value
    if block.init is not None and not (is_alone and start == first):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to be initialized before {loop_text(loop)}",
            block,
        )
    decided = [limit.decided for limit in found if limit.decided is not None and align == 1]
    for choice in dict.fromkeys(choice for choice, _ in decided):
        _drop_conditions(choice, {op for own, op in decided if own is choice})
    _set_bounds(loop, start, count, values.list)
    refresh_regions(block)
    refresh_around([block])


def _count(start: IntExpr, end: IntExpr, values: Values) -> IntExpr:
    """The trip count between two bounds; a window may be outside of the data altogether."""
    is_known = never_negative(end - start, ranges_of(values.list))
    return end - start if is_known else maximum(end - start, ZERO)


def _block_of(loop: tir.ForOp) -> tir.BlockOp:
    blocks = blocks_in(loop)
    if len(blocks) != 1 or reductions_over(loop) != blocks:
        raise ScheduleError(
            f"expected {loop_text(loop)} to hold one block, a reduction, "
            f"got {', '.join(b.block_name.data for b in blocks) or 'none'}",
            loop,
        )
    return blocks[0]


@dataclass(frozen=True)
class _Limit:
    """A bound of a loop, and the comparison of a condition that always holds within it."""

    is_lower: bool
    bound: IntExpr
    decided: tuple[scf.IfOp, Operation] | None


@dataclass(frozen=True)
class _Choice:
    """A choice whose other arm leaves the result of a reduction as it is.

    It is in the block, or in `writer`, which stores what the block loads by `load`.
    """

    op: scf.IfOp | arith.SelectOp
    load: tir.LoadOp | None = None
    writer: tir.BlockOp | None = None

    def limits(self, loop: tir.ForOp, block: tir.BlockOp, values: Values) -> Iterator[_Limit]:
        """The bounds of a loop outside of which the condition never holds."""
        variable = values.atom(loop.loop_var)
        meaning = self._meaning(block, values)
        for comparison in _comparisons(self.op.cond):
            excesses = conjuncts(comparison.results[0], values)
            if excesses is None or not self._is_known(excesses[0], meaning):
                continue
            split = excesses[0].substitute(meaning).split_on(variable)
            step = None if split is None else split[0].constant
            if split is None or not step:
                continue
            inner = [i for i in split[1].args() if is_inside(values.list[i], loop)]
            ranges = ranges_of(values.list)
            known: dict[Atom, Interval] = {
                arg: _widest(ranges[arg]) for i in inner if (arg := Arg(i)) in ranges
            }
            most = interval_of(split[1], known) if len(known) == len(inner) else None
            if most is None:
                continue
            rest = most.upper // abs(step)
            decided = None
            if isinstance(self.op, scf.IfOp) and self.load is None and not inner:
                decided = (self.op, comparison)
            if step > 0:
                yield _Limit(True, -rest, decided)
            else:
                yield _Limit(False, rest + 1, decided)

    def _is_known(self, expr: IntExpr, meaning: Mapping[Atom, IntExpr]) -> bool:
        """Whether a condition is one of the element, whenever it was stored."""
        return self.writer is None or all(Arg(i) in meaning for i in expr.args())

    def _meaning(self, block: tir.BlockOp, values: Values) -> dict[Atom, IntExpr]:
        """The axes in the condition, over loops around the block."""
        axes = [values.atom(var) for var in block.axis_vars]
        bindings = values.exprs(block.bindings, block.numbering())
        meaning: dict[Atom, IntExpr] = dict(zip(axes, bindings, strict=True))
        if self.load is None or self.writer is None:
            return meaning
        (store,) = _stores_of(self.writer)
        indices = [
            e.substitute(meaning) for e in values.exprs(self.load.indices, self.load.operands_)
        ]
        return {
            values.atom(self.writer.axis_vars[axis]): index
            for axis, index in zip(dim_axes(self.writer, store), indices, strict=True)
            if axis is not None
        }


def _choices(block: tir.BlockOp) -> list[_Choice]:
    """The choices, in a block and where its operands are stored, that bound its reduction."""
    updates = reducer_of(block).updates
    if len(updates) != 1 or not isinstance(op := updates[0].store.value.owner, Accumulation):
        return []
    is_sum = isinstance(op, arith.AddfOp | arith.AddiOp)
    neutral = 0 if is_sum else identity(op, op.result.type).value.data
    return list(_neutral_choices(updates[0].value, neutral, is_sum))


def _neutral_choices(value: SSAValue, neutral: float, is_sum: bool) -> Iterator[_Choice]:
    op = value.owner
    if _is_neutral_choice(op, neutral):
        yield _Choice(op)
    elif isinstance(op, tir.LoadOp):
        writer = only_writer(op.buffer)
        stores = [] if writer is None or writer.init is not None else _stores_of(writer)
        stored = stores[0].value.owner if len(stores) == 1 else None
        if _is_neutral_choice(stored, neutral):
            yield _Choice(stored, op, writer)
    elif is_sum and isinstance(op, KEEP_ZERO):
        for operand in op.operands:
            yield from _neutral_choices(operand, neutral, is_sum)


def _widest(span: Interval) -> Interval:
    """A range that has a constant upper bound, if there is one, for simpler bounds."""
    most = constant_limit(span.upper)
    return span if most is None else Interval(span.lower, IntExpr.of(most))


def _is_neutral_choice(op: object, neutral: float) -> TypeGuard[scf.IfOp | arith.SelectOp]:
    if not isinstance(op, scf.IfOp | arith.SelectOp) or len(op.results) != 1:
        return False
    other = (yielded(op, 1) if isinstance(op, scf.IfOp) else op.rhs).owner
    number = other.value if isinstance(other, arith.ConstantOp) else None
    return isinstance(number, FloatAttr | IntegerAttr) and number.value.data == neutral


def _stores_of(block: tir.BlockOp) -> list[tir.StoreOp]:
    return [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]


def _comparisons(condition: SSAValue) -> Iterator[Operation]:
    """The operations whose conjunction a condition is."""
    op = condition.owner
    if isinstance(op, arith.AndIOp):
        yield from _comparisons(op.lhs)
        yield from _comparisons(op.rhs)
    elif isinstance(op, Operation):
        yield op


def _drop_conditions(choice: scf.IfOp, decided: set[Operation]) -> None:
    """Leave the other comparisons of a condition, or only what it guards if there are none."""
    rest = [op.results[0] for op in _comparisons(choice.cond) if op not in decided]
    if len(rest) == sum(1 for _ in _comparisons(choice.cond)):
        return
    if not rest:
        fold_if(choice, 0)
        return
    assert choice.parent is not None
    outer, parent = choice.cond.owner, choice.parent

    def both(lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        new = arith.AndIOp(lhs, rhs)
        parent.insert_op_before(new, choice)
        return new.result

    choice.operands[0] = reduce(both, rest)
    assert isinstance(outer, Operation)
    if not any(r.uses for r in outer.results):
        erase_unused(outer)


def _set_bounds(
    loop: tir.ForOp, start: IntExpr, extent: IntExpr, values: Sequence[SSAValue]
) -> None:
    loop.operands, (low, size) = pack([start, extent], values)
    loop.properties |= {"min": ExprAttr(low), "extent": ExprAttr(size)}

"""`skip_padding`: run a loop of a reduction over a window only where there is data.

::

    for k in (0, 3)                                  for k in (max(1 - i, 0), min(n - i + 1, 3) - …)
      block "Y" (vi = i, vk = k)                       block "Y" (vi = i, vk = k)
        x = X[vi + vk - 1]                     ⇒         x = X[vi + vk - 1]
              if 1 <= vi + vk < n + 1 else 0
        Y[vi] = Y[vi] + x * W[vk]                        Y[vi] = Y[vi] + x * W[vk]

Outside of the data are elements that do not change the result: a product with 0 in a sum, the
lowest number in a maximum. A product of padding with a weight that is infinite or NaN counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of
from ...dialects.int_expr import ZERO, Atom, IntExpr, maximum, minimum
from ...dialects.sym import ExprAttr, Values, pack
from ...dialects.tir.ranges import ranges_of
from ..analysis.reductions import Accumulation, identity
from ..scope import is_inside
from .blocks import ScheduleError, blocks_in
from .conditions import conjuncts, erase_unused, fold_if, yielded
from .loop_checks import loop_text, verify_only_blocks, verify_plain
from .reducer import reducer_of
from .reduction_checks import reductions_over
from .regions import refresh_around, refresh_regions

CONVERSIONS = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.SIToFPOp, arith.TruncFOp)
KEEP_ZERO = (arith.MulfOp, arith.MuliOp, *CONVERSIONS)
"""Operations whose result is 0 if an operand is."""


def skip_padding(loop: tir.ForOp) -> None:
    """Run a loop only over the iterations in which its block combines data.

    The bounds may then depend on loops around, and the conditions that always hold go away. Raises
    ScheduleError for a loop with annotations or of a kind, unless it holds one reduction block that
    is initialized before it, and without a condition on the loop outside of which the block does
    not change its result.
    """
    verify_plain(loop)
    verify_only_blocks(loop)
    block = _block_of(loop)
    values = Values()
    start = values.rebase(loop.min.data, loop.operands_)
    end = start + values.rebase(loop.extent.data, loop.operands_)
    found = {c: _limits(loop, block, c, values) for c in _choices(block)}
    limits = [limit for own in found.values() for limit in own.values()]
    if not limits:
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to have a condition on {loop_text(loop)} "
            "outside of which it does not change its result",
            block,
        )
    for is_lower, limit in limits:
        start, end = (maximum(start, limit), end) if is_lower else (start, minimum(end, limit))
    for choice, own in found.items():
        _drop_conditions(choice, set(own))
    _set_bounds(loop, start, _count(start, end, values), values.list)
    refresh_regions(block)
    refresh_around([block])


def _count(start: IntExpr, end: IntExpr, values: Values) -> IntExpr:
    """The trip count between two bounds; a window may be outside of the data altogether."""
    span = interval_of(end - start, ranges_of(values.list))
    is_positive = span is not None and (span.lower.constant or 0) > 0
    return end - start if is_positive else maximum(end - start, ZERO)


def _block_of(loop: tir.ForOp) -> tir.BlockOp:
    blocks = blocks_in(loop)
    if len(blocks) != 1 or reductions_over(loop) != blocks or blocks[0].init is not None:
        raise ScheduleError(
            f"expected {loop_text(loop)} to hold one block, a reduction that is initialized before "
            f"it, got {', '.join(b.block_name.data for b in blocks) or 'none'}",
            loop,
        )
    return blocks[0]


def _choices(block: tir.BlockOp) -> list[scf.IfOp]:
    """Each `scf.if` whose other arm leaves the result of a reduction as it is."""
    updates = reducer_of(block).updates
    if len(updates) != 1 or not isinstance(op := updates[0].store.value.owner, Accumulation):
        return []
    is_sum = isinstance(op, arith.AddfOp | arith.AddiOp)
    neutral = 0 if is_sum else identity(op, op.result.type).value.data
    return list(_neutral_choices(updates[0].value, neutral, is_sum))


def _neutral_choices(value: SSAValue, neutral: float, is_sum: bool) -> Iterator[scf.IfOp]:
    op = value.owner
    if isinstance(op, scf.IfOp) and len(op.results) == 1:
        other = yielded(op, 1).owner
        number = other.value if isinstance(other, arith.ConstantOp) else None
        if isinstance(number, FloatAttr | IntegerAttr) and number.value.data == neutral:
            yield op
    elif is_sum and isinstance(op, KEEP_ZERO):
        for operand in op.operands:
            yield from _neutral_choices(operand, neutral, is_sum)


def _limits(
    loop: tir.ForOp, block: tir.BlockOp, choice: scf.IfOp, values: Values
) -> dict[Operation, tuple[bool, IntExpr]]:
    """The comparisons of a condition that bound a loop: whether from below, and the bound."""
    variable = values.atom(loop.loop_var)
    axes = [values.atom(var) for var in block.axis_vars]
    bindings = values.exprs(block.bindings, block.numbering())
    meaning: dict[Atom, IntExpr] = dict(zip(axes, bindings, strict=True))
    found: dict[Operation, tuple[bool, IntExpr]] = {}
    for comparison in _comparisons(choice.cond):
        excesses = conjuncts(comparison.results[0], values)
        split = None if excesses is None else excesses[0].substitute(meaning).split_on(variable)
        step = None if split is None else split[0].constant
        if (
            split is None
            or not step
            or any(is_inside(values.list[i], loop) for i in split[1].args())
        ):
            continue
        rest = split[1] // abs(step)
        found[comparison] = (True, -rest) if step > 0 else (False, rest + 1)
    return found


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

"""The ranges of loop variables, block axes and indices computed from them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, SSAValue

from ..bounds import Interval, Ranges, interval_of, is_less
from ..int_expr import Arg, Atom, IntExpr, Sym
from ..sym import Values, exprs_of
from .block_attributes import BlockLike
from .loop import ApplyOp, ForOp


def value_range(value: SSAValue) -> Interval | None:
    """The range of a loop variable, a block axis or a `tir.apply` of them, over symbols.

    `None` if it depends on anything else, such as data. The interval over-approximates: if a bound
    depends on another loop, it is the hull over all iterations of that loop.
    """
    if isinstance(value.owner, ApplyOp):
        return range_of(value.owner.expr.data, ranges_of(value.owner.operands))
    if not isinstance(value, BlockArgument):
        return None
    owner = value.owner.parent_op()
    if isinstance(owner, ForOp):
        return _hull(owner.min.data, owner.extent.data, owner.operands_)
    if isinstance(owner, BlockLike):
        axis = owner.axes.data[value.index]
        return _hull(axis.min.data, axis.extent.data, owner.operands_, len(owner.axes.data))
    return None


def operand_ranges(op: BlockLike) -> dict[Atom, Interval]:
    """The ranges of the block's operands by atom; unknown ones are absent."""
    return ranges_of(op.operands_, first=len(op.axes.data))


def ranges_of(operands: Sequence[SSAValue], first: int = 0) -> dict[Atom, Interval]:
    """The ranges of operands, numbered from `first`; unknown ones are absent."""
    found: dict[Atom, Interval] = {}
    for position, operand in enumerate(operands, first):
        if (interval := value_range(operand)) is not None:
            found[Arg(position)] = interval
    return found


def range_of(expr: IntExpr, ranges: Ranges) -> Interval | None:
    """The range of an expression; `None` if an operand's range is unknown."""
    if any(Arg(index) not in ranges for index in expr.args()):
        return None
    return interval_of(expr, ranges)


def at_points(expr: IntExpr, ranges: Ranges) -> IntExpr:
    """The expression with the values of atoms that have one, such as loops of one iteration."""
    spans = ((a, ranges.get(a)) for a in expr.all_atoms)
    points = {a: s.lower for a, s in spans if s is not None and s.lower == s.upper}
    return expr.substitute({a: v for a, v in points.items() if v.constant is not None})


def range_over_loops(expr: IntExpr, operands: Sequence[SSAValue]) -> Interval | None:
    """The range of an expression in which block axes are replaced by their bindings.

    It is exact for axes and loops that move together, as in ``axis - loop``, but ignores
    predicates.
    """
    values = Values()

    def in_loops(value: SSAValue) -> IntExpr:
        owner = value.owner.parent_op() if isinstance(value, BlockArgument) else None
        if not isinstance(value, BlockArgument) or not isinstance(owner, BlockLike):
            return values.expr(value)
        return over(exprs_of(owner.bindings)[value.index], owner.numbering())

    def over(part: IntExpr, numbering: Sequence[SSAValue]) -> IntExpr:
        return part.substitute({Arg(i): in_loops(numbering[i]) for i in part.args()})

    return range_of(over(expr, operands), ranges_of(values.list))


def surely_less(lhs: IntExpr, rhs: IntExpr) -> bool:
    """Whether ``lhs < rhs`` provably holds if no symbol is zero.

    A rule that holds only for zero-sized buffers is violated.
    """
    difference = rhs - lhs
    if (value := difference.constant) is not None:
        return value > 0
    return is_less(
        0, difference.substitute({Sym(s): IntExpr.of(Sym(s)) + 1 for s in difference.symbols()})
    )


def _hull(
    lower: IntExpr, extent: IntExpr, operands: Sequence[SSAValue], number: int = 0
) -> Interval | None:
    if not (lower.args() or extent.args()):
        return Interval.range(lower, extent)
    ranges = ranges_of(operands, number)
    first, last = range_of(lower, ranges), range_of(lower + extent - 1, ranges)
    return None if first is None or last is None else Interval(first.lower, last.upper)

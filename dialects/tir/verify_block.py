"""The rules of `tir.block`: axes stay in their ranges, accesses in the regions that it declares."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ..bounds import Interval, is_non_negative
from ..int_expr import Atom, IntExpr
from ..sym import exprs_of, verify_args
from .block_attributes import BlockLike
from .iterations import Iteration, happens
from .ranges import operand_ranges, range_of, surely_less
from .ranges import value_range as value_range
from .types import BufferType
from .verify_access import range_text
from .verify_regions import verify_declared, verify_reductions
from .verify_spatial import verify_spatial


def verify_block(op: BlockLike) -> None:
    """Raise VerifyException where the block breaks a rule."""
    _verify_counts(op)
    _verify_expressions(op)
    ranges = operand_ranges(op)
    for position in range(len(op.axes.data)):
        _verify_binding(op, position, ranges)
    verify_declared(op)
    verify_reductions(op)
    verify_spatial(op)


def _verify_counts(op: BlockLike) -> None:
    count = len(op.axes.data)
    if len(op.body.block.args) != count or len(op.bindings.data) != count:
        raise VerifyException(
            f"expected as many axes as bindings and block arguments, got {count} axes, "
            f"{len(op.bindings.data)} bindings and {len(op.body.block.args)} arguments"
        )
    if any(not isinstance(a.type, IndexType) for a in op.body.block.args):
        raise VerifyException("expected block axes of type index")
    for which, buffers, regions in (
        ("read", op.read_buffers, op.reads),
        ("write", op.write_buffers, op.writes),
    ):
        if len(buffers) != len(regions.data):
            raise VerifyException(
                f"expected one region for each {which} buffer, "
                f"got {len(regions.data)} for {len(buffers)}"
            )


def _verify_expressions(op: BlockLike) -> None:
    count = len(op.axes.data)
    exprs = [*exprs_of(op.bindings)]
    for axis in op.axes.data:
        exprs += [axis.min.data, axis.extent.data]
    for bound in op.predicates.data:
        exprs += [bound.lhs.data, bound.rhs.data]
    verify_args(op, exprs, count + len(op.operands_))
    if any(i < count for e in exprs for i in e.args()):
        raise VerifyException(
            "expected axis ranges, bindings and predicates not to use the block's own axes"
        )
    for region in (*op.regions_of("reads"), *op.regions_of("writes")):
        assert isinstance(region.buffer.type, BufferType)
        rank = region.buffer.type.rank
        if len(region.mins) != rank or len(region.extents) != rank:
            raise VerifyException(
                f"expected a region of rank {rank} for {region.buffer.type}, "
                f"got {len(region.mins)} first indices and {len(region.extents)} extents"
            )
        verify_args(op, [*region.mins, *region.extents], count + len(op.operands_))


def axis_name(value: SSAValue, position: int) -> str:
    """The name of an axis in messages."""
    return value.name_hint or f"axis {position}"


def _verify_binding(op: BlockLike, position: int, ranges: Mapping[Atom, Interval]) -> None:
    axis, binding = op.axes.data[position], op.bindings.data[position].data
    name = axis_name(op.axis_vars[position], position)
    if (value := axis.extent.data.constant) is not None and value < 0:
        raise VerifyException(
            f"expected axis '{name}' to have an extent of at least 0, got {value}"
        )
    covered = range_of(binding, ranges)
    if covered is None:
        return
    wanted = Interval.range(axis.min.data, axis.extent.data)
    if surely_less(covered.lower, wanted.lower) or surely_less(wanted.upper, covered.upper):
        if _is_kept_within(op, binding, covered, wanted, ranges):
            return
        if happens(op, lambda i: not _is_within(i, op, binding, wanted)):
            raise VerifyException(
                f"binding of axis '{name}' takes values in {range_text(covered)}, "
                f"outside its range {range_text(wanted)}"
            )


def _is_kept_within(
    op: BlockLike,
    binding: IntExpr,
    covered: Interval,
    wanted: Interval,
    ranges: Mapping[Atom, Interval],
) -> bool:
    """Whether the block's predicates, with ranges, prove that a binding is in its axis' range."""
    least: list[Interval | None] = [covered]
    most: list[Interval | None] = [covered]
    for bound in op.predicates.data:
        lhs, rhs = bound.lhs.data, bound.rhs.data
        least.append(range_of(binding - rhs + lhs + 1, ranges))
        most.append(range_of(binding - lhs + rhs - 1, ranges))
    return any(e is not None and is_non_negative(e.lower - wanted.lower) for e in least) and any(
        e is not None and is_non_negative(wanted.upper - e.upper) for e in most
    )


def _is_within(at: Iteration, op: BlockLike, binding: IntExpr, wanted: Interval) -> bool:
    numbering = op.numbering()
    value = at.evaluate(binding, numbering)
    lower, upper = at.evaluate(wanted.lower, numbering), at.evaluate(wanted.upper, numbering)
    return lower <= value <= upper

"""The rules of `tir.block`: axes cover their ranges, accesses stay inside, reductions do not index what they write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..bounds import Interval, interval_of
from ..int_expr import Arg, Atom, IntExpr
from ..sym import exprs_of
from .access import LoadOp, StoreOp, verify_args
from .structure import BlockOp, BufferRegion, ForOp, InitOp
from .types import BufferType


def verify_block(op: BlockOp) -> None:
    """Raise VerifyException where the block breaks a rule."""
    _verify_shape(op)
    ranges = operand_ranges(op)
    for position in range(len(op.axes.data)):
        _verify_binding(op, position, ranges)
    _verify_regions(op)
    _verify_accesses(op)


def _name(value: SSAValue, position: int) -> str:
    return value.name_hint or f"axis {position}"


def _verify_shape(op: BlockOp) -> None:
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
            raise VerifyException(f"expected one region for each {which} buffer, got {len(regions.data)} for {len(buffers)}")
    exprs = [*exprs_of(op.bindings)]
    for axis in op.axes.data:
        exprs += [axis.min.data, axis.extent.data]
    for bound in op.predicates.data:
        exprs += [bound.lhs.data, bound.rhs.data]
    verify_args(op, exprs, count + len(op.operands_))
    if any(i < count for e in exprs for i in e.args()):
        raise VerifyException("expected axis ranges, bindings and predicates not to use the block's own axes")


def operand_ranges(op: BlockOp) -> dict[Atom, Interval]:
    """The values that the block's operands take, in the numbering of its expressions; unknown ones are absent."""
    count = len(op.axes.data)
    found: dict[Atom, Interval] = {}
    for position, operand in enumerate(op.operands_):
        interval = value_range(operand)
        if interval is not None:
            found[Arg(count + position)] = interval
    return found


def value_range(value: SSAValue) -> Interval | None:
    """The values of a loop variable or of a block axis, over symbols; `None` where they depend on more."""
    if not isinstance(value, BlockArgument):
        return None
    owner = value.owner.parent_op()
    if isinstance(owner, ForOp):
        lower, extent = owner.min.data, owner.extent.data
        ranges = _ranges_of(owner.operands_)
    elif isinstance(owner, BlockOp):
        axis = owner.axes.data[value.index]
        lower, extent = axis.min.data, axis.extent.data
        ranges = operand_ranges(owner)
    else:
        return None
    if lower.args() - _known(ranges) or extent.args() - _known(ranges):
        return None
    first, last = interval_of(lower, ranges), interval_of(lower + extent - 1, ranges)
    return None if first is None or last is None else Interval(first.lower, last.upper)


def _ranges_of(operands: tuple[SSAValue, ...] | list[SSAValue]) -> dict[Atom, Interval]:
    found = {Arg(i): value_range(v) for i, v in enumerate(operands)}
    return {atom: interval for atom, interval in found.items() if interval is not None}


def _known(ranges: Mapping[Atom, Interval]) -> set[int]:
    return {a.index for a in ranges if isinstance(a, Arg)}


def _verify_binding(op: BlockOp, position: int, ranges: Mapping[Atom, Interval]) -> None:
    axis, binding = op.axes.data[position], op.bindings.data[position].data
    if binding.args() - _known(ranges):
        return
    covered = interval_of(binding, ranges)
    if covered is None:
        return
    wanted = Interval.range(axis.min.data, axis.extent.data)
    below = (covered.lower - wanted.lower).constant
    above = (covered.upper - wanted.upper).constant
    name = _name(op.axis_vars[position], position)
    got = f"[{covered.lower}, {covered.upper + 1})"
    expected = f"[{wanted.lower}, {wanted.upper + 1})"
    outside = (below is not None and below < 0) or (above is not None and above > 0)
    if outside and not op.predicates.data:
        raise VerifyException(f"binding of axis '{name}' takes values in {got}, outside its range {expected}")
    inside = (below is not None and below > 0) or (above is not None and above < 0)
    if inside and axis.kind.data in ("spatial", "reduce"):
        raise VerifyException(f"axis '{name}' does not cover its range {expected}: its binding takes values in {got}")


def _verify_regions(op: BlockOp) -> None:
    count = len(op.axes.data)
    reduce_axes = {i for i, k in enumerate(op.axis_kinds) if k == "reduce"}
    for region in (*op.regions_of("reads"), *op.regions_of("writes")):
        rank = cast(BufferType, region.buffer.type).rank
        if len(region.mins) != rank or len(region.extents) != rank:
            raise VerifyException(
                f"expected a region of rank {rank} for {region.buffer.type}, got {len(region.mins)}"
            )
        verify_args(op, [*region.mins, *region.extents], count + len(op.operands_))
    for region in op.regions_of("writes"):
        _verify_write(op, region, reduce_axes)


def _verify_write(op: BlockOp, region: BufferRegion, reduce_axes: set[int]) -> None:
    for expr in region.mins:
        for axis in sorted(expr.args() & reduce_axes):
            raise VerifyException(
                f"reduction axis '{_name(op.axis_vars[axis], axis)}' of block '{op.block_name.data}' "
                f"indexes its write to '{region.buffer.name_hint or 'a buffer'}'"
            )


def _verify_accesses(op: BlockOp) -> None:
    """Unconditional accesses of the block itself must be inside their buffer and its declared region."""
    declared = {
        "read": {*op.read_buffers, *op.write_buffers},
        "write": set(op.write_buffers),
    }
    axis_ranges: dict[SSAValue, Interval | None] = {a: value_range(a) for a in op.axis_vars}
    guarded = bool(op.predicates.data) or _is_conditional(op)

    def visit(block: Block, conditional: bool) -> None:
        for inner in block.ops:
            if isinstance(inner, LoadOp | StoreOp):
                which = "read" if isinstance(inner, LoadOp) else "write"
                if inner.buffer not in declared[which] and _defined_outside(inner.buffer, op):
                    raise VerifyException(
                        f"block '{op.block_name.data}' {which}s '{inner.buffer.name_hint or 'a buffer'}' "
                        f"without declaring it"
                    )
                if not conditional:
                    _verify_inside(inner, axis_ranges)
            elif isinstance(inner, BlockOp):
                continue
            known = isinstance(inner, ForOp | InitOp)
            for region in inner.regions:
                for nested in region.blocks:
                    visit(nested, conditional or not known)

    visit(op.body.block, guarded)


def _is_conditional(op: BlockOp) -> bool:
    parent = op.parent_op()
    while parent is not None and isinstance(parent, ForOp | BlockOp | InitOp):
        parent = parent.parent_op()
    return parent is not None and parent.name.startswith("scf.")


def _defined_outside(buffer: SSAValue, op: BlockOp) -> bool:
    block = buffer.owner if isinstance(buffer.owner, Block) else buffer.owner.parent
    while block is not None:
        if block is op.body.block:
            return False
        parent: Operation | None = block.parent_op()
        block = parent.parent if parent is not None else None
    return True


def _verify_inside(access: LoadOp | StoreOp, cache: dict[SSAValue, Interval | None]) -> None:
    dims = cast(BufferType, access.buffer.type).dims
    ranges: dict[Atom, Interval] = {}
    for i, operand in enumerate(access.operands_):
        if operand not in cache:
            cache[operand] = value_range(operand)
        if (known := cache[operand]) is not None:
            ranges[Arg(i)] = known
    for position, (index, dim) in enumerate(zip(exprs_of(access.indices), dims, strict=True)):
        if index.args() - _known(ranges):
            continue
        span = interval_of(index, ranges)
        if span is None or _is_empty(span):
            continue
        _verify_span(access, position, span, dim)


def _is_empty(span: Interval) -> bool:
    extent = span.extent.constant
    return extent is not None and extent <= 0


def _verify_span(access: LoadOp | StoreOp, position: int, span: Interval, dim: IntExpr) -> None:
    low, high = span.lower.constant, (span.upper - dim).constant
    if (low is not None and low < 0) or (high is not None and high >= 0):
        raise VerifyException(
            f"indices of dim {position} of '{access.buffer.name_hint or 'a buffer'}' take values in "
            f"[{span.lower}, {span.upper + 1}), outside [0, {dim})"
        )

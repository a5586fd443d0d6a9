"""A block that computes into scratch memory runs all iterations, those beyond its axes as well.

::

    T[i - i0 * 4] += X[i, k] where i0 * 4 + i1 < n      ⇒      T[i - i0 * 4] += X[min(i, n - 1), k]

Nobody reads what the additional iterations compute, and the innermost loops have no condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ....dialects import tir
from ....dialects.bounds import Interval, interval_of, is_non_negative, simplify
from ....dialects.int_expr import Atom, IntExpr, IntLike, minimum
from ....dialects.nesting import operations_in
from ....dialects.sym import Values, expr_array, exprs_of, pack
from ....dialects.tir.verify_access import buffer_text
from ..blocks import ScheduleError
from ..copy_scalars import ranges_of_values
from ..regions import axes_of, refresh_around, replace_header


def run_all_iterations(block: tir.BlockOp) -> None:
    """Drop a block's predicates that keep axes in range; loads stay inside of their buffers.

    What it stores must be a scratch buffer with room for the additional iterations. Raises
    ScheduleError where that is not so, or where a predicate says something else.
    """
    if not block.predicates.data:
        return
    values = Values()
    for value in block.numbering():
        values.expr(value)
    ranges = ranges_of_values(values)
    axes = axes_of(block)
    widened = _widened(block, axes, ranges)
    vars_ = block.axis_vars
    meaning: dict[SSAValue, IntExpr] = {v: a.binding for v, a in zip(vars_, axes, strict=True)}
    last: dict[SSAValue, IntExpr] = {vars_[i]: axes[i].min + axes[i].extent - 1 for i in widened}
    for op in operations_in(block):
        if isinstance(op, tir.StoreOp):
            _verify_room(op, values, meaning, ranges)
    for op in operations_in(block):
        if isinstance(op, tir.LoadOp):
            _keep_inside(op, values, meaning, ranges, last)
    kept = [widened.get(i, a) for i, a in enumerate(axes)]
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, kept, values, reads, writes)
    refresh_around([block])


def _widened(
    block: tir.BlockOp, axes: Sequence[tir.Axis], ranges: Mapping[Atom, Interval]
) -> dict[int, tir.Axis]:
    """The axes that predicates keep in range, as long as what they are bound to."""
    widened: dict[int, tir.Axis] = {}
    ends = {(a.binding, a.min + a.extent): i for i, a in enumerate(axes)}
    for bound in block.predicates.data:
        position = ends.get((bound.lhs.data, bound.rhs.data))
        span = None if position is None else interval_of(axes[position].binding, ranges)
        if position is None or span is None:
            raise ScheduleError(
                f"expected predicates of block '{block.block_name.data}' to keep axes in range",
                block,
            )
        own = axes[position]
        widened[position] = tir.Axis(own.kind, own.min, span.upper + 1 - own.min, own.binding)
    return widened


def _is_inside(
    index: IntExpr,
    dim: IntExpr,
    operands: list[SSAValue],
    values: Values,
    meaning: Mapping[SSAValue, IntExpr],
    ranges: Mapping[Atom, Interval],
) -> bool:
    """Whether an index of an operation in the block is in its dim in every iteration."""
    at = values.rebase(index, operands)
    known = {**ranges, **ranges_of_values(values)}
    mapping: dict[Atom, IntLike] = {}
    for value, expr in meaning.items():
        atom = values.expr(value).as_atom
        assert atom is not None
        mapping[atom] = expr
    span = interval_of(simplify(at.substitute(mapping), known), known)
    return (
        span is not None and is_non_negative(span.lower) and is_non_negative(dim - 1 - span.upper)
    )


def _verify_room(
    op: tir.StoreOp,
    values: Values,
    meaning: Mapping[SSAValue, IntExpr],
    ranges: Mapping[Atom, Interval],
) -> None:
    type_ = op.buffer.type
    assert isinstance(type_, tir.BufferType)
    for index, dim in zip(exprs_of(op.indices), type_.dims, strict=True):
        if not _is_inside(index, dim, list(op.operands_), values, meaning, ranges):
            raise ScheduleError(f"expected {buffer_text(op.buffer)} to hold all iterations", op)


def _keep_inside(
    op: tir.LoadOp,
    values: Values,
    meaning: Mapping[SSAValue, IntExpr],
    ranges: Mapping[Atom, Interval],
    last: Mapping[SSAValue, IntExpr],
) -> None:
    """Let a load stay at the last value of an axis where more would leave its buffer."""
    type_ = op.buffer.type
    assert isinstance(type_, tir.BufferType)
    own = Values()
    indices = [own.rebase(e, op.operands_) for e in exprs_of(op.indices)]
    changed = False
    for position, (index, dim) in enumerate(zip(list(indices), type_.dims, strict=True)):
        if _is_inside(index, dim, own.list, values, meaning, ranges):
            continue
        mapping: dict[Atom, IntLike] = {}
        for i in index.args():
            value = own.list[i]
            if value in last:
                atom = own.expr(value).as_atom
                assert atom is not None
                mapping[atom] = minimum(IntExpr.of(atom), own.rebase(last[value], values.list))
        if mapping:
            indices[position], changed = index.substitute(mapping), True
    if changed:
        operands, packed = pack(indices, own.list)
        op.operands = [op.buffer, *operands]
        op.properties["indices"] = expr_array(packed)

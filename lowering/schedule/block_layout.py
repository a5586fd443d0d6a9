"""`transform_block_layout`: map a block's axes, and the loops around it, to others.

`reorder_block_iter_var` puts them in another order.

::

    for i, j:                               for a0, a1, a2 in (n // 4, m, 4):
      block (vi = i, vj = j)        ⇒         block (v0 = a0, v1 = a1, v2 = a2)
        Y[vi, vj] = X[vi, vj]                   Y[v0 * 4 + v2, v1] = X[v0 * 4 + v2, v1]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO, Arg, IntExpr
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.regions import infer_regions
from .blocks import ScheduleError, loops_around, perfect_nest
from .copy_block import new_loops
from .index_map import IndexMap
from .index_values import replace_indices, undecided
from .layout import Placement, map_of
from .loop_checks import loop_text, verify_covered, verify_plain
from .regions import axes_of, replace_header


def transform_block_layout(block: tir.BlockOp, index_map: Placement) -> list[tir.ForOp]:
    """Give a block the axes that `index_map` makes of its own, each with a loop of its own.

    TVM's namesake. Where the map leaves gaps, the block has predicates. Returns the loops, the
    outermost first. Raises ScheduleError unless the block is alone in plain loops, each of which
    is bound to one axis, for a map without a known inverse, and for one that mixes kinds of axes or
    leaves a gap where a reduction begins.
    """
    where = f"block '{block.block_name.data}'"
    old_loops = own_loops(block)
    moved = map_of(index_map, len(block.axes.data), block)
    extents = [a.extent.data for a in block.axes.data]
    try:
        dims, inverse = moved.shape(extents), moved.inverse(extents)
    except ValueError as error:
        raise ScheduleError(str(error), block) from None
    kinds = [_kind(block, result, moved) for result in moved.results]
    _verify_beginning(block, moved, inverse, extents)
    if block.predicates.data:
        raise ScheduleError(f"expected {where} to have no predicates", block)
    values = Values()
    loops = new_loops([f"ax{i}" for i in range(len(dims))], dims, values)
    bindings = [values.expr(loop.loop_var) for loop in loops]
    gaps = [] if moved.is_onto(extents) else moved.conditions(inverse, bindings, extents)
    bounds = undecided(gaps, values)
    axes = [
        tir.Axis(kind, ZERO, dim, binding)
        for kind, dim, binding in zip(kinds, dims, bindings, strict=True)
    ]
    _move_into(block, loops, old_loops)
    _replace_axes(block, axes, inverse, values)
    reads, writes = infer_regions(block.body.block, values)
    replace_header(block, axes, values, reads, writes, bounds)
    return loops


def _move_into(
    block: tir.BlockOp, loops: Sequence[tir.ForOp], old_loops: Sequence[tir.ForOp]
) -> None:
    nest = old_loops[0] if old_loops else block
    assert nest.parent is not None
    for loop in loops:
        loop.location = nest.location
    outermost = loops[0] if loops else block
    if outermost is not nest:
        if not loops:
            block.detach()
        nest.parent.insert_op_before(outermost, nest)
    if loops:
        block.detach()
        loops[-1].body.block.add_op(block)
    if old_loops:
        nest.detach()
        nest.erase()


def _replace_axes(
    block: tir.BlockOp, axes: Sequence[tir.Axis], inverse: IndexMap, values: Values
) -> None:
    """Replace a block's axes in its body by expressions of new axes, over `values`."""
    body = block.body.block
    old = list(block.axis_vars)
    new = [body.insert_arg(IndexType(), len(body.args)) for _ in axes]
    for i, var in enumerate(new):
        var.name_hint = f"v_ax{i}"
    kept = [tir.Axis("spatial", ZERO, a.extent.data, ZERO) for a in block.axes.data]
    replace_header(block, [*kept, *axes], values, [], [])  # ranges are looked up there
    inside = Values()
    meanings = inverse([inside.expr(v) for v in new])
    replace_indices(dict(zip(old, meanings, strict=True)), inside)
    for var in old:
        body.erase_arg(var)


def own_loops(block: tir.BlockOp) -> list[tir.ForOp]:
    """The loops around a block, each bound to one axis; raises ScheduleError for others."""
    where = f"block '{block.block_name.data}'"
    loops = loops_around(block)
    if loops and perfect_nest(block) is not loops[0]:
        raise ScheduleError(f"expected {where} to be the only statement in its loops", block)
    verify_covered(block)
    numbering = block.numbering()
    bound: list[SSAValue | None] = []
    for binding, axis in zip(exprs_of(block.bindings), block.axes.data, strict=True):
        atom = binding.as_atom
        bound.append(numbering[atom.index] if isinstance(atom, Arg) else None)
        if axis.min.data != ZERO or axis.extent.data.args():
            raise ScheduleError(
                f"expected axes of {where} to start at 0 and not to depend on loops", block
            )
    for loop in loops:
        verify_plain(loop)
        if loop.min.data != ZERO or bound.count(loop.loop_var) != 1:
            raise ScheduleError(
                f"expected {loop_text(loop)} to start at 0 and to be bound to one axis of {where}",
                block,
            )
    if len(bound) != len(loops):
        raise ScheduleError(
            f"expected a loop for each axis of {where}, got {len(loops)} for {len(bound)}", block
        )
    return loops


def _verify_beginning(
    block: tir.BlockOp, moved: IndexMap, inverse: IndexMap, extents: Sequence[IntExpr]
) -> None:
    """Raise ScheduleError if the first iteration of a reduction is a gap of the map."""
    if moved.is_onto(extents):
        return
    begin = inverse([ZERO] * len(moved.results))
    for kind, first in zip(block.axis_kinds, begin, strict=True):
        if kind != "spatial" and first != ZERO:
            raise ScheduleError(
                f"expected {moved} to keep the first iteration of each reduction", block
            )


def _kind(block: tir.BlockOp, result: IntExpr, moved: IndexMap) -> str:
    """The kind of a new axis, which is that of the old ones that it is made of."""
    kinds = {block.axis_kinds[i] for i in result.args()}
    if len(kinds) > 1:
        raise ScheduleError(
            f"expected new axis {moved.text(result)} to combine axes of one kind, "
            f"got {' and '.join(sorted(kinds))}",
            block,
        )
    return kinds.pop() if kinds else "spatial"


def reorder_axes(block: tir.BlockOp, order: Sequence[int]) -> None:
    """Put the axes of a block in this order of their positions; TVM's ``reorder_block_iter_var``.

    Raises ScheduleError where `order` does not have each position once.
    """
    count = len(block.axes.data)
    if sorted(order) != list(range(count)):
        raise ScheduleError(
            f"expected a permutation of the {count} axes of block '{block.block_name.data}', "
            f"got {list(order)}",
            block,
        )
    axes = axes_of(block)
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    old = block.axis_vars
    body = block.body.block
    renamed: dict[SSAValue, SSAValue] = {}
    for position in order:
        new = body.insert_arg(old[position].type, len(body.args))
        new.name_hint = old[position].name_hint
        renamed[old[position]] = new
    values = Values()
    for value in [*old, *block.operands_]:
        values.expr(renamed.get(value, value))
    for arg in old:
        arg.replace_all_uses_with(renamed[arg])
        body.erase_arg(arg)
    replace_header(block, [axes[i] for i in order], values, reads, writes, bounds)

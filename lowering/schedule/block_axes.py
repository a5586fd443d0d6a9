"""The order of a block's axes, which is that of its bindings and of its body's arguments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.sym import Values
from .blocks import ScheduleError
from .regions import axes_of, replace_header


def reorder_axes(block: tir.BlockOp, order: Sequence[int]) -> None:
    """Put the axes of a block in this order of their positions; TVM's ``reorder_block_iter_var``.

    Raises ScheduleError where `order` does not have each position once.
    """
    count = len(block.axes.data)
    if sorted(order) != list(range(count)):
        raise ScheduleError(
            f"expected an order of the {count} axes of block '{block.block_name.data}', "
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

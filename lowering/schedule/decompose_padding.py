"""`decompose_padding`: store the padding first, and then the elements.

::

    for i in (0, n + 4):                            for i in (0, n + 4): Y[i] = 0
      block "Y" (v = i):                     ⇒      for i in (0, n):
        Y[v] = X[v - 2] if 2 <= v < n + 2 else 0      block "Y" (v = i): Y[v + 2] = X[v]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ZERO, Arg, IntExpr, maximum, minimum
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import ExprAttr, Values, exprs_of
from ...dialects.tir.conditions import conjuncts
from ..analysis.independence import may_share_memory
from ..scope import Bound
from .blocks import (
    ScheduleError,
    insert_before,
    loaded_buffers,
    loops_around,
    perfect_nest,
    stored_buffers,
)
from .conditions import erase_unused, fold_if, yielded
from .index_values import add_predicates, replace_indices
from .loop_checks import loop_text
from .regions import axes_of, refresh_around, refresh_regions, replace_header


@dataclass
class _Padding:
    """A store of either an element or a constant, and the bounds in which it is the element."""

    store: tir.StoreOp
    choice: scf.IfOp
    lower: dict[int, IntExpr] = field(default_factory=lambda: {})
    upper: dict[int, IntExpr] = field(default_factory=lambda: {})


def decompose_padding(block: tir.BlockOp, loop: tir.ForOp) -> tir.BlockOp:
    """Store a block's constant before `loop` and its elements in it; TVM's ``decompose_padding``.

    The block must store ``if_then_else(condition, element, constant)``, where the condition bounds
    axes, and be alone in `loop`. Loops in `loop` that are bounded axes get shorter; other axes are
    bounded by predicates. Returns the new block of the constant. Raises ScheduleError where the
    block does anything else.
    """
    where = f"block '{block.block_name.data}'"
    nest = perfect_nest(block)
    if loop not in loops_around(block) or (nest is not loop and nest not in ancestors(loop)):
        raise ScheduleError(
            f"expected {where} to be the only statement in {loop_text(loop)}", block
        )
    padding = _padding(block)
    for stored in stored_buffers(block):
        if any(may_share_memory(stored, loaded) for loaded in loaded_buffers(block)):
            raise ScheduleError(
                f"expected {where} to load from memory that it does not store to", block
            )
    fill = _fill(block, loop, padding)
    fold_if(padding.choice, 0)
    for axis in sorted({*padding.lower, *padding.upper}):
        _shrink(block, loop, axis, padding)
    refresh_regions(block)
    refresh_around([block, fill])
    return fill


def _padding(block: tir.BlockOp) -> _Padding:
    error = ScheduleError(
        f"expected block '{block.block_name.data}' to store if_then_else(condition, element, "
        "constant) with a condition that bounds axes",
        block,
    )
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    if len(stores) != 1 or stores[0].parent is not block.body.block:
        raise error
    (store,) = stores
    choice = store.value.owner
    if set(block.axis_kinds) != {"spatial"} or not isinstance(choice, scf.IfOp):
        raise error
    otherwise = yielded(choice, 1).owner
    if not isinstance(otherwise, arith.ConstantOp):
        raise error
    found = _Padding(store, choice)
    if not _collect(block, found):
        raise error
    return found


def _collect(block: tir.BlockOp, found: _Padding) -> bool:
    """Collect the bounds of axes in the condition; returns whether it is nothing else."""
    values = Values()
    excesses = conjuncts(found.choice.cond, values)
    return excesses is not None and all(_bound(e, block, values, found) for e in excesses)


def _bound(excess: IntExpr, block: tir.BlockOp, values: Values, found: _Padding) -> bool:
    """Note ``excess >= 0``, which bounds an axis from one side."""
    atoms = [Arg(i) for i in sorted(excess.args())]
    split = excess.split_on(atoms[0]) if len(atoms) == 1 else None
    if split is None or split[1].args():
        return False
    variable = values.list[atoms[0].index]
    position = next((i for i, v in enumerate(block.axis_vars) if v is variable), None)
    if position is None or split[0].constant not in (1, -1):
        return False
    if split[0].constant == 1 and position not in found.lower:
        found.lower[position] = -split[1]
    elif split[0].constant == -1 and position not in found.upper:
        found.upper[position] = split[1] + 1
    else:
        return False
    return True


def _fill(block: tir.BlockOp, loop: tir.ForOp, padding: _Padding) -> tir.BlockOp:
    """A copy of the loop before it, in which the block stores the constant."""
    order = list(operations_in(loop))
    copy = loop.clone()
    copies = dict(zip(order, operations_in(copy), strict=True))
    fill, store, choice = (copies[op] for op in (block, padding.store, padding.choice))
    assert isinstance(fill, tir.BlockOp) and isinstance(choice, scf.IfOp)
    assert loop.parent is not None
    constant = yielded(choice, 1).owner
    assert isinstance(constant, Operation)
    constant.detach()
    fill.body.block.insert_op_before(constant, choice)
    store.operands[0] = constant.results[0]
    erase_unused(choice)
    fill.block_name = StringAttr(f"{block.block_name.data}_pad_const")
    insert_before(copy, loop.parent, loop)
    return fill


def _shrink(block: tir.BlockOp, loop: tir.ForOp, position: int, padding: _Padding) -> None:
    """Let an axis run over its bounds alone: by its own loop, or else by a predicate."""
    axis, variable = axes_of(block)[position], block.axis_vars[position]
    numbering = block.numbering()
    low = padding.lower.get(position, axis.min)
    high = padding.upper.get(position, axis.min + axis.extent)
    own = _own_loop(block, loop, position)
    if own is None:
        values = Values()
        bound = values.rebase(axis.binding, numbering)
        bounds: list[Bound] = []
        if position in padding.lower:
            bounds.append((low - 1, bound))
        if position in padding.upper:
            bounds.append((bound, high))
        add_predicates(block, bounds, values)
        return
    if not is_non_negative(low):
        low = maximum(low, ZERO)
    if not is_non_negative(axis.extent - high):
        high = minimum(high, axis.extent)
    size = high - low
    if not is_non_negative(size):
        size = maximum(size, ZERO)
    own.properties["extent"] = ExprAttr(size)
    values = Values()
    for value in numbering:
        values.expr(value)
    axes = axes_of(block)
    axes[position] = tir.Axis(axis.kind, ZERO, size, axis.binding)
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    replace_header(block, axes, values, [], [], bounds)
    replace_indices({variable: low + values.expr(variable)}, values)


def _own_loop(block: tir.BlockOp, loop: tir.ForOp, position: int) -> tir.ForOp | None:
    """The loop in `loop` from 0 that is an axis and nothing else, if there is one."""
    atom = exprs_of(block.bindings)[position].as_atom
    axis = block.axes.data[position]
    if not isinstance(atom, Arg) or axis.min.data != ZERO:
        return None
    value = block.numbering()[atom.index]
    for own in loops_around(block):
        is_inside = own is loop or loop in ancestors(own)
        if own.loop_var is value and is_inside and own.min.data == ZERO and not own.operands_:
            is_whole = own.extent.data == axis.extent.data
            return own if is_whole and _uses(block, value) == 1 else None
    return None


def _uses(block: tir.BlockOp, value: SSAValue) -> int:
    """How many axes and predicates a value is in."""
    numbering = block.numbering()
    exprs: Sequence[IntExpr] = [
        *exprs_of(block.bindings),
        *(e.data for b in block.predicates.data for e in (b.lhs, b.rhs)),
    ]
    return sum(any(numbering[i] is value for i in e.args()) for e in exprs)

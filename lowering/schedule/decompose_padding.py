"""`decompose_padding`: store the padding first, and then the elements.

::

    for i in (0, n + 4):                            for i in (0, n + 4): Y[i] = 0
      block "Y" (v = i):                     ⇒      for i in (0, n):
        Y[v] = X[v - 2] if 2 <= v < n + 2 else 0      block "Y" (v = i): Y[v + 2] = X[v]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import tir
from ...dialects.bounds import is_non_negative
from ...dialects.int_expr import ZERO, Arg, IntExpr, maximum, minimum
from ...dialects.nesting import ancestors, operations_in
from ...dialects.sym import ExprAttr, Values, exprs_of
from ...dialects.tir.conditions import conjuncts
from ...dialects.tir.ranges import at_points, ranges_of
from ..analysis.independence import may_share_memory
from ..scope import Bound
from .blocks import (
    ScheduleError,
    insert_before,
    loaded_buffers,
    loops_around,
    perfect_nest,
    stored_buffers,
    uses_of,
)
from .conditions import erase_unused, fold_if, yielded
from .index_values import replace_indices
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
    axes, and be alone in `loop`, or alone store to a scratch buffer. Loops in `loop` that are
    bounded axes get shorter; other axes are bounded by predicates. Returns the new block of the
    constant. Raises ScheduleError where the block does anything else.
    """
    padding = _checked(block, loop)
    outer = [op for op in loops_around(block) if op is not loop and loop not in ancestors(op)]
    fill = _fill(block, loop, padding)
    fold_if(padding.choice, 0)
    for axis in sorted({*padding.lower, *padding.upper}, reverse=True):
        _shrink(block, loop, axis, padding)
    for each in (block, fill):
        _drop_unit_loops(each, outer)
        refresh_regions(each)
    refresh_around([block, fill])
    return fill


def can_decompose_padding(block: tir.BlockOp, loop: tir.ForOp) -> bool:
    """Whether `decompose_padding` applies to a block and a loop."""
    try:
        _checked(block, loop)
    except ScheduleError:
        return False
    return True


def _checked(block: tir.BlockOp, loop: tir.ForOp) -> _Padding:
    """The padding of a block; raises ScheduleError where it cannot be stored before a loop."""
    where = f"block '{block.block_name.data}'"
    if loop not in loops_around(block):
        raise ScheduleError(f"expected {loop_text(loop)} around {where}", block)
    padding, nest = _padding(block), perfect_nest(block)
    if nest is not loop and nest not in ancestors(loop):
        _verify_alone(block, loop, padding.store.buffer)
    for stored in stored_buffers(block):
        if any(may_share_memory(stored, loaded) for loaded in loaded_buffers(block)):
            raise ScheduleError(
                f"expected {where} to load from memory that it does not store to", block
            )
    return padding


def _verify_alone(block: tir.BlockOp, loop: tir.ForOp, buffer: SSAValue) -> None:
    """Raise ScheduleError unless the block alone stores to a scratch buffer from before a loop."""
    owner = buffer.owner
    if isinstance(owner, tir.AllocBufferOp) and loop not in ancestors(owner):
        uses = uses_of(buffer)
        if not uses.others and all(block in ancestors(s) for s in uses.stores):
            return
    raise ScheduleError(
        f"expected block '{block.block_name.data}' to be the only statement in {loop_text(loop)}",
        block,
    )


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
    if not _collect(block, found) or _is_whole(block, found):
        raise error
    return found


def _is_whole(block: tir.BlockOp, padding: _Padding) -> bool:
    """Whether the condition holds for all iterations."""
    axes = axes_of(block)
    gaps = [axes[i].min - low for i, low in padding.lower.items()]
    gaps += [high - axes[i].min - axes[i].extent for i, high in padding.upper.items()]
    return all(is_non_negative(gap) for gap in gaps)


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
    _keep_only(fill, copy)
    insert_before(copy, loop.parent, loop)
    return fill


def _keep_only(block: tir.BlockOp, loop: tir.ForOp) -> None:
    """Erase all statements in a loop but a block and the loops around it."""
    kept: Operation = block
    while kept is not loop:
        parent = kept.parent
        assert parent is not None
        for op in [op for op in parent.ops if op is not kept][::-1]:
            op.detach()
            op.erase()
        around = parent.parent_op()
        assert around is not None
        kept = around


def _drop_unit_loops(block: tir.BlockOp, loops: Sequence[tir.ForOp]) -> None:
    """Bind axes to the value of the variable of a loop of one iteration instead of to it."""
    values = Values()
    for value in block.numbering():
        values.expr(value)
    ranges = ranges_of([loop.loop_var for loop in loops])
    known = {values.atom(o.loop_var): r for o, r in zip(loops, ranges.values(), strict=True)}
    axes = [replace(a, binding=at_points(a.binding, known)) for a in axes_of(block)]
    replace_header(block, axes, values, [], [], _predicates(block))


def _predicates(block: tir.BlockOp) -> list[Bound]:
    return [(b.lhs.data, b.rhs.data) for b in block.predicates.data]


def _shrink(block: tir.BlockOp, loop: tir.ForOp, position: int, padding: _Padding) -> None:
    """Let an axis run over its bounds alone, from 0: by its own loop, or else by a predicate."""
    axis, variable = axes_of(block)[position], block.axis_vars[position]
    numbering = block.numbering()
    low = padding.lower.get(position, axis.min)
    high = padding.upper.get(position, axis.min + axis.extent)
    own = _own_loop(block, loop, position)
    bounds: list[Bound] = []
    if own is None and position in padding.lower:
        bounds.append((low - 1, axis.binding))
    if own is None and position in padding.upper:
        bounds.append((axis.binding, high))
    if not is_non_negative(low):
        low = maximum(low, ZERO)
    if not is_non_negative(axis.extent - high):
        high = minimum(high, axis.extent)
    size = high - low
    if not is_non_negative(size):
        size = maximum(size, ZERO)
    binding = axis.binding - low
    if own is not None:
        own.properties["extent"] = ExprAttr(size)
        binding = axis.binding
    values = Values()
    for value in numbering:
        values.expr(value)
    axes = axes_of(block)
    axes[position] = tir.Axis(axis.kind, ZERO, size, binding)
    replace_header(block, axes, values, [], [], [*bounds, *_predicates(block)])
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

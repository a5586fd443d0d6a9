"""`rolling_buffer`: keep what iterations of a loop share in a buffer of the size of one of them.

::

    T: [34]                                        T: [6]
    for i in (0, 8):                               for i in (0, 8):
      for j in (0, 6):                               for j in (0, 6):
        block "T" (v = i * 4 + j):           ⇒         block "T" (v = i * 4 + j) where i < 1 or 2 <= j:
          T[v] = X[v] * 2                                T[v % 6] = X[v] * 2
      for j in (0, 4), k in (0, 3):                  for j in (0, 4), k in (0, 3):
        block "Y": Y[i * 4 + j] += T[…]                block "Y": Y[i * 4 + j] += T[… % 6]
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, Arg, Compound, IntExpr
from ...dialects.nesting import ancestors, enclosing, operations_in
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..analysis.block_accesses import dim_axes
from ..analysis.independence import may_share_memory
from .blocks import ScheduleError, loaded_buffers, loops_around, only_writer, stored_buffers
from .compact import Part, part_of_iteration, replace_indices_of
from .index_values import add_predicates
from .loop_checks import loop_text
from .regions import axes_of, refresh_around, replace_header
from .storage import scratch_of


@dataclass(frozen=True)
class _Overlap:
    """How many elements of a dim an iteration of a loop shares with the one before."""

    dim: int
    loop: tir.ForOp
    count: int


def rolling_buffer(block: tir.BlockOp, buffer: int | str) -> None:
    """Compute each element of a scratch buffer once, where iterations of loops share elements.

    The block, at `compute_at` its consumers, then runs for new elements only. The dim of the
    outermost such loop becomes a ring of the size that one iteration needs, and axes that index it
    become opaque. TVM's ``rolling_buffer``. Raises ScheduleError for a buffer that `compact_buffer`
    refuses, for iterations that share nothing, and where the block may compute other values for an
    element later.
    """
    alloc = scratch_of(block, buffer)
    part = part_of_iteration(alloc, in_part=True)
    axes = _verify_same_values(block, alloc, part)
    found = _overlaps(block, part)
    order = loops_around(block)
    rolled = min(found, key=lambda overlap: order.index(overlap.loop))
    _verify_inputs(block, rolled.loop)
    _add_conditions(block, axes, found)
    _wrap(alloc, part, rolled.dim)


def _verify_same_values(
    block: tir.BlockOp, alloc: tir.AllocBufferOp, part: Part
) -> Sequence[int | None]:
    """The axes that index the buffer; ScheduleError unless values are determined by them."""
    name, where = buffer_text(alloc.result), f"block '{block.block_name.data}'"
    stores = [op for op in part.accesses if isinstance(op, tir.StoreOp)]
    if only_writer(alloc.result) is not block:
        raise ScheduleError(f"expected only {where} to store to {name}", block)
    loop = part.parent.parent_op()
    assert isinstance(loop, tir.ForOp)
    loops = {p.loop_var for p in ancestors(block) if isinstance(p, tir.ForOp)}
    inside = [op for op in operations_in(block) if op is not block]
    is_fixed = _stores_at_axes(block, loop) and not any(loops & set(op.operands) for op in inside)
    axes = dim_axes(block, stores[0])
    if not is_fixed or any(dim_axes(block, store) != axes for store in stores):
        raise ScheduleError(
            f"expected {where} to store values to {name} that its indices determine", block
        )
    return axes


def _overlaps(block: tir.BlockOp, part: Part) -> list[_Overlap]:
    found: list[_Overlap] = []
    for dim, (low, extent) in enumerate(zip(part.region.mins, part.region.extents, strict=True)):
        if not low.args():
            continue
        step = _step(low)
        if step is None or extent.constant is None:
            continue
        variable = part.values.list[step[0].index]
        loop = variable.owner.parent_op() if not isinstance(variable.owner, tir.ForOp) else None
        count = extent.constant - step[1]
        if not isinstance(loop, tir.ForOp) or count <= 0 or loop.extent.data == ONE:
            continue
        if loop.kind.data != "serial" or loop.min.data != ZERO:
            raise ScheduleError(f"expected {loop_text(loop)} to be serial, and from 0 on", loop)
        found.append(_Overlap(dim, loop, count))
    if not found:
        raise ScheduleError(
            f"expected iterations of a loop around block '{block.block_name.data}' to share "
            f"elements of {buffer_text(part.region.buffer)} with the one before",
            block,
        )
    return found


def _step(start: IntExpr) -> tuple[Arg, int] | None:
    """``(i, s)`` of a start ``i * s``, or ``(i * a) floordiv b``, which moves by at most s."""
    atom, divisor = start.as_atom, 1
    if isinstance(atom, Compound) and atom.op == "floordiv":
        start, divisor = atom.lhs, atom.rhs.constant or 0
    (number, *more) = start.args() or (None,)
    parts = None if number is None or more else start.split_on(Arg(number))
    if parts is None or number is None or parts[1] != ZERO or divisor < 1:
        return None
    factor = parts[0].constant or 0
    return (Arg(number), -(-factor // divisor)) if factor > 0 else None


def _verify_inputs(block: tir.BlockOp, loop: tir.ForOp) -> None:
    """Raise ScheduleError where an iteration of a loop changes what a block has loaded before."""
    seen = {block}
    pending = [block]
    while pending:
        reader = pending.pop()
        for read in loaded_buffers(reader) - stored_buffers(reader):
            for written in stored_buffers(loop):
                if not may_share_memory(read, written):
                    continue
                writer = only_writer(read) if read is written else None
                if writer is None or not _stores_at_axes(writer, loop):
                    raise ScheduleError(
                        f"expected {loop_text(loop)} to compute one value for each element of "
                        f"{buffer_text(read)}, which block '{reader.block_name.data}' loads",
                        block,
                    )
                if writer not in seen:
                    seen.add(writer)
                    pending.append(writer)


def _stores_at_axes(block: tir.BlockOp, loop: tir.ForOp) -> bool:
    """Whether a block of a loop stores once, to the element of its axes that the loop moves."""
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    outer = {p.loop_var for p in (loop, *ancestors(loop)) if isinstance(p, tir.ForOp)}
    numbering = block.numbering()
    moved = {
        i
        for i, binding in enumerate(exprs_of(block.bindings))
        if any(numbering[n] in outer for n in binding.args())
    }
    return loop in ancestors(block) and all(
        moved <= set(axes := dim_axes(block, store))
        and not any(
            index.args()
            for axis, index in zip(axes, exprs_of(store.indices), strict=True)
            if axis is None
        )
        for store in stores
    )


def _add_conditions(
    block: tir.BlockOp, axes: Sequence[int | None], found: Sequence[_Overlap]
) -> None:
    """Let a block run in the first iteration of each loop, and for new elements in later ones."""
    bindings = exprs_of(block.bindings)
    values = Values()
    bounds: list[tuple[IntExpr, IntExpr]] = []
    for overlap in found:
        axis = axes[overlap.dim]
        assert axis is not None
        variable = values.expr(overlap.loop.loop_var)
        first = values.rebase(bindings[axis], block.numbering()).substitute(
            {values.atom(overlap.loop.loop_var): ZERO}
        )
        bounds.append(tir.any_of([(variable, ONE), (IntExpr.of(overlap.count - 1), first)]))
    add_predicates(block, bounds, values)


def _wrap(alloc: tir.AllocBufferOp, part: Part, dim: int) -> None:
    """Shrink a dim of a buffer to that of a part; indices of it are remainders then."""
    type_, size = alloc.result.type, part.region.extents[dim]
    dims = [size if i == dim else d for i, d in enumerate(type_.dims)]
    new = tir.AllocBufferOp(
        tir.BufferType.of(dims, type_.element_type, scope=type_.scope.data),
        None if alloc.buffer_name is None else alloc.buffer_name.data,
    )
    new.result.name_hint = alloc.result.name_hint
    assert alloc.parent is not None
    alloc.parent.insert_op_before(new, alloc)
    alloc.result.replace_all_uses_with(new.result)
    alloc.detach()
    alloc.erase()
    blocks: dict[tir.BlockOp, set[int]] = {}
    for op in part.accesses:
        block = enclosing(op, tir.BlockOp)
        assert block is not None
        values = Values()
        indices = list(values.exprs(op.indices, op.operands_))
        used = {values.list[n] for n in indices[dim].args()}
        variables = block.axis_vars
        blocks.setdefault(block, set()).update(
            i for i, v in enumerate(variables) if v in used and block.axis_kinds[i] == "spatial"
        )
        indices[dim] = indices[dim] % size
        replace_indices_of(op, indices, values)
    for block, opaque in blocks.items():
        _make_opaque(block, opaque)
    refresh_around(blocks)


def _make_opaque(block: tir.BlockOp, positions: set[int]) -> None:
    values = Values()
    for value in block.numbering():
        values.expr(value)
    axes = [
        tir.Axis("opaque", a.min, a.extent, a.binding) if i in positions else a
        for i, a in enumerate(axes_of(block))
    ]
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    reads, writes = block.regions_of("reads"), block.regions_of("writes")
    replace_header(block, axes, values, reads, writes, bounds)

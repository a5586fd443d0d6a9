"""`reindex`: let a block access a buffer through a scratch buffer indexed by its axes.

::

    for i, j, k: Y[i, j] += X[k * 2, j]      ⇒      for j, k: X_reindex[j, k] = X[k * 2, j]
                                                    for i, j, k: Y[i, j] += X_reindex[j, k]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.bounds import interval_of, is_less, is_non_negative, simplify
from ...dialects.int_expr import ZERO, Arg, Atom, IntExpr
from ...dialects.sym import Values, expr_array, pack
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, perfect_nest
from .cache import verify_sole_writer, verify_unchanged
from .copy_block import buffer_of, copy_elements, new_scratch, verify_direct
from .copy_place import scope_statement
from .index_map import ranges_of_dims
from .loop_checks import verify_covered
from .regions import refresh_around
from .stored_box import accesses_in, indices_over_axes, verify_stores_box


def reindex(block: tir.BlockOp, which: str, buffer: int | str) -> tir.BlockOp:
    """Let a block "read" or "write" a buffer through one that has its axes as dims.

    Those are the axes that index the buffer, in the block's order. Returns the new block, before or
    after the block's loops, that copies. TVM's ``reindex``. Raises ScheduleError where the block
    uses other elements or values of the buffer than those at one place over its axes.
    """
    if which not in ("read", "write"):
        raise ScheduleError(f"expected 'read' or 'write', got '{which}'", block)
    old = buffer_of(block, which, buffer)
    nest = scope_statement(block)
    parent = nest.parent
    assert parent is not None
    verify_direct(block, old)
    axes, indices = place_over_axes(block, old)
    if which == "write":
        verify_sole_writer(block, old, nest)
        verify_stores_box(block, old)
    else:
        verify_unchanged(old, parent, [nest], block, [block])
    headers = [block.axes.data[a] for a in axes]
    dims = [h.extent.data for h in headers]
    name = f"{old.name_hint or 'buffer'}_reindex"
    assert isinstance(old.type, tir.BufferType)
    new = new_scratch(name, dims, old, old.type.scope.data, parent)
    accesses = accesses_in(block, old)
    for access in accesses:
        access.operands = [new if o is old else o for o in access.operands]
    index_accesses(accesses, block, axes, [IntExpr.of(Arg(n)) for n in range(len(axes))])
    copy = _copy(which, old, indices, new)
    copy.location = block.location
    if which == "read":
        parent.insert_op_before(perfect_nest(copy), nest)
    else:
        parent.insert_op_after(perfect_nest(copy), nest)
    refresh_around(accesses)
    return copy


def place_over_axes(block: tir.BlockOp, buffer: SSAValue) -> tuple[list[int], list[IntExpr]]:
    """The axes that index a buffer in a block, and its indices over these, each from 0.

    Raises ScheduleError unless all accesses have the same indices, over axes alone and in bounds.
    """
    where = f"block '{block.block_name.data}' to access {buffer_text(buffer)}"
    found = [indices_over_axes(op, block) for op in accesses_in(block, buffer)]
    place = found[0] if found else None
    if place is None or any(other != place for other in found):
        raise ScheduleError(f"expected {where} at one index over its axes", block)
    axes, indices = place
    dims = [block.axes.data[a].extent.data for a in axes]
    if any(block.axes.data[a].min.data.args() or d.args() for a, d in zip(axes, dims, strict=True)):
        raise ScheduleError("expected axes not to depend on loops", block)
    verify_covered(block)
    axes, indices, dims = _used(axes, indices, dims)
    assert isinstance(buffer.type, tir.BufferType)
    for index, dim in zip(indices, buffer.type.dims, strict=True):
        span = interval_of(index, ranges_of_dims(dims))
        if span is None or not (is_non_negative(span.lower) and is_less(span.upper, dim)):
            raise ScheduleError(f"expected {where} in bounds for all values of its axes", block)
    return axes, indices


def _used(
    axes: Sequence[int], indices: Sequence[IntExpr], dims: Sequence[IntExpr]
) -> tuple[list[int], list[IntExpr], list[IntExpr]]:
    """The axes that indices depend on, simplified by the extents of axes, and these."""
    ranges = ranges_of_dims(dims)
    simple = [simplify(e, ranges) for e in indices]
    kept = sorted({n for e in simple for n in e.args()})
    to: dict[Atom, IntExpr] = {Arg(old): IntExpr.of(Arg(new)) for new, old in enumerate(kept)}
    return [axes[n] for n in kept], [e.substitute(to) for e in simple], [dims[n] for n in kept]


def _copy(which: str, old: SSAValue, indices: Sequence[IntExpr], new: SSAValue) -> tir.BlockOp:
    """A block that copies the elements at `indices` to the new buffer, or back."""

    def place(axes: Sequence[IntExpr]) -> list[IntExpr]:
        by: dict[Atom, IntExpr] = {Arg(i): axis for i, axis in enumerate(axes)}
        return [e.substitute(by) for e in indices]

    assert isinstance(new.type, tir.BufferType) and new.name_hint is not None
    dims = new.type.dims
    source, target = (old, new) if which == "read" else (new, old)
    return copy_elements(
        source,
        target,
        new.name_hint,
        [f"ax{i}" for i in range(len(dims))],
        [tir.Axis("spatial", ZERO, dim, ZERO) for dim in dims],
        dims,
        Values(),
        source_place=place if which == "read" else list,
        target_place=list if which == "read" else place,
    )


def index_accesses(
    accesses: Sequence[tir.LoadOp | tir.StoreOp],
    block: tir.BlockOp,
    axes: Sequence[int],
    indices: Sequence[IntExpr],
) -> None:
    """Replace the indices of accesses by `indices` over these axes, relative to their mins."""
    values = Values()
    by: dict[Atom, IntExpr] = {
        Arg(n): values.expr(block.axis_vars[a]) - block.axes.data[a].min.data
        for n, a in enumerate(axes)
    }
    operands, packed = pack([e.substitute(by) for e in indices], values.list)
    for access in accesses:
        first = list(access.operands)[: len(access.operands) - len(access.operands_)]
        access.operands = [*first, *operands]
        access.properties["indices"] = expr_array(packed)

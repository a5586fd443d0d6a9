"""Scratch buffers of the size of a box of another buffer, and the blocks that copy it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO
from ...dialects.nesting import operations_in
from ...dialects.sym import Values
from ...dialects.tir.regions import EXPLICIT, explicit_regions
from .copy_block import (
    buffer_name,
    copy_box,
    copy_elements,
    has_views,
    new_scratch,
    put_views_in_scope,
    redirect,
    redirect_access,
)
from .copy_place import scope_body


def _is_compact(box: tir.BufferRegion, parent: Block, users: Sequence[tir.BlockOp]) -> bool:
    """Whether a copy in a block with axes, but in none of its loops, holds a box instead of all."""
    type_ = box.buffer.type
    assert isinstance(type_, tir.BufferType)
    is_whole = all(low == ZERO for low in box.mins) and box.extents == tuple(type_.dims)
    is_fixed = not any(size.args() for size in box.extents)
    return (
        not is_whole
        and is_fixed
        and isinstance(scope := parent.parent_op(), tir.BlockOp)
        and bool(scope.axes.data)
        and not any(has_views(user, box.buffer) for user in users)
        and not any(r.buffer is box.buffer for u in users for r in _explicit_in(u))
    )


def _explicit_in(block: tir.BlockOp) -> list[tir.BufferRegion]:
    """The regions that a block and those in it declare themselves."""
    blocks = [op for op in operations_in(block) if isinstance(op, tir.BlockOp)]
    return [r for b in blocks for kind in EXPLICIT for r in explicit_regions(b, kind)]


def scratch_copies(
    box: tir.BufferRegion,
    parent: Block,
    users: Sequence[tir.BlockOp],
    block: tir.BlockOp,
    scope: str,
    values: Values,
    are_reads: Sequence[bool],
) -> list[tir.BlockOp]:
    """Let blocks use a scratch copy of a box; returns a block for each copy to it or back."""
    old, name = box.buffer, buffer_name(box.buffer, scope)
    if users and _is_compact(box, parent, users):
        return _copies_of_box(box, name, scope, users, values, are_reads)
    assert isinstance(old.type, tir.BufferType)
    new = new_scratch(name, list(old.type.dims), old, scope, scope_body(block))
    for user in users:
        redirect(user, old, new)
    put_views_in_scope(new)
    pairs = [(old, new) if is_read else (new, old) for is_read in are_reads]
    return [copy_box(source, target, box, name, values) for source, target in pairs]


def _copies_of_box(
    box: tir.BufferRegion,
    name: str,
    scope: str,
    users: Sequence[tir.BlockOp],
    values: Values,
    are_reads: Sequence[bool],
) -> list[tir.BlockOp]:
    """Let blocks use a scratch buffer of the size of a box; returns the blocks that copy it."""
    old = box.buffer
    new = new_scratch(name, box.extents, old, scope, scope_body(users[0]))
    for user in users:
        _move_to_box(user, old, new, box, values)
    axes = [tir.Axis("spatial", ZERO, size, ZERO) for size in box.extents]
    names = [f"ax{i}" for i in range(len(axes))]
    return [
        copy_elements(
            old if is_read else new,
            new if is_read else old,
            name,
            names,
            axes,
            box.extents,
            values,
            source_mins=box.mins if is_read else None,
            target_mins=None if is_read else box.mins,
        )
        for is_read in are_reads
    ]


def _move_to_box(
    op: Operation, old: SSAValue, new: SSAValue, box: tir.BufferRegion, values: Values
) -> None:
    """Let accesses in an operation be of a buffer that holds only a box of another one."""
    found = [o for o in operations_in(op) if isinstance(o, tir.LoadOp | tir.StoreOp)]
    for access in [o for o in found if o.buffer is old]:
        own = Values()
        indices = own.exprs(access.indices, access.operands_)
        mins = [own.rebase(low, values.list) for low in box.mins]
        redirect_access(access, new, [i - m for i, m in zip(indices, mins, strict=True)], own)
    redirect(op, old, new)

"""Blocks that copy a box of one buffer to another, in loops of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.nesting import ancestors, operations_in
from ...dialects.parameters import value_name
from ...dialects.sym import Values
from ...dialects.tir.verify_access import buffer_text
from .blocks import ScheduleError, insert_before, uses_of

Place = Callable[[Sequence[IntExpr]], Sequence[IntExpr]]
"""The indices of an element in a buffer, from the axes of the block that copies it."""

SCOPES = ("global", "shared", "local", "warp", "wmma", "texture")
"""Memory scopes; a name may have a suffix after a dot, as in ``shared.dyn``."""


def verify_scope(scope: str, op: Operation) -> None:
    """Raise ScheduleError unless a buffer can be in this kind of memory."""
    if scope.split(".")[0] not in SCOPES:
        raise ScheduleError(f"expected a storage scope ({', '.join(SCOPES)}), got '{scope}'", op)


def put_in_scope(buffer: SSAValue, scope: StringAttr) -> None:
    """Give a buffer, and views of it, a scope."""
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    new = Rewriter.replace_value_with_new_type(
        buffer,
        tir.BufferType(type_.shape, type_.element_type, type_.strides, type_.offset, scope),
    )
    put_views_in_scope(new)


def put_views_in_scope(buffer: SSAValue) -> None:
    """Give views of a buffer its scope."""
    assert isinstance(buffer.type, tir.BufferType)
    for use in list(buffer.uses):
        if isinstance(use.operation, tir.MatchBufferOp):
            put_in_scope(use.operation.result, buffer.type.scope)


def buffer_of(block: tir.BlockOp, which: str, key: int | str) -> SSAValue:
    """The buffer of this position or name that a block reads or writes; else ScheduleError."""
    buffers = block.read_buffers if which == "read" else block.write_buffers
    where = f"block '{block.block_name.data}'"
    if isinstance(key, int):
        if 0 <= key < len(buffers):
            return buffers[key]
        raise ScheduleError(
            f"expected {where} to {which} more than {key} buffers, got {len(buffers)}", block
        )
    found = [b for b in buffers if b.name_hint == key]
    if len(found) == 1:
        return found[0]
    known = ", ".join(buffer_text(b) for b in buffers) or "none"
    raise ScheduleError(f"expected {where} to {which} one buffer '{key}', got {known}", block)


def new_scratch(
    name: str, dims: Sequence[IntExpr], like: SSAValue, scope: str, parent: Block
) -> SSAValue:
    """A dense scratch buffer of another one's dtype; see `new_buffer`."""
    type_ = like.type
    assert isinstance(type_, tir.BufferType)
    return new_buffer(name, dims, type_.element_type, scope, parent)


def new_buffer(
    name: str, dims: Sequence[IntExpr], element: Attribute, scope: str, parent: Block
) -> SSAValue:
    """A dense scratch buffer, allocated at the beginning of a block.

    There it dominates all blocks that primitives may move forward.
    """
    alloc = tir.AllocBufferOp(tir.BufferType.of(dims, element, scope=scope))
    alloc.result.name_hint = name
    leading = (tir.AllocBufferOp, tir.InitOp)
    insert_before(
        alloc, parent, next((op for op in parent.ops if not isinstance(op, leading)), None)
    )
    return alloc.result


def buffer_name(buffer: SSAValue, scope: str) -> str:
    """The name of a copy of a buffer in a scope."""
    return f"{buffer.name_hint or 'buffer'}_{scope}"


def has_views(block: tir.BlockOp, buffer: SSAValue) -> bool:
    """Whether a block creates a view of a buffer or passes it to a call."""
    return any(block in ancestors(op) for op in uses_of(buffer).others)


def verify_direct(block: tir.BlockOp, buffer: SSAValue) -> None:
    """Raise ScheduleError if a block creates a view of a buffer or passes it to a call."""
    if has_views(block, buffer):
        raise ScheduleError(
            f"expected block '{block.block_name.data}' to only load and store "
            f"{buffer_text(buffer)}, got a view or call of it",
            block,
        )


def redirect(op: Operation, old: SSAValue, new: SSAValue) -> None:
    """Replace a buffer by another one in an operation and its regions."""
    for inner in operations_in(op):
        inner.operands = [new if operand is old else operand for operand in inner.operands]


def redirect_access(
    op: Operation, buffer: SSAValue, indices: Sequence[IntExpr], values: Values
) -> None:
    """Let an access be of an element of another buffer."""
    parent = op.parent
    assert parent is not None
    if isinstance(op, tir.LoadOp):
        load = tir.LoadOp(buffer, indices, values.list)
        load.location = op.location
        parent.insert_op_before(load, op)
        op.result.replace_all_uses_with(load.result)
    elif isinstance(op, tir.StoreOp):
        store = tir.StoreOp(op.value, buffer, indices, values.list)
        store.location = op.location
        parent.insert_op_before(store, op)
    op.detach()
    op.erase()


def copy_box(
    source: SSAValue, target: SSAValue, region: tir.BufferRegion, name: str, values: Values
) -> tir.BlockOp:
    """A block, in loops over a region over `values`, that copies it between buffers of one shape.

    Mins and extents may only move with values of loops around; axes are the dims of the buffers.
    """
    type_ = source.type
    assert isinstance(type_, tir.BufferType)
    axes: list[tir.Axis] = []
    for low, size, dim in zip(region.mins, region.extents, type_.dims, strict=True):
        start, extent = (ZERO, dim) if low.args() or size.args() else (low, size)
        axes.append(tir.Axis("spatial", start, extent, low))
    names = [f"ax{i}" for i in range(len(axes))]
    return copy_elements(source, target, name, names, axes, region.extents, values)


def copy_elements(
    source: SSAValue,
    target: SSAValue,
    name: str,
    names: Sequence[str],
    axes: Sequence[tir.Axis],
    extents: Sequence[IntExpr],
    values: Values,
    source_place: Place = list,
    target_place: Place = list,
    source_mins: Sequence[IntExpr] | None = None,
    target_mins: Sequence[IntExpr] | None = None,
) -> tir.BlockOp:
    """A block in loops of `extents` that copies an element of `source` to `target`.

    The places of the element are given by the axes, whose bindings are where the loops begin; they
    are relative to mins over `values`, by default 0.
    """
    body = Block(arg_types=[IndexType()] * len(axes))
    numbering = Values()
    own = [numbering.expr(arg) for arg in body.args]
    sides = ((source_place, source_mins), (target_place, target_mins))
    here, there = (_moved(place(own), mins, values, numbering) for place, mins in sides)
    load = tir.LoadOp(source, here, numbering.list)
    body.add_ops([load, tir.StoreOp(load.result, target, there, numbering.list)])
    loops = new_loops(names, extents, values)
    bound: list[tir.Axis] = []
    for axis_name, var, axis, loop in zip(names, body.args, axes, loops, strict=True):
        var.name_hint = value_name(f"v_{axis_name}")
        binding = numbering.rebase(axis.binding, values.list) + numbering.expr(loop.loop_var)
        bound.append(tir.Axis(axis.kind, axis.min, axis.extent, binding))
    block = tir.BlockOp.build_from(
        name,
        bound,
        Region(body),
        numbering.list,
        (),
        [tir.BufferRegion(source, here, (ONE,) * len(here))],
        [tir.BufferRegion(target, there, (ONE,) * len(there))],
    )
    if loops:
        loops[-1].body.block.add_op(block)
    return block


def _moved(
    indices: Sequence[IntExpr], mins: Sequence[IntExpr] | None, values: Values, own: Values
) -> tuple[IntExpr, ...]:
    """Indices over `own` relative to mins over `values`."""
    if mins is None:
        return tuple(indices)
    return tuple(own.rebase(m, values.list) + i for m, i in zip(mins, indices, strict=True))


def new_loops(names: Sequence[str], extents: Sequence[IntExpr], values: Values) -> list[tir.ForOp]:
    """Empty loops from 0, each in the one before."""
    loops: list[tir.ForOp] = []
    for name, extent in zip(names, extents, strict=True):
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = value_name(name)
        loop = tir.ForOp(ZERO, extent, values.list, Region(body))
        if loops:
            loops[-1].body.block.add_op(loop)
        loops.append(loop)
    return loops

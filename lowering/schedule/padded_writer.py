"""Writers of a buffer that run over its new layout, and store its padding too.

::

    for i in (0, 14): T[i] = X[i]     ⇒     for a, b in (4, 4):
                                              T[a, b] = 0 if a == 3 and 2 <= b else X[a * 4 + b]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from ...dialects import tir
from ...dialects.int_expr import Arg, IntExpr
from ...dialects.nesting import enclosing
from ...dialects.sym import Values
from ..analysis.block_accesses import accessed_axes
from .block_layout import own_loops, transform_block_layout
from .block_padding import Padding, padding_of
from .blocks import ScheduleError, stored_buffers, uses_of
from .fill_padding import PadValue, add_value, verify_value
from .index_map import IndexMap
from .layout import Placement, map_of, transform_layout
from .regions import axes_of, refresh_around, refresh_regions, replace_header


def transform_padded_layout(
    block: tir.BlockOp,
    buffer: SSAValue,
    index_map: Placement,
    shape: Sequence[IntExpr] | None = None,
    pad_value: PadValue | None = None,
    assume_injective: bool = False,
) -> SSAValue:
    """`transform_layout`, in which a block that stores the whole buffer also stores its padding.

    This is so for maps that store dims in blocks, one of which is not full.
    """
    type_ = buffer.type
    assert isinstance(type_, tir.BufferType)
    padding = writer = None
    if pad_value is not None and shape is None:
        padding = padding_of(map_of(index_map, type_.rank, block), type_.dims)
        writer = writer_of(buffer)
    if padding is None or writer is None or pad_value is None:
        return transform_layout(block, buffer, index_map, shape, pad_value, assume_injective)
    moved = map_of(index_map, type_.rank, block)
    verify_value(buffer, pad_value, len(moved.results), block)
    new = transform_layout(block, buffer, moved, assume_injective=True)
    store_padding_too(writer, moved, padding, pad_value)
    return new


def writer_of(buffer: SSAValue) -> tir.BlockOp | None:
    """The block that stores a whole buffer in row-major order, and does nothing else, if any."""
    uses = uses_of(buffer)
    writers = {enclosing(s, tir.BlockOp) for s in uses.stores}
    block = writers.pop() if len(writers) == 1 else None
    if block is None or stored_buffers(block) != {buffer} or block.predicates.data:
        return None
    stores = [op for op in block.body.block.ops if isinstance(op, tir.StoreOp)]
    inits = [] if block.init is None else [s for s in uses.stores if block.init is s.parent_op()]
    loads = [op for op in uses.loads if enclosing(op, tir.BlockOp) is block]
    if len(stores) != 1 or len(uses.stores) != 1 + len(inits) or (loads and not inits):
        return None
    kinds = list(block.axis_kinds)
    spatial = kinds.count("spatial")
    axes = accessed_axes(block, stores[0])
    dims = list(block.axes.data)[:spatial]
    assert isinstance(buffer.type, tir.BufferType)
    if kinds != ["spatial"] * spatial + ["reduce"] * (len(kinds) - spatial):
        return None
    if axes != tuple(range(spatial)) or [a.extent.data for a in dims] != list(buffer.type.dims):
        return None
    try:
        loops = own_loops(block)
    except ScheduleError:
        return None
    bound = [block.numbering()[next(iter(a.binding.args()))] for a in axes_of(block)]
    return block if [loop.loop_var for loop in loops] == bound else None


def store_padding_too(
    block: tir.BlockOp, index_map: IndexMap, padding: Padding, value: PadValue
) -> None:
    """Let a `writer_of` a buffer, which has the new layout, run over all of it."""
    count = len(index_map.names)
    others = [IntExpr.of(Arg(i)) for i in range(count, len(block.axes.data))]
    names = tuple(f"i{i}" for i in range(len(block.axes.data)))
    transform_block_layout(block, IndexMap(names, (*index_map.results, *others)))
    values = Values()
    for known in block.numbering():
        values.expr(known)
    replace_header(block, axes_of(block), values, [], [])
    bodies = [block.body.block, *([] if block.init is None else [block.init.body.block])]
    for body in bodies:
        _guard(body, block, padding, value)
    refresh_regions(block)
    refresh_around([block])


def _guard(body: Block, block: tir.BlockOp, padding: Padding, value: PadValue) -> None:
    """Let the one store of a body be of a value in the padding, which it computes nothing for."""
    ops = [op for op in body.ops if not isinstance(op, tir.InitOp)]
    store = next(op for op in ops if isinstance(op, tir.StoreOp))
    computed, padded = Block(), Block()
    for op in ops:
        op.detach()
    computed.add_ops([op for op in ops if op is not store])
    condition = padding.condition(body, block.axis_vars)
    padded.add_op(scf.YieldOp(add_value(padded, store.buffer, value, block.axis_vars)))
    computed.add_op(scf.YieldOp(store.value))
    arms = Region(padded), Region(computed)
    choice = scf.IfOp(condition, [store.value.type], *arms)
    body.add_op(choice)
    store.operands[0] = choice.results[0]
    body.add_op(store)

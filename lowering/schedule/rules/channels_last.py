"""Lay out convolutions with channels last, along which results are vectorized.

::

    for n, o, h, w, i, r, s:
      Y[n, o, h, w] += X[n, i, h + r, w + s] * W[o, i, r, s]

⇒

    for n, h, w, i: X'[n, h, w, i] = X[n, i, h, w]
    for r, s, i, o: W'[r, s, i, o] = W[o, i, r, s]
    for n, h, w, o, r, s, i:
      Y'[n, h, w, o] += X'[n, h + r, w + s, i] * W'[r, s, i, o]
    for n, h, w, o: Y[n, o, h, w] = Y'[n, h, w, o]

This is the form of the kernels that a build makes of `relax.nn.conv2d`; kernels in TVM's form, and
those that users write, get it here. What is laid out so already stays. With groups the channels of
results are two axes, the group and the channel in it: each group is a contraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....backend.target import Target
from ....dialects import tir
from ....dialects.int_expr import ONE, ZERO, IntExpr
from ....dialects.nesting import operations_in
from ...analysis.block_accesses import dim_axes
from ..blocks import blocks_in, only_reader, only_writer
from ..index_map import IndexMap
from ..primitives.schedule import Schedule
from .match_contraction import Contraction, contraction_of


@dataclass(frozen=True)
class _Convolution:
    """A convolution; axes are positions in its block."""

    contraction: Contraction
    data: tir.LoadOp
    weight: tir.LoadOp
    batch: list[int]
    rows: list[int]
    """The spatial axes over which windows move, in the order of the data's dims."""
    taps: list[int]
    """The axes of the windows, in the same order."""
    inner: int
    """The axis of the data's channels, in a group."""
    outer: int
    """The axis of the result's channels."""
    channels: int
    """The dim of the data's channels."""

    @property
    def groups(self) -> int:
        """The number of groups that are contractions of their own; 1 if there is no such."""
        type_, own = self.data.buffer.type, self.contraction.extent(self.inner).constant
        outputs = self.contraction.extent(self.outer).constant
        assert isinstance(type_, tir.BufferType)
        channels = type_.dims[self.channels].constant
        if None in (own, outputs, channels) or not own:
            return 1
        count = (channels or 0) // own
        return 1 if count == outputs else count


def lay_out_channels_last(sch: Schedule, func: tir.PrimFuncOp, target: Target) -> None:
    """Give every convolution whose channels are not last copies of its operands and results."""
    for block in blocks_in(func):
        contraction = contraction_of(block)
        if contraction is None or len(contraction.loops) < len(block.axes):
            continue
        if len(contraction.rhs) == len(contraction.lhs) == 1:
            loads = (contraction.lhs[0], contraction.rhs[0])
            found = (_match(contraction, *operands) for operands in (loads, loads[::-1]))
            for convolution in [c for c in found if c is not None][:1]:
                sch.applies(_lay_out, sch, convolution)  # what it has done before stays correct


def _match(contraction: Contraction, data: tir.LoadOp, weight: tir.LoadOp) -> _Convolution | None:
    """The convolution of two operands, whose other indices than those of windows are axes."""
    block, reduced, strides = contraction.block, contraction.k, contraction.strides
    spatial = [i for i, kind in enumerate(block.axis_kinds) if kind == "spatial"]
    weights, results = dim_axes(block, weight), dim_axes(block, contraction.store)
    outer = [axis for axis in spatial if axis in weights]
    if len(outer) != 1 or Counter(weights) != Counter([*outer, *reduced]):
        return None
    moved = [strides.dims_moved(data, var) for var in block.axis_vars]
    if any(len(dims) > 1 for dims in moved) or Counter(results) != Counter(spatial):
        return None
    place = {axis: dims[0] for axis, dims in enumerate(moved) if dims}
    steps = [a for a in spatial if a not in outer and a in place]
    pairs = sorted(
        (place[row], row, tap) for row in steps for tap in reduced if place[row] == place.get(tap)
    )
    rows, taps = [row for _, row, _ in pairs], [tap for _, _, tap in pairs]
    inner = [axis for axis in reduced if axis not in taps]
    batch = [axis for axis in steps if axis not in rows]
    if not pairs or len({*rows}) + len({*taps}) < 2 * len(pairs) or len(inner) != 1:
        return None
    if inner[0] not in place or len(batch) + len(rows) + 1 != len(spatial):
        return None
    ends = inner[0], outer[0], place[inner[0]]
    return _Convolution(contraction, data, weight, batch, rows, taps, *ends)


def _lay_out(sch: Schedule, found: _Convolution) -> None:
    """Apply the layouts; raises ScheduleError where a primitive does."""
    block, groups = found.contraction.block, found.groups
    data, weight = found.data.buffer, found.weight.buffer
    results = dim_axes(block, found.contraction.store)
    is_packed = dim_axes(block, found.weight) == [*found.taps, found.inner, found.outer]
    is_last = found.channels == len(found.data.indices) - 1
    if is_last and is_packed and results[-1] == found.outer:
        return
    each = IntExpr.of((found.contraction.extent(found.outer).constant or groups) // groups)

    def order(e: Sequence[IntExpr]) -> list[IntExpr]:
        o = e[found.outer]
        channel = [o] if groups == 1 else [o // each, o % each]
        first, last = (*found.batch, *found.rows), (*found.taps, found.inner)
        return [*(e[a] for a in first), *channel, *(e[a] for a in last)]

    sch.transform_block_layout(sch.rv(block), _map(order, block))
    first, inner = len(found.batch) + len(found.rows), len(block.axes) - len(found.taps) - 1

    def kept(e: Sequence[IntExpr]) -> list[IntExpr]:
        sizes = (axis.extent.data for axis in block.axes.data)
        return [ZERO if size == ONE else index for index, size in zip(e, sizes, strict=True)]

    def packed(e: Sequence[IntExpr]) -> list[IntExpr]:
        i = kept(e)
        return [*i[inner:], i[first] if groups == 1 else i[first] * each + i[first + 1]]

    if not is_packed:
        number = list(block.read_buffers).index(weight)
        pack = sch.reindex_cache_read(sch.rv(block), number, "global", _map(packed, block))
        _follow_results(sch, sch.block(pack))
    if results[-1] != found.outer or groups > 1:
        copy = sch.reindex_cache_write(
            sch.rv(block), 0, "global", _map(lambda e: kept(e)[:inner], block)
        )
        user = only_reader(sch.block(copy).write_buffers[0], sch.block(copy))
        if user is None or user.init is not None or not sch.applies(sch.compute_inline, copy):
            _follow_results(sch, sch.block(copy))
    if not is_last:
        _move_channels(sch, block, data, found.channels)


def _move_channels(sch: Schedule, block: tir.BlockOp, data: SSAValue, place: int) -> None:
    """Let the data have its channels last: what pads it, or a copy."""
    assert isinstance(data.type, tir.BufferType)
    writer = only_writer(data)
    if writer is None or set(writer.axis_kinds) != {"spatial"}:
        number = list(block.read_buffers).index(data)
        writer = sch.block(sch.cache_read(sch.rv(block), number, "global"))
    last = IndexMap.of(lambda e: [*e[:place], *e[place + 1 :], e[place]], data.type.rank)
    sch.transform_layout(sch.rv(writer), ("write", 0), last)
    _follow_results(sch, writer)


def _follow_results(sch: Schedule, block: tir.BlockOp) -> None:
    """Give a block its axes, and their loops, in the order of the dims that it stores."""
    stores = [op for op in operations_in(block) if isinstance(op, tir.StoreOp)]
    axes = [axis for store in stores for axis in dim_axes(block, store) if axis is not None]
    if sorted(axes) == [*range(len(block.axes))]:
        order = _map(lambda e: [e[axis] for axis in axes], block)
        sch.transform_block_layout(sch.rv(block), order)


def _map(
    function: Callable[[Sequence[IntExpr]], Sequence[IntExpr]], block: tir.BlockOp
) -> IndexMap:
    """The map of a function of a block's axes."""
    return IndexMap.of(function, len(block.axes))

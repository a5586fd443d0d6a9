"""Analyses of scheduled blocks: outputs, loops that a tensor intrinsic computes, and layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.ir import BlockArgument

from ..dialects.index_map import index_args
from ..dialects.int_expr import ZERO, IntExpr
from ..dialects.tir import PrimFuncOp
from ..ir.block_views import view_of
from ..ir.buffers import Buffer
from ..ir.prim_func import PrimFunc
from ..ir.statements import For
from ..lowering.schedule.blocks import blocks_in, plain_loops
from ..lowering.schedule.index_map import IndexMap as Map
from ..lowering.schedule.match_axes import matched_axes
from ..te.arithmetic import dim_expr, index_expr
from ..te.iter_map import normalize_to_iter_sum
from ..te.ranges import Range
from .index_map import IndexMap
from .schedule import BlockRV, Schedule, StmtSRef


@dataclass(frozen=True)
class TensorizeInfo:
    """The loops of a block that are those of a tensor intrinsic's description."""

    loop_map: Mapping[StmtSRef, For]
    """The loop of the description for each of these loops of the block."""
    desc_loop_indexer: Mapping[For, int]
    """The position of each loop of the description, the outermost first."""
    block_iter_paddings: list[int] | None
    """What axes of the block are to be padded to multiples of; `None` without padding."""


def is_output_block(sch: Schedule, block: BlockRV | str) -> bool:
    """Whether a block stores to a parameter of its function."""
    written = sch.block(sch.looked_up(block)).write_buffers
    return any(isinstance(buffer, BlockArgument) for buffer in written)


def get_tensorize_loop_mapping(
    sch: Schedule, block: BlockRV | str, desc_func: PrimFunc, allow_padding: bool = False
) -> TensorizeInfo | None:
    """The loops of a block to tile for a tensor intrinsic that `desc_func` describes.

    `None` where the block does not compute what the intrinsic describes, its loops are not plain,
    or extents are no multiples of those of the description, unless `allow_padding` asks how to pad.
    In TVM ``tvm.s_tir.schedule.analysis.get_tensorize_loop_mapping``.
    """
    own, description = sch.block(sch.looked_up(block)), desc_func.op
    assert isinstance(description, PrimFuncOp)
    axes, loops = matched_axes(description, own), plain_loops(own)
    described = None if axes is None else blocks_in(description)[-1]
    wanted = None if described is None else plain_loops(described)
    if axes is None or loops is None or wanted is None:
        return None
    paddings = [1] * len(own.axes.data)
    loop_map: dict[StmtSRef, For] = {}
    for axis, loop in wanted.items():
        size, extent = loop.extent.data.constant, own.axes.data[axes[axis]].extent.data.constant
        if axes[axis] not in loops or size is None or extent is None:
            return None
        paddings[axes[axis]] = size if extent % size else 1
        loop_map[StmtSRef(loops[axes[axis]])] = view_of(loop)
    if any(padding > 1 for padding in paddings) and not allow_padding:
        return None
    order = {view_of(loop): position for position, loop in enumerate(wanted.values())}
    return TensorizeInfo(loop_map, order, paddings if allow_padding else None)


def suggest_index_map(
    buffer: Buffer, indices: Sequence[Any], loops: Sequence[For], predicate: object = True
) -> IndexMap | None:
    """The layout of a buffer in which loops access its elements in the order of memory.

    `indices` are those of the access in `loops`, outermost first; each new index is a part of one
    loop's variable, at `indices` if the layout is that of the buffer. `None` where the buffer has
    symbolic dims, or the loops do not take each element's place apart into such parts. The layout
    is one of all elements, whatever `predicate` says. TVM's
    ``tvm.s_tir.schedule.analysis.suggest_index_map``.
    """
    dims = [dim.constant for dim in buffer.type.dims]
    sizes = [dim for dim in dims if dim is not None]
    if len(sizes) != len(dims) or len(indices) != len(dims):
        return None
    place = sum((dim_expr(i) * prod(sizes[n + 1 :]) for n, i in enumerate(indices)), ZERO)
    ranges = {loop.loop_var: Range.from_min_extent(loop.min, loop.extent) for loop in loops}
    parts = normalize_to_iter_sum(index_expr(place), ranges)
    variables = [dim_expr(variable) for variable in ranges]
    found: list[tuple[int, int, int, int]] = []
    covered = 1
    for part in reversed(parts.args):
        numbers = [dim_expr(n).constant for n in (part.lower_factor, part.scale, part.extent)]
        lower, scale, extent = (-1 if n is None else n for n in numbers)
        source = getattr(part.source.source, "expr", None)  # a sum of variables has none
        if scale != covered or extent < 1 or source is None or source not in variables:
            return None
        covered = scale * extent
        found.append((variables.index(source), -lower, scale, extent))
    if covered != prod(sizes) or not dim_expr(parts.base).is_constant:
        return None
    results = [_digit(sizes, scale, extent) for *_, scale, extent in sorted(found)]
    known = tuple(r for r in results if r is not None)
    names = tuple(f"i{n}" for n in range(len(sizes)))
    return IndexMap(Map(names, known)) if len(known) == len(results) else None


def _digit(sizes: Sequence[int], scale: int, extent: int) -> IntExpr | None:
    """``place // scale % extent`` of the place of an element, over its indices.

    `None` where a dim begins or ends inside of the digit, at no multiple.
    """
    total, end = ZERO, scale * extent
    for n, index in enumerate(index_args(len(sizes))):
        stride = prod(sizes[n + 1 :])
        low, high = max(scale, stride), min(end, stride * sizes[n])
        if low % stride or low % scale or (low < high and high % low) or max(low, end) % end:
            return None
        if low >= high:
            continue
        part = index // (low // stride)
        total = total + (part if high == stride * sizes[n] else part % (high // low)) * (
            low // scale
        )
    return total

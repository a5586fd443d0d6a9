"""Analyses of scheduled blocks: output blocks, and the loops that a tensor intrinsic computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import BlockArgument

from ..dialects.tir import PrimFuncOp
from ..ir.block_views import view_of
from ..ir.prim_func import PrimFunc
from ..ir.statements import For
from ..lowering.schedule.blocks import blocks_in, plain_loops
from ..lowering.schedule.match_axes import matched_axes
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

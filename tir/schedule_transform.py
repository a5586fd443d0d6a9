"""`tile_with_tensor_intrin`: tiles of the size that a tensor intrinsic computes."""

from __future__ import annotations

from ..lowering.schedule.blocks import blocks_in, plain_loops
from ..lowering.schedule.match_axes import matched_axes
from ..lowering.schedule.tensorize import INTRINSICS
from .schedule import BlockRV, LoopRV, Schedule, ScheduleError


def tile_with_tensor_intrin(
    sch: Schedule, block: BlockRV | str, intrin_name: str, allow_padding: bool = False
) -> LoopRV | None:
    """Split the loops of a block by the sizes of an intrinsic, and move the tiles innermost.

    Returns the outermost loop of the tile, for `Schedule.tensorize`; `None` where the block does
    not compute what the intrinsic describes, its loops are not plain, or do not divide into tiles.
    With `allow_padding`, axes are first padded by `Schedule.pad_einsum`. In TVM
    ``tvm.s_tir.schedule.transform.tile_with_tensor_intrin``. Raises ScheduleError for an
    intrinsic that is not registered, and where padding does not apply.
    """
    if intrin_name not in INTRINSICS:
        raise ScheduleError(f"expected a registered tensor intrinsic, got '{intrin_name}'")
    description, _ = INTRINSICS[intrin_name]
    block = sch.looked_up(block)
    axes = matched_axes(description, sch.block(block))
    if axes is None or plain_loops(sch.block(block)) is None:
        return None
    extents = [a.extent.data.constant for a in blocks_in(description)[-1].axes.data]
    sizes = {axes[i]: size for i, size in enumerate(extents) if size is not None and size > 1}
    if allow_padding:
        count = len(sch.block(block).axes.data)
        if not _divides(sch, block, sizes):
            sch.pad_einsum(block, [sizes.get(axis, 1) for axis in range(count)])
    loops = plain_loops(sch.block(block))
    if loops is None or not _divides(sch, block, sizes):
        return None
    tiled = {loops[axis]: size for axis, size in sizes.items()}
    outer, inner = list[LoopRV](), dict[int, LoopRV]()
    order = {loop: position for position, loop in enumerate(tiled)}
    for variable in sch.get_loops(block):
        loop = sch.loop(variable)
        if loop in tiled:
            variable, inner[order[loop]] = sch.split(variable, [None, tiled[loop]])
        outer.append(variable)
    tile = [inner[position] for position in sorted(inner)]
    sch.reorder(*outer, *tile)
    return tile[0] if tile else None


def _divides(sch: Schedule, block: BlockRV, sizes: dict[int, int]) -> bool:
    extents = [axis.extent.data.constant for axis in sch.block(block).axes.data]
    return all((extents[axis] or 1) % size == 0 for axis, size in sizes.items())

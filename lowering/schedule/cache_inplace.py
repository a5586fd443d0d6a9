"""`cache_inplace`: let a block update a scratch copy of a buffer in place.

::

    for i:                                         for i:
      block "Y": Y[i] = f(Y[i])           ⇒          Y_local[i] = Y[i]
                                                     block "Y": Y_local[i] = f(Y_local[i])
                                                     Y[i] = Y_local[i]
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...dialects import tir
from ...dialects.int_expr import ZERO
from ...dialects.nesting import ancestors
from ...dialects.sym import Values
from ...dialects.tir.regions import infer_regions
from ...dialects.tir.verify_access import buffer_text
from ..analysis.independence import may_share_memory
from .blocks import ScheduleError, perfect_nest, uses_of
from .box_copy import scratch_copies
from .cache import region_inside, region_of
from .copy_block import buffer_of, verify_direct, verify_scope
from .loop_checks import loop_text
from .regions import contains, refresh_around


def cache_inplace(block: tir.BlockOp, buffer: int | str, scope: str) -> list[tir.BlockOp]:
    """Let a block read and write a buffer, by its number among those read, in a copy in `scope`.

    Each instance of the block copies what it accesses before, and back after. Returns the two
    blocks that copy. TVM's ``cache_inplace``. A block may view the buffer or pass it to calls as in
    `cache_read`. Raises ScheduleError unless the block reads and writes the buffer, and accesses no
    other memory that may be the same, and where loops around it are not serial.
    """
    verify_scope(scope, block)
    old = buffer_of(block, "read", buffer)
    _verify_updates(block, old)
    assert block.parent is not None
    values = Values()
    box = _accessed_box(block, old, values)
    copies = scratch_copies(box, block.parent, [block], block, scope, values, [True, False])
    for copy in copies:
        copy.location = block.location
    block.parent.insert_op_before(perfect_nest(copies[0]), block)
    block.parent.insert_op_after(perfect_nest(copies[1]), block)
    refresh_around([block])
    return copies


def _verify_updates(block: tir.BlockOp, buffer: SSAValue) -> None:
    where, name = f"expected block '{block.block_name.data}' to", buffer_text(buffer)
    if buffer not in block.write_buffers:
        raise ScheduleError(f"{where} write {name}, which it reads", block)
    assert isinstance(buffer.type, tir.BufferType)
    if not buffer.type.is_dense:
        verify_direct(block, buffer)
    others = {*block.read_buffers, *block.write_buffers} - {buffer}
    views = [op for op in uses_of(buffer).others if isinstance(op, tir.MatchBufferOp)]
    is_viewed = any(block not in ancestors(view) for view in views)
    if is_viewed or any(may_share_memory(buffer, other) for other in others):
        raise ScheduleError(f"{where} access the memory of {name} only as that", block)
    for loop in ancestors(block):
        if isinstance(loop, tir.ForOp) and loop.kind.data not in ("serial", "unrolled"):
            raise ScheduleError(
                f"{where} be in serial loops, got {loop.kind.data} {loop_text(loop)}", loop
            )


def _accessed_box(block: tir.BlockOp, buffer: SSAValue, values: Values) -> tir.BufferRegion:
    """The box that holds all elements that an instance of a block reads or writes."""
    assert block.parent is not None and isinstance(buffer.type, tir.BufferType)
    found = infer_regions(block.parent, values, [block], with_results=True)
    read, written = (region_of(buffer, regions, block) for regions in found)
    whole = tir.BufferRegion(buffer, (ZERO,) * buffer.type.rank, tuple(buffer.type.dims))
    pairs = (read, written), (written, read)
    box = next((outer for outer, inner in pairs if contains(outer, inner, values)), whole)
    return region_inside(box, values, block)

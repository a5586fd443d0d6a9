"""`set_scope` and `storage_align`: the kind of memory of a scratch buffer, and its strides."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ...dialects import tir
from ...dialects.nesting import ancestors
from ...dialects.tir.regions import EXPLICIT, explicit_regions
from ...dialects.tir.verify_access import buffer_text
from .annotations import annotate
from .blocks import ScheduleError, uses_of
from .copy_block import buffer_of, put_in_scope, verify_scope

ALIGNMENTS = "buffer_dim_align"
"""The annotation of blocks with ``[buffer, dim, factor, offset]`` for each aligned dim."""

Alignment = tuple[int, int, int, int]


def set_scope(block: tir.BlockOp, buffer: int | str, scope: str) -> None:
    """Put a scratch buffer that a block writes into another kind of memory; TVM's ``set_scope``.

    Raises ScheduleError for a parameter, and for an unknown scope.
    """
    verify_scope(scope, block)
    put_in_scope(scratch_of(block, buffer).result, StringAttr(scope))


def storage_align(
    block: tir.BlockOp, buffer: int | str, axis: int, factor: int, offset: int
) -> None:
    """Let a stride of a scratch buffer that a block writes be `offset` more than a multiple.

    Adjacent elements along `axis`, counted from the end if negative, are ``k * factor + offset``
    elements apart, with the smallest k that is enough; TVM's ``storage_align``. The pass
    `align-storage` lays the memory out. Raises ScheduleError for a parameter, a viewed buffer, and
    numbers out of range, and where a block declares a region of the buffer.
    """
    old = scratch_of(block, buffer).result
    if uses_of(old).others:
        raise ScheduleError(f"expected {buffer_text(old)} to be only loaded and stored to", block)
    if is_declared(old):
        raise ScheduleError(f"expected no block to declare a region of {buffer_text(old)}", block)
    rank = old.type.rank
    if not -rank <= axis < rank:
        raise ScheduleError(
            f"expected an axis from {-rank} to {rank - 1} of {buffer_text(old)}, got {axis}", block
        )
    if factor < 1:
        raise ScheduleError(f"expected a factor of at least 1, got {factor}", block)
    if not 0 <= offset < factor:
        raise ScheduleError(f"expected an offset from 0 to {factor - 1}, got {offset}", block)
    number, dim = list(block.write_buffers).index(old), axis % rank
    kept = [a for a in alignments_of(block) if a[:2] != (number, dim)]
    rows = [[IntegerAttr(n, i64) for n in a] for a in (*kept, (number, dim, factor, offset))]
    annotate(block, ALIGNMENTS, ArrayAttr([ArrayAttr(row) for row in rows]))


def is_aligned(buffer: SSAValue) -> bool:
    """Whether `storage_align` has said something of a buffer."""
    return any(
        block.write_buffers[number] is buffer
        for block in _blocks_of(buffer)
        for number, *_ in alignments_of(block)
    )


def is_declared(buffer: SSAValue) -> bool:
    """Whether a block declares a region of a buffer."""
    regions = (
        r for b in _blocks_of(buffer) for kind in EXPLICIT for r in explicit_regions(b, kind)
    )
    return any(r.buffer is buffer for r in regions)


def _blocks_of(buffer: SSAValue) -> list[tir.BlockOp]:
    """The blocks around loads and stores of a buffer."""
    uses = uses_of(buffer)
    around = (op for use in (*uses.loads, *uses.stores) for op in ancestors(use))
    return list(dict.fromkeys(op for op in around if isinstance(op, tir.BlockOp)))


def alignments_of(block: tir.BlockOp) -> list[Alignment]:
    """What `storage_align` has said of the buffers that a block writes."""
    found = None if block.annotations is None else block.annotations.data.get(ALIGNMENTS)
    if found is None:
        return []
    assert isa(found, ArrayAttr[Attribute])
    rows = [row for row in found.data if isa(row, ArrayAttr[IntegerAttr])]
    return [_alignment([n.value.data for n in row.data]) for row in rows]


def _alignment(numbers: Sequence[int]) -> Alignment:
    number, axis, factor, offset = numbers
    return number, axis, factor, offset


def scratch_of(block: tir.BlockOp, buffer: int | str) -> tir.AllocBufferOp:
    """The scratch buffer of this number or name that a block writes; else ScheduleError."""
    old = buffer_of(block, "write", buffer)
    if not isinstance(old.owner, tir.AllocBufferOp):
        raise ScheduleError(f"expected {buffer_text(old)} to be a scratch buffer", block)
    return old.owner

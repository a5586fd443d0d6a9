"""`annotate_buffer_access`: declare the region of a buffer that a block reads or writes.

::

    block "Y" (%v = %i) reads (%X[0 : n])      ⇒      block "Y" (%v = %i) reads (%X[%v * 2 : 3])

The region is not inferred again: primitives such as `compute_at` rely on it where indices depend on
data. The annotations ``explicit_read_region`` and ``explicit_write_region`` list such regions.
"""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException

from ...dialects import tir
from ...dialects.attributes import to_attribute
from ...dialects.sym import Values
from ...dialects.tir.regions import EXPLICIT, explicit_regions
from ...dialects.tir.verify_access import buffer_text
from ...dialects.tir.verify_regions import verify_declared
from .annotations import annotate
from .blocks import ScheduleError
from .copy_block import buffer_of
from .index_map import IndexMap
from .regions import axes_of, refresh_around, replace_header
from .storage import is_aligned


def annotate_buffer_access(
    block: tir.BlockOp, which: str, buffer: int | str, ranges: IndexMap
) -> None:
    """Declare that a block "read"s or "write"s a region of a buffer; TVM's primitive of the name.

    `ranges` has the first index and the end of each dim, over the axes of the block. Raises
    ScheduleError for another number of these, and for a region that accesses surely leave.
    """
    if which not in ("read", "write"):
        raise ScheduleError(f"expected 'read' or 'write', got '{which}'", block)
    found = buffer_of(block, which, buffer)
    assert isinstance(found.type, tir.BufferType)
    if len(ranges.results) != 2 * found.type.rank:
        raise ScheduleError(
            f"expected {found.type.rank} ranges for {buffer_text(found)}, "
            f"got {len(ranges.results) / 2:g}",
            block,
        )
    if is_aligned(found):
        raise ScheduleError(f"expected {buffer_text(found)} not to be aligned", block)
    lows, ends = ranges.results[::2], ranges.results[1::2]
    extents = tuple(end - low for low, end in zip(lows, ends, strict=True))
    region = tir.BufferRegion(found, tuple(lows), extents)
    kind = f"{which}s"
    regions = {
        name: [region if r.buffer is found and name == kind else r for r in block.regions_of(name)]
        for name in ("reads", "writes")
    }
    before = list(block.operands), dict(block.properties)
    _declare(block, regions)
    known = [r.buffer for r in explicit_regions(block, kind)] + [found]
    numbers = [n for n, r in enumerate(regions[kind]) if r.buffer in known]
    annotate(block, EXPLICIT[kind], to_attribute(numbers))
    try:
        verify_declared(block)
    except VerifyException as error:
        block.operands, properties = before
        block.properties.clear()
        block.properties.update(properties)
        raise ScheduleError(str(error), block) from None
    refresh_around([block])


def _declare(block: tir.BlockOp, regions: dict[str, list[tir.BufferRegion]]) -> None:
    values = Values()
    for value in block.numbering():
        values.expr(value)
    bounds = [(b.lhs.data, b.rhs.data) for b in block.predicates.data]
    replace_header(block, axes_of(block), values, regions["reads"], regions["writes"], bounds)

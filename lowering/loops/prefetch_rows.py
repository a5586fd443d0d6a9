"""While a row is worked on that several loops read, the next one is asked for.

::

    loops.for %i in (0, 4096) {             loops.for %i in (0, 4096) {
      loops.for %k in (0, 64) …               loops.for %k in (0, 64) … {
        loops.load %X[%i, %k * 16]              loops.prefetch %X[%i + 1, %k * 16]
      loops.for %k in (0, 64) …          ⇒      loops.load %X[%i, %k * 16]
        loops.load %X[%i, %k * 16]            loops.for %k in (0, 64) …
    }                                           loops.load %X[%i, %k * 16]

The first loop of a softmax waits for memory at the start of each row: what the processor fetches
ahead ends with a page, and the loops that read the row again leave the memory idle. One loop asks:
the first that calls functions of `math`, where requests cost least, or else the first.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...backend.host import CacheSizes
from ...backend.target import Target
from ...dialects import loops
from .streams import Stream, bytes_of, emit_prefetch, reads_panels, row_bytes, streams

ROWS = 4
"""Rows that the second cache holds: this one, the next, and what the loops write."""


def prefetch_rows(func: loops.FuncOp, target: Target) -> None:
    """Prefetch in the loops over rows of parameters that are larger than the second cache."""
    for outer in func.walk():
        if isinstance(outer, loops.ForOp):
            for found in _readers(outer, func, target.caches).values():
                if len(found) > 1:
                    loop, stream = next((f for f in found if _calls(f[0])), found[0])
                    emit_prefetch(loop, stream, outer.loop_var, 1)


def _readers(
    outer: loops.ForOp, func: loops.FuncOp, caches: CacheSizes
) -> dict[SSAValue, list[tuple[loops.ForOp, Stream]]]:
    """The loops right inside of one that each read part of a row of a buffer, by buffer."""
    found: dict[SSAValue, list[tuple[loops.ForOp, Stream]]] = {}
    for loop in outer.body.block.ops:
        if not isinstance(loop, loops.ForOp) or reads_panels(loop):
            continue
        for stream in streams(loop, func, caches):
            row = row_bytes(stream, outer)
            is_far = bytes_of(stream.buffer) > caches.l2
            if is_far and row is not None and row * ROWS <= caches.l2:
                found.setdefault(stream.buffer, []).append((loop, stream))
    return found


def _calls(loop: loops.ForOp) -> bool:
    """Whether a loop computes functions of `math`."""
    return any(op.name.startswith("math.") for op in loop.body.block.ops)

"""Kinds of loops: serial, parallel, vectorized, unrolled, or bound to a thread axis."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from ...dialects import tir
from ..analysis.reductions import Accumulation
from ..scope import describe
from .blocks import ScheduleError, blocks_in, iterator_kinds, nest_loops
from .compact import compact_buffer, private_buffers
from .loop_checks import loop_text, verify_data_parallel
from .reducer import reducer_of

THREAD_TAGS = tuple(f"{w}.{d}" for w in ("blockIdx", "threadIdx") for d in "xyz")
KINDS = ("serial", "parallel", "vectorized", "unrolled", *THREAD_TAGS)


def set_kind(loop: tir.ForOp, kind: str) -> tir.ForOp:
    """Make a loop serial, parallel, vectorized or unrolled, or bind it to a thread axis by its tag.

    Returns the loop. A scratch buffer that iterations of a parallel or bound loop would share moves
    into the loop if each iteration stores what it loads. Raises ScheduleError like `verify_kind`.
    """
    try:
        verify_kind(loop, kind)
    except ScheduleError:
        private = private_buffers(loop) if kind in ("parallel", *THREAD_TAGS) else []
        if not private:
            raise
        verify_data_parallel(loop, kind, {alloc.result for alloc in private})
        for alloc in private:
            compact_buffer(alloc)
    is_thread = kind in THREAD_TAGS
    loop.properties["kind"] = StringAttr("thread_binding" if is_thread else kind)
    loop.properties.pop("thread_tag", None)
    if is_thread:
        loop.properties["thread_tag"] = StringAttr(kind)
    return loop


def verify_kind(loop: tir.ForOp, kind: str) -> None:
    """Raise ScheduleError if a loop cannot be of a kind.

    An unrolled loop has a constant extent. Iterations of a parallel, vectorized or bound loop are
    independent: each runs its own instances of blocks, and the axes bound to it are spatial. A
    vectorized loop may also be bound to a reduction that may be reordered: its lanes keep partial
    results.
    """
    if kind not in KINDS:
        expected = ", ".join(KINDS)
        raise ScheduleError(f"expected a kind of loop ({expected}), got '{kind}'", loop)
    if kind == "unrolled" and loop.extent.data.constant is None:
        raise ScheduleError(
            f"expected {loop_text(loop)} to have a constant extent to be unrolled, "
            f"got {describe(loop.extent.data, loop.operands_)}",
            loop,
        )
    if kind in ("serial", "unrolled") or (kind == "vectorized" and _accumulates(loop)):
        return
    verify_data_parallel(loop, kind)


def _accumulates(loop: tir.ForOp) -> bool:
    """Whether a loop only accumulates into the results of one block, in any order."""
    blocks = blocks_in(loop)
    if len(blocks) != 1 or loop not in nest_loops(blocks[0]):
        return False
    (block,) = blocks
    numbering = block.numbering()
    bounds = [e for b in block.predicates.data for e in (b.lhs.data, b.rhs.data)]
    is_bounded = any(numbering[i] is loop.loop_var for e in bounds for i in e.args())
    return iterator_kinds(loop, block) == {"reduce"} and not is_bounded and is_accumulation(block)


def is_accumulation(block: tir.BlockOp) -> bool:
    """Whether a block only accumulates one value, in any order."""
    try:
        (update,) = reducer_of(block).updates
    except (ScheduleError, ValueError):
        return False
    return isinstance(update.store.value.owner, Accumulation)

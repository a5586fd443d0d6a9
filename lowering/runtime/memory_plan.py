"""Assign offsets in one arena to buffers with known lifetimes, with reuse of dead memory.

Sizes are expressions over symbols. Buffers share a *slot* if one size is provably enough for the
other; offsets are as aligned as the arena. The counterpart is TVM's ``StaticPlanBlockMemory``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects.bounds import Ranges, interval_of, is_non_negative
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import ZERO, IntExpr, maximum
from ...runtime.memory import ALIGNMENT


@dataclass(frozen=True, slots=True)
class Request:
    """A buffer of `size` bytes that is live from step `first` to step `last`, inclusive."""

    size: IntExpr
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The offset of each request, the sizes of the slots, and the size of the arena, in bytes."""

    offsets: tuple[IntExpr, ...]
    slots: tuple[IntExpr, ...]
    size: IntExpr


@dataclass
class _Slot:
    size: IntExpr
    last: int


def plan_memory(requests: Sequence[Request]) -> MemoryPlan:
    """Place the requests in slots of one arena, one slot after the other."""
    placed, sizes = assign_slots(requests)
    starts: list[IntExpr] = []
    total = ZERO
    for size in sizes:
        starts.append(total)
        total = total + aligned(size)
    return MemoryPlan(tuple(starts[index] for index in placed), tuple(map(aligned, sizes)), total)


def assign_slots(
    requests: Sequence[Request], is_padded: bool = True
) -> tuple[list[int], list[IntExpr]]:
    """The slot of each request, and the sizes of the slots in bytes.

    Requests are placed in the order of their first steps, each in the free slot that fits best. If
    all free slots are provably too small, the best one grows. Slots whose sizes cannot be compared
    are not used. If slots are padded to the alignment, the padding counts. The choice is
    deterministic.
    """
    is_enough = _is_enough if is_padded else _is_at_least
    slots: list[_Slot] = []
    placed = [0] * len(requests)
    for number in sorted(range(len(requests)), key=lambda n: requests[n].first):
        request = requests[number]
        index = _choose(slots, request, is_enough)
        if index is None:
            index = len(slots)
            slots.append(_Slot(request.size, request.last))
        slot = slots[index]
        slot.size = slot.size if is_enough(slot.size, request.size) else request.size
        slot.last = request.last
        placed[number] = index
    return placed, [slot.size for slot in slots]


def aligned(size: IntExpr) -> IntExpr:
    """The bytes to reserve for a buffer: its size rounded up to the alignment, at least 0."""
    return at_least_zero((size + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT)


def at_least_zero(size: IntExpr) -> IntExpr:
    """The size, or 0 if it is negative, which would make the next offset overlap earlier slots."""
    return size if is_non_negative(size) else maximum(size, ZERO)


def _is_at_least(size: IntExpr, needed: IntExpr) -> bool:
    return is_non_negative(size - needed)


def _is_enough(size: IntExpr, needed: IntExpr) -> bool:
    """Whether memory for `size` bytes, with alignment padding, provably holds `needed` bytes."""
    return is_non_negative(size - needed) or is_non_negative(aligned(size) - aligned(needed))


def _choose(
    slots: Sequence[_Slot], request: Request, is_enough: Callable[[IntExpr, IntExpr], bool]
) -> int | None:
    """The free slot with the least waste, else the one that grows least, else `None`."""
    free = [(i, s) for i, s in enumerate(slots) if s.last < request.first]
    fitting = [i for i, s in free if is_enough(s.size, request.size)]
    growing = [i for i, s in free if is_enough(request.size, s.size)]

    def misfit(index: int) -> tuple[bool, int, int]:
        """Known differences before symbolic ones, small before large, early slots first."""
        difference = (aligned(slots[index].size) - aligned(request.size)).constant
        return (difference is None, abs(difference or 0), index)

    return min(fitting or growing, key=misfit, default=None)


def largest(expr: IntExpr, ranges: Ranges, subject: str) -> IntExpr:
    """The upper bound of an expression; raises Diagnostic if it has none."""
    if not ranges:
        return expr
    span = interval_of(expr, ranges)
    if span is None:
        raise Diagnostic(f"expected {subject} to have an upper bound, got {expr}")
    return span.upper

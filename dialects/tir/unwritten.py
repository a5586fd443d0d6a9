"""Detection of loads from uninitialized elements of buffers.

A load is reported if, in one of its concrete iterations, no store that may write its element
precedes it. Stores are over-approximated, so there are no false positives; the reference evaluator
finds the remaining cases.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from xdsl.ir import SSAValue

from ..bounds import Interval, interval_of, is_non_negative
from ..int_expr import Atom, IntExpr, IntLike, Sym
from .access import LoadOp
from .accesses import Access, Bound, Loop, accesses_of, ranges_of_loops
from .block import BlockOp
from .block_attributes import InitOp
from .func import PrimFuncOp
from .iterations import Iteration, happens
from .verify_access import buffer_text, stride

SIZE = 20160
"""Symbols get multiples of this number, which the usual tile sizes divide."""

BUDGET = 64
"""The approximate number of iterations of a load to inspect."""


class UnwrittenLoad(NamedTuple):
    """A load, and the uninitialized element that it reads; `None` for an index from data."""

    access: Access
    element: tuple[int | None, ...]
    symbols: dict[str, int]

    @property
    def message(self) -> str:
        """The one-line message for the user, with a suggestion."""
        block, buffer = self.access.block, buffer_text(self.access.buffer)
        where = "a function" if block is None else f"block '{block.block_name.data}'"
        place = ", ".join("?" if i is None else str(i) for i in self.element)
        sizes = ", ".join(f"{n} = {v}" for n, v in self.symbols.items())
        return (
            f"expected {where} to read initialized elements, got [{place}] of {buffer}"
            f"{f' ({sizes})' if sizes else ''}, which nothing has written: {_advice(block)}"
        )


def _advice(block: BlockOp | None) -> str:
    if block is not None and "reduce" in block.axis_kinds and block.init is None:
        return "add T.init() to the block, or store a first value before it"
    if block is not None and block.init is not None:
        return "T.init() runs where each reduction axis has its first value, which comes later"
    return "store a value before it"


def unwritten_load(func: PrimFuncOp, buffers: Collection[SSAValue]) -> UnwrittenLoad | None:
    """The first load that provably reads an uninitialized element of the buffers."""
    accesses = accesses_of(func, buffers) if buffers else []
    for load in accesses:
        if isinstance(load.op, LoadOp):
            stores = [a for a in accesses if a.buffer is load.buffer and not _is_load(a)]
            if not any(_is_before_all(store, load) for store in stores):
                found = _search(load, stores)
                if found is not None:
                    return found
    return None


def _is_load(access: Access) -> bool:
    return isinstance(access.op, LoadOp)


def _is_before_all(store: Access, load: Access) -> bool:
    """Whether intervals suggest that a store precedes the load and covers its elements.

    This only saves the search: intervals have no gaps, unlike sets of elements.
    """
    shared = store.shared_loops(load)
    around: dict[Atom, Interval] = {}
    own, other = dict[Atom, Interval](), dict[Atom, Interval]()
    if not (
        store.precedes(load)
        and ranges_of_loops(load.loops[:shared], around)
        and ranges_of_loops(store.loops[shared:], own)
        and ranges_of_loops(load.loops[shared:], other)
        and all(b in load.bounds or _holds_at_first(b, store) for b in store.bounds)
    ):
        return False
    for index, wanted in zip(store.place, load.place, strict=True):
        if index is None or wanted is None:
            return False
        written, read = interval_of(index, own), interval_of(wanted, other)
        if written is None or read is None:
            return False
        for gap in (read.lower - written.lower, written.upper - read.upper):
            span = interval_of(gap, around)
            if span is None or not is_non_negative(span.lower):
                return False
    return True


def _holds_at_first(bound: Bound, store: Access) -> bool:
    """Whether a bound of a `tir.init` holds in the first iteration of loops around the memory."""
    if bound.lhs is None or bound.rhs is None or not any(isinstance(p, InitOp) for p in store.path):
        return False
    difference = bound.rhs - bound.lhs
    for loop in reversed(store.loops[_loops_with_own_memory(store) :]):
        if loop.lower is None:
            return False
        difference = difference.substitute({loop.atom: loop.lower})
    return is_non_negative(difference - 1)


def _loops_with_own_memory(access: Access) -> int:
    """The number of outer loops in whose iterations the memory is allocated anew."""
    return sum(loop.op.is_ancestor(access.buffer.owner) for loop in access.loops)


def _search(load: Access, stores: Sequence[Access]) -> UnwrittenLoad | None:
    """Search for an iteration of the load in which no store may have written its element."""
    found: list[UnwrittenLoad] = []

    def is_unwritten(at: Iteration) -> bool:
        moment = _Moment(load, at)
        element = moment.element()
        if any(moment.may_have_stored(store, element) for store in stores):
            return False
        found.append(UnwrittenLoad(load, element, dict(at.symbols)))
        return True

    start = Iteration(numbers=count(SIZE, SIZE))
    return found[0] if happens(load.op, is_unwritten, start, BUDGET) else None


@dataclass(frozen=True)
class _Moment:
    """One iteration of a load, and the stores that may precede it."""

    load: Access
    at: Iteration

    def number(self, expr: IntExpr) -> IntExpr:
        """Replace the symbols of an expression by numbers."""
        for name in expr.symbols() - self.at.symbols.keys():
            self.at.symbols[name] = next(self.at.numbers)
        known: dict[Atom, IntLike] = {Sym(s): self.at.symbols[s] for s in expr.symbols()}
        return expr.substitute(known)

    def element(self) -> tuple[int | None, ...]:
        """The element that the load reads; `None` for an unknown index."""
        values = self.values(self.load.loops)
        return tuple(
            None if i is None else self.number(i).substitute(values).constant
            for i in self.load.place
        )

    def values(self, loops: Sequence[Loop]) -> dict[Atom, IntLike]:
        """The values of loop variables."""
        return {loop.atom: self.at.values[loop.op.loop_var] for loop in loops}

    def may_have_stored(self, store: Access, element: tuple[int | None, ...]) -> bool:
        """Whether a store may have written an element: in this iteration, or in an earlier one."""
        shared = store.shared_loops(self.load)
        if store.precedes(self.load) and self._may_store(store, element, shared, None):
            return True
        return any(
            self._may_store(store, element, depth, store.loops[depth])
            for depth in range(_loops_with_own_memory(self.load), shared)
        )

    def _may_store(
        self, store: Access, element: tuple[int | None, ...], fixed: int, before: Loop | None
    ) -> bool:
        """`may_have_stored` with `fixed` loops in the same iteration, `before` in an earlier."""
        values = self.values(self.load.loops[:fixed])
        loops = [self._over(loop, values) for loop in store.loops[fixed:]]
        if before is not None:
            first, now = loops[0], IntExpr.of(self.at.values[before.op.loop_var])
            if first.lower is None:
                return True
            loops[0] = first._replace(extent=now - first.lower)
        ranges: dict[Atom, Interval] = {}
        if not ranges_of_loops(loops, ranges):
            return True
        if any(_is_surely_below_one(i.extent) for i in ranges.values()):
            return False
        return self._may_hold(store.bounds, values, ranges) and all(
            wanted is None or index is None or self._may_be(index, wanted, values, ranges)
            for index, wanted in zip(store.place, element, strict=True)
        )

    def _over(self, loop: Loop, values: dict[Atom, IntLike]) -> Loop:
        bounds = [
            None if e is None else self.number(e).substitute(values)
            for e in (loop.lower, loop.extent)
        ]
        return Loop(loop.op, loop.atom, *bounds)

    def _may_hold(
        self, bounds: Sequence[Bound], values: dict[Atom, IntLike], ranges: dict[Atom, Interval]
    ) -> bool:
        for lhs, rhs in bounds:
            if lhs is not None and rhs is not None:
                span = interval_of(self.number(rhs - lhs).substitute(values), ranges)
                if span is not None and _is_surely_below_one(span.upper):
                    return False
        return True

    def _may_be(
        self, index: IntExpr, wanted: int, values: dict[Atom, IntLike], ranges: dict[Atom, Interval]
    ) -> bool:
        own = self.number(index).substitute(values)
        span = interval_of(own, ranges)
        if span is None or span.lower.constant is None or span.upper.constant is None:
            return True
        step = stride(own)
        is_step = not own.args() or (wanted - own.offset) % step == 0
        return span.lower.constant <= wanted <= span.upper.constant and is_step


def _is_surely_below_one(expr: IntExpr) -> bool:
    value = expr.constant
    return value is not None and value < 1

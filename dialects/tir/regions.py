"""Inference of the buffer regions that a block reads and writes, from its loads and stores.

The counterpart is TVM's ``BlockReadWriteDetector``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.hints import isa

from ..bounds import Interval, Ranges, interval_of, simplify
from ..int_expr import Atom, IntExpr, maximum, minimum
from ..nesting import enclosing
from ..sym import Values, exprs_of
from .access import LoadOp, MatchBufferOp, StoreOp
from .block import BlockOp
from .block_attributes import BufferRegion
from .body_indices import BodyIndices
from .calls import OpaqueCallOp
from .conditions import conjuncts, facts_in_arm
from .types import BufferType

EXPLICIT = {"reads": "explicit_read_region", "writes": "explicit_write_region"}
"""The annotations of blocks with the numbers of regions that are not inferred."""


def explicit_regions(block: BlockOp, which: str) -> list[BufferRegion]:
    """The regions of "reads" or "writes" that a block declares instead of inferring them."""
    found = None if block.annotations is None else block.annotations.data.get(EXPLICIT[which])
    if not isa(found, ArrayAttr[IntegerAttr]):
        return []
    numbers = {number.value.data for number in found.data}
    return [r for n, r in enumerate(block.regions_of(which)) if n in numbers]


def infer_regions(
    body: Block,
    values: Values,
    statements: Sequence[Operation] | None = None,
    by_predicates: bool = False,
    with_results: bool = False,
) -> tuple[list[BufferRegion], list[BufferRegion]]:
    """The regions that `body` reads and writes, over its arguments and values from outside.

    `statements` are the operations to inspect, by default all of the body. A reduction block (one
    with an init) lists the reads of its own output only `with_results`. Indices that depend on data
    cover the whole dim. Predicates of tiles that are not whole, and conditions on indices, count
    only with `by_predicates`.
    """
    detector = _Detector(body, values, by_predicates, statements=statements)
    has_init = not with_results and any(op.name == "tir.init" for op in body.ops)
    detector.visit(list(body.ops) if statements is None else statements)
    writes = detector.regions(detector.writes)
    written = {w.buffer for w in writes}
    reads = [r for r in detector.regions(detector.reads) if not (has_init and r.buffer in written)]
    return reads, writes


@dataclass(frozen=True)
class Access:
    """A load, a store, or a declared access of a call, over values from outside of a body.

    It accesses `region` if all `guards` are at least 0: otherwise the loops around it have no
    iterations, or predicates of its blocks are false. `indices` are the indices, if they are known;
    `inner` has the ranges of the loops in the body that they use.
    """

    region: BufferRegion
    is_store: bool
    guards: tuple[IntExpr, ...] = ()
    indices: tuple[IntExpr, ...] | None = None
    inner: tuple[tuple[Atom, Interval], ...] = ()

    def substitute(self, mapping: Mapping[Atom, IntExpr], ranges: Ranges | None = None) -> Access:
        """The access with atoms replaced, and simplified over `ranges` if they are given."""

        def moved(exprs: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
            new = [e.substitute(mapping) for e in exprs]
            return tuple(new if ranges is None else [simplify(e, ranges) for e in new])

        region = self.region
        box = BufferRegion(region.buffer, moved(region.mins), moved(region.extents))
        indices = None if self.indices is None else moved(self.indices)
        inner = tuple((a, Interval(*moved((r.lower, r.upper)))) for a, r in self.inner)
        return Access(box, self.is_store, moved(self.guards), indices, inner)


def accesses_in(
    body: Block, values: Values, statements: Sequence[Operation] | None = None
) -> list[Access]:
    """The distinct accesses in `body`, numbered as by `infer_regions`.

    Reads by a reduction block of its own output are included.
    """
    found: list[Access] = []
    detector = _Detector(body, values, statements=statements, accesses=found)
    detector.visit(list(body.ops) if statements is None else statements)
    return list(dict.fromkeys(found))


def root_buffer(buffer: SSAValue) -> SSAValue:
    """The buffer that a view, possibly of another view, refers to."""
    while isinstance(buffer.owner, MatchBufferOp):
        buffer = buffer.owner.source
    return buffer


def calls_on_memory(block: BlockOp) -> bool:
    """Whether a block passes buffers to functions; its declared regions are then its accesses."""
    return bool(buffers_in_calls(block))


def buffers_in_calls(block: BlockOp) -> set[SSAValue]:
    """The buffers whose memory, or a part of it, a block passes to functions; views and sources."""
    found: set[SSAValue] = set()
    for op in block.body.block.walk():
        if isinstance(op, OpaqueCallOp) and enclosing(op, BlockOp) is block:
            for arg in op.args:
                if isinstance(arg.type, BufferType):
                    found.add(arg)
                    while isinstance(arg.owner, MatchBufferOp):
                        arg = arg.owner.source
                        found.add(arg)
    return found


@dataclass
class _Detector(BodyIndices):
    statements: Sequence[Operation] | None = None
    reads: dict[SSAValue, list[Interval]] = field(default_factory=lambda: {})
    writes: dict[SSAValue, list[Interval]] = field(default_factory=lambda: {})
    accesses: list[Access] | None = None
    """The single accesses, if they are requested."""
    explicit: frozenset[tuple[str, SSAValue]] = frozenset()
    """The reads and writes whose regions a block around declares."""

    def visit(self, ops: Sequence[Operation]) -> None:
        around = self.guards, self.conditions, self.explicit
        for op in ops:
            self.guards, self.conditions, self.explicit = around
            self.define(op)
            if isinstance(op, BlockOp):
                if calls_on_memory(op):
                    self._declared(op, {kind: op.regions_of(kind) for kind in EXPLICIT})
                    continue
                explicit = {kind: explicit_regions(op, kind) for kind in EXPLICIT}
                self._declared(op, explicit)
                self.explicit |= {(kind, r.buffer) for kind, rs in explicit.items() for r in rs}
            elif isinstance(op, LoadOp | StoreOp):
                self._element(op)
            known = self.conditions
            for arm, region in enumerate(op.regions):
                if isinstance(op, scf.IfOp) and self.by_predicates:
                    self.conditions = (*known, *self._facts(op, arm))
                for inner in region.blocks:
                    self.visit(list(inner.ops))
        self.guards, self.conditions, self.explicit = around

    def _facts(self, choice: scf.IfOp, arm: int) -> list[IntExpr]:
        """The expressions that are at least 0 in an arm."""
        values = Values()
        facts = facts_in_arm(conjuncts(choice.cond, values), arm)
        return [e for e in self.rebase_all(facts, values.list) if e is not None]

    def _element(self, op: LoadOp | StoreOp) -> None:
        """Add the access of one element, unless a block declares it."""
        which = "reads" if isinstance(op, LoadOp) else "writes"
        if (which, op.buffer) not in self.explicit:
            into = self.reads if isinstance(op, LoadOp) else self.writes
            indices = self.rebase_all(exprs_of(op.indices), op.operands_)
            self._access(into, op.buffer, indices)

    def _declared(self, op: BlockOp, regions: Mapping[str, Sequence[BufferRegion]]) -> None:
        """Add declared regions of a block as the accesses of its body."""
        for which, into in (("reads", self.reads), ("writes", self.writes)):
            for region in regions[which]:
                lasts = [
                    low + size - 1 for low, size in zip(region.mins, region.extents, strict=True)
                ]
                firsts, ends = (self.rebase_all(e, op.numbering()) for e in (region.mins, lasts))
                dims = cast(BufferType, region.buffer.type).dims
                pairs = zip(
                    map(self.interval, firsts, dims), map(self.interval, ends, dims), strict=True
                )
                self._touch(into, region.buffer, [Interval(a.lower, b.upper) for a, b in pairs])

    def _is_beside(self, buffer: SSAValue) -> bool:
        """Whether the buffer is allocated in the body, but outside of the statements."""
        owner = buffer.owner
        if self.statements is None or not isinstance(owner, Operation):
            return False
        return owner.parent is self.body and owner not in self.statements

    def _access(
        self,
        into: dict[SSAValue, list[Interval]],
        buffer: SSAValue,
        indices: Sequence[IntExpr | None],
    ) -> None:
        dims = cast(BufferType, buffer.type).dims
        box = [self.interval(i, d) for i, d in zip(indices, dims, strict=True)]
        self._touch(into, buffer, box, indices)

    def _touch(
        self,
        into: dict[SSAValue, list[Interval]],
        buffer: SSAValue,
        box: list[Interval],
        indices: Sequence[IntExpr | None] = (None,),
    ) -> None:
        while isinstance(buffer.owner, MatchBufferOp) and self.is_inside(buffer):
            box, buffer = self._through_view(buffer.owner), buffer.owner.source
            indices = (None,)
        if self.is_inside(buffer) and not self._is_beside(buffer):
            return
        if self.accesses is not None:
            self.accesses.append(self._access_of(buffer, into is self.writes, box, indices))
        known = into.get(buffer)
        into[buffer] = (
            box if known is None else [_hull(a, b) for a, b in zip(known, box, strict=True)]
        )

    def _access_of(
        self,
        buffer: SSAValue,
        is_store: bool,
        box: list[Interval],
        indices: Sequence[IntExpr | None],
    ) -> Access:
        region = BufferRegion(buffer, tuple(i.lower for i in box), tuple(i.extent for i in box))
        point = tuple(i for i in indices if i is not None)
        exact = point if len(point) == len(indices) else None
        atoms = dict.fromkeys(a for e in exact or () for a in e.leaves if a in self.ranges)
        inner = tuple((a, self.ranges[a]) for a in atoms)
        return Access(region, is_store, self.guards, exact, inner)

    def _through_view(self, view: MatchBufferOp) -> list[Interval]:
        starts = self.rebase_all(exprs_of(view.starts), view.operands_)
        dims = view.result.type.dims
        outer = len(starts) - len(dims)
        sizes = [IntExpr.of(1)] * outer + list(dims)
        whole = cast(BufferType, view.source.type).dims
        box: list[Interval] = []
        for start, size, dim in zip(starts, sizes, whole, strict=True):
            first = None if start is None else interval_of(start, self.ranges)
            box.append(
                Interval.range(0, dim)
                if first is None
                else Interval(first.lower, first.upper + size - 1)
            )
        return box

    def regions(self, found: dict[SSAValue, list[Interval]]) -> list[BufferRegion]:
        return [
            BufferRegion(buffer, tuple(i.lower for i in box), tuple(i.extent for i in box))
            for buffer, box in found.items()
        ]


def _hull(a: Interval, b: Interval) -> Interval:
    return a if a == b else Interval(minimum(a.lower, b.lower), maximum(a.upper, b.upper))

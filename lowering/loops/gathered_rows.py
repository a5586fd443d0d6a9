"""Prefetch the rows that the next entry of a table selects, while a loop reads those of this one.

::

    loops.for %j in (0, n) {                          loops.for %j in (0, n) {
      loops.for %d in (0, 64) carry (…) {               %e = loops.load %T[min(%j + 1, n - 1)] : …
        %t = loops.load %T[%j] : …                      %q = arith.index_cast %e : …
        %p = arith.index_cast %t : …           ⇒        loops.for %d in (0, 64) carry (…) {
        %k = loops.load %K[%p, %d, 0] : …                 …
                                                          loops.prefetch %K[%q, %d, 0] : …
                                                          %k = loops.load %K[%p, %d, 0] : …

No hardware prefetcher knows where the next row is: pages of a cache of keys, or tokens of an
embedding. S. Ainsworth and T. M. Jones, "Software Prefetching for Indirect Memory Accesses", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import VectorType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import is_side_effect_free
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...dialects import loops
from ...dialects.int_expr import Atom, IntExpr, minimum
from ...dialects.sym import Values
from .streams import lanes, may_exceed, width


def prefetch_gathered_rows(loop: loops.ForOp, func: loops.FuncOp, caches: CacheSizes) -> None:
    """Prefetch in an innermost loop, for the next iteration of the loop right around it."""
    outer = loop.parent_op()
    if not isinstance(outer, loops.ForOp) or outer.loop_var in loop.operands_:
        return
    entries, values, asked = _NextEntries(loop, outer), Values(), set[object]()
    for load in list(loop.body.block.ops):
        if not isinstance(load, loops.LoadOp) or not _reads_rows(load, func, caches):
            continue
        following = {v: entries.of(v) for v in load.operands_ if entries.is_inside(v)}
        operands = [following.get(v, v) for v in load.operands_]
        if not following or any(v is None for v in operands):
            continue
        *row, last = values.exprs(load.indices, [v for v in operands if v is not None])
        size = width(load.buffer)
        for byte in range(0, lanes(load) * size, LINE):
            line = (last.offset * size + byte) // LINE
            if (place := (load.buffer, *row, last - last.offset, line)) not in asked:
                asked.add(place)
                indices = [*row, last + byte // size]
                hint = loops.PrefetchOp(load.buffer, indices, values.list)
                loop.body.block.insert_op_before(hint, load)


@dataclass
class _NextEntries:
    """What values of a loop's body, which come from tables, are in the next iteration of `outer`.

    After its last iteration it is the same one again. The body has one copy of what computes them.
    """

    loop: loops.ForOp
    outer: loops.ForOp
    _made: dict[object, SSAValue] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        first = self.loop.body.block.first_op
        assert first is not None
        self._begin = first

    def is_inside(self, value: SSAValue) -> bool:
        """Whether the loop's body computes a value."""
        return isinstance(value, OpResult) and value.op.parent is self.loop.body.block

    def of(self, value: SSAValue) -> SSAValue | None:
        """The value in the next iteration; `None` unless pure operations of tables compute it."""
        if not self.is_inside(value):
            return None if value in self.loop.body.block.args else value
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, loops.LoadOp):
            is_outside = all(self.of(v) is v for v in op.operands)
            is_entry = self.outer.loop_var in op.operands_ and not isa(value.type, VectorType)
            return self._add(self._next_load(op)) if is_outside and is_entry else None
        operands = [self.of(v) for v in op.operands]
        is_pure = is_side_effect_free(op) or op.name in loops.LANEWISE
        if op.regions or not is_pure or None in operands:
            return None
        copy = op.clone()
        copy.operands = [v for v in operands if v is not None]
        return self._add(copy)

    def _next_load(self, op: loops.LoadOp) -> loops.LoadOp:
        values, outer = Values(), self.outer
        last = values.rebase(outer.lower.data + outer.extent.data - 1, outer.operands_)
        following = minimum(values.expr(outer.loop_var) + 1, last)
        moves: dict[Atom, IntExpr] = {values.atom(outer.loop_var): following}
        indices = [e.substitute(moves) for e in values.exprs(op.indices, op.operands_)]
        return loops.LoadOp(op.buffer, indices, values.list, op.result.type)

    def _add(self, op: Operation) -> SSAValue:
        """The result of an operation, or of an equal one that the body has already."""
        key = (op.name, *op.operands, *op.properties.items(), *op.attributes.items())
        if key not in self._made:
            self.loop.body.block.insert_op_before(op, self._begin)
            self._made[key] = op.results[0]
        return self._made[key]


def _reads_rows(op: loops.LoadOp, func: loops.FuncOp, caches: CacheSizes) -> bool:
    """Whether a load is of a vector of a parameter that may be larger than a cache."""
    return (
        isa(op.result.type, VectorType)
        and isinstance(op.buffer, BlockArgument)
        and op.buffer.owner is func.body.block
        and may_exceed(op.buffer, caches.l1)
    )

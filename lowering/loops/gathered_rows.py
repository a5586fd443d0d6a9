"""Prefetch the rows that the next entry of a table selects, while a loop reads those of this one.

::

    loops.for %j in (0, n) {                          loops.for %j in (0, n) {
      loops.for %d in (0, 64) carry (…) {               loops.for %d in (0, 64) carry (…) {
        %t = loops.load %T[%j] : …                        %e = loops.load %T[min(%j + 1, n - 1)] : …
        %p = arith.index_cast %t : …           ⇒          %q = arith.index_cast %e : …
        %k = loops.load %K[%p, %d, 0] : …                 …
                                                          loops.prefetch %K[%q, %d, 0] : …
                                                          %k = loops.load %K[%p, %d, 0] : …

The entry is loaded only where the reading loop runs; LLVM moves it out of that loop. No hardware
prefetcher knows where the next row is: pages of a cache of keys, or tokens of an embedding.
S. Ainsworth and T. M. Jones, "Software Prefetching for Indirect Memory Accesses", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free
from xdsl.utils.hints import isa

from ...backend.machine_model import LINE, CacheSizes
from ...dialects import loops
from ...dialects.int_expr import Atom, IntExpr, minimum
from ...dialects.sym import Values
from ..scope import is_inside
from .streams import lanes, may_exceed, width


def prefetch_gathered_rows(loop: loops.ForOp, func: loops.FuncOp, caches: CacheSizes) -> None:
    """Prefetch in an innermost loop, for the next iteration of the loop right around it."""
    outer = loop.parent_op()
    if not isinstance(outer, loops.ForOp) or any(is_inside(v, outer) for v in loop.operands_):
        return
    entries, values, asked = _NextEntries(loop, outer), Values(), set[object]()
    moves = _moves(outer, values)
    for load in list(loop.body.block.ops):
        if not isinstance(load, loops.LoadOp) or not _reads_rows(load, func, caches):
            continue
        same = (loop.loop_var, outer.loop_var)
        following = [v if v in same else entries.of(v) for v in load.operands_]
        operands = [v for v in following if v is not None]
        if len(operands) < len(following) or operands == list(load.operands_):
            continue
        *row, last = (e.substitute(moves) for e in values.exprs(load.indices, operands))
        size = width(load.buffer)
        for byte in range(0, lanes(load) * size, LINE):
            line = (last.offset * size + byte) // LINE
            if (place := (load.buffer, *row, last - last.offset, line)) not in asked:
                asked.add(place)
                indices = [*row, last + byte // size]
                hint = loops.PrefetchOp(load.buffer, indices, values.list)
                loop.body.block.insert_op_before(hint, load)


def _moves(outer: loops.ForOp, values: Values) -> dict[Atom, IntExpr]:
    """The variable of a loop in the next iteration; after the last one it is the same one again."""
    last = values.rebase(outer.lower.data + outer.extent.data - 1, outer.operands_)
    return {values.atom(outer.loop_var): minimum(values.expr(outer.loop_var) + 1, last)}


@dataclass
class _NextEntries:
    """What values of a loop's body, which come from tables, are in the next iteration of `outer`.

    The body has one copy of what computes them. It reads no entry that the next iteration does not.
    """

    loop: loops.ForOp
    outer: loops.ForOp
    _made: dict[object, SSAValue] = field(default_factory=lambda: {})
    _found: dict[SSAValue, SSAValue | None] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        first = self.loop.body.block.first_op
        assert first is not None
        self._begin = first

    def of(self, value: SSAValue) -> SSAValue | None:
        """The value in the next iteration; `None` unless pure operations of tables compute it."""
        if not is_inside(value, self.outer):
            return value
        if value not in self._found:
            self._found[value] = self._compute(value)
        return self._found[value]

    def _compute(self, value: SSAValue) -> SSAValue | None:
        op = value.owner
        if isinstance(op, Block) or op.parent is not self.loop.body.block:
            return None
        if isinstance(op, loops.LoadOp):
            moved = [v for v in op.operands if is_inside(v, self.outer)]
            is_entry = moved == [self.outer.loop_var] and not isa(value.type, VectorType)
            return self._add(self._next_load(op)) if is_entry else None
        operands = [self.of(v) for v in op.operands]
        is_pure = is_side_effect_free(op) or op.name in loops.LANEWISE
        if op.regions or len(op.results) != 1 or not is_pure or None in operands:
            return None
        copy = op.clone()
        copy.operands = [v for v in operands if v is not None]
        return self._add(copy)

    def _next_load(self, op: loops.LoadOp) -> loops.LoadOp:
        values = Values()
        moves = _moves(self.outer, values)
        indices = [e.substitute(moves) for e in values.exprs(op.indices, op.operands_)]
        return loops.LoadOp(op.buffer, indices, values.list, op.result.type)

    def _add(self, op: Operation) -> SSAValue:
        """The result of an operation, or of an equal one that the body has already."""
        attributes = (*op.properties.items(), *op.attributes.items())
        key = (op.name, *op.operands, *attributes, *op.result_types)
        if key in self._made:
            op.erase()
        else:
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

"""The accesses of a function to given buffers, as expressions over the enclosing loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from ..bounds import Interval, interval_of, is_non_negative
from ..int_expr import ONE, Arg, Atom, IntExpr, Sym, maximum
from ..sym import Values, exprs_of
from .access import LoadOp, MatchBufferOp, StoreOp
from .block import BlockOp
from .block_attributes import InitOp
from .func import PrimFuncOp
from .loop import ApplyOp, ForOp
from .types import BufferType

Place = tuple[IntExpr | None, ...]
"""Indices over loops and symbols; `None` for an unknown index."""


class Loop(NamedTuple):
    """A loop around an access: the atom of its variable, and its bounds over outer loops."""

    op: ForOp
    atom: Atom
    lower: IntExpr | None
    extent: IntExpr | None


class Bound(NamedTuple):
    """A condition ``lhs < rhs`` under which an access happens."""

    lhs: IntExpr | None
    rhs: IntExpr | None


@dataclass(frozen=True)
class Access:
    """A load, a store, or an operation that may store anywhere, with its context."""

    op: Operation
    buffer: SSAValue
    place: Place
    path: tuple[Operation, ...]
    """The enclosing operations, outermost first, and the operation itself."""
    loops: tuple[Loop, ...]
    bounds: tuple[Bound, ...]

    @property
    def block(self) -> BlockOp | None:
        """The innermost block around it."""
        return next((o for o in reversed(self.path) if isinstance(o, BlockOp)), None)

    def precedes(self, other: Access) -> bool:
        """Whether it runs first if all shared loops are in the same iteration."""
        for own, others in zip(self.path, other.path, strict=False):
            if own is not others:
                return own.parent is others.parent and own.is_before_in_block(others)
        return False

    def shared_loops(self, other: Access) -> int:
        """The number of loops around both."""
        pairs = zip(self.loops, other.loops, strict=False)
        return next(
            (i for i, (a, b) in enumerate(pairs) if a.op is not b.op),
            min(len(self.loops), len(other.loops)),
        )


def accesses_of(func: PrimFuncOp, buffers: Iterable[SSAValue]) -> list[Access]:
    """The accesses to the buffers, also through views, in program order."""
    collector = _Collector(func, {b: b for b in buffers})
    return list(collector.visit(func.body.block, (), (), ()))


@dataclass
class _Collector:
    func: PrimFuncOp
    roots: dict[SSAValue, SSAValue]

    def __post_init__(self) -> None:
        self.values = Values()
        self.meaning: dict[SSAValue, IntExpr | None] = {
            p: IntExpr.of(Sym(n))
            for n, p in zip(self.func.names, self.func.params, strict=True)
            if not isinstance(p.type, BufferType)
        }
        self.starts: dict[SSAValue, Place] = {}

    def visit(
        self,
        block: Block,
        path: tuple[Operation, ...],
        loops: tuple[Loop, ...],
        bounds: tuple[Bound, ...],
    ) -> Iterator[Access]:
        for op in block.ops:
            own_path, nest_loops, own_bounds = (*path, op), loops, bounds
            match op:
                case ForOp():
                    nest_loops = (*loops, self._loop(op))
                case BlockOp():
                    own_bounds = (*bounds, *self._predicates(op))
                    bindings = self._over(exprs_of(op.bindings), op.numbering())
                    self.meaning.update(zip(op.axis_vars, bindings, strict=True))
                case InitOp():
                    nest_loops = tuple(self._once_at_least(op, loops))
                    own_bounds = (*bounds, *self._at_first(op))
                case ApplyOp():
                    (self.meaning[op.result],) = self._over([op.expr.data], op.operands)
                case MatchBufferOp():
                    self._view(op)
                case LoadOp() | StoreOp():
                    if op.buffer in self.roots:
                        place = self._place(
                            op.buffer, self._over(exprs_of(op.indices), op.operands_)
                        )
                        yield Access(op, self.roots[op.buffer], place, own_path, loops, bounds)
                case _:
                    for buffer in [o for o in op.operands if o in self.roots]:
                        root = self.roots[buffer]
                        place = (None,) * _rank(root)
                        yield Access(op, root, place, own_path, loops, bounds)
            for region in op.regions:
                for inner in region.blocks:
                    yield from self.visit(inner, own_path, nest_loops, own_bounds)

    def _loop(self, op: ForOp) -> Loop:
        lower, extent = self._over([op.min.data, op.extent.data], op.operands_)
        variable = self.values.expr(op.loop_var)
        self.meaning[op.loop_var] = variable
        atom = variable.as_atom
        assert atom is not None
        return Loop(op, atom, lower, extent)

    def _predicates(self, op: BlockOp) -> Iterator[Bound]:
        for bound in op.predicates.data:
            yield Bound(*self._over([bound.lhs.data, bound.rhs.data], op.numbering()))

    def _once_at_least(self, op: InitOp, loops: Sequence[Loop]) -> Iterator[Loop]:
        """The loops; those that only reduce run at least once, as an empty sum is initialized."""
        reduce, other = set[Atom](), set[Atom]()
        block = op.parent_op()
        assert isinstance(block, BlockOp)
        for var, kind in zip(block.axis_vars, block.axis_kinds, strict=True):
            value = self.meaning[var]
            found = {loop.atom for loop in loops} if value is None else value.atoms()
            (reduce if kind == "reduce" and value is not None else other).update(found)
        for loop in loops:
            only_reduces = loop.atom in reduce - other
            if only_reduces and loop.extent is not None and not is_non_negative(loop.extent - 1):
                loop = loop._replace(extent=maximum(loop.extent, ONE))
            yield loop

    def _at_first(self, op: InitOp) -> Iterator[Bound]:
        """The bounds by which each reduction axis of the block has its first value."""
        block = op.parent_op()
        assert isinstance(block, BlockOp)
        for var, axis in zip(block.axis_vars, block.axes.data, strict=True):
            if axis.kind.data == "reduce":
                value = self.meaning[var]
                (first,) = self._over([axis.min.data], block.numbering())
                yield Bound(value, None if first is None else first + 1)

    def _view(self, op: MatchBufferOp) -> None:
        if op.source in self.roots:
            starts = self._over(exprs_of(op.starts), op.operands_)
            self.roots[op.result] = self.roots[op.source]
            self.starts[op.result] = self._place(op.source, starts)

    def _place(self, buffer: SSAValue, indices: Sequence[IntExpr | None]) -> Place:
        """Map the indices of a view to those of its root buffer."""
        starts = self.starts.get(buffer)
        if starts is None:
            return tuple(indices)
        zeros: list[IntExpr | None] = [IntExpr.of(0)] * (len(starts) - len(indices))
        pairs = zip(starts, [*zeros, *indices], strict=True)
        return tuple(None if s is None or i is None else s + i for s, i in pairs)

    def _over(self, exprs: Sequence[IntExpr], operands: Sequence[SSAValue]) -> list[IntExpr | None]:
        return [self._over_loops(e, operands) for e in exprs]

    def _over_loops(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr | None:
        mapping: dict[Atom, IntExpr] = {}
        for i in expr.args():
            meaning = self.meaning.get(operands[i])
            if meaning is None:
                return None
            mapping[Arg(i)] = meaning
        return expr.substitute(mapping)


def _rank(buffer: SSAValue) -> int:
    assert isinstance(buffer.type, BufferType)
    return buffer.type.rank


def ranges_of_loops(loops: Sequence[Loop], ranges: dict[Atom, Interval]) -> bool:
    """Add the ranges of loops, outermost first, to `ranges`; returns whether all are known."""
    for loop in loops:
        if loop.lower is None or loop.extent is None:
            return False
        first = interval_of(loop.lower, ranges)
        last = interval_of(loop.lower + loop.extent - 1, ranges)
        if first is None or last is None:
            return False
        ranges[loop.atom] = Interval(first.lower, last.upper)
    return True

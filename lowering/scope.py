"""What values mean while a function is rebuilt: indices are expressions, data are new values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import UNKNOWN_LOC, IndexType, IntegerAttr, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects import loops, tir
from ..dialects.bounds import Interval, cases_of_minimum, interval_of, is_less, simplify
from ..dialects.int_expr import ZERO, Arg, Atom, IntExpr, IntLike, Sym, render
from ..dialects.sym import Values
from ..dialects.tir import ApplyOp

Bound = tuple[IntExpr, IntExpr]
"""The condition that the first expression is smaller than the second."""


@dataclass(frozen=True)
class View:
    """A sub-region of a new buffer: where it starts, in new values, and how many dims it keeps."""

    buffer: SSAValue
    starts: tuple[IntExpr, ...]
    rank: int

    def place(self, indices: Sequence[IntExpr]) -> list[IntExpr]:
        """The indices of the buffer for indices of the view."""
        dropped = len(self.starts) - self.rank
        return [
            *self.starts[:dropped],
            *(s + i for s, i in zip(self.starts[dropped:], indices, strict=True)),
        ]


@dataclass
class Scope:
    """The meaning of old values, and the block where new operations go.

    Expressions number new values by their position in `values.list`; `ranges` knows which values
    the loop variables among them take. With `in_place`, values without a meaning of their own stay
    what they are.
    """

    block: Block
    values: Values = field(default_factory=Values)
    meaning: dict[SSAValue, IntExpr] = field(default_factory=lambda: {})
    data: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    views: dict[SSAValue, View] = field(default_factory=lambda: {})
    ranges: dict[Atom, Interval] = field(default_factory=lambda: {})
    loop_vars: set[Atom] = field(default_factory=lambda: set())
    renaming: Mapping[Atom, IntLike] = field(default_factory=lambda: {})
    in_place: bool = False
    location: LocationAttr = UNKNOWN_LOC
    """The source location of the operations that are emitted."""

    def emit(self, op: Operation) -> None:
        """Put an operation at the end of the current block."""
        op.location = self.location
        self.block.add_op(op)

    def follow(self, op: Operation) -> LocationAttr:
        """Emit at an old operation's location, if it has one; returns the location before."""
        before = self.location
        if op.location is not UNKNOWN_LOC:
            self.location = op.location
        return before

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Let new operations go to another block for a while."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    @contextmanager
    def renamed(self, renaming: Mapping[Atom, IntLike]) -> Generator[None]:
        """Replace atoms in all expressions for a while."""
        outer, self.renaming = self.renaming, renaming
        yield
        self.renaming = outer

    def index(self, value: SSAValue) -> IntExpr:
        """The expression of an old index value."""
        return self.simplify(self._meaning(value).substitute(self.renaming))

    def _meaning(self, value: SSAValue) -> IntExpr:
        known = self.meaning.get(value)
        if known is None and self.in_place:
            return self.values.expr(value)
        return self.meaning[value] if known is None else known

    def expr(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr:
        """An old operation's expression, whose ``arg(i)`` is ``operands[i]``, over new values."""
        if expr.constant is not None:
            return expr
        mapping: dict[Atom, IntLike] = {Arg(i): self._meaning(operands[i]) for i in expr.args()}
        return self.simplify(expr.substitute(mapping).substitute(self.renaming))

    def number(self, exprs: Sequence[IntExpr], operands: Sequence[SSAValue]) -> None:
        """Give the values in expressions of an old operation numbers, in order of appearance."""
        for expr in exprs:
            for i in expr.args():
                self._meaning(operands[i])

    def exprs(self, exprs: Sequence[IntExpr], operands: Sequence[SSAValue]) -> list[IntExpr]:
        """Several expressions of one old operation over new values."""
        return [self.expr(e, operands) for e in exprs]

    def simplify(self, expr: IntExpr) -> IntExpr:
        """The expression without the compounds that the loops' ranges decide."""
        return simplify(expr, self.ranges) if expr.has_compounds else expr

    def undecided(self, bounds: Sequence[Bound]) -> list[Bound]:
        """The bounds that the loops' ranges do not prove, one for each case of a minimum."""
        return [
            (lhs, case)
            for lhs, rhs in bounds
            for case in cases_of_minimum(rhs)
            if not self._holds(lhs, case)
        ]

    def _holds(self, lhs: IntExpr, rhs: IntExpr) -> bool:
        span = interval_of(lhs - rhs, self.ranges)
        return span is not None and is_less(span.upper, 0)

    def value(self, old: SSAValue) -> SSAValue:
        """The new value of an old one; an index that is not a value yet becomes a `tir.apply`."""
        if (known := self.data.get(old)) is not None:
            return known
        if self.in_place and not isinstance(old.type, IndexType):
            return old
        expr = self.index(old)
        if isinstance(atom := expr.as_atom, Arg):
            return self.values.list[atom.index]
        if (number := expr.constant) is not None:
            op = ConstantOp(IntegerAttr(number, IndexType()))
        else:
            op = ApplyOp(expr, self.values.list)
        op.result.name_hint = old.name_hint
        self.emit(op)
        return op.result

    def define(self, old: SSAValue, new: SSAValue) -> None:
        """Let a new value stand for an old one."""
        new.name_hint = old.name_hint
        if isinstance(old.type, IndexType):
            self.meaning[old] = self.values.expr(new)
        else:
            self.data[old] = new

    def define_loop(self, old: SSAValue, new: SSAValue, lower: IntExpr, extent: IntExpr) -> Atom:
        """Let a new loop variable stand for an old one; returns its atom."""
        self.define(old, new)
        atom = self.values.atom(new)
        first = interval_of(lower, self.ranges)
        last = interval_of(lower + extent - 1, self.ranges)
        if first is not None and last is not None:
            self.ranges[atom] = Interval(first.lower, last.upper)
        self.loop_vars.add(atom)
        return atom

    def place(self, buffer: SSAValue, indices: Sequence[IntExpr]) -> tuple[SSAValue, list[IntExpr]]:
        """The new buffer and the indices of an access to an old buffer or view."""
        view = self.views.get(buffer)
        if view is None:
            return self.data[buffer], list(indices)
        return view.buffer, [
            self.simplify(i.substitute(self.renaming)) for i in view.place(indices)
        ]


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is defined somewhere in the regions of an operation."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        parent = block.parent_op()
        if parent is op:
            return True
        block = None if parent is None else parent.parent
    return False


def name_of(value: SSAValue) -> str:
    """What messages call a value."""
    return value.name_hint or "a value without a name"


def describe(expr: IntExpr, operands: Sequence[SSAValue]) -> str:
    """Text of an operation's expression with the names of its operands, for messages."""
    return render(expr, lambda a: a.name if isinstance(a, Sym) else name_of(operands[a.index]))


def replace_by_block(op: Operation, block: Block, results: Sequence[SSAValue]) -> list[Operation]:
    """Put a block's operations in the place of an operation; returns them."""
    parent = op.parent
    assert parent is not None
    moved = list(block.ops)
    locate(moved, op.location)
    for new in moved:
        new.detach()
        parent.insert_op_before(new, op)
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    return moved


def locate(ops: Iterable[Operation], location: LocationAttr) -> None:
    """Give a source location to operations, and those in their regions, that have none."""
    if location is UNKNOWN_LOC:
        return
    for op in (inner for outer in ops for inner in outer.walk()):
        if op.location is UNKNOWN_LOC:
            op.location = location


def index_constant(op: ConstantOp) -> int | None:
    """The number that a constant index is; `None` for data."""
    value = op.value
    if isinstance(op.result.type, IndexType) and isinstance(value, IntegerAttr):
        return cast("IntegerAttr[IndexType]", value).value.data
    return None


def rebuild(op: Operation, scope: Scope, convert_block: Callable[[Block], None]) -> None:
    """Emit the same operation on new values; `convert_block` fills its regions."""
    operands = [scope.value(v) for v in op.operands]
    regions = [Region([Block(arg_types=b.arg_types) for b in r.blocks]) for r in op.regions]
    new = op.create(
        operands=operands,
        result_types=op.result_types,
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
    )
    scope.emit(new)
    for old_region, region in zip(op.regions, regions, strict=True):
        for old_block, block in zip(old_region.blocks, region.blocks, strict=True):
            for old, arg in zip(old_block.args, block.args, strict=True):
                scope.define(old, arg)
            with scope.inside(block):
                convert_block(old_block)
    for old, result in zip(op.results, new.results, strict=True):
        scope.define(old, result)


@contextmanager
def opened_views(scope: Scope, operands: Sequence[SSAValue]) -> Generator[None]:
    """Replace views among the operands by buffers, within a context."""
    views = scope.views
    opened = {v: _memory(scope, v.type, views[v]) for v in operands if v in views}
    scope.views = {v: view for v, view in views.items() if v not in opened}
    scope.data |= opened
    yield
    scope.views = views


def _memory(scope: Scope, type_: Attribute, view: View) -> SSAValue:
    """The memory of a view, from its first element on, as a buffer of this type."""
    source = view.buffer.type
    assert isinstance(source, tir.BufferType) and isinstance(type_, tir.BufferType)
    first = source.linear_index(view.place([ZERO] * view.rank)) - source.offset.data
    offset = tir.ApplyOp(first, scope.values.list)
    memory = loops.ViewOp(view.buffer, offset.result, type_)
    scope.emit(offset)
    scope.emit(memory)
    return memory.result

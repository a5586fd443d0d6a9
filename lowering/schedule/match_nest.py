"""Match a block with the description of a tensor intrinsic, and the buffers of both.

Two nests match if they have the same loops, blocks and stores, and compute stored values alike.
Loops and axes of one iteration count for nothing. Each buffer of the description is a box of one of
the block's: an access there is at the box's first element plus the index of the description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ...dialects import tir
from ...dialects.int_expr import ONE, Arg, Atom, IntExpr, IntLike
from ...dialects.sym import Values, exprs_of
from ...dialects.tir.verify_access import buffer_text
from ..scope import describe, index_constant
from .blocks import statements


class Mismatch(Exception):
    """One line on where a nest differs from the description."""


@dataclass(frozen=True)
class Box:
    """A part of a buffer: its first element, over the numbering of the matcher."""

    buffer: SSAValue
    starts: tuple[IntExpr, ...]


@dataclass
class Matcher:
    """Matches a description with a block; `values` numbers the block's values."""

    values: Values = field(default_factory=Values)
    boxes: dict[SSAValue, Box] = field(default_factory=lambda: {})
    meaning: dict[SSAValue, IntExpr] = field(default_factory=lambda: {})
    """Of index values: of the description, and those of the block that have one value alone."""
    inside: set[Atom] = field(default_factory=lambda: set())
    same: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    places: dict[Operation, tuple[Block, int]] = field(default_factory=lambda: {})
    """The position of an operation: its nest, and the number of statements before it."""
    pairs: dict[Block, Block] = field(default_factory=lambda: {})

    def match(self, description: tir.PrimFuncOp, block: tir.BlockOp) -> None:
        """Find the boxes; raises Mismatch."""
        self._statements(statements(description), block.body.block)
        for param in description.params:
            if param not in self.boxes:
                raise Mismatch(f"expected the description to access {buffer_text(param)}")

    def _statements(self, wanted: Block, got: Block) -> None:
        self.pairs[wanted] = got
        ours, theirs = (self._flat(b, b, []) for b in (wanted, got))
        for a, b in zip(ours, theirs, strict=False):
            self._statement(a, b)
        if len(ours) != len(theirs):
            raise Mismatch(f"expected {_count(ours)}, got {_count(theirs)}")

    def _flat(self, block: Block, nest: Block, found: list[Operation]) -> list[Operation]:
        """The statements, those in loops of one iteration in place of the loops."""
        for op in block.ops:
            self.places[op] = nest, len(found)
            if isinstance(op, tir.ForOp) and op.extent.data == ONE:
                self.meaning[op.loop_var] = self._expr(op.min.data, op.operands_)
                self._flat(op.body.block, nest, found)
            elif isinstance(op, tir.ForOp | tir.BlockOp) or not _is_value(op):
                found.append(op)
        return found

    def _statement(self, wanted: Operation, got: Operation) -> None:
        match wanted, got:
            case tir.ForOp(), tir.ForOp():
                self._loop(wanted, got)
            case tir.BlockOp(), tir.BlockOp():
                self._block(wanted, got)
            case tir.StoreOp(), tir.StoreOp():
                self._access(wanted, got)
                self._value(wanted.value, got.value)
            case tir.InitOp(), tir.InitOp():
                self._statements(wanted.body.block, got.body.block)
            case _:
                if wanted.name != got.name or isinstance(wanted, tir.AllocBufferOp):
                    raise Mismatch(f"expected '{wanted.name}', got '{got.name}'")
                self._operation(wanted, got)

    def _loop(self, wanted: tir.ForOp, got: tir.ForOp) -> None:
        for which in ("min", "extent"):
            ours, theirs = (
                self._expr(op.properties[which].data, op.operands_)  # pyright: ignore
                for op in (wanted, got)
            )
            if ours != theirs:
                raise Mismatch(
                    f"expected the {which} of loop '{got.loop_var.name_hint}' to be "
                    f"{self._text(ours)}, got {self._text(theirs)}"
                )
        self._same_index(wanted.loop_var, got.loop_var)
        self._statements(wanted.body.block, got.body.block)

    def _same_index(self, wanted: SSAValue, got: SSAValue) -> None:
        own = self.values.expr(got)
        self.meaning[wanted] = own
        assert own.as_atom is not None
        self.inside.add(own.as_atom)

    def _block(self, wanted: tir.BlockOp, got: tir.BlockOp) -> None:
        if got.predicates.data or wanted.predicates.data:
            raise Mismatch(f"expected block '{got.block_name.data}' to have no predicate")
        ours, theirs = self._axes(wanted), self._axes(got)
        for (a, *facts), (b, *others) in zip(ours, theirs, strict=False):
            if facts != others:
                raise Mismatch(
                    f"expected axis '{b.name_hint}' of block '{got.block_name.data}' to be "
                    f"{self._axis_text(facts)}, got {self._axis_text(others)}"
                )
            self._same_index(a, b)
        if len(ours) != len(theirs):
            raise Mismatch(
                f"expected block '{got.block_name.data}' to have {len(ours)} axes of several "
                f"iterations, got {len(theirs)}"
            )
        self._statements(wanted.body.block, got.body.block)

    def _axes(self, block: tir.BlockOp) -> list[tuple[SSAValue, str, IntExpr, IntExpr, IntExpr]]:
        """The axes of several iterations; others have a meaning from here on."""
        found: list[tuple[SSAValue, str, IntExpr, IntExpr, IntExpr]] = []
        numbering = block.numbering()
        for var, axis, binding in zip(
            block.axis_vars, block.axes.data, exprs_of(block.bindings), strict=True
        ):
            low, size, bound = (
                self._expr(e, numbering) for e in (axis.min.data, axis.extent.data, binding)
            )
            if size == ONE:
                self.meaning[var] = bound
            else:
                found.append((var, axis.kind.data, low, size, bound))
        return found

    def _access(self, wanted: tir.LoadOp | tir.StoreOp, got: tir.LoadOp | tir.StoreOp) -> None:
        ours = [self._expr(e, wanted.operands_) for e in exprs_of(wanted.indices)]
        theirs = [self._expr(e, got.operands_) for e in exprs_of(got.indices)]
        names = f"{buffer_text(wanted.buffer)} to be a part of {buffer_text(got.buffer)}"
        _verify_types(wanted.buffer, got.buffer, names)
        if len(ours) > len(theirs):
            raise Mismatch(f"expected {names}, which has {len(theirs)} dims, got {len(ours)}")
        outer = len(theirs) - len(ours)
        starts = (*theirs[:outer], *(b - a for a, b in zip(ours, theirs[outer:], strict=True)))
        for start in starts:
            if set(start.atoms()) & self.inside:
                raise Mismatch(
                    f"expected {names} at a fixed offset, got offset {self._text(start)}"
                )
        box = Box(got.buffer, starts)
        if self.boxes.setdefault(wanted.buffer, box) != box:
            raise Mismatch(f"expected {names} at one offset, got several")

    def _value(self, wanted: SSAValue, got: SSAValue) -> None:
        if isinstance(wanted.type, IndexType) and isinstance(got.type, IndexType):
            ours, theirs = self._index(wanted), self._index(got)
            if ours != theirs:
                raise Mismatch(f"expected {self._text(ours)}, got {self._text(theirs)}")
            return
        a, b = wanted.owner, got.owner
        if isinstance(a, Block) or isinstance(b, Block):
            if self.same.get(wanted) is not got:
                raise Mismatch("expected the same region arguments")
            return
        if a.name != b.name:
            raise Mismatch(f"expected '{a.name}', got '{b.name}'")
        self._operation(a, b)

    def _operation(self, wanted: Operation, got: Operation) -> None:
        if isinstance(wanted, tir.LoadOp) and isinstance(got, tir.LoadOp):
            (ours, before), (theirs, after) = self.places[wanted], self.places[got]
            if self.pairs[ours] is not theirs or before != after:
                raise Mismatch(
                    f"expected {buffer_text(got.buffer)} to be loaded after the same statements"
                )
            self._access(wanted, got)
            return
        types = [[v.type for v in op.operands] for op in (wanted, got)]
        if wanted.properties != got.properties or types[0] != types[1]:
            raise Mismatch(f"expected '{wanted.name}' on the same types and with the same options")
        for a, b in zip(wanted.operands, got.operands, strict=True):
            self._value(a, b)
        for ours, theirs in zip(wanted.regions, got.regions, strict=True):
            for a, b in zip(ours.blocks, theirs.blocks, strict=True):
                self.same |= dict(zip(a.args, b.args, strict=True))
                self._statements(a, b)

    def _index(self, value: SSAValue) -> IntExpr:
        """An index value of either side over the numbering of the block's."""
        if value in self.meaning:
            return self.meaning[value]
        match value.owner:
            case tir.ApplyOp() as op:
                return self._expr(op.expr.data, op.operands)
            case ConstantOp() as op if (number := index_constant(op)) is not None:
                return IntExpr.of(number)
            case _:
                return self.values.expr(value)

    def _expr(self, expr: IntExpr, operands: Sequence[SSAValue]) -> IntExpr:
        mapping: dict[Atom, IntLike] = {Arg(i): self._index(operands[i]) for i in expr.args()}
        return expr.substitute(mapping)

    def _text(self, expr: IntExpr) -> str:
        return describe(expr, self.values.list)

    def _axis_text(self, facts: Sequence[str | IntExpr]) -> str:
        kind, low, size, bound = facts
        return f"{kind} from {low}, of {size} iterations, bound to {self._bound(bound)}"

    def _bound(self, bound: str | IntExpr) -> str:
        return bound if isinstance(bound, str) else self._text(bound)


def _is_value(op: Operation) -> bool:
    """Whether an operation is looked at where its results are used."""
    if isinstance(op, tir.LoadOp | tir.MatchBufferOp):
        return True
    return is_side_effect_free(op) and bool(op.results)


def _count(ops: Sequence[Operation]) -> str:
    return f"{len(ops)} statements" if len(ops) != 1 else "1 statement"


def _verify_types(wanted: SSAValue, got: SSAValue, names: str) -> None:
    ours, theirs = wanted.type, got.type
    assert isinstance(ours, tir.BufferType) and isinstance(theirs, tir.BufferType)
    if ours.element_type != theirs.element_type or ours.scope != theirs.scope:
        raise Mismatch(
            f"expected {names}, of {ours.dtype} in '{ours.scope.data}', "
            f"got {theirs.dtype} in '{theirs.scope.data}'"
        )

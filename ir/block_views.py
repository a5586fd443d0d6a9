"""Blocks of kernels as TVM shows them, also the one around all statements of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

from xdsl.ir import Operation, SSAValue

from ..dialects import tir
from ..dialects.int_expr import ONE, IntExpr, Sym
from ..dialects.sym import exprs_of
from ..script.printer.calls import is_address
from ..te.arithmetic import PrimExpr, binary, const, convert, index_expr
from ..te.axes import IterVar
from . import leaf_statements as leaf_statements  # what shows the statements in bodies
from .buffers import Buffer
from .regions import BufferRegion, MatchBufferRegion, region_of
from .scalars import Scalars
from .statements import For, Statement, annotations_of, body_of


class SBlock(Statement):
    """A block; TVM's ``tir.SBlock``, which was ``Block``."""

    @property
    def name_hint(self) -> str:
        """The name."""
        return self.op.block_name.data

    @property
    def iter_vars(self) -> list[IterVar]:
        """The axes with their ranges and kinds."""
        scalars, numbering = self.scalars, self.op.numbering()
        return [
            BlockAxis(
                scalars.name(var),
                scalars.index(axis.min.data, numbering),
                scalars.index(axis.extent.data, numbering),
                axis.kind.data,
                "int64",
            )
            for var, axis in zip(self.op.axis_vars, self.op.axes.data, strict=True)
        ]

    @property
    def reads(self) -> list[BufferRegion]:
        """The boxes of buffers that the block declares to read."""
        return self._regions("reads")

    @property
    def writes(self) -> list[BufferRegion]:
        """The boxes of buffers that the block declares to write."""
        return self._regions("writes")

    def _regions(self, which: str) -> list[BufferRegion]:
        dims = self._dims(self.op.numbering())
        return [
            region_of(r.buffer, *map(dims, (r.mins, r.extents))) for r in self.op.regions_of(which)
        ]

    def _dims(self, operands: Sequence[SSAValue]) -> Callable[[Iterable[IntExpr]], list[IntExpr]]:
        scalars = self.scalars
        return lambda exprs: [scalars.dim(e, operands) for e in exprs]

    @property
    def alloc_buffers(self) -> list[Buffer]:
        """The buffers that live in the block."""
        return [Buffer(op.result) for op in self._inside(tir.AllocBufferOp)]

    @property
    def match_buffers(self) -> list[MatchBufferRegion]:
        """The buffers that are views of others."""
        return [
            MatchBufferRegion(Buffer(op.result), self._source(op))
            for op in self._inside(tir.MatchBufferOp)
            if not is_address(op.result)
        ]

    def _source(self, op: tir.MatchBufferOp) -> BufferRegion:
        starts = exprs_of(op.starts)
        extents = [ONE] * (len(starts) - op.result.type.rank) + [*op.result.type.dims]
        return region_of(op.source, self._dims(op.operands_)(starts), extents)

    def _inside(self, kind: type[Any]) -> list[Any]:
        return [op for op in self.op.body.block.ops if isinstance(op, kind)]

    @property
    def annotations(self) -> dict[str, Any]:
        """The annotations as Python values."""
        return annotations_of(self.op)

    @property
    def init(self) -> Statement | None:
        """What is done before the first iteration of a reduction."""
        return None if self.op.init is None else body_of(self.op.init.body.block, self.scalars)

    @property
    def body(self) -> Statement:
        """What the block does."""
        return body_of(self.op.body.block, self.scalars, (tir.AllocBufferOp, tir.MatchBufferOp))

    def children(self) -> Iterator[Any]:
        for axis in self.iter_vars:
            yield from (axis.start, axis.extent)
        boxes = [*self.reads, *self.writes, *(m.source for m in self.match_buffers)]
        for found in (r for box in boxes for r in box.region):
            yield from (convert(found.min), convert(found.extent))
        init = self.init
        yield from () if init is None else (init,)
        yield self.body


class BlockAxis(IterVar):
    """An axis of a block; `var` is the symbol that stands for it in expressions."""

    @property
    def var(self) -> Any:
        return index_expr(IntExpr.of(Sym(self.name)))


class SBlockRealize(Statement, shows=[tir.BlockOp]):
    """A block with the values of its axes; TVM's ``tir.SBlockRealize``, ``BlockRealize`` before."""

    @property
    def block(self) -> SBlock:
        """The block."""
        return SBlock(self.op, self.scalars)

    @property
    def iter_values(self) -> list[PrimExpr]:
        """The values of the axes."""
        return self._indices(exprs_of(self.op.bindings))

    @property
    def predicate(self) -> PrimExpr:
        """The condition under which the block runs."""
        cases = [
            [binary("lt", *self._indices(pair)) for pair in tir.alternatives(bound)]
            for bound in self.op.predicates.data
        ]
        conditions = [reduce(_either, case) for case in cases]
        return reduce(_both, conditions) if conditions else const(True)

    def _indices(self, exprs: Iterable[IntExpr]) -> list[PrimExpr]:
        scalars, numbering = self.scalars, self.op.numbering()
        return [scalars.index(e, numbering) for e in exprs]

    def children(self) -> Iterator[Any]:
        yield from (*self.iter_values, self.predicate, self.block)


class RootBlock(SBlock):
    """The block around the statements of a kernel that has blocks, which TVM calls "root"."""

    @property
    def name_hint(self) -> str:
        return "root"

    @property
    def iter_vars(self) -> list[IterVar]:
        return []

    @property
    def reads(self) -> list[BufferRegion]:
        return []

    @property
    def writes(self) -> list[BufferRegion]:
        return []

    @property
    def annotations(self) -> dict[str, Any]:
        return {}

    @property
    def init(self) -> Statement | None:
        return None

    def _operations(self) -> list[Operation]:
        return self.scalars.lists.of(self.op.body.block)


class RootRealize(SBlockRealize):
    """The block "root" where it stands."""

    def _operations(self) -> list[Operation]:
        return self.scalars.lists.of(self.op.body.block)

    @property
    def block(self) -> SBlock:
        return RootBlock(self.op, self.scalars)

    @property
    def iter_values(self) -> list[PrimExpr]:
        return []

    @property
    def predicate(self) -> PrimExpr:
        return const(True)


def _both(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("bitwise_and", a, b)


def _either(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return binary("bitwise_or", a, b)


def kernel_body(func: tir.PrimFuncOp) -> Statement:
    """The statements of a kernel; in a block "root" if it has blocks, and is not one by itself."""
    scalars, block = Scalars(func), func.body.block
    ops = scalars.lists.of(block)
    is_block = len(ops) == 1 and isinstance(only := ops[0], tir.BlockOp) and not only.axes.data
    if is_block or not any(isinstance(op, tir.BlockOp | tir.AllocBufferOp) for op in func.walk()):
        return body_of(block, scalars)
    return RootRealize(func, scalars)


def view_of(value: Any) -> Any:
    """The view of a loop or block, for a block without the values of its axes; or the value."""
    match value:
        case tir.ForOp():
            return For(value)
        case tir.BlockOp():
            return SBlock(value)
        case _:
            return value

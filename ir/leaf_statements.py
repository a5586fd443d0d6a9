"""Statements of kernels in which there are no others: stores, calls, names, buffers, jumps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..dialects import tir
from ..dialects.sym import exprs_of
from ..te.arithmetic import PrimExpr, const
from .buffers import Buffer
from .statements import NAMED, Statement


class BufferStore(Statement, shows=[tir.StoreOp]):
    """An element that is written; TVM's ``tir.BufferStore``."""

    @property
    def buffer(self) -> Buffer:
        """The buffer."""
        return Buffer(self.op.buffer)

    @property
    def indices(self) -> list[PrimExpr]:
        """The indices of the element."""
        return [self.scalars.index(e, self.op.operands_) for e in exprs_of(self.op.indices)]

    @property
    def value(self) -> PrimExpr:
        """The new value."""
        return self.scalars.value(self.op.value, self.buffer.dtype.startswith("uint"))

    def children(self) -> Iterator[Any]:
        yield from (self.value, *self.indices)


class AssertStmt(Statement, shows=[tir.AssertOp]):
    """A condition that is checked; TVM's ``tir.AssertStmt``."""

    @property
    def condition(self) -> PrimExpr:
        """The condition."""
        return self.scalars.value(self.op.condition)

    @property
    def message(self) -> str:
        """What is said where it does not hold."""
        return self.op.message.data

    def children(self) -> Iterator[Any]:
        yield self.condition


class Evaluate(Statement, shows=[tir.CallExternOp, tir.CallIntrinOp, tir.CallOp]):
    """A call for its effect, or 0, which does nothing; TVM's ``tir.Evaluate``."""

    @property
    def value(self) -> PrimExpr:
        """The call."""
        is_call = isinstance(self.op, tir.OpaqueCallOp)
        return self.scalars.call(self.op) if is_call else const(0, "int32")

    def script(self) -> str:
        return super().script() if isinstance(self.op, tir.OpaqueCallOp) else "T.evaluate(0)"

    def children(self) -> Iterator[Any]:
        yield self.value


class Bind(Statement, shows=[NAMED]):
    """A name for a value; TVM's ``tir.Bind``, which was ``LetStmt``."""

    @property
    def var(self) -> PrimExpr:
        """The name."""
        return self.scalars.variable(self.op.results[0])

    @property
    def value(self) -> PrimExpr:
        """The value."""
        return self.scalars.computed(self.op)

    def children(self) -> Iterator[Any]:
        yield self.value


class AllocBuffer(Statement, shows=[tir.AllocBufferOp]):
    """Memory of the statements behind it; TVM's ``tir.AllocBuffer``."""

    @property
    def buffer(self) -> Buffer:
        """The buffer."""
        return Buffer(self.op.result)


class DeclBuffer(AllocBuffer, shows=[tir.DeclBufferOp, tir.MatchBufferOp]):
    """A buffer on memory that is there; TVM's ``tir.DeclBuffer``."""


class Return(Statement, shows=[tir.ReturnOp]):
    """The result of a kernel; TVM's ``tir.Return``."""

    @property
    def value(self) -> PrimExpr:
        """The result."""
        return self.scalars.value(self.op.value, self.op.unsigned is not None)

    def children(self) -> Iterator[Any]:
        yield self.value


class Break(Statement, shows=[tir.BreakOp]):
    """The end of a loop; TVM's ``tir.Break``."""


class Continue(Statement, shows=[tir.ContinueOp]):
    """The end of an iteration; TVM's ``tir.Continue``."""

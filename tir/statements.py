"""Loops and blocks of a schedule as TVM shows them: views of their operations.

What a view does not have is an attribute of its operation: ``sch.get(block).annotations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ..dialects import tir
from ..dialects.int_expr import Arg, Atom, IntExpr, IntLike, Sym
from ..ir.buffers import Buffer
from ..lowering.functions import unique_name
from ..te.arithmetic import index_value
from ..te.expr import Var
from ..te.ranges import Range
from ..te.tensor import IterVar


class Statement:
    """A view of an operation, equal to other views of it."""

    def __init__(self, op: tir.ForOp | tir.BlockOp):
        self.op = op

    def same_as(self, other: object) -> bool:
        """Whether another one is a view of the same operation, or that operation."""
        return self.op is (other.op if isinstance(other, Statement) else other)

    def __eq__(self, other: object) -> bool:
        return self.same_as(other)

    def __hash__(self) -> int:
        return hash(self.op)

    def __getattr__(self, name: str) -> Any:
        if name == "op" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.op, name)

    def __str__(self) -> str:
        return str(self.op)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class BufferRegion:
    """A box of a buffer: a range of each dim; TVM's ``tir.BufferRegion``."""

    buffer: Buffer
    region: tuple[Range, ...]


class For(Statement):
    """A loop; TVM's ``tir.For``."""

    op: tir.ForOp

    @property
    def loop_var(self) -> Var:
        """The variable of the loop, with its name."""
        return Var(_name(self.op.loop_var), "int64")

    @property
    def min(self) -> Any:
        """The first value of the variable: an int, or an expression of symbols and variables."""
        return _shown(self.op.min.data, self.op.operands_)

    @property
    def extent(self) -> Any:
        """The number of iterations: an int, or an expression of symbols and variables."""
        return _shown(self.op.extent.data, self.op.operands_)

    @property
    def kind(self) -> str:
        """How the loop runs: "serial", "parallel", "vectorized", "unrolled", "thread_binding"."""
        return self.op.kind.data


class SBlock(Statement):
    """A block; TVM's ``tir.SBlock``, which was ``Block``."""

    op: tir.BlockOp

    @property
    def iter_vars(self) -> list[IterVar]:
        """The axes with their ranges and kinds."""
        numbering = self.op.numbering()
        names = _names(numbering)
        return [
            IterVar(
                names[var],
                _shown(axis.min.data, numbering),
                _shown(axis.extent.data, numbering),
                axis.kind.data,
                "int64",
            )
            for var, axis in zip(self.op.axis_vars, self.op.axes.data, strict=True)
        ]

    @property
    def reads(self) -> list[BufferRegion]:
        """The boxes of buffers that the block declares to read."""
        return self._regions(self.op.read_buffers, self.op.reads)

    @property
    def writes(self) -> list[BufferRegion]:
        """The boxes of buffers that the block declares to write."""
        return self._regions(self.op.write_buffers, self.op.writes)

    def _regions(self, buffers: Sequence[SSAValue], regions: Iterable[Any]) -> list[BufferRegion]:
        numbering = self.op.numbering()
        return [
            BufferRegion(
                Buffer(buffer),
                tuple(
                    Range.from_min_extent(
                        _shown(low.data, numbering), _shown(extent.data, numbering)
                    )
                    for low, extent in zip(region.mins, region.extents, strict=True)
                ),
            )
            for buffer, region in zip(buffers, regions, strict=True)
        ]


def view_of(value: Any) -> Any:
    """The view of a loop or block; other values as they are."""
    match value:
        case tir.ForOp():
            return For(value)
        case tir.BlockOp():
            return SBlock(value)
        case _:
            return value


def _name(value: SSAValue) -> str:
    return value.name_hint or "v"


def _shown(expr: IntExpr, operands: Any) -> Any:
    """An expression with the names of variables, of which two are never the same."""
    names = _names(operands, expr.symbols())
    shown: dict[Atom, IntLike] = {Arg(i): Sym(names[operands[i]]) for i in expr.args()}
    return index_value(expr.substitute(shown))


def _names(values: Iterable[SSAValue], taken: Iterable[str] = ()) -> dict[SSAValue, str]:
    """The names of variables, with numbers where several have one name."""
    names: dict[SSAValue, str] = {}
    for value in dict.fromkeys(values):
        names[value] = unique_name(_name(value), {*taken, *names.values()})
    return names

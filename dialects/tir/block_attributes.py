"""The header of `tir.block`: axes, buffer regions, and predicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, StringAttr
from xdsl.ir import Attribute, BlockArgument, ParametrizedAttribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_attr_definition,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..bounds import cases_of_minimum
from ..int_expr import ZERO, IntExpr, minimum
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, expr_array, exprs_of, parse_body, parse_expr
from .types import BufferType

if TYPE_CHECKING:
    pass


AXIS_KINDS = ("spatial", "reduce", "opaque", "scan")


@irdl_attr_definition
class AxisAttr(ParametrizedAttribute):
    """A block axis: its kind and its range ``[min, min + extent)``; TVM's ``IterVar``."""

    name = "tir.axis"
    kind: StringAttr = param_def()
    min: ExprAttr = param_def()
    extent: ExprAttr = param_def()

    @staticmethod
    def of(kind: str, lower: IntExpr, extent: IntExpr) -> AxisAttr:
        """The axis of a kind and range."""
        return _axis(kind, lower, extent)

    def verify(self) -> None:
        if self.kind.data not in AXIS_KINDS:
            raise VerifyException(
                f"expected an axis kind ({', '.join(AXIS_KINDS)}), got '{self.kind.data}'"
            )


@lru_cache(maxsize=1 << 14)
def _axis(kind: str, lower: IntExpr, extent: IntExpr) -> AxisAttr:
    return AxisAttr(StringAttr(kind), ExprAttr.of(lower), ExprAttr.of(extent))


@irdl_attr_definition
class RegionAttr(ParametrizedAttribute):
    """A box of a buffer: for each dim its first index and its extent."""

    name = "tir.region"
    mins: ArrayAttr[ExprAttr] = param_def()
    extents: ArrayAttr[ExprAttr] = param_def()

    @staticmethod
    def of(mins: Sequence[IntExpr], extents: Sequence[IntExpr]) -> RegionAttr:
        """The region with these first indices and extents."""
        return _region(tuple(mins), tuple(extents))


@lru_cache(maxsize=1 << 14)
def _region(mins: Sequence[IntExpr], extents: Sequence[IntExpr]) -> RegionAttr:
    return RegionAttr(expr_array(mins), expr_array(extents))


@irdl_attr_definition
class BoundAttr(ParametrizedAttribute):
    """The condition ``lhs < rhs``."""

    name = "tir.bound"
    lhs: ExprAttr = param_def()
    rhs: ExprAttr = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            lhs = parse_expr(parser)
            parser.parse_punctuation(",")
            return [ExprAttr(lhs), ExprAttr(parse_expr(parser))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.lhs.data}, {self.rhs.data}")


def any_of(bounds: Sequence[tuple[IntExpr, IntExpr]]) -> tuple[IntExpr, IntExpr]:
    """The bound that holds where one of several does: ``min(a - b, c - d) < 0``."""
    first, *others = bounds
    if not others:
        return first
    return reduce(minimum, (lhs - rhs for lhs, rhs in bounds)), ZERO


def alternatives(bound: BoundAttr) -> list[tuple[IntExpr, IntExpr]]:
    """The bounds of which one has to hold, each with the terms that are added on their own side."""
    difference = bound.lhs.data - bound.rhs.data
    cases = cases_of_minimum(difference)
    if len(cases) == 1:
        return [(bound.lhs.data, bound.rhs.data)]
    sides = [
        [IntExpr(tuple((m, abs(c)) for m, c in case.terms if c * sign > 0)) for sign in (1, -1)]
        for case in cases
    ]
    return [(lhs, rhs) for lhs, rhs in sides]


@dataclass(frozen=True)
class BufferRegion:
    """A box of one buffer that a block declares; TVM's ``BufferRegion``.

    Expressions number the block's axes, then its operands.
    """

    buffer: SSAValue
    mins: tuple[IntExpr, ...]
    extents: tuple[IntExpr, ...]


@dataclass(frozen=True)
class Axis:
    """One axis of a block under construction: its kind, range and binding."""

    kind: str
    min: IntExpr
    extent: IntExpr
    binding: IntExpr


class BlockLike(IRDLOperation):
    """The base of blocks, on which verifiers and analyses are written.

    Expressions in properties number the axes first, then the operands.
    """

    operands_ = var_operand_def(IndexType)
    read_buffers = var_operand_def(BufferType)
    write_buffers = var_operand_def(BufferType)
    block_name = prop_def(StringAttr)
    axes = prop_def(ArrayAttr[AxisAttr])
    bindings = prop_def(ArrayAttr[ExprAttr])
    predicates = prop_def(ArrayAttr[BoundAttr])
    reads = prop_def(ArrayAttr[RegionAttr])
    writes = prop_def(ArrayAttr[RegionAttr])
    annotations = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @property
    def axis_vars(self) -> tuple[BlockArgument, ...]:
        """The axes as values of the body."""
        return tuple(self.body.block.args)

    @property
    def axis_kinds(self) -> tuple[str, ...]:
        """Kind of each axis."""
        return tuple(a.kind.data for a in self.axes.data)

    @property
    def init(self) -> InitOp | None:
        """The block's reduction initialization, if it has one."""
        first = self.body.block.first_op
        return first if isinstance(first, InitOp) else None

    def numbering(self) -> list[SSAValue]:
        """The values that ``arg(i)`` of the block's expressions refers to."""
        return [*self.axis_vars, *self.operands_]

    def regions_of(self, which: str) -> list[BufferRegion]:
        """The declared ``"reads"`` or ``"writes"``."""
        buffers = self.read_buffers if which == "reads" else self.write_buffers
        regions = self.reads if which == "reads" else self.writes
        return [
            BufferRegion(b, exprs_of(r.mins), exprs_of(r.extents))
            for b, r in zip(buffers, regions.data, strict=True)
        ]


@irdl_op_definition
class InitOp(IRDLOperation):
    """The initialization of a reduction block, before its first iteration.

    ``tir.init { … }``, first in the block's body; TVM's ``T.init()``.
    """

    name = "tir.init"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    def verify_(self) -> None:
        parent = self.parent
        if (
            parent is None
            or not isinstance(parent.parent_op(), BlockLike)
            or parent.first_op is not self
        ):
            raise VerifyException("expected 'tir.init' to be the first operation of a block")

    @classmethod
    def parse(cls, parser: Parser) -> InitOp:
        return InitOp(parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

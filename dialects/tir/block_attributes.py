"""What `tir.block` holds besides its body: axes, regions of buffers, and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    param_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..sym import ExprAttr, expr_array, parse_expr

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

    def verify(self) -> None:
        if self.kind.data not in AXIS_KINDS:
            raise VerifyException(
                f"expected an axis kind ({', '.join(AXIS_KINDS)}), got '{self.kind.data}'"
            )


@irdl_attr_definition
class RegionAttr(ParametrizedAttribute):
    """A box of a buffer: for each dim its first index and its extent."""

    name = "tir.region"
    mins: ArrayAttr[ExprAttr] = param_def()
    extents: ArrayAttr[ExprAttr] = param_def()

    @staticmethod
    def of(mins: Sequence[IntExpr], extents: Sequence[IntExpr]) -> RegionAttr:
        """The region with these first indices and extents."""
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


@dataclass(frozen=True)
class BufferRegion:
    """A box of one buffer, as a block declares it.

    Expressions number the block's axes, then its operands.
    """

    buffer: SSAValue
    mins: tuple[IntExpr, ...]
    extents: tuple[IntExpr, ...]


@dataclass(frozen=True)
class Axis:
    """One axis of a block that is being built: kind, range and the value bound to it."""

    kind: str
    min: IntExpr
    extent: IntExpr
    binding: IntExpr

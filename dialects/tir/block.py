"""`tir.block` and its reduction initialisation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, StringAttr
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..sym import ExprAttr, expr_array, exprs_of, pack, parse_body
from .block_attributes import Axis, AxisAttr, BoundAttr, BufferRegion, RegionAttr
from .block_syntax import parse_block, print_block
from .types import BufferType


def _expressions(
    axes: Sequence[Axis],
    predicates: Sequence[tuple[IntExpr, IntExpr]],
    regions: Sequence[BufferRegion],
) -> list[IntExpr]:
    """Every expression of a block, in the order in which its properties have them."""
    found = [e for axis in axes for e in (axis.min, axis.extent, axis.binding)]
    found += [e for bound in predicates for e in bound]
    return found + [e for r in regions for e in (*r.mins, *r.extents)]


@irdl_op_definition
class BlockOp(IRDLOperation):
    """A unit of computation with axes bound to loop variables; TVM's ``SBlock`` with its realize.

    ``tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) where (%i < n) reads
    (%X[%vi, %vk]) writes (%Y[%vi : 1]) { … }``. Expressions in properties number the axes first,
    then the operands.
    """

    name = "tir.block"
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

    @staticmethod
    def build_from(
        name: str,
        axes: Sequence[Axis],
        body: Region,
        values: Sequence[SSAValue],
        predicates: Sequence[tuple[IntExpr, IntExpr]] = (),
        reads: Sequence[BufferRegion] = (),
        writes: Sequence[BufferRegion] = (),
        annotations: DictionaryAttr | None = None,
    ) -> BlockOp:
        """Build a block; expressions number operands as positions in `values`, axes included."""
        flat = _expressions(axes, predicates, [*reads, *writes])
        operands, packed = pack(flat, values, first=body.block.args)
        take = iter(packed).__next__
        triples = [(take(), take(), take()) for _ in axes]
        bounds = [BoundAttr(ExprAttr(take()), ExprAttr(take())) for _ in predicates]

        def region(r: BufferRegion) -> RegionAttr:
            return RegionAttr.of([take() for _ in r.mins], [take() for _ in r.extents])

        kept = [
            AxisAttr(StringAttr(a.kind), ExprAttr(lower), ExprAttr(extent))
            for a, (lower, extent, _) in zip(axes, triples, strict=True)
        ]

        return BlockOp(
            operands=[operands, [r.buffer for r in reads], [r.buffer for r in writes]],
            properties={
                "block_name": StringAttr(name),
                "axes": ArrayAttr(kept),
                "bindings": expr_array([binding for _, _, binding in triples]),
                "predicates": ArrayAttr(bounds),
                "reads": ArrayAttr([region(r) for r in reads]),
                "writes": ArrayAttr([region(r) for r in writes]),
                "annotations": annotations,
            },
            regions=[body],
        )

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
        """The block's reduction initialisation, if it has one."""
        first = self.body.block.first_op
        return first if isinstance(first, InitOp) else None

    def numbering(self) -> list[SSAValue]:
        """The values that ``arg(i)`` of the block's expressions stands for."""
        return [*self.axis_vars, *self.operands_]

    def regions_of(self, which: str) -> list[BufferRegion]:
        """The declared ``"reads"`` or ``"writes"``."""
        buffers = self.read_buffers if which == "reads" else self.write_buffers
        regions = self.reads if which == "reads" else self.writes
        return [
            BufferRegion(b, exprs_of(r.mins), exprs_of(r.extents))
            for b, r in zip(buffers, regions.data, strict=True)
        ]

    def verify_(self) -> None:
        from .verify_block import verify_block

        verify_block(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        return parse_block(cls, parser)

    def print(self, printer: Printer) -> None:
        print_block(self, printer)


@irdl_op_definition
class InitOp(IRDLOperation):
    """What a reduction block does before its first iteration.

    ``tir.init { … }``, first in the block's body.
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
            or not isinstance(parent.parent_op(), BlockOp)
            or parent.first_op is not self
        ):
            raise VerifyException("expected 'tir.init' to be the first operation of a block")

    @classmethod
    def parse(cls, parser: Parser) -> InitOp:
        return InitOp(parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

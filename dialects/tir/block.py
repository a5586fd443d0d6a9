"""`tir.block` and its reduction initialisation."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..int_expr import IntExpr
from ..sym import ExprAttr, expr_array, pack
from .block_attributes import Axis, AxisAttr, BlockLike, BoundAttr, BufferRegion, RegionAttr
from .block_syntax import parse_block, print_block


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
class BlockOp(BlockLike):
    """A unit of computation with axes bound to loop variables; TVM's ``SBlock`` with its realize.

    ``tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) where (%i < n) reads
    (%X[%vi, %vk]) writes (%Y[%vi : 1]) { … }``. Expressions in properties number the axes first,
    then the operands.
    """

    name = "tir.block"

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

    def verify_(self) -> None:
        from .verify_block import verify_block  # all the rules, which reading IR takes no time for

        verify_block(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        return parse_block(cls, parser)

    def print(self, printer: Printer) -> None:
        print_block(self, printer)

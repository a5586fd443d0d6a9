"""`tir.block`, and its syntax: axes and regions are printed with the names of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ..int_expr import ONE, Arg, Atom, IntExpr, IntLike
from ..irdl import SEGMENT_SIZES, irdl_op_definition, segment_sizes
from ..parameters import print_text
from ..sym import ExprAttr, OperandScope, expr_array, exprs_of, pack, print_expr
from .block_attributes import (
    AXIS_KINDS,
    Axis,
    AxisAttr,
    BlockLike,
    BoundAttr,
    BufferRegion,
    RegionAttr,
)
from .loop import parse_annotations, print_annotations

BlockT = TypeVar("BlockT", bound=BlockLike)


@dataclass
class _ParsedRegion:
    buffer: UnresolvedOperand
    mins: list[IntExpr]
    extents: list[IntExpr]


_ParsedAxis: TypeAlias = tuple[str, IntExpr, IntExpr, IntExpr]
"""Kind, first value, extent and binding."""


def parse_block(kind: type[BlockT], parser: Parser) -> BlockT:
    """Parse everything after ``tir.block``, as an operation of this class."""
    name = parser.parse_str_literal(" of the block's name")
    scope = OperandScope(parser)
    args, axes = _parse_axes(parser, scope)
    bounds = _parse_bounds(parser, scope) if parser.parse_optional_keyword("where") else []
    shift: dict[Atom, IntLike] = {Arg(i): Arg(i + len(axes)) for i in range(len(scope.unresolved))}
    scope.number_first([a.name.text[1:] for a in args])
    reads = _parse_regions(parser, scope, "reads")
    writes = _parse_regions(parser, scope, "writes")
    annotations = parse_annotations(parser)
    buffers = [[_buffer(parser, r) for r in group] for group in (reads, writes)]
    moved = [(k, *(e.substitute(shift) for e in exprs)) for k, *exprs in axes]
    moved_bounds = [(a.substitute(shift), b.substitute(shift)) for a, b in bounds]
    return kind(
        operands=[scope.resolve(), *buffers],
        properties={
            "block_name": StringAttr(name),
            "axes": ArrayAttr(
                [AxisAttr(StringAttr(k), ExprAttr(lo), ExprAttr(ext)) for k, lo, ext, _ in moved]
            ),
            "bindings": ArrayAttr([ExprAttr(b) for *_, b in moved]),
            "predicates": ArrayAttr([BoundAttr(ExprAttr(a), ExprAttr(b)) for a, b in moved_bounds]),
            "reads": ArrayAttr([RegionAttr.of(r.mins, r.extents) for r in reads]),
            "writes": ArrayAttr([RegionAttr.of(r.mins, r.extents) for r in writes]),
            "annotations": annotations,
        },
        regions=[parser.parse_region(args)],
    )


def _parse_axes(
    parser: Parser, scope: OperandScope
) -> tuple[list[Parser.Argument], list[_ParsedAxis]]:
    args: list[Parser.Argument] = []

    def parse_axis() -> _ParsedAxis:
        args.append(parser.parse_argument(expect_type=False).resolve(IndexType()))
        parser.parse_punctuation(":")
        kind = parser.parse_keyword_in(AXIS_KINDS)
        with parser.in_parens():
            lower = scope.expr()
            parser.parse_punctuation(",")
            extent = scope.expr()
        parser.parse_punctuation("=")
        return kind, lower, extent, scope.expr()

    axes = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_axis)
    return args, axes


def _parse_bounds(parser: Parser, scope: OperandScope) -> list[tuple[IntExpr, IntExpr]]:
    def parse_bound() -> tuple[IntExpr, IntExpr]:
        lhs = scope.expr()
        parser.parse_punctuation("<")
        return lhs, scope.expr()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_bound)


def _parse_regions(parser: Parser, scope: OperandScope, keyword: str) -> list[_ParsedRegion]:
    if not parser.parse_optional_keyword(keyword):
        return []

    def parse_range() -> tuple[IntExpr, IntExpr]:
        lower = scope.expr()
        return lower, scope.expr() if parser.parse_optional_punctuation(":") else ONE

    def parse_one() -> _ParsedRegion:
        buffer = parser.parse_unresolved_operand()
        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
        return _ParsedRegion(buffer, [lo for lo, _ in ranges], [ext for _, ext in ranges])

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_one)


def _buffer(parser: Parser, region: _ParsedRegion) -> SSAValue:
    name = region.buffer.operand_name
    known = parser.ssa_values.get(name)
    if known is None:
        parser.raise_error(f"expected '%{name}' to be defined before the block", region.buffer.span)
    return known[region.buffer.index]


def print_block(op: BlockLike, printer: Printer) -> None:
    """Print everything after ``tir.block``."""
    names = op.numbering()
    printer.print_string(" ")
    print_text(printer, op.block_name.data)
    printer.print_string(" (")
    triples = zip(op.axis_vars, op.axes.data, exprs_of(op.bindings), strict=True)
    for position, (axis_var, axis, binding) in enumerate(triples):
        printer.print_string(", " if position else "")
        printer.print_ssa_value(axis_var)
        printer.print_string(f": {axis.kind.data} (")
        print_expr(printer, axis.min.data, names)
        printer.print_string(", ")
        print_expr(printer, axis.extent.data, names)
        printer.print_string(") = ")
        print_expr(printer, binding, names)
    printer.print_string(")")
    if op.predicates.data:
        printer.print_string(" where (")
        printer.print_list(op.predicates.data, lambda b: _print_bound(printer, b, names))
        printer.print_string(")")
    _print_regions(printer, "reads", op.regions_of("reads"), names)
    _print_regions(printer, "writes", op.regions_of("writes"), names)
    print_annotations(printer, op.annotations)
    printer.print_string(" ")
    printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)


def _print_bound(printer: Printer, bound: BoundAttr, names: Sequence[SSAValue]) -> None:
    print_expr(printer, bound.lhs.data, names)
    printer.print_string(" < ")
    print_expr(printer, bound.rhs.data, names)


def _print_regions(
    printer: Printer, keyword: str, regions: Sequence[BufferRegion], names: Sequence[SSAValue]
) -> None:
    if not regions:
        return
    printer.print_string(f" {keyword} (")
    for position, region in enumerate(regions):
        printer.print_string(", " if position else "")
        printer.print_ssa_value(region.buffer)
        with printer.in_square_brackets():
            printer.print_list(
                zip(region.mins, region.extents, strict=True),
                lambda r: _print_range(printer, r, names),
            )
    printer.print_string(")")


def _print_range(
    printer: Printer, bounds: tuple[IntExpr, IntExpr], names: Sequence[SSAValue]
) -> None:
    lower, extent = bounds
    print_expr(printer, lower, names)
    if extent != ONE:
        printer.print_string(" : ")
        print_expr(printer, extent, names)


def _expressions(
    axes: Sequence[Axis],
    predicates: Sequence[tuple[IntExpr, IntExpr]],
    regions: Sequence[BufferRegion],
) -> list[IntExpr]:
    """Every expression of a block, in the order of its properties."""
    found = [e for axis in axes for e in (axis.min, axis.extent, axis.binding)]
    found += [e for bound in predicates for e in bound]
    return found + [e for r in regions for e in (*r.mins, *r.extents)]


@irdl_op_definition
class BlockOp(BlockLike):
    """A unit of computation with axes bound to loop variables; TVM's ``SBlockRealize``.

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
        """Build a block; expressions number axes and operands by their positions in `values`."""
        operands, properties = BlockOp.header(
            axes, body.block.args, values, predicates, reads, writes
        )
        return BlockOp(
            operands=operands,
            properties={
                **properties,
                "block_name": StringAttr(name),
                "annotations": annotations,
            },
            regions=[body],
        )

    @staticmethod
    def header(
        axes: Sequence[Axis],
        axis_vars: Sequence[SSAValue],
        values: Sequence[SSAValue],
        predicates: Sequence[tuple[IntExpr, IntExpr]],
        reads: Sequence[BufferRegion],
        writes: Sequence[BufferRegion],
    ) -> tuple[list[list[SSAValue]], dict[str, Attribute]]:
        """The operands of each segment and the properties of a block with these axes.

        Expressions number operands by their positions in `values`.
        """
        flat = _expressions(axes, predicates, [*reads, *writes])
        operands, packed = pack(flat, values, first=axis_vars)
        take = iter(packed).__next__
        triples = [(a.kind, take(), take(), take()) for a in axes]
        bounds = [BoundAttr(ExprAttr.of(take()), ExprAttr.of(take())) for _ in predicates]

        def region(r: BufferRegion) -> RegionAttr:
            return RegionAttr.of([take() for _ in r.mins], [take() for _ in r.extents])

        segments = [operands, [r.buffer for r in reads], [r.buffer for r in writes]]
        return segments, {
            "axes": ArrayAttr([AxisAttr.of(kind, low, size) for kind, low, size, _ in triples]),
            "bindings": expr_array([binding for *_, binding in triples]),
            "predicates": ArrayAttr(bounds),
            "reads": ArrayAttr([region(r) for r in reads]),
            "writes": ArrayAttr([region(r) for r in writes]),
            SEGMENT_SIZES: segment_sizes(segments),
        }

    @property
    def name_hint(self) -> str:
        """The name of the block, as TVM calls it."""
        return self.block_name.data

    def same_as(self, other: object) -> bool:
        """Whether another one is this operation or a view of it, as TVM asks."""
        return self is getattr(other, "op", other)

    def verify_(self) -> None:
        from .verify_block import verify_block  # the rules, which parsing does not import

        verify_block(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        return parse_block(cls, parser)

    def print(self, printer: Printer) -> None:
        print_block(self, printer)

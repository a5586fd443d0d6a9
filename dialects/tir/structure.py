"""`tir` operations with regions: loops, blocks with their axes, and reduction initialisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, ParametrizedAttribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
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

from ..int_expr import Arg, IntExpr
from ..sym import ExprAttr, OperandScope, expr_array, exprs_of, pack, parse_expr, print_expr
from .access import verify_args
from .types import BufferType

if TYPE_CHECKING:
    from typing_extensions import Self

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")
AXIS_KINDS = ("spatial", "reduce", "opaque", "scan")


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over ``[min, min + extent)``: ``tir.for %i in (0, n) parallel { … }``; TVM's ``For``."""

    name = "tir.for"
    operands_ = var_operand_def(IndexType)
    min = prop_def(ExprAttr)
    extent = prop_def(ExprAttr)
    kind = prop_def(StringAttr)
    thread_tag = opt_prop_def(StringAttr)
    annotations = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        min: IntExpr,
        extent: IntExpr,
        values: Sequence[SSAValue],
        body: Region,
        kind: str = "serial",
        thread_tag: str | None = None,
        annotations: DictionaryAttr | None = None,
    ):
        operands, (lower, size) = pack([min, extent], values)
        super().__init__(
            operands=[operands],
            properties={
                "min": ExprAttr(lower),
                "extent": ExprAttr(size),
                "kind": StringAttr(kind),
                "thread_tag": None if thread_tag is None else StringAttr(thread_tag),
                "annotations": annotations,
            },
            regions=[body],
        )

    @property
    def loop_var(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    def verify_(self) -> None:
        args = self.body.block.args
        if len(args) != 1 or not isinstance(args[0].type, IndexType):
            raise VerifyException("expected one loop variable of type index")
        if self.kind.data not in LOOP_KINDS:
            raise VerifyException(f"expected a loop kind ({', '.join(LOOP_KINDS)}), got '{self.kind.data}'")
        if (self.kind.data == "thread_binding") != (self.thread_tag is not None):
            raise VerifyException("expected a thread tag on thread-bound loops, and only there")
        if (extent := self.extent.data.constant) is not None and extent < 0:
            raise VerifyException(f"expected a loop extent of at least 0, got {extent}")
        verify_args(self, [self.min.data, self.extent.data], len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        loop_var = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_keyword("in")
        scope = OperandScope(parser)
        parser.parse_punctuation("(")
        lower = scope.expr()
        parser.parse_punctuation(",")
        extent = scope.expr()
        parser.parse_punctuation(")")
        kind = parser.parse_optional_keyword_in(LOOP_KINDS) or "serial"
        tag = parser.parse_str_literal() if kind == "thread_binding" else None
        annotations = parse_annotations(parser)
        body = parser.parse_region([loop_var])
        return ForOp(lower, extent, scope.resolve(), body, kind, tag, annotations)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop_var)
        printer.print_string(" in (")
        print_expr(printer, self.min.data, self.operands_)
        printer.print_string(", ")
        print_expr(printer, self.extent.data, self.operands_)
        printer.print_string(")")
        if self.kind.data != "serial":
            printer.print_string(f" {self.kind.data}")
        if self.thread_tag is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.thread_tag.data)
        print_annotations(printer, self.annotations)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def parse_annotations(parser: Parser) -> DictionaryAttr | None:
    """Parse ``annotations {…}`` if it comes next."""
    if not parser.parse_optional_keyword("annotations"):
        return None
    return DictionaryAttr(parser.parse_optional_dictionary_attr_dict())


def print_annotations(printer: Printer, annotations: DictionaryAttr | None) -> None:
    """Print ``annotations {…}`` unless there are none."""
    if annotations is not None and annotations.data:
        printer.print_string(" annotations ")
        printer.print_attribute(annotations)


@irdl_attr_definition
class AxisAttr(ParametrizedAttribute):
    """A block axis: its kind and its range ``[min, min + extent)``; TVM's ``IterVar``."""

    name = "tir.axis"
    kind: StringAttr = param_def()
    min: ExprAttr = param_def()
    extent: ExprAttr = param_def()

    def verify(self) -> None:
        if self.kind.data not in AXIS_KINDS:
            raise VerifyException(f"expected an axis kind ({', '.join(AXIS_KINDS)}), got '{self.kind.data}'")


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
    """A box of one buffer, as a block declares it; expressions number the block's axes, then its operands."""

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


@irdl_op_definition
class BlockOp(IRDLOperation):
    """A unit of computation with axes that are bound to loop variables; TVM's ``SBlock`` with its realize.

    ``tir.block "Y" (%vi: spatial (0, n) = %i, %vk: reduce (0, m) = %k) where (%i < n)
    reads (%X[%vi, %vk]) writes (%Y[%vi : 1]) { … }``. Expressions in properties number the axes first,
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
        """Build a block whose expressions number their operands as positions in `values`, axes included."""
        flat: list[IntExpr] = []
        for axis in axes:
            flat += [axis.min, axis.extent, axis.binding]
        for lhs, rhs in predicates:
            flat += [lhs, rhs]
        for region in (*reads, *writes):
            flat += [*region.mins, *region.extents]
        args = body.block.args
        operands, packed = pack_after(args, flat, values)
        take = iter(packed).__next__
        triples = [(take(), take(), take()) for _ in axes]
        bounds = [BoundAttr(ExprAttr(take()), ExprAttr(take())) for _ in predicates]

        def regions(group: Sequence[BufferRegion]) -> ArrayAttr[RegionAttr]:
            return ArrayAttr(
                [RegionAttr.of([take() for _ in r.mins], [take() for _ in r.extents]) for r in group]
            )

        return BlockOp(
            operands=[operands, [r.buffer for r in reads], [r.buffer for r in writes]],
            properties={
                "block_name": StringAttr(name),
                "axes": ArrayAttr(
                    [
                        AxisAttr(StringAttr(a.kind), ExprAttr(lower), ExprAttr(extent))
                        for a, (lower, extent, _) in zip(axes, triples, strict=True)
                    ]
                ),
                "bindings": expr_array([binding for _, _, binding in triples]),
                "predicates": ArrayAttr(bounds),
                "reads": regions(reads),
                "writes": regions(writes),
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
    def parse(cls, parser: Parser) -> Self:
        from .block_syntax import parse_block

        return parse_block(parser)  # pyright: ignore[reportReturnType]

    def print(self, printer: Printer) -> None:
        from .block_syntax import print_block

        print_block(self, printer)


def pack_after(
    axes: Sequence[SSAValue], exprs: Sequence[IntExpr], values: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[IntExpr]]:
    """Renumber as `pack` does, with the axes first: operands follow at ``len(axes)``."""
    operands, packed = pack(exprs, values)
    order = [v for v in operands if v not in axes]
    number = {v: i for i, v in enumerate([*axes, *order])}
    mapping = {Arg(i): IntExpr.of(Arg(number[v])) for i, v in enumerate(operands)}
    return order, [e.substitute(mapping) for e in packed]


@irdl_op_definition
class InitOp(IRDLOperation):
    """What a reduction block does before its first iteration: ``tir.init { … }``, first in the block's body."""

    name = "tir.init"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    assembly_format = "$body attr-dict"

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    def verify_(self) -> None:
        parent = self.parent
        if parent is None or not isinstance(parent.parent_op(), BlockOp) or parent.first_op is not self:
            raise VerifyException("expected 'tir.init' to be the first operation of a block")


def empty_block(arg_types: Sequence[Attribute] = ()) -> Region:
    """A region of one block with these arguments."""
    return Region(Block(arg_types=list(arg_types)))

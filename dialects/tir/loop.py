"""`tir.for` and `tir.apply`, and the annotations that loops and blocks carry."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, IndexType, StringAttr
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, OperandScope, pack, print_expr, verify_args

NONTEMPORAL = "nontemporal"
"""The annotation of a block whose results are not read again soon: its stores bypass caches."""

SUM_BLOCK = "sum_block"
"""The annotation of a reduction loop: how many terms are summed before they are added to a total,
which bounds rounding errors."""

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over ``[min, min + extent)``; TVM's ``For``.

    ``tir.for %i in (0, n) parallel { … }``; the kind is serial, parallel, vectorized, unrolled or a
    thread binding.
    """

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
                "min": ExprAttr.of(lower),
                "extent": ExprAttr.of(size),
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

    def same_as(self, other: object) -> bool:
        """Whether another one is this operation or a view of it, as TVM asks."""
        return self is getattr(other, "op", other)

    def verify_(self) -> None:
        args = self.body.block.args
        if len(args) != 1 or not isinstance(args[0].type, IndexType):
            raise VerifyException("expected one loop variable of type index")
        if self.kind.data not in LOOP_KINDS:
            raise VerifyException(
                f"expected a loop kind ({', '.join(LOOP_KINDS)}), got '{self.kind.data}'"
            )
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


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """The value of an integer expression over symbols and indices, as an SSA value.

    ``%0 = tir.apply %i * 4 + n``; MLIR's ``affine.apply``.
    """

    name = "tir.apply"
    operands_ = var_operand_def(IndexType)
    expr = prop_def(ExprAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, expr: IntExpr, values: Sequence[SSAValue] = ()):
        operands, (packed,) = pack([expr], values)
        super().__init__(
            operands=[operands], properties={"expr": ExprAttr(packed)}, result_types=[IndexType()]
        )

    def verify_(self) -> None:
        verify_args(self, [self.expr.data], len(self.operands))

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        scope = OperandScope(parser)
        expr = scope.expr()
        return ApplyOp(expr, scope.resolve())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_expr(printer, self.expr.data, self.operands)

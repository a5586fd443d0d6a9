"""Loops with carried values, and conditions on indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, i64
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..irdl import IRDLOperation, irdl_op_definition
from ..sym import ExprAttr, OperandScope, pack, parse_body, print_expr, verify_args
from ..tir.block_attributes import BoundAttr

FOR_KINDS = ("serial", "parallel", "vectorized", "unrolled")


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over ``[lower, lower + extent)`` with loop-carried values; MLIR's ``affine.for``.

    ``%s = loops.for %k in (0, m) carry (%acc = %zero : f32) { … loops.yield %next : f32 }``

    With ``block 128`` after the bounds, `block-sums` adds the totals of so many iterations.
    """

    name = "loops.for"
    operands_ = var_operand_def(IndexType)
    inits = var_operand_def()
    lower = prop_def(ExprAttr)
    extent = prop_def(ExprAttr)
    kind = prop_def(StringAttr)
    sum_block = opt_prop_def(IntegerAttr)
    carried = var_result_def()
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        lower: IntExpr,
        extent: IntExpr,
        values: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        body: Region,
        kind: str = "serial",
        sum_block: int | None = None,
    ):
        operands, (first, size) = pack([lower, extent], values)
        super().__init__(
            operands=[operands, list(inits)],
            properties={
                "lower": ExprAttr.of(first),
                "extent": ExprAttr.of(size),
                "kind": StringAttr(kind),
                "sum_block": None if sum_block is None else IntegerAttr(sum_block, i64),
            },
            result_types=[[v.type for v in inits]],
            regions=[body],
        )

    def like(
        self,
        lower: IntExpr,
        extent: IntExpr,
        values: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        body: Region,
    ) -> ForOp:
        """A loop of the same kind with other bounds, carried values and body."""
        block = None if self.sum_block is None else self.sum_block.value.data
        return ForOp(lower, extent, values, inits, body, self.kind.data, block)

    @property
    def loop_var(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    @property
    def carry_vars(self) -> tuple[BlockArgument, ...]:
        """The carried values at the start of an iteration."""
        return tuple(self.body.block.args[1:])

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The carried values at the end of an iteration."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return tuple(last.values)

    def verify_(self) -> None:
        args, last = self.body.block.args, self.body.block.last_op
        if not args or not isinstance(args[0].type, IndexType):
            raise VerifyException("expected a loop variable of type index")
        if self.kind.data not in FOR_KINDS:
            raise VerifyException(
                f"expected a loop kind ({', '.join(FOR_KINDS)}), got '{self.kind.data}'"
            )
        if (extent := self.extent.data.constant) is not None and extent < 0:
            raise VerifyException(f"expected a loop extent of at least 0, got {extent}")
        if self.sum_block is not None and self.sum_block.value.data < 1:
            found = self.sum_block.value.data
            raise VerifyException(f"expected blocks of sums of at least 1 iteration, got {found}")
        if not isinstance(last, YieldOp):
            raise VerifyException("expected a loop to end with 'loops.yield'")
        types = [v.type for v in self.inits]
        if [a.type for a in args[1:]] != types or [v.type for v in last.values] != types:
            raise VerifyException("expected carried values to keep their types through the loop")
        if self.kind.data == "parallel" and types:
            raise VerifyException("expected a parallel loop to carry no values")
        verify_args(self, [self.lower.data, self.extent.data], len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        args = [parser.parse_argument(expect_type=False).resolve(IndexType())]
        parser.parse_keyword("in")
        scope = OperandScope(parser)
        with parser.in_parens():
            lower = scope.expr()
            parser.parse_punctuation(",")
            extent = scope.expr()
        kind = parser.parse_optional_keyword_in(FOR_KINDS) or "serial"
        block = parser.parse_integer() if parser.parse_optional_keyword("block") else None
        inits: list[SSAValue] = []

        def carry() -> None:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            init = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
            inits.append(parser.resolve_operand(init, type_))
            args.append(argument.resolve(type_))

        if parser.parse_optional_keyword("carry"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, carry)
        body = parser.parse_region(args)
        if not isinstance(body.block.last_op, YieldOp):
            body.block.add_op(YieldOp([]))
        return ForOp(lower, extent, scope.resolve(), inits, body, kind, block)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop_var)
        printer.print_string(" in (")
        print_expr(printer, self.lower.data, self.operands_)
        printer.print_string(", ")
        print_expr(printer, self.extent.data, self.operands_)
        printer.print_string(")" if self.kind.data == "serial" else f") {self.kind.data}")
        if self.sum_block is not None:
            printer.print_string(f" block {self.sum_block.value.data}")
        if self.inits:
            printer.print_string(" carry (")
            for position, (var, init) in enumerate(zip(self.carry_vars, self.inits, strict=True)):
                printer.print_string(", " if position else "")
                printer.print_ssa_value(var)
                printer.print_string(" = ")
                printer.print_ssa_value(init)
                printer.print_string(" : ")
                printer.print_attribute(init.type)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(self.inits),
        )


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The carried values of the next iteration: ``loops.yield %next : f32``."""

    name = "loops.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


@irdl_op_definition
class IfOp(IRDLOperation):
    """Run the body if all bounds hold: ``loops.if (%i * 16 + %j < n) { … }``; ``affine.if``."""

    name = "loops.if"
    operands_ = var_operand_def(IndexType)
    bounds = prop_def(ArrayAttr[BoundAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self, bounds: Sequence[tuple[IntExpr, IntExpr]], values: Sequence[SSAValue], body: Region
    ):
        operands, packed = pack([e for b in bounds for e in b], values)
        pairs = zip(packed[::2], packed[1::2], strict=True)
        super().__init__(
            operands=[operands],
            properties={
                "bounds": ArrayAttr([BoundAttr(ExprAttr(a), ExprAttr(b)) for a, b in pairs])
            },
            regions=[body],
        )

    def verify_(self) -> None:
        if not self.bounds.data:
            raise VerifyException("expected at least one bound")
        exprs = [e.data for b in self.bounds.data for e in (b.lhs, b.rhs)]
        verify_args(self, exprs, len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        scope = OperandScope(parser)

        def bound() -> tuple[IntExpr, IntExpr]:
            lhs = scope.expr()
            parser.parse_punctuation("<")
            return lhs, scope.expr()

        bounds = parser.parse_comma_separated_list(parser.Delimiter.PAREN, bound)
        return IfOp(bounds, scope.resolve(), parse_body(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        for position, bound in enumerate(self.bounds.data):
            printer.print_string(", " if position else "")
            print_expr(printer, bound.lhs.data, self.operands_)
            printer.print_string(" < ")
            print_expr(printer, bound.rhs.data, self.operands_)
        printer.print_string(") ")
        printer.print_region(self.body, print_empty_block=False)

"""The `loops` dialect: affine-like loops over buffers, with vectors and masks; no block, axis or init is left.

Bounds, indices and conditions are the integer expressions of the `sym` dialect, so that products of
symbols (strides of dynamic buffers) stay in them, which MLIR's affine maps do not allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr, UnitAttr, VectorType, i1
from xdsl.ir import Attribute, BlockArgument, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .dtypes import value_type
from .int_expr import IntExpr

from .sym import ExprAttr, OperandScope, expr_array, exprs_of, pack, print_expr, print_exprs
from .tir.access import verify_args
from .tir.structure import BoundAttr
from .tir.types import BufferType

FOR_KINDS = ("serial", "parallel", "vectorized", "unrolled")


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel on buffers; its symbols are arguments of the machine function.

    ``loops.func @relu0(%X: !tir.buffer<[1, n], f32>) symbols [n] { … }``. `noalias` promises that the
    buffers do not overlap.
    """

    name = "loops.func"
    sym_name = prop_def(StringAttr)
    symbols = prop_def(ArrayAttr[StringAttr])
    noalias = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, symbols: Sequence[str], body: Region, noalias: bool = False):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "symbols": ArrayAttr([StringAttr(s) for s in symbols]),
                "noalias": UnitAttr() if noalias else None,
            },
            regions=[body],
        )

    @property
    def params(self) -> tuple[BlockArgument, ...]:
        """The buffers and scalars the kernel works on."""
        return tuple(self.body.block.args)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """The symbols that the caller gives, in order."""
        return tuple(s.data for s in self.symbols.data)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        symbols: list[str] = []
        if parser.parse_optional_keyword("symbols"):
            symbols = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
        noalias = parser.parse_optional_keyword("noalias") is not None
        return FuncOp(name, symbols, parser.parse_region(args), noalias)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.params, printer.print_block_argument)
        if self.symbols.data:
            printer.print_string(" symbols [" + ", ".join(self.symbol_names) + "]")
        printer.print_string(" noalias " if self.noalias is not None else " ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over ``[lower, lower + extent)`` with loop-carried values.

    ``%s = loops.for %k in (0, m) carry (%acc = %zero : f32) { … loops.yield %next : f32 }``
    """

    name = "loops.for"
    operands_ = var_operand_def(IndexType)
    inits = var_operand_def()
    lower = prop_def(ExprAttr)
    extent = prop_def(ExprAttr)
    kind = prop_def(StringAttr)
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
    ):
        operands, (first, size) = pack([lower, extent], values)
        super().__init__(
            operands=[operands, list(inits)],
            properties={"lower": ExprAttr(first), "extent": ExprAttr(size), "kind": StringAttr(kind)},
            result_types=[[v.type for v in inits]],
            regions=[body],
        )

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
            raise VerifyException(f"expected a loop kind ({', '.join(FOR_KINDS)}), got '{self.kind.data}'")
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
        return ForOp(lower, extent, scope.resolve(), inits, body, kind)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop_var)
        printer.print_string(" in (")
        print_expr(printer, self.lower.data, self.operands_)
        printer.print_string(", ")
        print_expr(printer, self.extent.data, self.operands_)
        printer.print_string(")" if self.kind.data == "serial" else f") {self.kind.data}")
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
    """Run the body where every bound holds: ``loops.if (%i * 16 + %j < n) { … }``."""

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
            properties={"bounds": ArrayAttr([BoundAttr(ExprAttr(a), ExprAttr(b)) for a, b in pairs])},
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
        return IfOp(bounds, scope.resolve(), parser.parse_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        for position, bound in enumerate(self.bounds.data):
            printer.print_string(", " if position else "")
            print_expr(printer, bound.lhs.data, self.operands_)
            printer.print_string(" < ")
            print_expr(printer, bound.rhs.data, self.operands_)
        printer.print_string(") ")
        printer.print_region(self.body, print_empty_block=False)


def _verify_access(type_: BufferType, indices: int, value: Attribute, mask: SSAValue | None) -> None:
    if indices != type_.rank:
        raise VerifyException(f"expected {type_.rank} indices for {type_}, got {indices}")
    element = value
    if isinstance(value, VectorType):
        element = cast(Attribute, value.element_type)
        if len(value.get_shape()) != 1:
            raise VerifyException(f"expected a vector of one dim, got {value}")
    if element != value_type(type_.element_type):
        raise VerifyException(f"expected elements of type {value_type(type_.element_type)} for {type_}, got {value}")
    if mask is not None:
        if not isinstance(value, VectorType):
            raise VerifyException("expected a mask on vector accesses only")
        if mask.type != VectorType(i1, value.get_shape()):
            raise VerifyException(f"expected a mask of {value.get_shape()[0]} lanes, got {mask.type}")


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read an element, or the vector that starts there along the last dim.

    ``%v = loops.load %X[%i, %j * 16] mask %m : !tir.buffer<[1, n], f32> -> vector<16xf32>``; lanes whose
    mask is off are 0 and their memory is not touched.
    """

    name = "loops.load"
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    mask = opt_operand_def(VectorType)
    indices = prop_def(ArrayAttr[ExprAttr])
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        buffer: SSAValue,
        indices: Sequence[IntExpr],
        values: Sequence[SSAValue],
        result_type: Attribute,
        mask: SSAValue | None = None,
    ):
        operands, packed = pack(indices, values)
        super().__init__(
            operands=[buffer, operands, mask],
            properties={"indices": expr_array(packed)},
            result_types=[result_type],
        )

    def verify_(self) -> None:
        _verify_access(cast(BufferType, self.buffer.type), len(self.indices.data), self.result.type, self.mask)
        verify_args(self, exprs_of(self.indices), len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        mask = parser.parse_unresolved_operand() if parser.parse_optional_keyword("mask") else None
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation("->")
        value = parser.parse_type()
        resolved = None if mask is None else parser.resolve_operand(mask, _mask_type(value))
        return LoadOp(parser.resolve_operand(buffer, type_), indices, scope.resolve(), value, resolved)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write an element, or the vector that starts there along the last dim, where the mask is on.

    ``loops.store %v, %Y[%i, %j * 16] mask %m : !tir.buffer<[1, n], f32>, vector<16xf32>``
    """

    name = "loops.store"
    value = operand_def()
    buffer = operand_def(BufferType)
    operands_ = var_operand_def(IndexType)
    mask = opt_operand_def(VectorType)
    indices = prop_def(ArrayAttr[ExprAttr])
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        buffer: SSAValue,
        indices: Sequence[IntExpr],
        values: Sequence[SSAValue],
        mask: SSAValue | None = None,
    ):
        operands, packed = pack(indices, values)
        super().__init__(
            operands=[value, buffer, operands, mask], properties={"indices": expr_array(packed)}
        )

    def verify_(self) -> None:
        _verify_access(cast(BufferType, self.buffer.type), len(self.indices.data), self.value.type, self.mask)
        verify_args(self, exprs_of(self.indices), len(self.operands_))

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        stored = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        scope = OperandScope(parser)
        indices = scope.exprs()
        mask = parser.parse_unresolved_operand() if parser.parse_optional_keyword("mask") else None
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation(",")
        value = parser.parse_type()
        resolved = None if mask is None else parser.resolve_operand(mask, _mask_type(value))
        return StoreOp(
            parser.resolve_operand(stored, value),
            parser.resolve_operand(buffer, type_),
            indices,
            scope.resolve(),
            resolved,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self)
        printer.print_string(", ")
        printer.print_attribute(self.value.type)


def _mask_type(value: Attribute) -> VectorType:
    lanes = value.get_shape() if isinstance(value, VectorType) else (1,)
    return VectorType(i1, lanes)


def _print_access(printer: Printer, op: LoadOp | StoreOp) -> None:
    printer.print_ssa_value(op.buffer)
    print_exprs(printer, exprs_of(op.indices), op.operands_)
    if op.mask is not None:
        printer.print_string(" mask ")
        printer.print_ssa_value(op.mask)
    printer.print_string(" : ")
    printer.print_attribute(op.buffer.type)


@irdl_op_definition
class MaskOp(IRDLOperation):
    """The mask whose first lanes are on, as many as the expression says: ``%m = loops.mask n - %j * 16 : vector<16xi1>``."""

    name = "loops.mask"
    operands_ = var_operand_def(IndexType)
    active = prop_def(ExprAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, active: IntExpr, values: Sequence[SSAValue], lanes: int):
        operands, (packed,) = pack([active], values)
        super().__init__(
            operands=[operands],
            properties={"active": ExprAttr(packed)},
            result_types=[VectorType(i1, [lanes])],
        )

    def verify_(self) -> None:
        if self.result.type != VectorType(i1, cast("VectorType", self.result.type).get_shape()):
            raise VerifyException(f"expected a vector of i1, got {self.result.type}")
        verify_args(self, [self.active.data], len(self.operands))

    @classmethod
    def parse(cls, parser: Parser) -> MaskOp:
        scope = OperandScope(parser)
        active = scope.expr()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, VectorType):
            parser.raise_error(f"expected a vector type, got {type_}", position)
        return MaskOp(active, scope.resolve(), type_.get_shape()[0])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_expr(printer, self.active.data, self.operands_)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class AllocaOp(IRDLOperation):
    """Scratch memory of constant size on the stack: ``%t = loops.alloca : !tir.buffer<[16], f32>``."""

    name = "loops.alloca"
    result = result_def(BufferType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: BufferType):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        if cast(BufferType, self.result.type).size_in_bytes().constant is None:
            raise VerifyException(f"expected a buffer of constant size on the stack, got {self.result.type}")


LoopsDialect = Dialect(
    "loops",
    [AllocaOp, ForOp, FuncOp, IfOp, LoadOp, MaskOp, StoreOp, YieldOp],
    [],
)

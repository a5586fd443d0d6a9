"""The `rt` dialect: what runs. Checked arguments, planned storage, destination-passing calls and packed calls in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FlatSymbolRefAttr, IntAttr, StringAttr, SymbolRefAttr, UnitAttr, i8
from xdsl.ir import BlockArgument, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from .int_expr import IntExpr, Sym
from .relax.constant import DataAttr, TensorData
from .sym import ExprAttr, expr_array, exprs_of, parse_expr
from .tir.types import BufferType


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of the executable on checked memory: parameters first, then the `num_results` results.

    ``rt.func @main(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) results 1 { … }``. The caller
    allocates the results. `written` lists parameters that the function writes in place.
    """

    name = "rt.func"
    sym_name = prop_def(StringAttr)
    param_names = prop_def(ArrayAttr[StringAttr])
    num_results = prop_def(IntAttr)
    returns_tuple = opt_prop_def(UnitAttr)
    private = opt_prop_def(UnitAttr)
    written = prop_def(ArrayAttr[IntAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        param_names: Sequence[str],
        num_results: int,
        body: Region,
        returns_tuple: bool = False,
        private: bool = False,
        written: Sequence[int] = (),
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "param_names": ArrayAttr([StringAttr(n) for n in param_names]),
                "num_results": IntAttr(num_results),
                "returns_tuple": UnitAttr() if returns_tuple else None,
                "private": UnitAttr() if private else None,
                "written": ArrayAttr([IntAttr(i) for i in written]),
            },
            regions=[body],
        )

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        """Parameters, then results."""
        return tuple(self.body.block.args)

    @property
    def params(self) -> tuple[BlockArgument, ...]:
        """The parameters without the results."""
        return self.args[: len(self.args) - self.num_results.data]

    @property
    def results_(self) -> tuple[BlockArgument, ...]:
        """The memory of the results."""
        return self.args[len(self.args) - self.num_results.data :]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return tuple(n.data for n in self.param_names.data)

    def declared_symbols(self) -> list[str]:
        """Symbols that a parameter determines, in order of first appearance."""
        found: dict[str, None] = {}
        for param in self.params:
            for dim in cast(BufferType, param.type).dims:
                if isinstance(atom := dim.as_atom, Sym):
                    found[atom.name] = None
        return list(found)

    def verify_(self) -> None:
        if not 0 <= self.num_results.data <= len(self.args):
            raise VerifyException(f"expected at most {len(self.args)} results, got {self.num_results.data}")
        if len(self.param_names.data) != len(self.params):
            raise VerifyException(f"expected {len(self.params)} parameter names, got {len(self.param_names.data)}")
        if any(i.data >= len(self.params) for i in self.written.data):
            raise VerifyException("expected written parameters to be parameters")
        for arg in self.args:
            if not isinstance(arg.type, BufferType):
                raise VerifyException(f"expected a buffer, got {arg.type}")
        declared = set(self.declared_symbols())
        values = [*self.args, *(r for op in self.walk() for r in op.results)]
        for value in values:
            if isinstance(value.type, BufferType):
                for symbol in sorted(value.type.symbols() - declared):
                    raise VerifyException(
                        f"symbol '{symbol}' is not determined by the parameters of '{self.sym_name.data}'"
                    )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        name = parser.parse_symbol_name().data
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        names = [a.name.text[1:] for a in args]
        if parser.parse_optional_keyword("params"):
            names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_str_literal)
        results, is_tuple = 0, False
        if parser.parse_optional_keyword("results"):
            is_tuple = parser.parse_optional_keyword("tuple") is not None
            results = parser.parse_integer()
        written: Sequence[int] = ()
        if parser.parse_optional_keyword("written"):
            written = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        return FuncOp(name, names[: len(args) - results], results, parser.parse_region(args), is_tuple, private, written)

    def print(self, printer: Printer) -> None:
        printer.print_string(" private " if self.private is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.args, printer.print_block_argument)
        if any(n != p.name_hint for n, p in zip(self.names, self.params, strict=True)):
            printer.print_string(" params (")
            printer.print_list(self.names, printer.print_string_literal)
            printer.print_string(")")
        if self.num_results.data:
            printer.print_string(" results tuple " if self.returns_tuple is not None else " results ")
            printer.print_string(str(self.num_results.data))
        if self.written.data:
            printer.print_string(" written [" + ", ".join(str(i.data) for i in self.written.data) + "]")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class CheckOp(IRDLOperation):
    """The argument that users call `arg_name` must have this shape and dtype: ``rt.check %x "x" : !tir.buffer<[1, n], f32>``.

    At function entry it is where the call wrapper's checks come from.
    """

    name = "rt.check"
    buffer = operand_def(BufferType)
    arg_name = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$buffer $arg_name attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, arg_name: str):
        super().__init__(operands=[buffer], properties={"arg_name": StringAttr(arg_name)})


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Memory for an intermediate, not yet placed: ``%t = rt.alloc : !tir.buffer<[1, n], f32>``."""

    name = "rt.alloc"
    result = result_def(BufferType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: BufferType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class ArenaOp(IRDLOperation):
    """The memory of one call, of a planned size in bytes: ``%a = rt.arena n * 4 + 64 : !tir.buffer<[n * 4 + 64], i8>``."""

    name = "rt.arena"
    size = prop_def(ExprAttr)
    result = result_def(BufferType)
    traits = traits_def(MemoryAllocEffect())

    def __init__(self, size: IntExpr):
        super().__init__(properties={"size": ExprAttr(size)}, result_types=[BufferType.of([size], i8)])

    def verify_(self) -> None:
        if self.size.data.args():
            raise VerifyException(f"expected an arena size over symbols, got {self.size.data}")

    @classmethod
    def parse(cls, parser: Parser) -> ArenaOp:
        return ArenaOp(parse_expr(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.size.data}")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """A tensor placed in the arena at a byte offset: ``%t = rt.view %a[64] : !tir.buffer<[…], i8> to !tir.buffer<[1, n], f32>``."""

    name = "rt.view"
    source = operand_def(BufferType)
    offset = prop_def(ExprAttr)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, offset: IntExpr, type_: BufferType):
        super().__init__(operands=[source], properties={"offset": ExprAttr(offset)}, result_types=[type_])

    def verify_(self) -> None:
        source = cast(BufferType, self.source.type)
        if source.element_type != i8 or source.rank != 1:
            raise VerifyException(f"expected a view of bytes, got {source}")
        room = (source.dims[0] - self.offset.data - cast(BufferType, self.result.type).size_in_bytes()).constant
        if room is not None and room < 0:
            raise VerifyException(f"expected the view to fit into {source.dims[0]} bytes, it ends {-room} bytes after")

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            offset = parse_expr(parser)
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, BufferType):
            parser.raise_error(f"expected a buffer type, got {type_}", position)
        return ViewOp(parser.resolve_operand(source, source_type), offset, type_)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f"[{self.offset.data}] : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """The memory of a constant: ``%w = rt.constant <float32, [128, 784], "w0", "9f…"> : !tir.buffer<[128, 784], f32>``."""

    name = "rt.constant"
    value = prop_def(DataAttr)
    result = result_def(BufferType)
    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, data: TensorData):
        type_ = data.tensor_type()
        super().__init__(
            properties={"value": DataAttr(data)},
            result_types=[BufferType.of(data.shape, type_.element_type)],
        )

    def verify_(self) -> None:
        data = self.value.data
        expected = BufferType.of(data.shape, data.tensor_type().element_type)
        if self.result.type != expected:
            raise VerifyException(f"expected a constant of type {expected}, got {self.result.type}")


@irdl_op_definition
class CallDPSOp(IRDLOperation):
    """Run a function of the module on memory: ``rt.call_dps @relu0(%x) outs(%y) : (…), (…)``.

    The callee reads `inputs` and writes `outputs`; `vars` are the values of its index parameters.
    """

    name = "rt.call_dps"
    callee = prop_def(FlatSymbolRefAttr)
    inputs = var_operand_def(BufferType)
    outputs = var_operand_def(BufferType)
    vars = prop_def(ArrayAttr[ExprAttr])
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        vars: Sequence[IntExpr] = (),
    ):
        super().__init__(
            operands=[list(inputs), list(outputs)],
            properties={"callee": SymbolRefAttr(callee), "vars": expr_array(vars)},
        )

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.root_reference.data

    def verify_(self) -> None:
        _verify_distinct(self.inputs, self.outputs, self.name)

    @classmethod
    def parse(cls, parser: Parser) -> CallDPSOp:
        callee = parser.parse_symbol_name().data
        inputs, outputs, variables = _parse_call(parser)
        return CallDPSOp(callee, inputs, outputs, variables)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        _print_call(printer, self.inputs, self.outputs, exprs_of(self.vars))


@irdl_op_definition
class CallPackedOp(IRDLOperation):
    """Call a registered function on memory: ``rt.call_packed "env.relu"(%x) outs(%y) : (…), (…)``.

    The name is looked up at each call. Outside a dataflow block calls keep their order.
    """

    name = "rt.call_packed"
    callee = prop_def(StringAttr)
    inputs = var_operand_def(BufferType)
    outputs = var_operand_def(BufferType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, callee: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]):
        super().__init__(
            operands=[list(inputs), list(outputs)], properties={"callee": StringAttr(callee)}
        )

    def verify_(self) -> None:
        _verify_distinct(self.inputs, self.outputs, self.name)

    @classmethod
    def parse(cls, parser: Parser) -> CallPackedOp:
        callee = parser.parse_str_literal(" of the function's name")
        inputs, outputs, _ = _parse_call(parser)
        return CallPackedOp(callee, inputs, outputs)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.callee.data)
        _print_call(printer, self.inputs, self.outputs, ())


def _verify_distinct(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], name: str) -> None:
    if len(set(outputs)) != len(outputs) or set(inputs) & set(outputs):
        raise VerifyException(f"expected outputs of '{name}' to be distinct from each other and from its inputs")


def _parse_call(parser: Parser) -> tuple[list[SSAValue], list[SSAValue], list[IntExpr]]:
    def operands():
        return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)

    def types():
        return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)

    inputs = operands()
    parser.parse_keyword("outs")
    outputs = operands()
    variables: list[IntExpr] = []
    if parser.parse_optional_keyword("vars"):
        variables = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser))
    position = parser.pos
    parser.parse_punctuation(":")
    input_types = types()
    parser.parse_punctuation(",")
    return (
        list(parser.resolve_operands(inputs, input_types, position)),
        list(parser.resolve_operands(outputs, types(), position)),
        variables,
    )


def _print_call(
    printer: Printer, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], variables: Sequence[IntExpr]
) -> None:
    with printer.in_parens():
        printer.print_list(inputs, printer.print_ssa_value)
    printer.print_string(" outs")
    with printer.in_parens():
        printer.print_list(outputs, printer.print_ssa_value)
    if variables:
        printer.print_string(" vars [" + ", ".join(str(v) for v in variables) + "]")
    for position, group in enumerate((inputs, outputs)):
        printer.print_string(", " if position else " : ")
        with printer.in_parens():
            printer.print_list([v.type for v in group], printer.print_attribute)


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Copy a whole tensor: ``rt.copy %x, %y : !tir.buffer<[1, n], f32>``."""

    name = "rt.copy"
    source = operand_def(BufferType)
    target = operand_def(BufferType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        source, target = cast(BufferType, self.source.type), cast(BufferType, self.target.type)
        if (source.shape, source.element_type) != (target.shape, target.element_type):
            raise VerifyException(f"expected a copy between tensors of one type, got {source} and {target}")


@irdl_op_definition
class DataflowOp(IRDLOperation):
    """A region whose calls depend on each other only through memory: they may be reordered, their buffers reused.

    ``rt.dataflow { rt.call_dps … }``
    """

    name = "rt.dataflow"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    assembly_format = "$body attr-dict"

    def __init__(self, body: Region):
        super().__init__(regions=[body])

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if isinstance(op, DataflowOp | CheckOp | ArenaOp):
                raise VerifyException(f"expected calls, copies and allocations in a dataflow region, got '{op.name}'")


RTDialect = Dialect(
    "rt",
    [
        AllocOp,
        ArenaOp,
        CallDPSOp,
        CallPackedOp,
        CheckOp,
        ConstantOp,
        CopyOp,
        DataflowOp,
        FuncOp,
        ViewOp,
    ],
    [],
)

"""Functions of the executable, and the checks on what their callers pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..int_expr import Sym
from ..nesting import operations_in
from ..parameters import parse_parameters, print_parameters, verify_parameter_names
from ..tir.func import symbols_of
from ..tir.types import BufferType


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of the executable: parameters first, then the memory of `num_results` results.

    ``rt.func @main(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) results 1 { … }``.
    The caller allocates the results. `written` lists parameters that the function writes in place.
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
            raise VerifyException(
                f"expected at most {len(self.args)} results, got {self.num_results.data}"
            )
        verify_parameter_names(self.names, self.params)
        for index in self.written.data:
            if not 0 <= index.data < len(self.params):
                raise VerifyException(
                    f"expected written parameters among {len(self.params)}, got {index.data}"
                )
        for arg in self.args:
            if not isinstance(arg.type, BufferType):
                raise VerifyException(f"expected a buffer, got {arg.type}")
        declared = set(self.declared_symbols())
        for op in operations_in(self):
            for symbol in sorted(symbols_of(op) - declared):
                raise VerifyException(
                    f"symbol '{symbol}' in '{op.name}' is not determined by the parameters of "
                    f"'{self.sym_name.data}'"
                )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        name = parser.parse_symbol_name().data
        args, names = parse_parameters(parser)
        results, is_tuple = 0, False
        if parser.parse_optional_keyword("results"):
            is_tuple = parser.parse_optional_keyword("tuple") is not None
            results = parser.parse_integer()
        written: Sequence[int] = ()
        if parser.parse_optional_keyword("written"):
            written = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
        return FuncOp(
            name,
            names[: len(args) - results],
            results,
            parser.parse_region(args),
            is_tuple,
            private,
            written,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" private " if self.private is not None else " ")
        print_parameters(printer, self.sym_name.data, self.args, self.names)
        if self.num_results.data:
            printer.print_string(
                " results tuple " if self.returns_tuple is not None else " results "
            )
            printer.print_string(str(self.num_results.data))
        if self.written.data:
            printer.print_string(
                " written [" + ", ".join(str(i.data) for i in self.written.data) + "]"
            )
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class CheckOp(IRDLOperation):
    """The argument that users call `arg_name` must have this shape and dtype.

    ``rt.check %x "x" : !tir.buffer<[1, n], f32>``. At function entry it is where the call wrapper's
    checks come from.
    """

    name = "rt.check"
    buffer = operand_def(BufferType)
    arg_name = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$buffer $arg_name attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, arg_name: str):
        super().__init__(operands=[buffer], properties={"arg_name": StringAttr(arg_name)})

"""Kernels of the `loops` dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..dtypes import is_element_type, value_type
from ..int_expr import symbol_text
from ..irdl import IRDLOperation, irdl_op_definition
from ..nesting import operations_in
from ..sym import parse_symbol
from ..tir.func import symbols_of
from ..tir.types import BufferType


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel on buffers; its symbols are arguments of the machine function.

    ``loops.func @relu0(%X: !tir.buffer<[1, n], f32>) symbols [n] { … }``. `noalias` asserts that
    the buffers do not overlap. ``reuse_distance 1048576`` says that callers read and write at least
    so many bytes until they call the kernel again. A kernel of another object file has no body, and
    has the native symbol to link to: ``loops.func @relu0(%X: …) external "xrelax.relu0.1f2e" {}``.
    """

    name = "loops.func"
    sym_name = prop_def(StringAttr)
    symbols = prop_def(ArrayAttr[StringAttr])
    noalias = opt_prop_def(UnitAttr)
    distance = prop_def(IntegerAttr, default_value=IntegerAttr(0, i64), prop_name="reuse_distance")
    external = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        symbols: Sequence[str],
        body: Region,
        noalias: bool = False,
        external: str | None = None,
        reuse_distance: int = 0,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "symbols": ArrayAttr([StringAttr(s) for s in symbols]),
                "noalias": UnitAttr() if noalias else None,
                "external": None if external is None else StringAttr(external),
                "reuse_distance": IntegerAttr(reuse_distance, i64),
            },
            regions=[body],
        )

    @property
    def params(self) -> tuple[BlockArgument, ...]:
        """The buffer and scalar parameters of the kernel."""
        return tuple(self.body.block.args)

    @property
    def reuse_distance(self) -> int:
        """The least bytes that callers read and write until they call the kernel again, or 0."""
        return self.distance.value.data

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """The symbols that the caller passes, in order."""
        return tuple(s.data for s in self.symbols.data)

    def verify_(self) -> None:
        if len(set(self.symbol_names)) != len(self.symbol_names):
            raise VerifyException(f"expected distinct symbols, got {', '.join(self.symbol_names)}")
        if self.reuse_distance < 0:
            raise VerifyException(
                f"expected a reuse distance of at least 0, got {self.reuse_distance}"
            )
        for position, param in enumerate(self.params):
            if not (isinstance(param.type, BufferType | IndexType) or _is_scalar(param.type)):
                raise VerifyException(
                    f"expected parameter {position} to be a buffer or a scalar, got {param.type}"
                )
        if self.external is not None and self.body.block.first_op is not None:
            raise VerifyException(
                f"expected external kernel '{self.sym_name.data}' to have no body, "
                f"got '{self.body.block.first_op.name}'"
            )
        for op in operations_in(self):
            for symbol in sorted(symbols_of(op) - set(self.symbol_names)):
                raise VerifyException(
                    f"symbol '{symbol}' in '{op.name}' is not among those of "
                    f"'{self.sym_name.data}': {', '.join(self.symbol_names) or 'none'}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        symbols: list[str] = []
        if parser.parse_optional_keyword("symbols"):
            symbols = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_symbol(parser)
            )
        noalias = parser.parse_optional_keyword("noalias") is not None
        distance = 0
        if parser.parse_optional_keyword("reuse_distance"):
            distance = parser.parse_integer(allow_boolean=False, allow_negative=False)
        external = None
        if parser.parse_optional_keyword("external"):
            external = parser.parse_str_literal(" of a native symbol")
        return FuncOp(name, symbols, parser.parse_region(args), noalias, external, distance)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.params, printer.print_block_argument)
        if self.symbols.data:
            names = ", ".join(map(symbol_text, self.symbol_names))
            printer.print_string(f" symbols [{names}]")
        printer.print_string(" noalias " if self.noalias is not None else " ")
        if self.reuse_distance:
            printer.print_string(f"reuse_distance {self.reuse_distance} ")
        if self.external is not None:
            printer.print_string("external ")
            printer.print_string_literal(self.external.data)
            printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _is_scalar(type_: Attribute) -> bool:
    return is_element_type(type_) and value_type(type_) == type_

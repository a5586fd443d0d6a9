"""Functions and dataflow blocks of the `relax` dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
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
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from .closure import GraphFunctionOp, LocalFuncOp, is_pure, verify_pure
from .control import IfOp
from .function_text import parse_function, print_function
from .symbols import determined_symbols, undeclared_symbol
from .type_relations import says_less
from .types import type_symbols

SYMBOL_BOUNDS = ("tir_var_lower_bound", "tir_var_upper_bound")
"""The attributes of functions for the least and the greatest values of symbols, as TVM's."""

FORCE_PURE = "relax.force_pure"
"""The attribute of functions that are pure whatever their operations do."""


@irdl_op_definition
class FuncOp(GraphFunctionOp):
    """A graph function; TVM's ``relax.Function``.

    ``relax.func @main(%x: !relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32> { … }``. A
    symbol is declared where it is a whole dim of a parameter, or of an earlier `relax.match_cast`.
    A function is pure unless it is marked ``impure``. Its result type may be more general than the
    type of the returned value.
    """

    name = "relax.func"
    sym_name = prop_def(StringAttr)
    result_type = prop_def(Attribute)
    impure = opt_prop_def(UnitAttr)
    private = opt_prop_def(UnitAttr)
    attrs = opt_prop_def(DictionaryAttr)
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        param_names: Sequence[str],
        result_type: Attribute,
        body: Region,
        impure: bool = False,
        private: bool = False,
        attrs: DictionaryAttr | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "param_names": ArrayAttr([StringAttr(n) for n in param_names]),
                "result_type": result_type,
                "impure": UnitAttr() if impure else None,
                "private": UnitAttr() if private else None,
                "attrs": attrs,
            },
            regions=[body],
        )

    @property
    def end(self) -> ReturnOp:
        """The operation that ends the body."""
        last = self.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    def declared_symbols(self) -> list[str]:
        """The symbols that parameters determine, in order of first occurrence."""
        return determined_symbols(p.type for p in self.params)

    def symbol_ranges(self) -> dict[str, tuple[int, int | None]]:
        """The least and the greatest value of each symbol of the parameters, `None` for no limit.

        The attributes ``tir_var_lower_bound`` and ``tir_var_upper_bound`` have those above 0.
        """
        lower, upper = (self._bounds(name) for name in SYMBOL_BOUNDS)
        return {s: (lower.get(s, 0), upper.get(s)) for s in self.declared_symbols()}

    def _bounds(self, name: str) -> dict[str, int]:
        """An attribute with an integer for each symbol; raises VerifyException for another."""
        bounds = self.attrs.data.get(name) if self.attrs is not None else None
        numbers: dict[str, int] = {}
        if isinstance(bounds, DictionaryAttr):
            for symbol, value in bounds.data.items():
                if isinstance(value, IntegerAttr):
                    numbers[symbol] = value.value.data
        if bounds is not None and not (
            isinstance(bounds, DictionaryAttr) and len(numbers) == len(bounds.data)
        ):
            raise VerifyException(f"expected '{name}' to have integers of symbols, got {bounds}")
        return numbers

    def verify_(self) -> None:
        self.verify_parameters()
        self.symbol_ranges()
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException("expected a function to end with 'relax.return'")
        if not says_less(self.result_type, last.value.type):
            raise VerifyException(
                f"expected '{self.sym_name.data}' to return {self.result_type}, "
                f"got {last.value.type}"
            )
        declared = set(self.declared_symbols())
        for type_ in (*(p.type for p in self.params), self.result_type):
            for symbol in sorted(type_symbols(type_) - declared):
                raise self._undetermined(symbol)
        found = undeclared_symbol(self.body.block, declared)
        if found is not None:
            raise self._undetermined(found[0])
        if self.impure is not None and self.is_forced_pure:
            raise VerifyException(
                f"expected '{self.sym_name.data}' with relax.force_pure to be declared pure"
            )
        if self.impure is None and not self.is_forced_pure:
            verify_pure(self.sym_name.data, self.body.block)

    @property
    def is_forced_pure(self) -> bool:
        """Whether the function is pure whatever its operations do: TVM's ``relax.force_pure``."""
        value = None if self.attrs is None else self.attrs.data.get(FORCE_PURE)
        return isinstance(value, IntegerAttr) and value.value.data != 0

    def _undetermined(self, symbol: str) -> VerifyException:
        return VerifyException(
            f"symbol '{symbol}' is not determined by the parameters of '{self.sym_name.data}'"
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        impure = parser.parse_optional_keyword("impure") is not None
        name, names, result_type, body, attrs = parse_function(parser)
        return FuncOp(name, names, result_type, body, impure, private, attrs)

    def print(self, printer: Printer) -> None:
        printer.print_string(" private" if self.private is not None else "")
        printer.print_string(" impure " if self.impure is not None else " ")
        name = self.sym_name.data
        print_function(printer, name, self.names, self.result_type, self.body, self.attrs)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a function: ``relax.return %y : !relax.tensor<[1, n], f32>``."""

    name = "relax.return"
    value = operand_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp, LocalFuncOp), Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


@irdl_op_definition
class DataflowOp(IRDLOperation):
    """A block of pure operations with explicit outputs; TVM's ``R.dataflow()``.

    ``%y = relax.dataflow -> !relax.tensor<[1, n], f32> { … relax.output %lv : … }``
    """

    name = "relax.dataflow"
    outputs = var_result_def()
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, body: Region, result_types: Sequence[Attribute]):
        super().__init__(regions=[body], result_types=[list(result_types)])

    @property
    def output(self) -> OutputOp:
        """The terminator."""
        last = self.body.block.last_op
        assert isinstance(last, OutputOp)
        return last

    def verify_(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, OutputOp):
            raise VerifyException("expected a dataflow block to end with 'relax.output'")
        expected, given = ([str(v.type) for v in vs] for vs in (self.outputs, last.values))
        if expected != given:
            raise VerifyException(
                f"expected a dataflow block of types {', '.join(expected) or 'none'}, "
                f"got {', '.join(given) or 'none'}"
            )
        for op in self.body.block.ops:
            _verify_pure(op)

    @classmethod
    def parse(cls, parser: Parser) -> DataflowOp:
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return DataflowOp(parser.parse_region(), types)

    def print(self, printer: Printer) -> None:
        if self.outputs:
            printer.print_string(" -> ")
            printer.print_list([r.type for r in self.outputs], printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


def _verify_pure(op: Operation) -> None:
    if isinstance(op, DataflowOp):
        raise VerifyException("expected a dataflow block not to contain another one")
    if isinstance(op, IfOp):
        raise VerifyException("expected a dataflow block without control flow, got 'relax.if'")
    if not is_pure(op) or op.has_trait(AllocatesResult):
        raise VerifyException(f"expected pure operations in a dataflow block, got '{op.name}'")


@irdl_op_definition
class OutputOp(IRDLOperation):
    """The terminator of a dataflow block, with its outputs; TVM's ``R.output``."""

    name = "relax.output"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(DataflowOp), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])

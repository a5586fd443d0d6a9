"""Values known before a call: constants, and results computed when the module is loaded."""

from __future__ import annotations

from xdsl.dialects.builtin import FlatSymbolRefAttr, IntAttr, SymbolRefAttr
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from ..nesting import ancestors
from ..relax.constant import DataAttr, TensorData
from ..tir.types import BufferType
from .func import FuncOp


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """The memory of a constant.

    ``%w = rt.constant <float32, [128, 784], "w0", "9f…"> : !tir.buffer<[128, 784], f32>``.
    """

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
class LoadedOp(IRDLOperation):
    """A result of a function that runs when the module is loaded.

    ``%p = rt.loaded @load[0] : !tir.buffer<[6, 784, 128], f32>``.
    """

    name = "rt.loaded"
    function = prop_def(FlatSymbolRefAttr)
    index = prop_def(IntAttr)
    result = result_def(BufferType)
    traits = traits_def(Pure())

    def __init__(self, function: str, index: int, type_: BufferType):
        super().__init__(
            properties={"function": SymbolRefAttr(function), "index": IntAttr(index)},
            result_types=[type_],
        )

    @property
    def function_name(self) -> str:
        """The name of the function."""
        return self.function.root_reference.data

    def verify_(self) -> None:
        module = next((p for p in ancestors(self) if p.has_trait(SymbolTable)), None)
        if module is None:
            return
        name = self.function_name
        func = SymbolTable.lookup_symbol(module, name)
        if not isinstance(func, FuncOp) or func.on_load is None:
            raise VerifyException(f"expected a function that runs on load, got '{name}'")
        types = [r.type for r in func.results_]
        if self.index.data >= len(types):
            raise VerifyException(
                f"expected one of {len(types)} results of '{name}', got {self.index.data}"
            )
        if types[self.index.data] != self.result.type:
            raise VerifyException(
                f"expected result {self.index.data} of '{name}' to be {types[self.index.data]}, "
                f"got {self.result.type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> LoadedOp:
        function = parser.parse_symbol_name().data
        with parser.in_square_brackets():
            index = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, BufferType):
            parser.raise_error(f"expected a buffer type, got {type_}", position)
        return LoadedOp(function, index, type_)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.function_name)
        printer.print_string(f"[{self.index.data}] : ")
        printer.print_attribute(self.result.type)

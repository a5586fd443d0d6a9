"""Functions of the executable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument, Region
from xdsl.irdl import opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..bounds import Ranges, limited
from ..int_expr import Sym, symbol_text
from ..int_lists import int_list, ints_of, parse_int_list
from ..irdl import irdl_op_definition
from ..parameters import (
    FunctionOp,
    parse_parameters,
    print_parameters,
    print_text,
)
from ..relax.objects import with_handles
from ..relax.symbols import determined_symbols
from ..relax.types import TensorType, tensors_in
from ..sym import parse_symbol
from ..tir.types import BufferType
from .scopes import verify_symbols
from .sizes import ReadSizesOp


def _parse_symbols(parser: Parser, keyword: str) -> list[str]:
    """Parse ``keyword [symbol, …]`` if it is there."""
    if not parser.parse_optional_keyword(keyword):
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_symbol(parser))


def _parse_signature(parser: Parser) -> tuple[Sequence[str], FunctionType] | None:
    """Parse ``signature ("name", …) : (…) -> (…)`` if it is there."""
    if not parser.parse_optional_keyword("signature"):
        return None
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_str_literal)
    parser.parse_punctuation(":")
    position = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, FunctionType):
        parser.raise_error(f"expected a function type, got {type_}", position)
    return names, type_


@irdl_op_definition
class FuncOp(FunctionOp):
    """A function of the executable: parameters first, then the memory of `num_results` results.

    ``rt.func @main(%x: !tir.buffer<[1, n], f32>, %y: !tir.buffer<[1, n], f32>) results 1 { … }``.
    The caller allocates the results. `written` lists parameters that the function writes in place.
    A `recursive` function counts the depth of its nested calls. An `on_load` function runs once,
    when the module is loaded, and keeps its results for `rt.loaded`. `symbols` are those that no
    parameter in memory determines: callers pass them to a private function, and a public one reads
    them from the shapes and numbers of its `signature`. The signature has the user's parameters and
    results, as types of the graph, if they are not one tensor for each parameter: its tensors in
    order are the parameters and results in memory. `reported` are symbols of `rt.read_sizes` in the
    types of results: their memory is for the limits, and further results, i64 tensors of rank 1,
    hold the values. A result of unknown shape in the signature is what a registered function
    returns, and has no memory here. `aliased` has, for each other result of the signature, the
    written parameter whose memory it is, or -1 for memory of its own.
    """

    name = "rt.func"
    sym_name = prop_def(StringAttr)
    num_results = prop_def(IntAttr)
    returns_tuple = opt_prop_def(UnitAttr)
    private = opt_prop_def(UnitAttr)
    recursive = opt_prop_def(UnitAttr)
    on_load = opt_prop_def(UnitAttr)
    written = prop_def(ArrayAttr[IntAttr])
    symbols = opt_prop_def(ArrayAttr[StringAttr])
    signature = opt_prop_def(FunctionType)
    signature_names = opt_prop_def(ArrayAttr[StringAttr])
    reported = opt_prop_def(ArrayAttr[StringAttr])
    aliased = opt_prop_def(ArrayAttr[IntAttr])
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
        recursive: bool = False,
        symbols: Sequence[str] = (),
        signature: tuple[Sequence[str], FunctionType] | None = None,
        on_load: bool = False,
        reported: Sequence[str] = (),
        aliased: Sequence[int] = (),
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "param_names": _names_attribute(param_names),
                "num_results": IntAttr(num_results),
                "returns_tuple": UnitAttr() if returns_tuple else None,
                "private": UnitAttr() if private else None,
                "recursive": UnitAttr() if recursive else None,
                "on_load": UnitAttr() if on_load else None,
                "written": int_list(written),
                "symbols": _names_attribute(symbols) if symbols else None,
                "signature": None if signature is None else signature[1],
                "signature_names": None if signature is None else _names_attribute(signature[0]),
                "reported": _names_attribute(reported) if reported else None,
                "aliased": int_list(aliased) if aliased else None,
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
    def symbol_names(self) -> tuple[str, ...]:
        """The symbols that no parameter in memory determines."""
        return () if self.symbols is None else tuple(s.data for s in self.symbols.data)

    @property
    def reported_symbols(self) -> tuple[str, ...]:
        """The symbols whose values the last results hold."""
        return () if self.reported is None else tuple(s.data for s in self.reported.data)

    @property
    def stored_results(self) -> list[tuple[TensorType, int]]:
        """The results of the signature with memory: the types, and the aliased parameters or -1."""
        outputs = () if self.signature is None else self.signature.outputs.data
        found = [t for type_ in outputs for t in tensors_in(with_handles(type_)) if t.is_known]
        if self.aliased is None:
            return [(t, -1) for t in found]
        return list(zip(found, ints_of(self.aliased), strict=False))

    @property
    def graph_results(self) -> list[TensorType | None]:
        """The types of the graph of the results in memory, as far as a signature has them."""
        found: list[TensorType | None] = [t for t, alias in self.stored_results if alias == -1]
        return [*found, *(None for _ in range(self.num_results.data - len(found)))]

    def read_sizes(self) -> Ranges:
        """The ranges of the symbols that `rt.read_sizes` declares, over those of the parameters."""
        return limited(s for op in self.walk() if isinstance(op, ReadSizesOp) for s in op.symbols)

    @property
    def user_params(self) -> list[tuple[str, Attribute]]:
        """The names and types of the arguments that users pass."""
        if self.signature is None or self.signature_names is None:
            return [(n, p.type) for n, p in zip(self.names, self.params, strict=True)]
        names = [n.data for n in self.signature_names.data]
        return list(zip(names, self.signature.inputs.data, strict=True))

    @property
    def is_entry(self) -> bool:
        """Whether the function is public."""
        return self.private is None and self.on_load is None

    def declared_symbols(self) -> list[str]:
        """The symbols of `symbols`, then those that parameters in memory determine."""
        found: dict[str, None] = dict.fromkeys(self.symbol_names)
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
        self.verify_parameters()
        for index in self.written.data:
            if not 0 <= index.data < len(self.params):
                raise VerifyException(
                    f"expected written parameters among {len(self.params)}, got {index.data}"
                )
        for arg in self.args:
            if not isinstance(arg.type, BufferType):
                raise VerifyException(f"expected a buffer, got {arg.type}")
        if self.on_load is not None and (self.params or self.private is not None):
            raise VerifyException("expected no parameters, and nothing private, to run on load")
        self._verify_signature()
        verify_symbols(self, self.declared_symbols(), self.sym_name.data)

    def _verify_signature(self) -> None:
        if self.signature is None:
            if self.symbol_names and self.private is None:
                raise VerifyException("expected a signature that determines the symbols")
            if self.aliased is not None:
                raise VerifyException("expected a signature that has the aliased results")
            return
        inputs, outputs = self.signature.inputs.data, self.signature.outputs.data
        if self.signature_names is None or len(self.signature_names.data) != len(inputs):
            raise VerifyException("expected a name for each type of the signature")
        for what, types, memory in (
            ("parameters", inputs, self.params),
            ("results", outputs, self.results_),
        ):
            held = [t for type_ in types for t in tensors_in(with_handles(type_))]
            count = sum(t.is_known for t in held)
            if what == "results":
                count -= self._verify_aliased(count)
                memory = memory[: len(memory) - self._report_count()]
            if count != len(memory):
                raise VerifyException(
                    f"expected {count} {what} for the signature, got {len(memory)}"
                )
        missing = set(self.symbol_names) - set(determined_symbols(inputs))
        for symbol in sorted(missing):
            raise VerifyException(f"expected the signature to determine symbol '{symbol}'")

    def _verify_aliased(self, count: int) -> int:
        """Verify the aliases of so many results; returns how many are parameters."""
        if self.aliased is None:
            return 0
        aliased = [i for i in ints_of(self.aliased) if i != -1]
        if len(self.aliased.data) != count:
            raise VerifyException(
                f"expected {count} aliased parameters or -1, got {len(self.aliased.data)}"
            )
        for index in aliased:
            if index not in ints_of(self.written):
                raise VerifyException(f"expected an aliased parameter to be written, got {index}")
        return len(aliased)

    def _report_count(self) -> int:
        """The number of results that hold the values of reported symbols."""
        missing, count = len(self.reported_symbols), 0
        while missing > 0:
            count += 1
            type_ = cast(BufferType, self.args[-count].type)
            missing -= (type_.dims[0].constant or missing) if type_.rank == 1 else missing
        return count

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        private = parser.parse_optional_keyword("private") is not None
        on_load = parser.parse_optional_keyword("on_load") is not None
        recursive = parser.parse_optional_keyword("recursive") is not None
        name = parser.parse_symbol_name().data
        args, names = parse_parameters(parser)
        results, is_tuple = 0, False
        if parser.parse_optional_keyword("results"):
            is_tuple = parser.parse_optional_keyword("tuple") is not None
            results = parser.parse_integer()
        written = parse_int_list(parser) if parser.parse_optional_keyword("written") else []
        symbols = _parse_symbols(parser, "symbols")
        signature = _parse_signature(parser)
        reported = _parse_symbols(parser, "reported")
        aliased = parse_int_list(parser) if parser.parse_optional_keyword("aliased") else []
        return FuncOp(
            name,
            names[: len(args) - results],
            results,
            parser.parse_region(args),
            is_tuple,
            private,
            written,
            recursive,
            symbols,
            signature,
            on_load,
            reported,
            aliased,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" private " if self.private is not None else " ")
        printer.print_string("on_load " if self.on_load is not None else "")
        printer.print_string("recursive " if self.recursive is not None else "")
        print_parameters(printer, self.sym_name.data, self.args, self.names)
        if self.num_results.data or self.returns_tuple is not None:
            printer.print_string(
                " results tuple " if self.returns_tuple is not None else " results "
            )
            printer.print_string(str(self.num_results.data))
        if self.written.data:
            printer.print_string(f" written {ints_of(self.written)}")
        if self.symbol_names:
            printer.print_string(f" symbols [{', '.join(map(symbol_text, self.symbol_names))}]")
        if self.signature is not None and self.signature_names is not None:
            printer.print_string(" signature ")
            with printer.in_parens():
                names = [n.data for n in self.signature_names.data]
                printer.print_list(names, lambda n: print_text(printer, n))
            printer.print_string(" : ")
            printer.print_attribute(self.signature)
        if self.reported_symbols:
            printer.print_string(
                f" reported [{', '.join(map(symbol_text, self.reported_symbols))}]"
            )
        if self.aliased is not None:
            printer.print_string(f" aliased {ints_of(self.aliased)}")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _names_attribute(names: Sequence[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(n) for n in names])

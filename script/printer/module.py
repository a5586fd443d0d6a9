"""Modules, PrimFuncs and graph functions as self-contained Python text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from keyword import iskeyword

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.dtypes import dtype_name
from ...dialects.relax import FuncOp
from ...dialects.tir import (
    AllocBufferOp,
    BlockOp,
    BufferType,
    CallOp,
    HandleType,
    PrimFuncOp,
)
from ...dialects.tir.control import result_of
from ...dialects.tir.statement_lists import StatementLists
from ...lowering.functions import PRIVATE
from .calls import handle_text
from .expressions import Expressions
from .literals import dictionary_text, quote
from .metadata import OMITTED, Metadata
from .options import Options
from .relax import FunctionPrinter
from .tir_blocks import declare_buffer, shape_text, symbols_in_order
from .tir_statements import Statements
from .writer import Names, Writer, without_suffix

HANDLE = "var_"
"""What the name of a handle has before that of its buffer."""


def write_prim_func(writer: Writer, func: PrimFuncOp, module: str | None = None) -> None:
    """Write a PrimFunc with its decorator; `module` is the name of the class around it."""
    PrimFuncPrinter(writer, func, module).write()


class PrimFuncPrinter:
    """Writes one PrimFunc."""

    def __init__(self, writer: Writer, func: PrimFuncOp, module: str | None):
        self.writer = writer
        self.func = func
        calls = any(isinstance(op, CallOp) for op in func.walk())
        self.names = Names((module,) if module and calls else ())
        self.symbols: dict[str, str] = {}
        self.expressions = Expressions(self.symbols, f"{module}." if module else "")
        self.handles: list[tuple[str, BlockArgument]] = []
        self.declared: set[str] = set()

    def write(self) -> None:
        """Write the decorator, the signature and the body."""
        params = [self._param(n, p) for n, p in zip(self.func.names, self.func.params, strict=True)]
        for symbol in (*self.func.declared_symbols(), *self.func.matched_symbols()):
            if symbol not in self.symbols:
                self.symbols[symbol] = self.names.fresh(symbol)
        is_private = self.func.attr(PRIVATE) is not None
        self.writer.line(f"@T.prim_func{'(private=True)' if is_private else ''}")
        head = f"def {self.func.sym_name.data}({', '.join(params)}){self._result()}:"
        with self.writer.indented(head):
            start = len(self.writer.lines)
            self._declarations()
            self._statements(self.writer, self.names).block(self.func.body.block)
            if len(self.writer.lines) == start:
                self.writer.line("T.evaluate(0)")

    def statements(self, operations: Sequence[Operation]) -> str:
        """Some statements of the function, with the names that values outside have in it."""
        self.write()
        inner = [op for root in operations for op in root.walk()]
        defined = set(_defined_by(inner))
        outside = {o for op in inner for o in op.operands} - defined
        for value in defined:
            self.expressions.names.pop(value, None)
        used = (self.expressions.names[v] for v in outside if v in self.expressions.names)
        writer, names = Writer(self.writer.options), Names((*self.symbols.values(), *used))
        statements = self._statements(writer, names)
        for op in operations:
            statements.statement(op)
        return writer.text()

    def _statements(self, writer: Writer, names: Names) -> Statements:
        return Statements(writer, names, self.expressions, StatementLists(self.func))

    def _result(self) -> str:
        """`` -> T.int32`` of a kernel that returns a scalar."""
        returned = result_of(self.func)
        if returned is None:
            return ""
        return f" -> T.{dtype_name(returned.element_type)}"

    def _param(self, name: str, param: BlockArgument) -> str:
        if isinstance(param.type, BufferType):
            return self._buffer_param(name, param, param.type)
        printed = self.expressions.names[param] = self.names.fresh(name)
        if isinstance(param.type, HandleType):
            return f"{printed}: {handle_text(param.type)}"
        if isinstance(param.type, IndexType):
            self.symbols[name] = printed
            self.declared.add(name)
            return f"{printed}: T.int64"
        dtype = dtype_name(self.func.element_type_of(param))
        self.expressions.signs.fix(param, dtype.startswith("uint"))
        return f"{printed}: T.{dtype}"

    def _buffer_param(self, name: str, param: BlockArgument, type_: BufferType) -> str:
        hint = param.name_hint
        if hint is None and name.startswith(HANDLE):  # the IR has no names beyond ASCII for values
            hint = name.removeprefix(HANDLE)
        same = hint is None or hint in (name, without_suffix(name))
        if same and not type_.symbols() and type_ == BufferType.of(type_.dims, type_.element_type):
            printed = self.expressions.names[param] = self.names.fresh(name)
            shape = shape_text(self.expressions, type_.dims)
            return f"{printed}: T.Buffer({shape}, {quote(type_.dtype)})"
        if same:
            printed = self.names.fresh(f"{HANDLE}{name}")
            self.expressions.names[param] = self.names.fresh(name)
        else:
            printed = self.names.fresh(name)
        self.handles.append((printed, param))
        return f"{printed}: T.handle"

    def _declarations(self) -> None:
        attrs = {} if self.func.attrs is None else dict(self.func.attrs.data)
        attrs.pop(PRIVATE, None)  # the decorator says so
        if attrs:
            self.writer.line(f"T.func_attr({dictionary_text(attrs)})")
        for handle, param in self.handles:
            self._match(handle, param)
        if any(isinstance(op, BlockOp | AllocBufferOp) for op in self.func.walk()):
            self.writer.line('# with T.block("root"):')

    def _match(self, handle: str, param: BlockArgument) -> None:
        type_ = param.type
        assert isinstance(type_, BufferType)
        for symbol in symbols_in_order(type_):
            if symbol not in self.declared:
                self.declared.add(symbol)
                self.writer.line(f"{self.symbols[symbol]} = T.int64()")
        if param not in self.expressions.names:
            self.expressions.names[param] = self.names.fresh(
                param.name_hint or handle.removeprefix(HANDLE)
            )
        matched = declare_buffer(self.expressions, "T.match_buffer", type_, handle)
        self.writer.line(f"{self.expressions.names[param]} = {matched}")


def _defined_by(operations: Sequence[Operation]) -> Iterator[SSAValue]:
    """The values that operations and their regions define."""
    for op in operations:
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


IMPORTS = {
    "I": "# from xrelax.script import ir as I",
    "T": "# from xrelax.script import tir as T",
    "R": "# from xrelax.script import relax as R",
}


def print_module(
    module: ModuleOp,
    *,
    show_meta: bool = False,
    name: str = "Module",
    metadata: Metadata | None = None,
    options: Options = Options(),
) -> str:
    """The module as a class `name` of TVMScript; with `show_meta` its constants' data as well.

    `metadata` collects the constants that the text refers to by numbers. Raises ValueError where
    the module holds something that TVMScript cannot express, or where the data of a constant is
    asked for and was not given.
    """
    functions = sorted((_function(op) for op in module.ops), key=_order)
    body, uses = Writer(options), {"I"}
    metadata = Metadata() if metadata is None else metadata
    body.line("@I.ir_module")
    with body.indented(f"class {name}:"):
        if module.attributes:
            body.line(f"I.module_attrs({dictionary_text(module.attributes)})")
        for position, function in enumerate(functions):
            if position or module.attributes:
                body.line()
            uses |= _write_function(body, function, metadata, name, options)
        if not functions and not module.attributes:
            body.line("pass")
    return _assemble(body, metadata, uses, show_meta)


def print_statements(func: PrimFuncOp, operations: Sequence[Operation]) -> str:
    """Statements of a kernel as TVMScript."""
    return PrimFuncPrinter(Writer(), func, None).statements(operations)


def print_function(
    op: PrimFuncOp | FuncOp, *, show_meta: bool = False, options: Options = Options()
) -> str:
    """One function as TVMScript; functions of its module are called by their bare names.

    Raises ValueError as `print_module` does.
    """
    body, metadata = Writer(options), Metadata()
    uses = _write_function(body, _function(op), metadata, None, options)
    return _assemble(body, metadata, uses, show_meta)


def _function(op: Operation) -> PrimFuncOp | FuncOp:
    if not isinstance(op, PrimFuncOp | FuncOp):
        raise ValueError(f"expected functions of tir and relax to print, got '{op.name}'")
    if not op.sym_name.data.isidentifier() or iskeyword(op.sym_name.data):
        raise ValueError(f"expected a function name that Python accepts, got '{op.sym_name.data}'")
    return op


def _order(op: PrimFuncOp | FuncOp) -> tuple[bool, str]:
    return (isinstance(op, FuncOp), op.sym_name.data)


def _write_function(
    writer: Writer,
    op: PrimFuncOp | FuncOp,
    metadata: Metadata,
    module_name: str | None,
    options: Options,
) -> set[str]:
    """Write a function; returns the script modules that it mentions."""
    if isinstance(op, PrimFuncOp):
        write_prim_func(writer, op, module_name)
        return {"T"}
    printer = FunctionPrinter(writer, op, metadata, module_name, options)
    printer.write()
    return {"R", "T"} if printer.symbols else {"R"}


def _assemble(body: Writer, metadata: Metadata, uses: set[str], show_meta: bool) -> str:
    writer = Writer()
    for module, line in IMPORTS.items():
        if module in uses:
            writer.line(line)
    writer.line()
    if show_meta and not metadata.is_empty:
        metadata.write(writer)
        writer.line()
    trailer: Sequence[str] = () if show_meta or metadata.is_empty else ("", OMITTED)
    writer.lines += [*body.lines, *trailer]
    return writer.text()

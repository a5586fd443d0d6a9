"""`tir.prim_func` as a decorated Python function: parameters and declarations."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import BlockArgument

from ...dialects.dtypes import dtype_name
from ...dialects.tir import AllocBufferOp, BlockOp, BufferType, PrimFuncOp
from .bindings import live_operations
from .buffers import declare_buffer, shape_text, symbols_in_order
from .expressions import Expressions
from .literals import dictionary_text, quote
from .names import Names, without_suffix
from .tir_statements import Statements
from .writer import Writer

HANDLE = "var_"
"""What the name of a handle has before that of its buffer."""


def write_prim_func(writer: Writer, func: PrimFuncOp, reserved: tuple[str, ...] = ()) -> None:
    """Write a PrimFunc with its decorator; names in `reserved` stay free."""
    PrimFuncPrinter(writer, func, reserved).write()


class PrimFuncPrinter:
    """Writes one PrimFunc."""

    def __init__(self, writer: Writer, func: PrimFuncOp, reserved: tuple[str, ...]):
        self.writer = writer
        self.func = func
        self.names = Names(reserved)
        self.symbols: dict[str, str] = {}
        self.expressions = Expressions(self.symbols)
        self.handles: list[tuple[str, BlockArgument]] = []
        self.declared: set[str] = set()

    def write(self) -> None:
        """Write the decorator, the signature and the body."""
        params = [self._param(n, p) for n, p in zip(self.func.names, self.func.params, strict=True)]
        for symbol in (*self.func.declared_symbols(), *self.func.matched_symbols()):
            if symbol not in self.symbols:
                self.symbols[symbol] = self.names.fresh(symbol)
        self.writer.line("@T.prim_func")
        with self.writer.indented(f"def {self.func.sym_name.data}({', '.join(params)}):"):
            start = len(self.writer.lines)
            self._declarations()
            statements = Statements(
                self.writer, self.names, self.expressions, live_operations(self.func)
            )
            statements.block(self.func.body.block)
            if len(self.writer.lines) == start:
                self.writer.line("T.evaluate(0)")

    def _param(self, name: str, param: BlockArgument) -> str:
        if isinstance(param.type, BufferType):
            return self._buffer_param(name, param, param.type)
        printed = self.expressions.names[param] = self.names.fresh(name)
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
        if self.func.attrs is not None and self.func.attrs.data:
            self.writer.line(f"T.func_attr({dictionary_text(self.func.attrs.data)})")
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

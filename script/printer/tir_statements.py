"""Statements of TensorIR: loops, stores, control flow, buffers and names for shared values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.int_expr import IntExpr
from ...dialects.sym import exprs_of
from ...dialects.tir import (
    AllocBufferOp,
    AssertOp,
    AttrOp,
    BlockOp,
    BreakOp,
    BufferType,
    CallExternOp,
    CallIntrinOp,
    CallOp,
    ContinueOp,
    DeclBufferOp,
    ForOp,
    HandleType,
    MatchBufferOp,
    OpaqueCallOp,
    ReturnOp,
    StoreOp,
)
from ...dialects.tir.scalar_ops import is_expression
from ...dialects.tir.statement_lists import StatementLists, is_typed_handle
from .calls import argument_text, handle_text, is_address, opaque_call, pointer_text
from .expressions import Expressions
from .literals import call_text, quote
from .tir_blocks import BlockPrinter, declare_buffer, region_text
from .tir_loops import loop_range
from .writer import Names, Writer


class Statements:
    """Writes the operations of a PrimFunc's blocks, each as the lines it stands for."""

    def __init__(
        self, writer: Writer, names: Names, expressions: Expressions, lists: StatementLists
    ):
        self.writer = writer
        self.names = names
        self.expressions = expressions
        self._lists = lists
        self._write: dict[type[Operation], Callable[[Any], None]] = {
            AllocBufferOp: self._alloc_buffer,
            AssertOp: self._assert,
            BlockOp: self._block,
            AttrOp: self._attr,
            BreakOp: lambda _: self.writer.line("break"),
            CallExternOp: self._call,
            CallOp: self._call,
            ContinueOp: lambda _: self.writer.line("continue"),
            ReturnOp: self._return,
            CallIntrinOp: self._call,
            DeclBufferOp: self._decl_buffer,
            ForOp: self._for,
            MatchBufferOp: self._match_buffer,
            StoreOp: self._store,
            scf.IfOp: self._if,
            scf.WhileOp: self._while,
        }

    def block(self, block: Block) -> None:
        """Write what the block does."""
        for op in self._lists.of(block):
            self.statement(op)

    def statement(self, op: Operation) -> None:
        """Write one statement; raises ValueError for what TVMScript does not have."""
        if is_expression(op):
            self._bind(op)
        elif type(op) in self._write:
            self._write[type(op)](op)
        else:
            raise ValueError(f"expected an operation that TVMScript has, got '{op.name}'")

    def nested(self, header: str, block: Block) -> None:
        """Write a block below `header`, with names of its own."""
        with self.writer.indented(header), self.names.scope():
            start = len(self.writer.lines)
            self.block(block)
            if len(self.writer.lines) == start:
                self.writer.line("T.evaluate(0)")

    def _bind(self, op: Operation) -> None:
        result = op.results[0]
        text = self.expressions.value(result).text
        if isinstance(result.type, HandleType):
            annotation = handle_text(result.type)
            self.writer.line(f"{self._name(result, 'v')}: {annotation} = {text}")
            return
        dtype = self.expressions.dtype(result)
        self.expressions.signs.fix(result, dtype.startswith("uint"))
        name = self._name(result, "v")
        self.writer.line(f"{name}: T.{'int64' if dtype == 'index' else dtype} = {text}")

    def _name(self, value: SSAValue, default: str) -> str:
        name = self.expressions.names[value] = self.names.fresh(value.name_hint or default)
        return name

    def _store(self, op: StoreOp) -> None:
        unsigned = cast(BufferType, op.buffer.type).dtype.startswith("uint")
        indices = [self.expressions.index(e, op.operands_) for e in exprs_of(op.indices)]
        target = self.expressions.element(op.buffer, indices)
        self.writer.line(f"{target} = {self.expressions.value(op.value, unsigned).text}")

    def _alloc_buffer(self, op: AllocBufferOp) -> None:
        hint = op.result.name_hint or "buffer"
        name = self.names.fresh(hint if op.buffer_name is None else op.buffer_name.data)
        self.expressions.names[op.result] = name
        text = declare_buffer(self.expressions, "T.alloc_buffer", op.result.type)
        self.writer.line(f"{name} = {text}")

    def _match_buffer(self, op: MatchBufferOp) -> None:
        view = op.result.type
        if is_address(op.result):
            if not any(True for _ in op.result.uses):
                self.writer.line(f"T.evaluate({pointer_text(self.expressions, op.result)})")
            return
        starts = exprs_of(op.starts)
        extents = (IntExpr.of(1),) * (len(starts) - view.rank) + view.dims
        source = region_text(self.expressions, op.source, starts, extents, op.operands_)
        text = declare_buffer(self.expressions, "T.match_buffer", _own_layout(op), source)
        self.writer.line(f"{self._name(op.result, 'view')} = {text}")

    def _assert(self, op: AssertOp) -> None:
        condition = self.expressions.value(op.condition).text
        self.writer.line(f"assert {condition}, {quote(op.message.data)}")

    def _decl_buffer(self, op: DeclBufferOp) -> None:
        pointer = self.expressions.value(op.data).text
        text = declare_buffer(self.expressions, "T.decl_buffer", op.result.type, data=pointer)
        self.writer.line(f"{self._name(op.result, 'buffer')} = {text}")

    def _return(self, op: ReturnOp) -> None:
        unsigned = op.unsigned is not None
        self.writer.line(f"return {self.expressions.value(op.value, unsigned).text}")

    def _attr(self, op: AttrOp) -> None:
        args = [argument_text(self.expressions, a) for a in op.args]
        owner = args.pop(0) if op.node is None else op.node.data
        header = call_text("T.attr", owner, quote(op.key.data), args[0])
        self.nested(f"with {header}:", op.body.block)

    def _call(self, op: OpaqueCallOp) -> None:
        if self._lists.is_inlined(op) or (op.result is not None and is_typed_handle(op)):
            self._bind(op)
        else:
            self.writer.line(f"T.evaluate({opaque_call(self.expressions, op)})")

    def _if(self, op: scf.IfOp) -> None:
        if op.output:
            raise ValueError("expected an 'scf.if' with results to compute one scalar")
        self.nested(f"if {self.expressions.value(op.cond).text}:", op.true_region.block)
        if op.false_region.blocks and self._lists.of(op.false_region.block):
            self.nested("else:", op.false_region.block)

    def _while(self, op: scf.WhileOp) -> None:
        *computation, last = op.before_region.block.ops
        calls = [o for o in computation if not is_expression(o)]
        inlined = all(isinstance(c, OpaqueCallOp) and self._lists.is_inlined(c) for c in calls)
        # Next to a call, a value that needs a name would be computed in another order.
        unnamed = not calls or not self._lists.bound_in(op.before_region.block)
        if op.arguments or op.res or not (inlined and unnamed):
            raise ValueError(
                "expected an 'scf.while' without carried values or effects in its condition"
            )
        condition = self.expressions.value(last.operands[0]).text
        self.nested(f"while {condition}:", op.after_region.block)

    def _block(self, op: BlockOp) -> None:
        header = f"with T.block({quote(op.block_name.data)}):"
        with self.writer.indented(header), self.names.scope():
            BlockPrinter(self.writer, self.expressions, self.names, op).write()
            if op.init is not None:
                self.nested("with T.init():", op.init.body.block)
            self.block(op.body.block)

    def _for(self, op: ForOp) -> None:
        nest = self._grid(op)
        last = nest[-1]
        with self.names.scope():
            bounds = [self.expressions.index(loop.extent.data, loop.operands_) for loop in nest]
            iterable = (
                f"T.grid({', '.join(bounds)})"
                if len(nest) > 1
                else loop_range(self.expressions, op)
            )
            variables = [self._name(loop.loop_var, "i") for loop in nest]
            self.nested(f"for {', '.join(variables)} in {iterable}:", last.body.block)

    def _grid(self, op: ForOp) -> list[ForOp]:
        """The loops that one ``T.grid`` stands for; only `op` if it has to be written alone."""
        nest = [op]
        while self.writer.options.syntax_sugar and _is_plain(nest[-1]):
            inner = self._lists.of(nest[-1].body.block)
            if len(inner) != 1 or not isinstance(loop := inner[0], ForOp) or not _is_plain(loop):
                break
            if any(_is_defined_in(operand, nest) for operand in loop.operands_):
                break
            nest.append(loop)
        return nest


def _own_layout(op: MatchBufferOp) -> BufferType:
    """The type of a view without the strides and scope that it has from its source anyway."""
    source, view = cast(BufferType, op.source.type), op.result.type
    inherited = source.element_strides()[source.rank - view.rank :]
    implied = BufferType.of(view.dims, view.element_type, inherited, scope=source.scope.data)
    return BufferType.of(view.dims, view.element_type) if view == implied else view


def _is_plain(loop: ForOp) -> bool:
    annotated = loop.annotations is not None and bool(loop.annotations.data)
    return loop.kind.data == "serial" and not loop.min.data.terms and not annotated


def _is_defined_in(value: SSAValue, loops: Sequence[ForOp]) -> bool:
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    return any(block is loop.body.block for loop in loops)

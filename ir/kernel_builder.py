"""Kernels from statements: those of other kernels, and statements that are made of parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, IndexType
from xdsl.ir import Block, Region

from ..dialects import tir
from ..dialects.attributes import to_attribute
from ..dialects.diagnostics import BuilderError, verify
from ..dialects.int_expr import ONE, ZERO, IntExpr
from ..dialects.parameters import value_hint
from ..dialects.sym import exprs_of
from ..dialects.tir.regions import infer_regions
from ..lowering.functions import unique_name
from ..lowering.graph.verify_kernels import verify_kernel
from ..te.arithmetic import PrimExpr, convert, dim_expr
from ..te.expr import ExternCall, Index
from ..te.intrinsics import boolean
from ..te.predicates import bounds_of
from .block_views import RootBlock, SBlock, SBlockRealize, kernel_body
from .buffers import Buffer
from .leaf_statements import (
    AllocBuffer,
    AssertStmt,
    Bind,
    Break,
    BufferStore,
    Continue,
    DeclBuffer,
    Evaluate,
    Return,
)
from .regions import BufferRegion
from .scoped_emitter import ScopedEmitter
from .statements import AttrStmt, For, IfThenElse, SeqStmt, Statement, While


def assemble_kernel(
    params: Sequence[Any],
    body: Statement,
    buffer_map: Mapping[Any, Buffer] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> tir.PrimFuncOp:
    """A kernel of these parameters; see `PrimFunc`."""
    buffers = dict(buffer_map or {})
    given = [(p, buffers.get(p, p)) for p in params]
    emitter = StatementEmitter(Block(), is_open=False)
    names: list[str] = []
    for param, shown in given:
        emitter.parameter(shown)
        names.append(unique_name(param.name, set(names)))
    emitter.emit(body)
    data = dict(attrs or {})
    name = str(data.pop("global_symbol", "main"))
    unsigned = [n for n, (_, p) in zip(names, given, strict=True) if _is_unsigned(p)]
    func = tir.PrimFuncOp(name, names, Region(emitter.block), _attributes(data), unsigned)
    verify(func)
    verify_kernel(func)
    return func


def alone(statement: Statement) -> Statement:
    """The view of a statement in a kernel of its own, which gets what it uses as parameters."""
    emitter = StatementEmitter(Block(), is_open=True)
    if isinstance(statement, SBlock):
        statement = SBlockRealize([axis.var for axis in statement.iter_vars], True, statement)
    emitter.emit(statement)
    names = [arg.name_hint or "v" for arg in emitter.block.args]
    return kernel_body(tir.PrimFuncOp("main", names, Region(emitter.block)))


class StatementEmitter(ScopedEmitter):
    """Emits statements into a block, the first one of a kernel."""

    def emit(self, statement: Statement) -> None:
        """Append a statement; raises BuilderError for a buffer that is not defined."""
        match statement:
            case SeqStmt():
                for one in statement.seq:
                    self.emit(one)
            case For():
                self._loop(statement)
            case IfThenElse():
                self._choice(statement)
            case While():
                self._while(statement)
            case AttrStmt():
                self._attribute(statement)
            case SBlockRealize():
                self._realized(statement)
            case _:
                self._leaf(statement)

    def _leaf(self, statement: Statement) -> None:
        match statement:
            case BufferStore():
                where = self.buffers[statement.buffer]
                self.store(where, statement.indices, statement.value)
            case Evaluate(value=ExternCall() as call):
                self.extern_call(call)
            case Evaluate():
                self.value(statement.value)
            case AssertStmt():
                condition = self.value(boolean(statement.condition))
                self.add(tir.AssertOp(condition, statement.message))
            case Bind():
                self._bind(statement)
            case DeclBuffer():
                self._declare(statement)
            case AllocBuffer():
                self._allocate(statement.buffer)
            case Return():
                self.add(tir.ReturnOp(self.value(statement.value), _is_unsigned(statement.value)))
            case Break():
                self.add(tir.BreakOp())
            case Continue():
                self.add(tir.ContinueOp())
            case _:
                kind = type(statement).__name__
                raise TypeError(f"expected a statement of a kernel, got {kind}")

    def _loop(self, loop: For) -> None:
        body = Block(arg_types=[IndexType()])
        first, size = self.index(loop.min), self.index(loop.extent)
        start, step = first, ONE if loop.step is None else self.index(loop.step)
        if step != ONE:
            first, size = ZERO, (size + step - 1) // step
        tag = None if loop.thread_binding is None else loop.thread_binding.thread_tag
        kind, marks = loop.kind.name.lower(), _attributes(loop.annotations)
        self.add(tir.ForOp(first, size, self.values.list, Region(body), kind, tag, marks))
        with self.naming([loop.loop_var], body):
            if step != ONE:
                self.name(loop.loop_var, start + self.values.expr(body.args[0]) * step)
            self.emit(loop.body)

    def _choice(self, choice: IfThenElse) -> None:
        condition = self.value(boolean(choice.condition))
        other = choice.else_case
        arms = self._region(choice.then_case), Region() if other is None else self._region(other)
        self.add(scf.IfOp(condition, [], arms[0], arms[1]))

    def _while(self, loop: While) -> None:
        before = Block()
        with self.inside(before):
            self.add(scf.ConditionOp(self.value(boolean(loop.condition))))
        self.add(scf.WhileOp([], [], Region(before), self._region(loop.body)))

    def _region(self, statement: Statement) -> Region:
        block = Block()
        with self.naming([], block):
            self.emit(statement)
            self.add(scf.YieldOp())
        return Region(block)

    def _attribute(self, statement: AttrStmt) -> None:
        body, node = Block(), statement.node
        is_value = isinstance(node, Buffer | PrimExpr)
        args = [self.argument(a) for a in ([node] if is_value else [])]
        args.append(self.argument(statement.value))
        text = None if is_value else str(node)
        self.add(tir.AttrOp(statement.attr_key, text, args, Region(body)))
        with self.naming([], body):
            self.emit(statement.body)

    def _bind(self, statement: Bind) -> None:
        variable: Any = statement.var
        if isinstance(variable, Index):
            self.name(variable, self.index(statement.value))
            return
        value = self.value(statement.value)
        value.name_hint = value_hint(variable.name)
        self.define(variable, value)

    def _allocate(self, buffer: Buffer) -> None:
        op = tir.AllocBufferOp(buffer.type, buffer.name)
        op.result.name_hint = value_hint(buffer.name)
        self.buffers[buffer] = self.result(op)

    def _declare(self, statement: DeclBuffer) -> None:
        """A buffer of a kernel on memory that is there."""
        op, buffer = statement.op, statement.buffer
        if isinstance(op, tir.MatchBufferOp):
            scalars = statement.scalars
            starts = [self.index(scalars.index(e, op.operands_)) for e in exprs_of(op.starts)]
            source = self.buffers[Buffer(op.source)]
            op = tir.MatchBufferOp(source, starts, self.values.list, buffer.type)
        else:
            op = tir.DeclBufferOp(self.argument(statement.scalars.value(op.data)), buffer.type)
        op.result.name_hint = value_hint(buffer.name)
        self.buffers[buffer] = self.result(op)

    def _realized(self, realize: SBlockRealize) -> None:
        block = realize.block
        if isinstance(block, RootBlock) or (self.block is self.entry and _is_plain_root(block)):
            for buffer in block.alloc_buffers:
                self._allocate(buffer)
            self.emit(block.body)
            return
        body = Block(arg_types=[IndexType() for _ in block.iter_vars])
        bindings = [self.index(v) for v in realize.iter_values]
        try:
            predicates = bounds_of(realize.predicate, self.index)
        except ValueError as error:
            raise BuilderError(f"predicate of block '{block.name_hint}': {error}") from None
        axes = [
            tir.Axis(a.kind, self.index(convert(a.start)), self.index(convert(a.extent)), binding)
            for a, binding in zip(block.iter_vars, bindings, strict=True)
        ]
        with self.naming([a.var for a in block.iter_vars], body):
            self._inside(block, body)
            reads, writes = map(self._regions, (block.reads, block.writes))
        found = infer_regions(body, self.values)
        reads, writes = (f if g is None else g for f, g in zip(found, (reads, writes), strict=True))
        made = tir.BlockOp.build_from(
            block.name_hint,
            axes,
            Region(body),
            self.values.list,
            predicates,
            reads,
            writes,
            _attributes(block.annotations),
        )
        self.add(made)

    def _inside(self, block: SBlock, body: Block) -> None:
        """Append the buffers of a block, its beginning, which goes first, and its statements."""
        for buffer in block.alloc_buffers:
            self._allocate(buffer)
        for match in block.match_buffers:
            starts = [self._dim(r.min) for r in match.source.region]
            source, type_ = self.buffers[match.source.buffer], match.buffer.type
            view = self.result(tir.MatchBufferOp(source, starts, self.values.list, type_))
            view.name_hint = value_hint(match.buffer.name)
            self.buffers[match.buffer] = view
        if block.init is not None:
            beginning = Block()
            with self.naming([], beginning):
                self.emit(block.init)
            first, init = body.first_op, tir.InitOp(Region(beginning))
            body.add_op(init) if first is None else body.insert_op_before(init, first)
        self.emit(block.body)

    def _regions(self, given: Sequence[BufferRegion] | None) -> list[tir.BufferRegion] | None:
        if given is None:
            return None
        boxes = [(self.buffers[g.buffer], g.region) for g in given]
        return [
            tir.BufferRegion(
                b, tuple(self._dim(r.min) for r in box), tuple(self._dim(r.extent) for r in box)
            )
            for b, box in boxes
        ]

    def _dim(self, value: Any) -> IntExpr:
        return dim_expr(value).substitute(self.symbols)


def _is_unsigned(param: Any) -> bool:
    return isinstance(param, PrimExpr) and param.dtype.startswith("uint")


def _is_plain_root(block: SBlock) -> bool:
    return block.name_hint == "root" and not block.iter_vars and not block.annotations


def _attributes(values: Mapping[str, Any]) -> DictionaryAttr | None:
    return DictionaryAttr({k: to_attribute(v) for k, v in values.items()}) if values else None

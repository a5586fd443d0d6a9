"""Statements of TensorIR scripts: loops, blocks, stores, bindings and control flow, emitted as they are read."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DictionaryAttr, FileLineColLoc, IndexType, IntAttr, StringAttr
from xdsl.ir import Block, Region

from ...dialects import tir
from ...dialects.dtypes import DTYPES, element_type
from ...dialects.int_expr import IntExpr
from ...ir.attributes import to_attribute
from ...te.emit import Emitter
from ...te.expr import Imm, Index, Load, PrimExpr, Value, Var, cast, convert
from ...te.intrinsics import boolean
from ...te.tensor import dim_expr
from ..errors import ScriptError
from ..namespace import ScriptName
from .blocks import BlockParser
from .expressions import Buffer, ExprParser
from .scope import Scope

LOOP_KINDS = {
    "T.serial": "serial",
    "T.parallel": "parallel",
    "T.vectorized": "vectorized",
    "T.unroll": "unrolled",
    "T.unrolled": "unrolled",
    "T.thread_binding": "thread_binding",
    "T.grid": "serial",
    "range": "serial",
}
BLOCK_NAMES = ("T.block", "T.sblock")


class StatementParser:
    """Reads statements one after the other and emits operations at the current place."""

    def __init__(self, scope: Scope, emitter: Emitter):
        self.scope = scope
        self.emitter = emitter
        self.exprs = ExprParser(scope)
        self.blocks = BlockParser(self)

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def function_body(self, body: Sequence[ast.stmt]) -> None:
        """The statements of a function; a block named "root" around them is the function itself."""
        if len(body) == 1 and isinstance(body[0], ast.With) and self._is_root(body[0]):
            body = [s for s in body[0].body if not self._is_access_list(s)]
        self.body(body)

    def _is_root(self, node: ast.With) -> bool:
        call = node.items[0].context_expr
        return (
            isinstance(call, ast.Call)
            and self.called(call) in BLOCK_NAMES
            and bool(call.args)
            and isinstance(call.args[0], ast.Constant)
            and call.args[0].value == "root"
        )

    def _is_access_list(self, statement: ast.stmt) -> bool:
        return (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and self.called(statement.value) in ("T.reads", "T.writes")
        )

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in the current scope."""
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """One statement; its operations bear its place in the source."""
        self.emitter.location = FileLineColLoc(
            StringAttr(self.scope.source.filename),
            IntAttr(node.lineno),
            IntAttr(node.col_offset + 1),
        )
        handler = getattr(self, f"_stmt_{type(node).__name__}", None)
        if handler is None:
            raise self.error(
                node, f"expected a statement of TensorIR, got '{type(node).__name__.lower()}'"
            )
        try:
            handler(node)
        except ScriptError:
            raise
        except (TypeError, ValueError, NameError) as error:
            raise self.error(node, str(error)) from error

    def called(self, node: ast.expr) -> str:
        """Path of the script name that a call calls, or the name of an allowed Python one."""
        function = node.func if isinstance(node, ast.Call) else node
        if isinstance(function, ast.Name | ast.Attribute):
            try:
                value = self.exprs.eval(function)
            except ScriptError:
                return ""
            if isinstance(value, ScriptName):
                return value.path
            return "range" if value is range else ""
        return ""

    def _stmt_Pass(self, node: ast.Pass) -> None:
        pass

    def _stmt_Return(self, node: ast.Return) -> None:
        raise self.error(node, "expected a function that writes its outputs, got 'return'")

    def _stmt_For(self, node: ast.For) -> None:
        call = node.iter
        kind = LOOP_KINDS.get(self.called(call)) if isinstance(call, ast.Call) else None
        if kind is None or not isinstance(call, ast.Call):
            raise self.error(
                node.iter,
                "expected range, T.grid, T.serial, T.parallel, T.vectorized, T.unroll or T.thread_binding",
            )
        targets = self.exprs.elements(node.target)
        args = [dim_or_expr for a in call.args for dim_or_expr in self.exprs.exprs(a)]
        if self.called(call) == "T.grid":
            ranges = [(convert(0), a) for a in args]
        elif len(args) in (1, 2):
            ranges = [(convert(0), args[0]) if len(args) == 1 else (args[0], args[1] - args[0])]
        else:
            raise self.error(call, f"expected one or two bounds, got {len(args)}")
        if len(targets) != len(ranges):
            raise self.error(
                node.target, f"expected {len(ranges)} loop variables, got {len(targets)}"
            )
        options = {k.arg: self.exprs.eval(k.value) for k in call.keywords}
        self._loops(targets, ranges, node.body, kind, options)

    def _loops(
        self,
        targets: Sequence[ast.expr],
        ranges: Sequence[tuple[PrimExpr, PrimExpr]],
        body: Sequence[ast.stmt],
        kind: str,
        options: dict[str | None, Any],
    ) -> None:
        annotations = options.pop("annotations", None)
        tag = options.pop("thread", None)
        unknown = [k for k in options if k is not None]
        if unknown:
            raise self.error(
                targets[0], f"expected loop options annotations or thread, got {', '.join(unknown)}"
            )
        attr = to_attribute(annotations) if annotations else None
        assert attr is None or isinstance(attr, DictionaryAttr)
        target, (lower, extent) = targets[0], ranges[0]
        inner = Block(arg_types=[IndexType()])
        first, size = self.emitter.index(lower), self.emitter.index(extent)
        self.emitter.add(
            tir.ForOp(first, size, self.emitter.values.list, Region(inner), kind, tag, attr)
        )
        with self.scope.nested(), self.emitter.inside(inner):
            self.loop_variable(target, inner, lower, extent)
            if len(targets) > 1:
                self._loops(targets[1:], ranges[1:], body, kind, dict(options))
            else:
                self.body(body)

    def loop_variable(
        self, target: ast.expr, block: Block, lower: PrimExpr, extent: PrimExpr
    ) -> None:
        """Bind a loop variable to the first argument of the loop's body."""
        if not isinstance(target, ast.Name):
            raise self.error(target, "expected a name for the loop variable")
        block.args[0].name_hint = target.id
        symbolic = isinstance(lower, Index) or isinstance(extent, Index)
        wide = symbolic or "int64" in (lower.dtype, extent.dtype)
        variable = Var(target.id, "int64" if wide else "int32")
        self.emitter.define(variable, block.args[0])
        self.scope.bind(target.id, variable)

    def _stmt_With(self, node: ast.With) -> None:
        call = node.items[0].context_expr
        if len(node.items) != 1 or not isinstance(call, ast.Call):
            raise self.error(node, "expected one of 'with T.block(…)' and 'with T.init()'")
        path = self.called(call)
        if path in BLOCK_NAMES:
            self.blocks.block(node, call)
        elif path == "T.init":
            raise self.error(node, "expected T.init() first in a block, after its axes and regions")
        else:
            raise self.error(
                call, f"expected T.block(…) or T.init(), got '{ast.unparse(call.func)}'"
            )

    def _stmt_If(self, node: ast.If) -> None:
        test = self.exprs.eval(node.test)
        if not isinstance(test, PrimExpr) or isinstance(test, Imm):
            self.body(node.body if test else node.orelse)
            return
        condition = self.emitter.value(boolean(test))
        arms = [self._arm(node.body), self._arm(node.orelse) if node.orelse else Region()]
        self.emitter.add(scf.IfOp(condition, [], arms[0], arms[1]))

    def _arm(self, statements: Sequence[ast.stmt]) -> Region:
        block = Block()
        with self.scope.nested(), self.emitter.inside(block):
            self.body(statements)
            self.emitter.add(scf.YieldOp())
        return Region(block)

    def _stmt_While(self, node: ast.While) -> None:
        before, after = Block(), Block()
        with self.emitter.inside(before):
            condition = self.emitter.value(boolean(self.exprs.expr(node.test)))
            self.emitter.add(scf.ConditionOp(condition))
        with self.scope.nested(), self.emitter.inside(after):
            self.body(node.body)
            self.emitter.add(scf.YieldOp())
        self.emitter.add(scf.WhileOp([], [], Region(before), Region(after)))

    def _stmt_Assert(self, node: ast.Assert) -> None:
        message = "assertion failed" if node.msg is None else self.exprs.text(node.msg)
        condition = self.emitter.value(boolean(self.exprs.expr(node.test)))
        self.emitter.add(tir.AssertOp(condition, message))

    def _stmt_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise self.error(node, "expected one target of an assignment")
        self._assign(node.targets[0], node.value)

    def _stmt_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self.error(node, "expected a value")
        annotation = self.exprs.eval(node.annotation)
        path = annotation.path if isinstance(annotation, ScriptName) else ""
        if path.removeprefix("T.") in DTYPES:
            self._let(node.target, cast(path.removeprefix("T."), self.exprs.expr(node.value)))
        else:
            self._assign(node.target, node.value)

    def _stmt_AugAssign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Subscript):
            raise self.error(
                node, "expected an element of a buffer on the left of an augmented assignment"
            )
        load = ast.copy_location(
            ast.Subscript(node.target.value, node.target.slice, ast.Load()), node.target
        )
        self._store(node.target, ast.copy_location(ast.BinOp(load, node.op, node.value), node))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            self._store(target, value)
            return
        path = self.called(value) if isinstance(value, ast.Call) else ""
        if path in ("T.alloc_buffer", "T.sblock_alloc_buffer", "T.decl_buffer"):
            self._alloc_buffer(target, value)
        elif path == "T.match_buffer":
            self.blocks.match_buffer(target, value)
        elif path.startswith("T.axis."):
            raise self.error(value, "expected T.axis at the start of a block")
        elif isinstance(target, ast.Tuple):
            values = self.exprs.elements(value)
            if len(values) != len(target.elts):
                raise self.error(target, f"expected {len(values)} names, got {len(target.elts)}")
            for name, item in zip(target.elts, values, strict=True):
                self._assign(name, item)
        else:
            self._bind(target, value)

    def _bind(self, target: ast.expr, node: ast.expr) -> None:
        value = self.exprs.eval(node)
        if isinstance(value, PrimExpr):
            self._let(target, value)
        elif isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
        else:
            raise self.error(target, "expected a name")

    def _let(self, target: ast.expr, value: PrimExpr) -> None:
        if not isinstance(target, ast.Name):
            raise self.error(target, "expected a name")
        if self.scope.bound_outside(target.id) and isinstance(self._outer(target.id), PrimExpr):
            raise self.error(
                target,
                f"expected a new name, got '{target.id}' of an enclosing scope: use a buffer for what changes",
            )
        index = self.emitter.try_index(value)
        if index is not None:
            variable = Var(target.id, value.dtype)
            self.emitter.meanings[variable] = index
            self.scope.bind(target.id, variable)
            return
        ssa = self.emitter.value(value)
        if ssa.name_hint is None:
            ssa.name_hint = target.id
        self.scope.bind(target.id, Value(ssa, value.dtype))

    def _outer(self, name: str) -> Any:
        return next(f[name] for f in reversed(self.scope.frames) if name in f)

    def _alloc_buffer(self, target: ast.expr, call: ast.expr) -> None:
        assert isinstance(call, ast.Call)
        if not isinstance(target, ast.Name):
            raise self.error(target, "expected a name for the buffer")
        given = dict(zip(("shape", "dtype"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        if "shape" not in given:
            raise self.error(call, "expected the shape of the buffer")
        shape = [dim_expr(d) for d in self.exprs.shape(given["shape"])]
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        scope = self.exprs.text(given["scope"]) if "scope" in given else tir.types.GLOBAL
        type_ = tir.BufferType.of(shape, element_type(dtype), scope=scope)
        self.declare(target.id, tir.AllocBufferOp(type_))

    def declare(self, name: str, op: tir.AllocBufferOp | tir.MatchBufferOp) -> None:
        """Emit an operation that gives a buffer, and bind the buffer's name."""
        self.emitter.add(op)
        op.result.name_hint = name
        buffer = Buffer(name, op.result)
        self.emitter.buffers[buffer] = op.result
        self.scope.bind(name, buffer)

    def _store(self, target: ast.Subscript, node: ast.expr) -> None:
        access = self.exprs.eval(target)
        if not isinstance(access, Load):
            raise self.error(target, "expected an element of a buffer")
        value = self.exprs.expr(node)
        self.emitter.store(self.emitter.buffers[access.source], access.indices, value)

    def _stmt_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        path = self.called(node.value) if isinstance(node.value, ast.Call) else ""
        if path in ("T.reads", "T.writes", "T.where", "T.block_attr", "T.sblock_attr"):
            raise self.error(node, f"expected {path} at the start of a block")
        if path == "T.evaluate":
            assert isinstance(node.value, ast.Call)
            self.emitter.value(self.exprs.expr(node.value.args[0]))
        elif path == "T.call_extern":
            self.emitter.value(self.exprs.expr(node.value))
        else:
            raise self.error(
                node, f"expected a statement of TensorIR, got '{ast.unparse(node.value)[:40]}'"
            )

    @contextmanager
    def into(self, block: Block):
        """A nested scope whose operations go into `block`."""
        with self.scope.nested(), self.emitter.inside(block):
            yield

    def condition(self, node: ast.expr) -> list[tuple[IntExpr, IntExpr]]:
        """The bounds ``lhs < rhs`` that a predicate of ``T.where`` is the conjunction of."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [b for n in node.values for b in self.condition(n)]
        if isinstance(node, ast.Call) and self.called(node) == "T.And":
            return [b for n in node.args for b in self.condition(n)]
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise self.error(node, "expected comparisons of integer expressions, joined by 'and'")
        lhs = self.emitter.index(self.exprs.expr(node.left))
        rhs = self.emitter.index(self.exprs.expr(node.comparators[0]))
        match node.ops[0]:
            case ast.Lt():
                return [(lhs, rhs)]
            case ast.LtE():
                return [(lhs, rhs + 1)]
            case ast.Gt():
                return [(rhs, lhs)]
            case ast.GtE():
                return [(rhs, lhs + 1)]
            case ast.Eq():
                return [(lhs, rhs + 1), (rhs, lhs + 1)]
            case _:
                raise self.error(node, "expected one of the comparisons < <= > >= ==")

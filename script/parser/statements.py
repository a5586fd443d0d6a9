"""Statements of TensorIR scripts, emitted as they are read: blocks, stores, control flow."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Region

from ...dialects import tir
from ...dialects.tir.calls import INTRINSICS
from ...runtime.check_errors import ERRORS
from ...te.emit import Emitter
from ...te.expr import Address, ExternCall, Imm, PrimExpr
from ...te.intrinsics import FUNCTIONS, boolean
from .bindings import BindingParser
from .blocks import BlockParser
from .buffers import DataPointer, describe_statement
from .control import ControlParser
from .intrinsics import kernel_name, opaque_access
from .loops import LoopParser
from .macros import MacroParser
from .scope import Scope
from .statement_reader import StatementReader
from .threads import launched

BLOCK_NAMES = ("T.block", "T.sblock")
ACCESS_LISTS = {"T.reads", "T.writes"}
BLOCK_HEADERS = {*ACCESS_LISTS, "T.where", "T.block_attr", "T.sblock_attr"}


class StatementParser(StatementReader):
    """Reads statements one after the other and emits operations at the current place."""

    def __init__(self, scope: Scope, emitter: Emitter):
        super().__init__(scope, emitter)
        self.blocks = BlockParser(self)
        self.bindings = BindingParser(self)
        self.loops = LoopParser(self)
        self.macros = MacroParser(self)
        self.control = ControlParser(self)

    def function_body(self, body: Sequence[ast.stmt]) -> None:
        """The statements of a function, which is itself the block "root" if that says no more."""
        match body:
            case [ast.With(items=[ast.withitem(ast.Call() as call, None)]) as root] if (
                self._is_root(root, call)
            ):
                self.body([s for s in root.body if self._statement_call(s) not in ACCESS_LISTS])
            case _:
                self.body(body)

    def _is_root(self, block: ast.With, call: ast.Call) -> bool:
        """Whether a block is called so, or says nothing and is around all other blocks."""
        match call.args:
            case _ if self.called(call) not in BLOCK_NAMES:
                return False
            case [ast.Constant(value="root")]:
                return not self._headers(block) - ACCESS_LISTS
            case [] if not call.keywords and not self._headers(block):
                calls = {self.called(n) for s in block.body for n in ast.walk(s)}
                return not calls.isdisjoint(BLOCK_NAMES) and not self._has_axes(block)
            case _:
                return False

    def _has_axes(self, block: ast.With) -> bool:
        assigned = (s.value for s in block.body if isinstance(s, ast.Assign))
        inner = (i.context_expr for s in block.body if isinstance(s, ast.With) for i in s.items)
        called = [self.called(value) for value in (*assigned, *inner)]
        return any(path == "T.init" or path.startswith("T.axis.") for path in called)

    def _headers(self, block: ast.With) -> set[str]:
        return {self._statement_call(s) for s in block.body} & BLOCK_HEADERS

    def _statement_call(self, statement: ast.stmt) -> str:
        return self.called(statement.value) if isinstance(statement, ast.Expr) else ""

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in the current scope."""
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            if self.control.attribute(statement, rest):
                return
            launch = launched(self, statement, rest)
            self.statement(statement if launch is None else launch)
            if launch is not None and not isinstance(statement, ast.With):
                return

    def statement(self, node: ast.stmt) -> None:
        """One statement; its operations bear its place in the source."""
        self.emitter.location = self.scope.source.location(node)
        handler = getattr(self, f"_stmt_{type(node).__name__}", None)
        if handler is None:
            raise self.error(
                node, f"expected a statement of TensorIR, got {describe_statement(node)}"
            )
        with self.scope.source.reporting(node):
            handler(node)

    def _stmt_Pass(self, node: ast.Pass) -> None:
        pass

    def _stmt_Nonlocal(self, node: ast.Nonlocal) -> None:
        """A name of the program around, which Python then knows that the function sees."""

    _stmt_Global = _stmt_Nonlocal

    def _stmt_Return(self, node: ast.Return) -> None:
        if node.value is None:
            raise self.error(node, "expected 'return' with a value")
        self.control.returned(node.value)

    def _stmt_Break(self, node: ast.Break) -> None:
        self.control.jump(tir.BreakOp())

    def _stmt_Continue(self, node: ast.Continue) -> None:
        self.control.jump(tir.ContinueOp())

    def _stmt_For(self, node: ast.For) -> None:
        self.loops.loop(node)

    def _stmt_With(self, node: ast.With) -> None:
        item = node.items[0]
        call = item.context_expr
        path = self.called(call)
        if len(node.items) != 1 or not isinstance(call, ast.Call):
            raise self.error(node, "expected one of 'with T.block(…)' and 'with T.init()'")
        if path in BLOCK_NAMES and node.items[0].optional_vars is not None:
            raise self.error(node.items[0].optional_vars, "expected a block without 'as'")
        if path in BLOCK_NAMES:
            self.blocks.block(node, call)
        elif path in ("T.LetStmt", "T.let"):
            self._let(node, call)
        elif path == "T.attr":
            self.control.with_attribute(node, call)
        elif path == "T.Assert" and len(call.args) == 2:
            self._assert(call.args[0], call.args[1])
            self.body(node.body)
        elif path == "T.init":
            raise self.error(node, "expected T.init() first in a block, after its axes and regions")
        else:
            shown = ast.unparse(call.func)
            raise self.error(call, f"expected T.block(…) or T.init(), got '{shown}'")

    def _let(self, node: ast.With, call: ast.Call) -> None:
        """``with T.LetStmt(value) as x:``, ``T.LetStmt(value, var=x)`` and ``T.let(x, value)``."""
        given = [*call.args, *(k.value for k in call.keywords if k.arg == "var")]
        if node.items[0].optional_vars is not None:
            given.append(node.items[0].optional_vars)
        if len(given) != 2 or len(call.args) + len(call.keywords) > 2:
            raise self.error(call, "expected 'with T.LetStmt(value) as name'")
        value, target = reversed(given) if len(call.args) == 2 else given
        with self.scope.nested():
            self.bindings.bind_declared(target, value, shadows=True)
            self.body(node.body)

    def _stmt_If(self, node: ast.If) -> None:
        test = self.exprs.scalar(node.test)
        if not isinstance(test, PrimExpr) or isinstance(test, Imm):
            self.body(node.body if test else node.orelse)
            return
        condition = self.emitter.value(boolean(test))
        arms = [self._arm(node.body), self._arm(node.orelse) if node.orelse else Region()]
        if node.orelse and isinstance(arms[1].block.first_op, scf.YieldOp):
            arms[1] = Region()  # an else without effects
        self.emitter.add(scf.IfOp(condition, [], arms[0], arms[1]))

    def _arm(self, statements: Sequence[ast.stmt]) -> Region:
        block = Block()
        with self.into(block):
            self.body(statements)
            self.emitter.add(scf.YieldOp())
        return Region(block)

    def _stmt_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.error(node.orelse[0], "expected a loop without 'else'")
        before, after = Block(), Block()
        with self.emitter.inside(before):
            condition = self.emitter.value(boolean(self.exprs.expr(node.test)))
            self.emitter.add(scf.ConditionOp(condition))
        with self.into(after):
            self.body(node.body)
            self.emitter.add(scf.YieldOp())
        self.emitter.add(scf.WhileOp([], [], Region(before), Region(after)))

    def _stmt_Assert(self, node: ast.Assert) -> None:
        self._assert(node.test, node.msg)

    def _assert(self, test: ast.expr, message: ast.expr | None) -> None:
        text = "assertion failed" if message is None else self._message(message)
        condition = self.emitter.value(boolean(self.exprs.expr(test)))
        self.emitter.add(tir.AssertOp(condition, text))

    def _message(self, node: ast.expr) -> str:
        """A string, or ``("TypeError", ["expected ", "4"])``: the exception, and parts."""
        match self.exprs.eval(node):
            case (str() as kind, [*parts]) if kind in ERRORS and all(
                isinstance(p, str) for p in parts
            ):
                return f"{kind}: {''.join(map(str, parts))}"
            case _:
                return self.exprs.text(node)

    def _stmt_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise self.error(node, "expected one target of an assignment")
        self.bindings.assign(node.targets[0], node.value)

    def _stmt_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.bindings.annotated(node)

    def _stmt_AugAssign(self, node: ast.AugAssign) -> None:
        before = ast.parse(ast.unparse(node.target), mode="eval").body
        for part in ast.walk(before):
            ast.copy_location(part, node.target)
        value = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
        self.bindings.assign(node.target, value)

    def _stmt_FunctionDef(self, node: ast.FunctionDef) -> None:
        if not self.macros.define(node):
            raise self.error(node, "expected a statement of TensorIR, got a function")

    def _stmt_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        macro = self.macros.macro(node)
        if macro is not None:
            self.body(self.macros.expanded(node, macro))
            return
        path = self.called(node.value)
        if isinstance(node.value, ast.Call) and self.blocks.declared(node.value):
            return
        if self.control.call(node.value):
            return
        if path in BLOCK_HEADERS:
            raise self.error(node, f"expected {path} at the start of a block")
        call = node.value
        if isinstance(call, ast.Call) and path == "T.evaluate" and len(call.args) == 1:
            inner = call.args[0]
            if isinstance(inner, ast.Call) and self.called(inner) == "T.assume":
                self._assume(inner)
            elif not self.control.call(inner):
                self._evaluate(inner)
        elif isinstance(call, ast.Call) and path == "T.assume":
            self._assume(call)
        elif isinstance(call, ast.Call) and path == "T.bind" and call.keywords:
            self._bind(call)
        elif path == "T.call_extern" or path.removeprefix("T.") in (*FUNCTIONS, *INTRINSICS):
            self._evaluate(node.value)
        elif self._calls_kernels(node.value):
            self._evaluate(node.value)
        else:
            shown = ast.unparse(node.value)[:40]
            raise self.error(node, f"expected a statement of TensorIR, got '{shown}'")

    def _bind(self, call: ast.Call) -> None:
        """``T.bind(value, var=x)``: `x` is the value in what follows."""
        match call:
            case ast.Call(
                args=[value], keywords=[ast.keyword(arg="var", value=ast.Name() as name)]
            ):
                self.bindings.bind_declared(name, value, shadows=False)
            case _:
                raise self.error(call, "expected T.bind(value, var=name)")

    def _calls_kernels(self, node: ast.expr) -> bool:
        """Whether an expression calls other kernels of the module."""
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        return any(kernel_name(self.exprs, n) is not None for n in calls)

    def _assume(self, call: ast.Call) -> None:
        """``T.assume(condition)``, a hint that no analysis uses."""
        if len(call.args) != 1:
            raise self.error(call, f"expected T.assume(condition), got {len(call.args)} arguments")
        boolean(self.exprs.expr(call.args[0]))

    def _evaluate(self, node: ast.expr) -> None:
        """Only calls have effects; anything else need not be computed."""
        value = self.exprs.eval(node)
        if isinstance(value, Address):
            self.emitter.address(value)
            return
        if isinstance(value, DataPointer):
            self.emitter.extern_call(opaque_access(value))
            return
        expr = self.exprs.expr(node)
        if isinstance(expr, ExternCall):
            self.emitter.extern_call(expr)
        elif _calls(expr):
            self.emitter.value(expr)


def _calls(expr: PrimExpr) -> bool:
    return isinstance(expr, ExternCall) or any(map(_calls, expr.children()))

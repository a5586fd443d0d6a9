"""Statements of kernels that jump, return, call other kernels, or give others an attribute."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Block, Operation, Region

from ...dialects import tir
from ...te.arithmetic import cast
from ...te.expr import PrimExpr
from .buffers import Alias, DataPointer
from .statement_reader import StatementReader

RETURNS = ("T.ret", "T.Return")
JUMPS: dict[str, Callable[[], Operation]] = {
    "T.break_loop": tir.BreakOp,
    "T.continue_loop": tir.ContinueOp,
}


class ControlParser:
    """Reads these statements; those inside go back to the statement parser."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs
        self.result: str | None = None
        """The dtype that the kernel is annotated to return."""

    def call(self, node: ast.expr) -> bool:
        """``T.ret(x)``, ``T.break_loop()`` or ``T.continue_loop()``; whether it is one."""
        path = self.statements.called(node)
        if not isinstance(node, ast.Call) or path not in (*RETURNS, *JUMPS):
            return False
        count = 1 if path in RETURNS else 0
        if len(node.args) != count or node.keywords:
            shown = f"{path}(value)" if count else f"{path}()"
            raise self.statements.error(node, f"expected {shown}, got {len(node.args)} arguments")
        if path in RETURNS:
            self.returned(node.args[0])
        else:
            self.jump(JUMPS[path]())
        return True

    def jump(self, op: Operation) -> None:
        """A jump at the current place."""
        self.statements.emitter.add(op)

    def returned(self, node: ast.expr) -> None:
        """Return the value of an expression."""
        emitter = self.statements.emitter
        value = self.exprs.expr(node)
        if self.result is not None:
            value = cast(self.result, value)
        emitter.add(tir.ReturnOp(emitter.value(value), value.dtype.startswith("uint")))

    def attribute(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> bool:
        """``T.attr(node, key, value)`` for the rest of a block, or with statements of its own.

        Whether the rest of the block is taken by it.
        """
        match node:
            case ast.Expr(value=ast.Call() as call) if self.statements.called(call) == "T.attr":
                self._attribute(call, rest)
                return True
            case _:
                return False

    def with_attribute(self, node: ast.With, call: ast.Call) -> None:
        """``with T.attr(node, key, value):``."""
        self._attribute(call, node.body)

    def _attribute(self, call: ast.Call, inside: Sequence[ast.stmt]) -> None:
        if len(call.args) != 3 or call.keywords:
            count = len(call.args) + len(call.keywords)
            raise self.statements.error(call, f"expected T.attr(node, key, value), got {count}")
        node, key, value = call.args
        emitter = self.statements.emitter
        owner = self._owner(node)
        text = None if owner is not None else ast.unparse(node)
        given = self.exprs.eval(value)
        if not isinstance(given, str):
            given = self.exprs.expr(value)
        operands = [emitter.argument(a) for a in ([] if owner is None else [owner]) + [given]]
        body = Block()
        with self.statements.into(body):
            self.statements.body(inside)
        if body.ops:
            name = self.exprs.text(key)
            emitter.add(tir.AttrOp(name, text, operands, Region(body)))

    def _owner(self, node: ast.expr) -> Any:
        """The memory or pointer that an attribute belongs to; `None` for what is only text."""
        is_value = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        is_value = is_value or self.statements.called(node) == "T.Cast"  # a loop variable in print
        value = self.exprs.eval(node) if is_value else None
        if isinstance(value, DataPointer):
            return value.buffer.base if isinstance(value.buffer, Alias) else value.buffer
        return value if isinstance(value, PrimExpr) else None

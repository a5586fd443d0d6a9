"""Stores of several elements, ``A[i : i + 4] = B[0:4] * 2``, as vectorized loops."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region

from ...dialects import tir
from ...dialects.int_expr import ONE, ZERO
from ...te.arithmetic import is_same
from ...te.expr import Load, PrimExpr, Var
from .lanes import RAMPS, Lane, ramp
from .statement_reader import StatementReader


class VectorStoreParser:
    """Reads assignments to slices and ramps of buffers."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs

    def vector(self, target: ast.Subscript) -> ast.expr | None:
        """The index of a target that stands for several elements, if there is one."""
        for index in self.exprs.elements(target.slice):
            if isinstance(index, ast.Slice) or self.statements.called(index) in RAMPS:
                return index
        return None

    def store(self, target: ast.Subscript, index: ast.expr, value: ast.expr) -> None:
        """A loop over the elements; raises ScriptError where they read what others write."""
        emitter = self.statements.emitter
        _, stride, lanes = ramp(self.exprs, index)
        if self._known(stride) == 0:
            message = f"expected a stride other than 0, got '{ast.unparse(index)}'"
            raise self.statements.error(index, message)
        count = self._known(lanes)
        if count is None or count < 1:
            message = f"expected a number of elements, got '{ast.unparse(index)}'"
            raise self.statements.error(index, message)
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = "lane"
        extent = ONE * count
        emitter.add(tir.ForOp(ZERO, extent, emitter.values.list, Region(body), "vectorized"))
        with self.statements.into(body):
            variable = Var("lane", "int32")
            emitter.define(variable, body.args[0])
            self.exprs.lane = Lane(variable, count, self._known)
            try:
                access, stored = self.exprs.eval(target), self.exprs.expr(value)
            finally:
                self.exprs.lane = None
            if not isinstance(access, Load):
                raise self.statements.error(target, "expected elements of a buffer")
            if _reads_others(stored, access):
                name = access.source.name
                message = f"expected to read '{name}' only where it is stored to"
                raise self.statements.error(value, message)
            emitter.store(emitter.buffers[access.source], access.indices, stored)

    def _known(self, expr: PrimExpr) -> int | None:
        return self.statements.emitter.index(expr).constant


def _reads_others(expr: PrimExpr, access: Load) -> bool:
    """Whether an expression loads other elements of a buffer than those that are stored."""
    if isinstance(expr, Load) and expr.source is access.source:
        pairs = zip(expr.indices, access.indices, strict=True)
        return not all(is_same(a, b) for a, b in pairs)
    return any(_reads_others(e, access) for e in expr.children())

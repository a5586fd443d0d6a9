"""Loops of TensorIR scripts: ``range``, ``T.grid``, ``T.serial``, ``T.parallel`` and the others."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import DictionaryAttr, IndexType
from xdsl.ir import Block, Region

from ...dialects import tir
from ...dialects.diagnostics import suggestion
from ...dialects.int_expr import ZERO
from ...dialects.parameters import value_hint
from ...te.arithmetic import convert, dim_expr
from ...te.attributes import dictionary
from ...te.expr import Imm, Index, PrimExpr, Var
from ...te.intrinsics import ceildiv
from .statement_reader import StatementReader

LOOP_KINDS = {
    "range": "serial",
    "T.grid": "serial",
    "T.serial": "serial",
    "T.parallel": "parallel",
    "T.vectorized": "vectorized",
    "T.unroll": "unrolled",
    "T.unrolled": "unrolled",
    "T.thread_binding": "thread_binding",
}

Range: TypeAlias = tuple[PrimExpr, PrimExpr, PrimExpr | None]
"""First value, extent, and the step where it is not 1."""


@dataclass(frozen=True)
class _Loop:
    """What the loops of one ``for`` have in common."""

    kind: str
    thread: str | None
    annotations: DictionaryAttr | None


class LoopParser:
    """Reads ``for`` statements; their bodies go back to the statement parser."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs

    def loop(self, node: ast.For) -> None:
        """Emit the loops of one ``for``."""
        parser = self.statements
        call, path = node.iter, parser.called(node.iter)
        if not isinstance(call, ast.Call) or path not in LOOP_KINDS:
            shown = ast.unparse(call.func if isinstance(call, ast.Call) else call)
            hint = suggestion(shown, list(LOOP_KINDS))
            raise parser.error(call, f"expected {', '.join(LOOP_KINDS)}, got '{shown}'{hint}")
        if node.orelse:
            raise parser.error(node.orelse[0], "expected a loop without 'else'")
        call = self._with_thread(call, path)
        ranges = self._ranges(call, path)
        targets, groups = self._targets(node.target, len(ranges))
        self._nest(targets, groups, ranges, node.body, self._options(call, path))

    def _with_thread(self, call: ast.Call, path: str) -> ast.Call:
        """``T.thread_binding(4, "threadIdx.x")`` with the thread as an option."""
        last = call.args[-1] if call.args else None
        if path != "T.thread_binding" or not isinstance(last, ast.Constant):
            return call
        if not isinstance(last.value, str):
            return call
        keywords = [*call.keywords, ast.keyword("thread", last)]
        return ast.copy_location(ast.Call(call.func, call.args[:-1], keywords), call)

    def _targets(
        self, target: ast.expr, count: int
    ) -> tuple[list[ast.expr], dict[str, list[ast.expr]]]:
        """The variables of loops, and the names for several: ``*spatial, r``, or one for all."""
        given = self.exprs.elements(target)
        if isinstance(target, ast.Name) and count > 1:
            given = [ast.copy_location(ast.Starred(target, ast.Store()), target)]
        targets: list[ast.expr] = []
        groups: dict[str, list[ast.expr]] = {}
        for item in given:
            if isinstance(item, ast.Starred) and isinstance(name := item.value, ast.Name):
                own = [
                    ast.Name(f"{name.id}_{i}", ast.Store()) for i in range(count + 1 - len(given))
                ]
                groups[name.id] = [ast.copy_location(n, item) for n in own]
                targets += groups[name.id]
            else:
                targets.append(item)
        if len(targets) != count or len(groups) > 1:
            message = f"expected {count} loop variables, got {len(given)}"
            raise self.statements.error(target, message)
        return targets, groups

    def _ranges(self, call: ast.Call, path: str) -> list[Range]:
        bounds = self.exprs.exprs(ast.copy_location(ast.Tuple(call.args, ast.Load()), call))
        if path == "T.grid" and bounds:
            return [(convert(0), b, None) for b in bounds]
        steps = [self.exprs.expr(k.value) for k in call.keywords if k.arg == "step"]
        if path == "range" and len(bounds) == 3:
            steps.append(bounds.pop())
        step = self._step(call, steps[0]) if steps else None
        match bounds:
            case [extent]:
                return [(convert(0), extent, step)]
            case [first, last]:
                size = last - first
                backward = isinstance(size, Index | Imm) and (dim_expr(size).constant or 0) < 0
                return [(first, convert(0) if backward else size, step)]  # as of Python's ranges
            case _:
                raise self.statements.error(call, f"expected one or two bounds, got {len(bounds)}")

    def _step(self, call: ast.Call, step: PrimExpr) -> PrimExpr | None:
        known = self.statements.emitter.index(step).constant
        if known is not None and known < 1:
            raise self.statements.error(call, f"expected a step of at least 1, got {known}")
        return None if known == 1 else step

    def _options(self, call: ast.Call, path: str) -> _Loop:
        given = {k.arg: k.value for k in call.keywords}
        annotations, thread = given.pop("annotations", None), given.pop("thread", None)
        if path not in ("T.grid", "range"):
            given.pop("step", None)
        if given:
            shown = ", ".join(map(str, given))
            raise self.statements.error(
                call, f"expected loop options annotations, step or thread, got {shown}"
            )
        return _Loop(
            LOOP_KINDS[path],
            None if thread is None else self.exprs.text(thread),
            None if annotations is None else dictionary(self.exprs.eval(annotations)),
        )

    def _nest(
        self,
        targets: Sequence[ast.expr],
        groups: Mapping[str, Sequence[ast.expr]],
        ranges: Sequence[Range],
        body: Sequence[ast.stmt],
        loop: _Loop,
    ) -> None:
        parser, emitter = self.statements, self.statements.emitter
        lower, extent, step = ranges[0]
        inner = Block(arg_types=[IndexType()])
        start, stride = emitter.index(lower), None if step is None else emitter.index(step)
        size = emitter.index(extent if step is None else ceildiv(extent, step))
        first = start if step is None else ZERO
        region = Region(inner)
        values = emitter.values.list
        emitter.add(
            tir.ForOp(first, size, values, region, loop.kind, loop.thread, loop.annotations)
        )
        with parser.into(inner):
            variable = self._variable(targets[0], inner, (lower, extent))
            if stride is not None:
                iteration = emitter.values.expr(inner.args[0])
                emitter.meanings[variable] = start + iteration * stride
            if len(targets) > 1:
                self._nest(targets[1:], groups, ranges[1:], body, loop)
            else:
                for name, variables in groups.items():
                    parser.scope.bind(name, tuple(map(self.exprs.eval, variables)))
                parser.body(body)

    def _variable(self, target: ast.expr, block: Block, bounds: Sequence[PrimExpr]) -> Var:
        """Bind a loop variable to the first argument of the loop's body."""
        parser = self.statements
        if not isinstance(target, ast.Name):
            raise parser.error(target, "expected a name for the loop variable")
        block.args[0].name_hint = value_hint(target.id)
        wide = any(isinstance(b, Index) or b.dtype == "int64" for b in bounds)
        variable = Var(target.id, "int64" if wide else "int32")
        parser.emitter.define(variable, block.args[0])
        parser.scope.bind(target.id, variable)
        return variable

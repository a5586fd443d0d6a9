"""Runs the text of a schedule: calls of primitives alone, no other Python.

The explorer's page sends such text; a function made of ``sch.PRIMITIVE(…)`` on literals and on what
earlier primitives returned is all that it can run.
"""

from __future__ import annotations

import ast
from typing import Any

from ..tir.schedule import INSTRUCTIONS, Schedule, ScheduleError

METHODS = frozenset(kind.method for kind in INSTRUCTIONS.values())
"""The primitives."""


class ProgramError(ValueError):
    """A schedule that cannot be run: a message, and the line that it is about, from 1."""

    def __init__(self, message: str, line: int):
        super().__init__(message)
        self.line = line


def run_schedule(text: str, sch: Schedule) -> None:
    """Apply a schedule, such as `Trace.as_function` prints, to the schedule `sch`.

    Raises ProgramError for text that is no schedule, and for a primitive that does not apply.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ProgramError(error.msg, error.lineno or 1) from None
    statements = tree.body
    if len(statements) == 1 and isinstance(function := statements[0], ast.FunctionDef):
        if [arg.arg for arg in function.args.args] != ["sch"]:
            raise ProgramError("expected a function of 'sch' alone", function.lineno)
        statements = function.body
    program = _Program(sch)
    for statement in statements:
        program.run(statement)


class _Program:
    def __init__(self, sch: Schedule):
        self.sch = sch
        self.variables: dict[str, Any] = {}

    def run(self, node: ast.stmt) -> None:
        """One statement."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                self.variables[name] = self.call(call)
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Call() as call):
                self.unpack(parts, self.call(call), node)
            case ast.Expr(value=ast.Call() as call):
                self.call(call)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                pass
            case _:
                raise ProgramError("expected a call of a primitive of 'sch'", node.lineno)

    def unpack(self, parts: list[ast.expr], found: Any, node: ast.stmt) -> None:
        values: list[Any] = list(found) if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
        if len(values) != len(parts):
            raise ProgramError(f"expected {len(values)} names, got {len(parts)}", node.lineno)
        for part, value in zip(parts, values, strict=True):
            if not isinstance(part, ast.Name):
                raise ProgramError("expected names to assign to", node.lineno)
            self.variables[part.id] = value

    def call(self, node: ast.Call) -> Any:
        """A call of a primitive."""
        match node.func:
            case ast.Attribute(value=ast.Name(id="sch"), attr=method) if method in METHODS:
                pass
            case callee:
                got = ast.unparse(callee)
                raise ProgramError(f"expected a primitive of 'sch', got '{got}'", node.lineno)
        args = [self.value(arg) for arg in node.args]
        keywords = {k.arg or "": self.value(k.value) for k in node.keywords}
        try:
            return getattr(self.sch, method)(*args, **keywords)
        except (ScheduleError, TypeError, ValueError) as error:
            raise ProgramError(str(error).strip().splitlines()[0], node.lineno) from None

    def value(self, node: ast.expr) -> Any:
        """An argument."""
        match node:
            case ast.Name(id=name) if name in self.variables:
                return self.variables[name]
            case ast.Name(id=name):
                raise ProgramError(f"'{name}' is not defined", node.lineno)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self.value(item) for item in items]
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                return {self.value(k): self.value(v) for k, v in pairs if k is not None}
            case ast.Lambda():
                return ast.unparse(node)
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case _:
                got = ast.unparse(node)
                raise ProgramError(f"expected a literal or a variable, got '{got}'", node.lineno)

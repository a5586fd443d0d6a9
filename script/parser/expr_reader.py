"""What parsers ask of expressions: a scalar, a shape, a string, a dtype, or any value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...dialects.dtypes import DTYPES
from ...te.arithmetic import convert
from ...te.expr import Load, PrimExpr
from ..errors import ScriptError
from ..namespace import ScriptName
from .buffers import Buffer, describe_syntax, describe_value
from .scope import Scope


class ExprReader:
    """Evaluates expression nodes in a scope; errors name the place and what was expected.

    A subclass has a method ``_eval_X`` for each class of nodes `X`.
    """

    def __init__(self, scope: Scope):
        self.scope = scope
        self.lane: object = None
        """The element at hand of a store of several, a `Lane`."""

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def eval(self, node: ast.expr) -> Any:
        """The value of a node: a scalar expression, a buffer, a script name, or a Python value."""
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"expected an expression, got {describe_syntax(node)}")
        with self.scope.source.reporting(node):
            return handler(node)

    def path(self, node: ast.AST) -> str:
        """The path of the script name that a node is, such as "T.grid"; empty for anything else."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return ""
        try:
            value = self.eval(node)
        except ScriptError:
            return ""
        return value.path if isinstance(value, ScriptName) else ""

    def scalar(self, node: ast.expr) -> Any:
        """The value of a node, a buffer of rank 0 as its element."""
        value = self.eval(node)
        return self.expr(node) if isinstance(value, Buffer) else value

    def expr(self, node: ast.expr) -> PrimExpr:
        """A scalar expression."""
        value = self.eval(node)
        if isinstance(value, Buffer):
            if value.type.rank == 0:
                return Load(value, (), value.dtype)
            raise self.error(
                node, f"expected a scalar, got buffer '{value.name}' of {value.type.rank} dims"
            )
        try:
            return convert(value)
        except TypeError:
            message = f"expected a scalar expression, got {describe_value(value)}"
            raise self.error(node, message) from None

    def exprs(self, node: ast.expr) -> list[PrimExpr]:
        """The expressions of a tuple or list, of a name for several, or the one expression."""
        value = self.eval(node) if isinstance(node, ast.Name) else None
        if isinstance(value, tuple):
            return [convert(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
        found: list[PrimExpr] = []
        for element in self.elements(node):
            if isinstance(element, ast.Starred):
                found += [convert(v) for v in self.eval(element.value)]
            else:
                found.append(self.expr(element))
        return found

    def elements(self, node: ast.expr) -> list[ast.expr]:
        """The nodes of a tuple or list, or the one node."""
        return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]

    def shape(self, node: ast.expr) -> list[PrimExpr]:
        """Dims: a tuple or list of expressions, a single one, or a Python sequence in scope."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.exprs(node)
        value = self.eval(node)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [convert(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return [self.expr(node)]

    def text(self, node: ast.expr) -> str:
        """A string."""
        value = self.eval(node)
        if not isinstance(value, str):
            raise self.error(node, f"expected a string, got {describe_value(value)}")
        return value

    def dtype(self, node: ast.expr) -> str:
        """A dtype: its name, ``T.float32``, or a NumPy dtype in scope."""
        value = self.eval(node)
        if isinstance(value, ScriptName):
            value = value.path.removeprefix("T.")
        elif hasattr(value, "dtype") or isinstance(value, type):
            value = getattr(value, "__name__", str(value))
        if isinstance(value, str) and value in DTYPES:
            return value
        shown = f"'{value}'" if isinstance(value, str) else describe_value(value)
        raise self.error(node, f"expected a dtype ({', '.join(DTYPES)}), got {shown}")

    def arguments(self, nodes: Sequence[ast.expr]) -> list[Any]:
        """The values of arguments; ``*values`` stands for several."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += list(self.eval(node.value))
            else:
                found.append(self.scalar(node))
        return found

"""What the parsers of TensorIR statements share: the scope, and where operations go."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.ir import Block, SSAValue

from ...te.emit import Emitter
from ..errors import ScriptError
from .expressions import ExprParser
from .scope import Scope


class StatementReader(ABC):
    """A scope with the expressions in it, and an emitter at the current place."""

    def __init__(self, scope: Scope, emitter: Emitter):
        self.scope = scope
        self.emitter = emitter
        self.exprs = ExprParser(scope)
        self.layout_free: list[SSAValue] = []
        """The buffers that blocks list as those whose layout a schedule may choose."""

    @abstractmethod
    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in the current scope."""

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def called(self, node: ast.AST) -> str:
        """Path of the script name that a call calls, "range" for Python's; else empty."""
        if not isinstance(node, ast.Call):
            return ""
        is_range = isinstance(node.func, ast.Name) and node.func.id == "range"
        if is_range and self.exprs.eval(node.func) is range:
            return "range"
        return self.exprs.path(node.func)

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """A nested scope whose operations go into `block`."""
        location = self.emitter.location
        with self.scope.nested(), self.emitter.inside(block):
            yield
        self.emitter.location = location

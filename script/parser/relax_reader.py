"""What the parsers of graph functions share: the scope, and where operations go."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import relax
from ...dialects.parameters import value_hint
from ..errors import ScriptError
from .annotations import AnnotationParser
from .expressions import ExprParser
from .scope import ModuleName, Scope

Signature = Callable[[str], "tuple[Sequence[Attribute], Attribute] | None"]

Options = Callable[[ast.FunctionDef], "dict[str, bool] | None"]
"""The options of a function's decorator, `None` for one that is no graph function."""

OLD_PREFIXES = ("relax.op.", "R.op.", "relax.")
OTHER_NAMES = {"R.nn.attention_bias": "R.nn.attention"}
"""Names that TVM's scripts have for calls with other operands."""


class ExternName(str):
    """A registered function under a name, as in ``f = R.ExternFunc("f")``."""


EXTERNAL = ("R.ExternFunc", "R.extern", "R.str")


_NUMBER = ast.Constant | ast.Name | ast.UnaryOp | ast.unaryop | ast.expr_context
"""The nodes of a number that may be a name's."""


class NotOutput:
    """A variable that its dataflow block does not output, as seen outside."""


class RelaxReader(ABC):
    """One graph function as far as it is read; every expression becomes operations in order."""

    def __init__(
        self,
        scope: Scope,
        node: ast.FunctionDef,
        signature_of: Signature,
        options_of: Options,
        constants: Sequence[relax.TensorData] = (),
    ):
        self.scope = scope
        self.node = node
        self.exprs = ExprParser(scope)
        self.annotations = AnnotationParser(self.exprs)
        self.signature_of = signature_of
        self.options_of = options_of
        self.constants = constants
        self.declared: set[str] = set()
        """Symbols that parameters and casts before the current statement declare."""
        self.block = Block()
        self.outputs: list[tuple[str, SSAValue]] | None = None
        self.in_dataflow = False
        self.attrs: dict[str, Attribute] = {}
        self.returned: SSAValue | None = None

    @abstractmethod
    def value(self, node: ast.expr) -> SSAValue:
        """The value of an expression of the graph."""

    @abstractmethod
    def statement(self, node: ast.stmt) -> None:
        """One statement."""

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.scope.source.error(node, message)

    def add(self, op: Operation, node: ast.AST) -> Operation:
        """Append an operation that comes from a node."""
        op.location = self.scope.source.location(node)
        self.block.add_op(op)
        return op

    def emit(self, op: Any, node: ast.AST) -> SSAValue:
        """Append an operation and take its result."""
        return self.add(op, node).results[0]

    def is_number(self, node: ast.expr) -> bool:
        """Whether a node is a number of Python, or a name for one, perhaps with a sign."""
        parts = list(ast.walk(node))
        if not all(isinstance(n, _NUMBER) for n in parts):
            return False
        found = [self.exprs.eval(n) for n in parts if isinstance(n, ast.Constant | ast.Name)]
        return all(isinstance(value, bool | int | float) for value in found)

    def path(self, node: ast.AST) -> str:
        """The script path that a call calls, in today's spelling; empty for anything else."""
        path = self.exprs.path(node.func) if isinstance(node, ast.Call) else ""
        old = next((p for p in OLD_PREFIXES if path.startswith(p)), None)
        path = path if old is None else f"R.{path.removeprefix(old)}"
        return OTHER_NAMES.get(path, path)

    def is_module_name(self, node: ast.expr) -> bool:
        """Whether a name stands for the module that is being parsed."""
        return isinstance(node, ast.Name) and isinstance(self.bound(node.id), ModuleName)

    def bound(self, name: str) -> Any:
        """What the script has bound to a name, `None` if nothing."""
        return next((f[name] for f in reversed(self.scope.frames) if name in f), None)

    def constant(self, data: relax.TensorData, node: ast.AST) -> SSAValue:
        """A constant tensor."""
        return self.emit(relax.ConstantOp(data), node)

    def field(self, value: SSAValue, index: int, node: ast.AST) -> SSAValue:
        """A field of a tuple value."""
        with self.scope.source.reporting(node):
            return self.emit(relax.TupleGetItemOp(value, index), node)

    def name_value(self, name: str, value: SSAValue) -> None:
        """Bind a variable, which names a value that has no name yet."""
        if value.name_hint is None:
            value.name_hint = value_hint(name)
        self.scope.bind(name, value)

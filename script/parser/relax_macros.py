"""Calls of macros in graph functions, whose value is what the macro returns."""

from __future__ import annotations

import ast
from typing import Any

from xdsl.ir import SSAValue

from ..errors import ScriptError
from .macro import Macro
from .macros import called_macro, macro_body
from .relax_reader import RelaxReader


class MacroCallParser:
    """Finds and expands the macros of one function."""

    def __init__(self, function: RelaxReader):
        self.function = function

    def macro(self, node: ast.Call) -> Macro | None:
        """The macro that a call names, if it names one."""
        if self.function.path(node):
            return None
        try:
            return called_macro(self.function.exprs, node)
        except ScriptError:
            return None

    def expand(self, node: ast.Call, macro: Macro) -> SSAValue:
        """The value that a macro returns; its variables are its own.

        Raises ScriptError for a macro that does not end with ``return value``.
        """
        function = self.function
        with function.scope.nested():
            *body, last = macro_body(function.exprs, node, macro, self._argument)
            if not isinstance(last, ast.Return) or last.value is None:
                raise function.error(node, "expected a macro that ends with 'return value'")
            for statement in body:
                function.statement(statement)
            return function.value(last.value)

    def _argument(self, node: ast.expr) -> Any:
        """A value of the graph, or a Python value."""
        function = self.function
        return function.value(node) if self._is_value(node) else function.exprs.eval(node)

    def _is_value(self, node: ast.expr) -> bool:
        """Whether an expression reads a value of the graph."""
        match node:
            case ast.Call() | ast.Tuple():
                return True
            case ast.Name(id=name):
                return isinstance(self.function.bound(name), SSAValue)
            case ast.BinOp(left=left, right=right):
                return self._is_value(left) or self._is_value(right)
            case ast.Compare(left=left, comparators=others):
                return any(self._is_value(n) for n in (left, *others))
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value):
                return self._is_value(value)
            case _:
                return False

"""Calls of macros: the macro's statements, with the arguments for its parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from .expressions import ExprParser
from .macro import Macro, signature_of
from .statement_reader import StatementReader

DECORATORS = ("T.inline", "T.macro")
_NUMBERS = count()


class MacroParser:
    """Finds calls of macros among statements, and expands them."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs

    def macro(self, node: ast.stmt) -> Macro | None:
        """The macro that a statement calls, if it calls one."""
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or self.statements.called(call):
            return None
        return called_macro(self.exprs, call)

    def expanded(self, node: ast.stmt, macro: Macro) -> list[ast.stmt]:
        """The statements that a call stands for."""
        assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        return macro_body(self.exprs, node.value, macro, self.exprs.eval)

    def define(self, node: ast.FunctionDef) -> bool:
        """Whether a definition in a kernel is a macro, which is then bound to its name.

        Its names mean what they mean where it is called.
        """
        for decorator in node.decorator_list:
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.exprs.path(head) in DECORATORS:
                macro = Macro(signature_of(node), node.body, {}, hygienic=False)
                self.statements.scope.bind(node.name, macro)
                return True
        return False


def called_macro(exprs: ExprParser, call: ast.Call) -> Macro | None:
    """The macro that a call names, if it names one."""
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    found = exprs.eval(call.func)
    return found if isinstance(found, Macro) else None


def macro_body(
    exprs: ExprParser, call: ast.Call, macro: Macro, value_of: Callable[[ast.expr], Any]
) -> list[ast.stmt]:
    """The statements of a macro, whose parameters have the arguments of a call in this scope.

    Raises ScriptError for arguments that do not fit.
    """
    args: list[Any] = []
    for arg in call.args:
        if isinstance(arg, ast.Starred):
            args += list(exprs.eval(arg.value))
        else:
            args.append(value_of(arg))
    named = {k.arg: value_of(k.value) for k in call.keywords if k.arg is not None}
    try:
        values = macro.arguments(args, named)
    except TypeError as error:
        raise exprs.error(call, f"macro: {error}") from None
    if macro.hygienic:
        values = {**_known(macro), **values}
    names = {name: f"{name}__{next(_NUMBERS)}" for name in values}
    for name, value in values.items():
        exprs.scope.bind(names[name], value)
    return [_Renamer(names, call).visit(_copy(s)) for s in macro.body]


def _known(macro: Macro) -> dict[str, Any]:
    """What the macro's own names mean where it is defined, without what it binds itself."""
    names = [n for s in macro.body for n in ast.walk(s) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    used = {n.id for n in names} - bound
    return {name: macro.python[name] for name in used if name in macro.python}


def _copy(node: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(node)).body[0]


class _Renamer(ast.NodeTransformer):
    """Gives names other spellings, and all nodes the place of a call."""

    def __init__(self, names: Mapping[str, str], place: ast.AST):
        self.names = names
        self.place = place

    def visit(self, node: ast.AST) -> Any:
        if "lineno" in node._attributes:
            ast.copy_location(node, self.place)
        if isinstance(node, ast.Name):
            node.id = self.names.get(node.id, node.id)
        return super().generic_visit(node)

"""Whole programs: a class of functions, or one function, found by decorator, becomes a module or a function."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic, verify
from ...ir.attributes import to_attribute
from ..errors import ScriptError, Source
from ..namespace import ScriptName
from .constants import metadata_constants
from .expressions import ExprParser
from .prim_func import PrimFuncParser
from .relax_calls import ModuleName
from .relax_func import RelaxFuncParser
from .scope import Scope


class ProgramParser:
    """Parses definitions of one source in the Python names around them."""

    def __init__(self, source: Source, python: Mapping[str, Any]):
        self.source = source
        self.scope = Scope(source, python)
        self.constants: Sequence[relax.TensorData] = ()
        self.relax_nodes: dict[str, ast.FunctionDef] = {}
        self.signatures: dict[str, tuple[Sequence[Attribute], Attribute] | None] = {}
        self.parsed: dict[str, relax.FuncOp] = {}

    def module(self, node: ast.ClassDef) -> ModuleOp:
        """The module of a class; it verifies."""
        ops: list[Operation] = []
        attributes: dict[str, Attribute] = {}
        self.scope.bind(node.name, ModuleName())
        self.scope.bind("cls", ModuleName())
        prim_nodes: list[ast.FunctionDef] = []
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                kind = self.kind(statement)
                if kind == "T.prim_func":
                    prim_nodes.append(statement)
                elif kind == "R.function":
                    self.relax_nodes[statement.name] = statement
                else:
                    raise self.source.error(
                        statement, "expected a function decorated with T.prim_func or R.function"
                    )
            else:
                attributes |= self._module_statement(statement)
        self._check_distinct([*prim_nodes, *self.relax_nodes.values()])
        ops += [self.prim_func(n) for n in prim_nodes]
        for name in self.relax_nodes:
            self._parse_relax(name)
        ops += [self.parsed[name] for name in self.relax_nodes]
        module = ModuleOp(ops, attributes)
        self._verify(module, node)
        return module

    def function(self, node: ast.FunctionDef) -> Operation:
        """A function on its own; it verifies."""
        kind = self.kind(node)
        if kind == "T.prim_func":
            op: Operation = self.prim_func(node)
        elif kind == "R.function":
            self.relax_nodes[node.name] = node
            self._parse_relax(node.name)
            op = self.parsed[node.name]
        else:
            raise self.source.error(
                node, "expected a function decorated with T.prim_func or R.function"
            )
        self._verify(op, node)
        return op

    def _check_distinct(self, nodes: Sequence[ast.FunctionDef]) -> None:
        seen: set[str] = set()
        for node in nodes:
            if node.name in seen:
                raise self.source.error(
                    node, f"expected distinct function names, got '{node.name}' twice"
                )
            seen.add(node.name)

    def kind(self, node: ast.FunctionDef | ast.ClassDef) -> str:
        """The script decorator of a definition, such as "T.prim_func"; empty without one."""
        for decorator in node.decorator_list:
            path = self._path(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if path in ("T.prim_func", "R.function", "I.ir_module"):
                return path
        return ""

    def _path(self, node: ast.expr) -> str:
        try:
            value = ExprParser(self.scope).eval(node)
        except ScriptError:
            return ast.unparse(node)
        return value.path if isinstance(value, ScriptName) else ""

    def _options(self, node: ast.FunctionDef) -> dict[str, bool]:
        options: dict[str, bool] = {}
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                exprs = ExprParser(self.scope)
                options |= {k.arg: bool(exprs.eval(k.value)) for k in decorator.keywords if k.arg}
        return options

    def prim_func(self, node: ast.FunctionDef) -> tir.PrimFuncOp:
        """One PrimFunc."""
        return PrimFuncParser(self.scope, node).parse(self._options(node).get("private", False))

    def signature_of(self, name: str) -> tuple[Sequence[Attribute], Attribute] | None:
        """Parameter and result types of a graph function of the module; its body is read if it says no result type."""
        if name in self.signatures:
            return self.signatures[name]
        if name not in self.relax_nodes:
            return None
        node = self.relax_nodes[name]
        with self.scope.nested():
            params, result = self._relax_parser(node).signature()
        if result is None:
            self._parse_relax(name)
            result = self.parsed[name].result_type
        self.signatures[name] = (params, result)
        return self.signatures[name]

    def _relax_parser(self, node: ast.FunctionDef) -> RelaxFuncParser:
        return RelaxFuncParser(self.scope, node, self.signature_of, self.constants)

    def _parse_relax(self, name: str) -> None:
        if name in self.parsed:
            return
        node = self.relax_nodes[name]
        if self.signatures.get(name, ()) is None:
            raise self.source.error(
                node, f"expected '{name}', which calls itself, to have a return annotation"
            )
        self.signatures.setdefault(name, None)
        options = self._options(node)
        frames, self.scope.frames = self.scope.frames, self.scope.frames[:1]
        func = self._relax_parser(node).parse(
            options.get("pure", True), options.get("private", False)
        )
        self.scope.frames = frames
        self.parsed[name] = func
        self.signatures[name] = ([p.type for p in func.params], func.result_type)

    def _module_statement(self, node: ast.stmt) -> dict[str, Attribute]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return {}
            case ast.Expr(value=ast.Call(func=func, args=args)):
                path = self._path(func)
                if path == "I.module_attrs":
                    values = ExprParser(self.scope).eval(args[0])
                    return {str(k): to_attribute(v) for k, v in values.items()}
                raise self.source.error(node, f"expected I.module_attrs, got '{path}'")
            case _:
                raise self.source.error(node, "expected functions in a module")

    def _verify(self, op: Operation, node: ast.AST) -> None:
        try:
            verify(op)
        except Diagnostic as error:
            if error.line is None:
                raise self.source.error(node, error.message) from None
            place = ast.Pass(lineno=error.line, col_offset=(error.column or 1) - 1)
            raise self.source.error(place, error.message) from None


def parse_text(
    text: str, python: Mapping[str, Any] | None = None, filename: str = "<script>"
) -> ModuleOp | Operation:
    """The module or function that a program text defines: its last decorated class, else its last decorated function."""
    source = Source(filename, text)
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise ScriptError(
            error.msg, filename, error.lineno or 1, error.offset or 1, error.text or ""
        ) from None
    parser = ProgramParser(source, _with_imports(tree, python or {}))
    parser.constants = metadata_constants(source, tree)
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and parser.kind(n)]
    if classes:
        return parser.module(classes[-1])
    if functions:
        return parser.function(functions[-1])
    raise ScriptError(
        "expected a class decorated with I.ir_module or a decorated function", filename, 1, 1, ""
    )


def _with_imports(tree: ast.Module, python: Mapping[str, Any]) -> dict[str, Any]:
    """The names around a text, and the script namespaces under the names that it imports them as."""
    names = dict(python)
    spaces = {"tir": "T", "relax": "R", "ir": "I"}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".script"):
            for alias in node.names:
                if alias.name in spaces:
                    names[alias.asname or alias.name] = ScriptName(spaces[alias.name])
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names |= {t.id: node.value.value for t in node.targets if isinstance(t, ast.Name)}
    return names

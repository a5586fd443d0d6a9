"""Whole programs: a class of functions becomes a module, a decorated function a function."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ...dialects import relax, tir
from ...dialects.diagnostics import Diagnostic, verify
from ...dialects.relax import TensorData
from ...lowering.verify_calls import verify_calls
from ...te.arithmetic import symbol
from ...te.attributes import dictionary
from ..errors import ScriptError, Source
from ..namespace import ScriptName
from ..printer.metadata import read_constants
from .expressions import ExprParser
from .prim_func import PrimFuncParser
from .relax_func import RelaxFuncParser
from .scope import ModuleName, Scope


def metadata_constants(source: Source, tree: ast.Module) -> Sequence[TensorData]:
    """The constants that a program text defines, in order; none where it has no metadata."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="metadata")], value=value):
                with source.reporting(node):
                    return read_constants(ast.literal_eval(value))
            case _:
                continue
    return ()


DECORATORS = ("T.prim_func", "R.function", "I.ir_module", "I.pyfunc")
OPTIONS = ("private", "pure", "check_well_formed", "s_tir")
EXPECTED_FUNCTION = "expected a function decorated with T.prim_func or R.function"


class ProgramParser:
    """Parses definitions of one source in the Python names around them."""

    def __init__(
        self,
        source: Source,
        python: Mapping[str, Any],
        constants: Sequence[relax.TensorData] = (),
    ):
        self.source = source
        self.scope = Scope(source, python)
        self.constants = constants
        self.relax_nodes: dict[str, ast.FunctionDef] = {}
        self.signatures: dict[str, tuple[Sequence[Attribute], Attribute] | None] = {}
        self.parsed: dict[str, relax.FuncOp] = {}
        self.python_functions: list[str] = []
        self.is_verified = True

    def module(self, node: ast.ClassDef) -> ModuleOp:
        """The module of a class; it verifies, and its calls fit their callees."""
        attributes: dict[str, Attribute] = {}
        self.scope.bind(node.name, ModuleName())
        self.scope.bind("cls", ModuleName())
        prim_nodes: list[ast.FunctionDef] = []
        for statement in node.body:
            if not isinstance(statement, ast.FunctionDef):
                with self.source.reporting(statement):
                    attributes |= self._module_statement(statement)
            elif self.kind(statement) == "R.function":
                self._check_distinct(statement, [*prim_nodes, *self.relax_nodes.values()])
                self.relax_nodes[statement.name] = statement
            elif self.kind(statement) == "T.prim_func":
                self._check_distinct(statement, [*prim_nodes, *self.relax_nodes.values()])
                prim_nodes.append(statement)
            elif self.kind(statement) == "I.pyfunc":
                self.python_functions.append(statement.name)
            else:
                raise self.source.error(statement, EXPECTED_FUNCTION)
        self.scope.kernels = {}
        self.scope.function_names = {*self.relax_nodes, *(n.name for n in prim_nodes)}
        self.scope.results = {n.name: n.returns for n in prim_nodes}
        ops: list[Operation] = [self._prim_func(n) for n in prim_nodes]
        for name in self.relax_nodes:
            self._parse_relax(name)
        ops += [op for _, op in self.scope.kernels.values()]
        ops += [self.parsed[name] for name in self.relax_nodes]
        module = ModuleOp(ops, attributes)
        self._verify(module, node)
        return module

    def function(self, node: ast.FunctionDef) -> Operation:
        """A function on its own; it verifies."""
        match self.kind(node):
            case "T.prim_func":
                op: Operation = self._prim_func(node)
            case "R.function":
                self.relax_nodes[node.name] = node
                self._parse_relax(node.name)
                op = self.parsed[node.name]
            case _:
                raise self.source.error(node, EXPECTED_FUNCTION)
        self._verify(op, node)
        return op

    def _check_distinct(self, node: ast.FunctionDef, others: Sequence[ast.FunctionDef]) -> None:
        if any(node.name == other.name for other in others):
            raise self.source.error(
                node, f"expected distinct function names, got '{node.name}' twice"
            )

    def kind(self, node: ast.FunctionDef | ast.ClassDef) -> str:
        """The script decorator of a definition, such as "T.prim_func"; empty without one."""
        for decorator in node.decorator_list:
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            path = ExprParser(self.scope).path(head) or ast.unparse(head)
            if path in DECORATORS:
                return path
        return ""

    def _options(self, node: ast.FunctionDef) -> dict[str, bool]:
        """The options of the decorator; the package uses `private` and `pure`."""
        options: dict[str, bool] = {}
        exprs = ExprParser(self.scope)
        calls = [d for d in node.decorator_list if isinstance(d, ast.Call)]
        for keyword in (k for call in calls for k in call.keywords):
            if keyword.arg not in OPTIONS:
                shown = keyword.arg or "**"
                raise self.source.error(
                    keyword.value, f"expected options {', '.join(OPTIONS)}, got '{shown}'"
                )
            options[keyword.arg] = bool(exprs.eval(keyword.value))
        return options

    def _prim_func(self, node: ast.FunctionDef) -> tir.PrimFuncOp:
        private = self._options(node).get("private", False)
        with self.source.reporting(node):
            return PrimFuncParser(self.scope, node).parse(private)

    def signature_of(self, name: str) -> tuple[Sequence[Attribute], Attribute] | None:
        """Parameter and result types of a graph function of the module.

        Its body is read if it does not say what it returns.
        """
        if self.signatures.get(name) is not None:
            return self.signatures[name]
        if name not in self.relax_nodes:
            return None
        with self.scope.nested():
            params, result = self._relax_parser(self.relax_nodes[name]).signature()
        if result is None:
            self._parse_relax(name)
            result = self.parsed[name].result_type
        self.signatures[name] = (params, result)
        return self.signatures[name]

    def _relax_parser(self, node: ast.FunctionDef) -> RelaxFuncParser:
        return RelaxFuncParser(
            self.scope, node, self.signature_of, self._graph_options, self.constants
        )

    def _graph_options(self, node: ast.FunctionDef) -> dict[str, bool] | None:
        return self._options(node) if self.kind(node) == "R.function" else None

    def _parse_relax(self, name: str) -> None:
        if name in self.parsed:
            return
        node = self.relax_nodes[name]
        if name in self.signatures and self.signatures[name] is None:
            raise self.source.error(
                node, f"expected '{name}', which calls itself, to have a return annotation"
            )
        self.signatures.setdefault(name, None)
        options = self._options(node)
        frames, self.scope.frames = self.scope.frames, self.scope.frames[:1]
        with self.source.reporting(node):
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
            case ast.Expr(value=ast.Call(func=func, args=[arg])):
                exprs = ExprParser(self.scope)
                if exprs.path(func) == "I.module_attrs":
                    return dict(dictionary(exprs.eval(arg)).data)
            case _:
                pass
        shown = ast.unparse(node).splitlines()[0]
        raise self.source.error(node, f"expected functions or I.module_attrs(…), got '{shown}'")

    def _verify(self, op: Operation, node: ast.AST) -> None:
        # Programs that import the language and parse nothing do without the analyses.
        from ...lowering.graph.verify_kernels import verify_kernel, verify_kernels

        if not self.is_verified:
            return
        try:
            verify(op)
            if isinstance(op, ModuleOp):
                verify_calls(op)
                verify_kernels(op)
            elif isinstance(op, tir.PrimFuncOp):
                verify_kernel(op)
        except Diagnostic as error:
            if error.line is None:
                raise self.source.error(node, error.message) from None
            place = ast.Pass(lineno=error.line, col_offset=(error.column or 1) - 1)
            raise self.source.error(place, error.message) from None


def parse_text(
    text: str,
    python: Mapping[str, Any] | None = None,
    filename: str = "<script>",
    constants: Sequence[TensorData] = (),
    is_verified: bool = True,
) -> ModuleOp | Operation:
    """The module or function that a program text defines.

    That is its last decorated class, else its last decorated function. `constants` are those that
    the text refers to by numbers, where it has no metadata.
    """
    source = Source(filename, text)
    tree = _syntax_tree(text, filename)
    constants = metadata_constants(source, tree) or constants
    parser = ProgramParser(source, _with_imports(tree, python or {}), constants)
    parser.is_verified = is_verified
    decorated = [
        n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and parser.kind(n)
    ]
    classes = [n for n in decorated if isinstance(n, ast.ClassDef)]
    functions = [n for n in decorated if isinstance(n, ast.FunctionDef)]
    if classes:
        return parser.module(classes[-1])
    if functions:
        return parser.function(functions[-1])
    message = "expected a class decorated with I.ir_module or a decorated function"
    raise source.error(next(iter(tree.body), tree), message)


def _syntax_tree(text: str, filename: str) -> ast.Module:
    try:
        return ast.parse(text, filename)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        raise ScriptError(error.msg, filename, line, column, error.text or "") from None
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"expected a Python program: {error or type(error).__name__}"
        raise ScriptError(message, filename, 1, 1, "") from None


def _with_imports(tree: ast.Module, python: Mapping[str, Any]) -> dict[str, Any]:
    """The names around a text: script namespaces that it imports, numbers and symbols."""
    names = dict(python)
    spaces = {"tir": "T", "tirx": "T", "relax": "R", "ir": "I"}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".script"):
            for alias in node.names:
                if alias.name in spaces:
                    names[alias.asname or alias.name] = ScriptName(spaces[alias.name])
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names |= {t.id: node.value.value for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.Assign) and _is_type_variable(node.value):
            names |= {t.id: symbol(t.id) for t in node.targets if isinstance(t, ast.Name)}
    return names


def _is_type_variable(node: ast.expr) -> bool:
    """Whether a value is ``TypeVar("n")``, which TVM's newest scripts declare symbols with."""
    match node:
        case ast.Call(func=ast.Name(id="TypeVar"), args=[ast.Constant(value=str())]):
            return True
        case _:
            return False

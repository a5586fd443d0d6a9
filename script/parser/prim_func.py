"""`@T.prim_func`: a Python function definition becomes a `tir.prim_func`."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import DictionaryAttr, IndexType, UnitAttr
from xdsl.ir import Attribute, Block, Region

from ...dialects import tir
from ...dialects.dtypes import DTYPES, element_type
from ...dialects.int_expr import IntExpr
from ...dialects.parameters import value_hint
from ...dialects.sym import RESERVED
from ...dialects.tir.func import LAYOUT_FREE
from ...lowering.functions import PRIVATE
from ...lowering.scalar_builder import ssa_type
from ...te.arithmetic import dim_expr, symbol
from ...te.attributes import attribute, dictionary
from ...te.emit import Emitter
from ...te.expr import Index, Value
from .annotations import parameters_of
from .buffers import Buffer
from .expressions import ExprParser
from .intrinsics import handle_type, result_dtype
from .regions import HINTS, VIEW_ARGUMENTS
from .scope import Scope
from .statements import StatementParser

SYMBOL_DTYPES = ("int32", "int64")
NAMED_SYMBOLS = ("T.var", "T.size_var", "T.Var")
SYMBOL_CALLS = ("T.int32", "T.int64", *NAMED_SYMBOLS)


class PrimFuncParser:
    """Parses one function: parameters and what binds them first, then the statements."""

    def __init__(self, scope: Scope, node: ast.FunctionDef):
        self.scope = scope
        self.node = node
        self.exprs = ExprParser(scope)
        self.handles: dict[str, tir.BufferType | None] = {}
        self.pointers: dict[str, tir.HandleType] = {}
        self.buffer_names: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.attrs: dict[str, Attribute] = {}

    def parse(self, private: bool = False) -> tir.PrimFuncOp:
        """The function as an operation, not yet verified."""
        with self.scope.nested():
            for parameter, annotation in parameters_of(self.scope.source, self.node):
                with self.scope.source.reporting(annotation):
                    self._parameter(parameter.arg, annotation)
            body = [s for s in self.node.body if not self._header(s)]
            block = self._entry()
            emitter = Emitter(block)
            self._define_parameters(emitter, block)
            statements = StatementParser(self.scope, emitter)
            statements.control.result = result_dtype(self.exprs, self.node.returns)
            statements.function_body(body)
        free = [n for n, arg in enumerate(block.args) if arg in statements.layout_free]
        if free and LAYOUT_FREE not in self.attrs:
            self.attrs[LAYOUT_FREE] = attribute(free)
        if private and "global_symbol" in self.attrs:
            raise self.exprs.error(self.node, "expected a private function without 'global_symbol'")
        if private:
            self.attrs[PRIVATE] = UnitAttr()
        attrs = DictionaryAttr(self.attrs) if self.attrs else None
        names = [a.arg for a in self.node.args.args]
        unsigned = [n for n, dtype in self.scalars.items() if dtype.startswith("uint")]
        func = tir.PrimFuncOp(self.node.name, names, Region(block), attrs, unsigned)
        func.location = self.scope.source.location(self.node)
        return func

    def _parameter(self, name: str, annotation: ast.expr) -> None:
        head, args, keywords = _annotation_parts(annotation)
        path = self.exprs.path(head)
        path = "T.bool" if path == "T.boolean" else path
        pointer = handle_type(self.exprs, annotation)
        if pointer is not None:
            self.handles[name] = None
            self.pointers[name] = pointer
        elif path in ("T.Buffer", "T.buffer"):
            self.handles[name] = self._buffer_type(annotation, args, keywords)
            self.buffer_names[name] = name
        elif path.startswith("T.") and path[2:] in DTYPES:
            self.scalars[name] = path[2:]
            if path[2:] in SYMBOL_DTYPES:
                self.scope.bind(name, symbol(name))
        else:
            shown = ast.unparse(annotation)
            raise self.exprs.error(
                annotation, f"expected T.handle, T.Buffer(…) or a scalar type, got '{shown}'"
            )

    def _buffer_type(
        self, node: ast.AST, args: list[ast.expr], keywords: dict[str, ast.expr]
    ) -> tir.BufferType:
        """The type of ``T.Buffer(shape, dtype, …)``, ``T.match_buffer(x, shape, dtype, …)``."""
        given = dict(zip(VIEW_ARGUMENTS, args, strict=False)) | keywords
        unknown = set(given) - {*VIEW_ARGUMENTS, *HINTS}
        if "shape" not in given or unknown or len(args) > len(VIEW_ARGUMENTS):
            shown = ", ".join(sorted(unknown)) or f"{len(args)} arguments"
            raise self.exprs.error(
                node, f"expected {', '.join(VIEW_ARGUMENTS)} of a buffer, got {shown}"
            )
        shape = self._dims(given["shape"])
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        strides = self.exprs.shape(given["strides"]) if "strides" in given else []
        offset = dim_expr(self.exprs.expr(given["elem_offset"])) if "elem_offset" in given else 0
        scope = self.exprs.text(given["scope"]) if "scope" in given else tir.types.GLOBAL
        type_ = element_type(dtype)
        return tir.BufferType.of(shape, type_, [*map(dim_expr, strides)] or None, offset, scope)

    def _dims(self, node: ast.expr) -> list[IntExpr]:
        """The dims of a buffer; strings among them are expressions that declare their symbols."""
        given = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        constants = [n for n in given if isinstance(n, ast.Constant)]
        texts: dict[ast.expr, str] = {n: n.value for n in constants if isinstance(n.value, str)}
        if not texts:
            return [dim_expr(d) for d in self.exprs.shape(node)]
        dims: list[IntExpr] = []
        for item in given:
            inner = self.scope.source.expression(item, texts[item]) if item in texts else item
            for name in ast.walk(inner) if item in texts else ():
                if isinstance(name, ast.Name) and not self._is_bound(name.id):
                    self._declare_symbol(name.id)
            dims.append(dim_expr(self.exprs.expr(inner)))
        return dims

    def _is_bound(self, name: str) -> bool:
        return any(isinstance(f.get(name), Index) for f in self.scope.frames)

    def _header(self, statement: ast.stmt) -> bool:
        """Take declarations of symbols, handles and attributes; they may stand anywhere."""
        with self.scope.source.reporting(statement):
            match statement:
                case ast.Assign(targets=[target], value=ast.Call() as call) if self._binds(call):
                    self._match_param(target, call)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_symbol(value):
                    self._declare_symbol(name)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if (
                    len(names) == len(values) and all(map(self._is_symbol, values))
                ):
                    for name in names:
                        self._declare_symbol(_name_of(name))
                case ast.Expr(value=ast.Call(func=f) as call) if (
                    self.exprs.path(f) == "T.func_attr" and len(call.args) == 1
                ):
                    self.attrs |= dictionary(self.exprs.eval(call.args[0])).data
                case ast.Expr(value=ast.Constant(value=str())):
                    pass
                case _:
                    return False
        return True

    def _declare_symbol(self, name: str) -> None:
        self.scope.bind(name, symbol(f"{name}_" if name in RESERVED else name))

    def _is_symbol(self, node: ast.expr) -> bool:
        return is_symbol(self.exprs, node)

    def _binds(self, call: ast.Call) -> bool:
        """Whether a call matches a handle of the function."""
        match self.exprs.path(call.func):
            case "T.match_buffer":
                first = call.args[0] if call.args else None
                return isinstance(first, ast.Name) and first.id in self.handles
            case "T.decl_buffer":  # the first one of a handle says what is there
                data = next((k.value for k in call.keywords if k.arg == "data"), None)
                name = data.id if isinstance(data, ast.Name) else ""
                return name in self.pointers and self.handles[name] is None
            case _:
                return False

    def _match_param(self, target: ast.expr, call: ast.Call) -> None:
        data = [k for k in call.keywords if k.arg == "data"]
        is_declared = self.exprs.path(call.func) == "T.decl_buffer"
        handle = _name_of(data[0].value if is_declared else call.args[0])
        args = call.args if is_declared else call.args[1:]
        if self.handles[handle] is not None:
            raise self.exprs.error(call, f"expected '{handle}' to be a handle matched once")
        if not isinstance(target, ast.Name):
            raise self.exprs.error(target, "expected a name for the buffer")
        keywords = {k.arg: k.value for k in call.keywords if k.arg is not None}
        if is_declared:
            del keywords["data"]
        self.handles[handle] = self._buffer_type(call, list(args), keywords)
        self.buffer_names[handle] = target.id

    def _entry(self) -> Block:
        types: list[Attribute] = []
        for parameter in self.node.args.args:
            name = parameter.arg
            if name in self.scalars:
                dtype = self.scalars[name]
                types.append(IndexType() if dtype in SYMBOL_DTYPES else ssa_type(dtype))
                continue
            types.append(self.handles[name] or self.pointers[name])
        return Block(arg_types=types)

    def _define_parameters(self, emitter: Emitter, block: Block) -> None:
        for parameter, arg in zip(self.node.args.args, block.args, strict=True):
            name = parameter.arg
            arg.name_hint = value_hint(self.buffer_names.get(name, name))
            if name in self.pointers and self.handles[name] is None:
                self.scope.bind(name, Value(arg, "handle"))
            elif name in self.handles:
                buffer = Buffer(self.buffer_names[name], arg)
                emitter.buffers[buffer] = arg
                self.scope.bind(self.buffer_names[name], buffer)
            elif not isinstance(arg.type, IndexType):
                self.scope.bind(name, Value(arg, self.scalars[name]))


def is_symbol(exprs: ExprParser, node: ast.expr) -> bool:
    """Whether a value declares a symbol: ``T.int64()``, ``T.int64(is_size_var=True)``."""
    if not isinstance(node, ast.Call) or exprs.path(node.func) not in SYMBOL_CALLS:
        return False
    return not node.args or exprs.path(node.func) in NAMED_SYMBOLS


def _annotation_parts(node: ast.expr) -> tuple[ast.expr, list[ast.expr], dict[str, ast.expr]]:
    """Head, positional and keyword arguments of ``T.Buffer(…)``, ``T.Buffer[…]``, ``T.handle``."""
    match node:
        case ast.Call():
            keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
            return node.func, list(node.args), keywords
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Tuple() | ast.List(), *_] as items)):
            return node.value, items, {}
        case ast.Subscript():
            return node.value, [node.slice], {}
        case _:
            return node, [], {}


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)

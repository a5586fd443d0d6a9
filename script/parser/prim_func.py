"""`@T.prim_func`: a Python function definition becomes a `tir.prim_func`."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import DictionaryAttr, IndexType
from xdsl.ir import Attribute, Block, Region

from ...dialects import tir
from ...dialects.dtypes import DTYPES, element_type
from ...dialects.sym import RESERVED
from ...te.emit import Emitter, ssa_type
from ...te.expr import Value, symbol
from ...ir.attributes import to_attribute
from ...te.tensor import dim_expr
from ..namespace import ScriptName
from .expressions import Buffer, ExprParser
from .scope import Scope
from .statements import StatementParser

SYMBOL_DTYPES = ("int32", "int64")


class PrimFuncParser:
    """Parses one function: parameters and what binds them first, then the statements."""

    def __init__(self, scope: Scope, node: ast.FunctionDef):
        self.scope = scope
        self.node = node
        self.exprs = ExprParser(scope)
        self.handles: dict[str, tir.BufferType | None] = {}
        self.buffer_names: dict[str, str] = {}
        self.scalars: dict[str, Attribute] = {}
        self.attrs: dict[str, Attribute] = {}

    def parse(self, private: bool = False) -> tir.PrimFuncOp:
        """The function as an operation, not yet verified."""
        with self.scope.nested():
            for parameter in self.node.args.args:
                self._parameter(parameter)
            body = [s for s in self.node.body if not self._header(s)]
            block = self._entry()
            emitter = Emitter(block)
            self._define_parameters(emitter, block)
            StatementParser(self.scope, emitter).function_body(body)
        attrs = DictionaryAttr(self.attrs) if self.attrs else None
        names = [a.arg for a in self.node.args.args]
        return tir.PrimFuncOp(self.node.name, names, Region(block), attrs)

    def _parameter(self, parameter: ast.arg) -> None:
        annotation = parameter.annotation
        if annotation is None:
            raise self.exprs.error(
                parameter,
                f"expected an annotation for parameter '{parameter.arg}', such as T.handle",
            )
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.copy_location(
                ast.parse(annotation.value, mode="eval").body, annotation
            )
        head, args, keywords = _annotation_parts(annotation)
        path = self._path(head)
        if path == "T.handle":
            self.handles[parameter.arg] = None
        elif path == "T.Buffer":
            self.handles[parameter.arg] = self.buffer_type(annotation, args, keywords)
            self.buffer_names[parameter.arg] = parameter.arg
        elif path.startswith("T.") and path[2:] in DTYPES:
            self._scalar(parameter.arg, path[2:])
        else:
            raise self.exprs.error(
                annotation,
                f"expected T.handle, T.Buffer(…) or a scalar type, got '{ast.unparse(annotation)}'",
            )

    def _path(self, node: ast.expr) -> str:
        value = self.exprs.eval(node)
        return value.path if isinstance(value, ScriptName) else ""

    def _scalar(self, name: str, dtype: str) -> None:
        if dtype in SYMBOL_DTYPES:
            self.scalars[name] = IndexType()
            self.scope.bind(name, symbol(name))
        else:
            self.scalars[name] = ssa_type(dtype)
            self.scope.bind(name, dtype)

    def buffer_type(
        self, node: ast.AST, args: list[ast.expr], keywords: dict[str, ast.expr], skip: int = 0
    ) -> tir.BufferType:
        """The buffer type of ``T.Buffer(shape, dtype, …)`` or of ``T.match_buffer(x, shape, dtype, …)``."""
        given = dict(
            zip(
                ("shape", "dtype", "data", "strides", "elem_offset", "scope"),
                args[skip:],
                strict=False,
            )
        )
        given |= keywords
        if "shape" not in given:
            raise self.exprs.error(node, "expected the shape of a buffer")
        shape = [dim_expr(d) for d in self.exprs.shape(given["shape"])]
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        strides = (
            [dim_expr(d) for d in self.exprs.shape(given["strides"])]
            if "strides" in given
            else None
        )
        offset = dim_expr(self.exprs.expr(given["elem_offset"])) if "elem_offset" in given else 0
        scope = self.exprs.text(given["scope"]) if "scope" in given else tir.types.GLOBAL
        return tir.BufferType.of(shape, element_type(dtype), strides or None, offset, scope)

    def _header(self, statement: ast.stmt) -> bool:
        """Take statements that declare symbols, bind handles or set attributes; they may stand anywhere."""
        match statement:
            case ast.Assign(targets=[target], value=ast.Call() as call) if self._binds_handle(call):
                self._match_param(target, call)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                self._is_symbol(call)
            ):
                self.declare_symbol(name)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=calls)) if all(
                isinstance(c, ast.Call) and self._is_symbol(c) for c in calls
            ):
                for name in names:
                    self.declare_symbol(_name_of(name))
            case ast.Expr(value=ast.Call() as call) if self._called(call) == "T.func_attr":
                values = self.exprs.eval(call.args[0])
                self.attrs |= {k: to_attribute(v) for k, v in values.items()}
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case _:
                return False
        return True

    def declare_symbol(self, name: str) -> None:
        """Bind a name to the symbol it declares."""
        self.scope.bind(name, symbol(f"{name}_" if name in RESERVED else name))

    def _called(self, call: ast.Call) -> str:
        if isinstance(call.func, ast.Attribute | ast.Name):
            try:
                return self._path(call.func)
            except SyntaxError:
                return ""
        return ""

    def _is_symbol(self, call: ast.Call) -> bool:
        path = self._called(call)
        named = path[2:] in SYMBOL_DTYPES and not call.args
        is_size_var = any(k.arg == "is_size_var" for k in call.keywords)
        return path.startswith("T.") and (named or (path[2:] in SYMBOL_DTYPES and is_size_var))

    def _binds_handle(self, call: ast.Call) -> bool:
        first = call.args[0] if call.args else None
        return (
            isinstance(first, ast.Name)
            and first.id in self.handles
            and self._called(call) == "T.match_buffer"
        )

    def _match_param(self, target: ast.expr, call: ast.Call) -> None:
        handle = _name_of(call.args[0])
        if self.handles[handle] is not None:
            raise self.exprs.error(call, f"expected '{handle}' to be matched once")
        keywords = {k.arg: k.value for k in call.keywords if k.arg is not None}
        self.handles[handle] = self.buffer_type(call, list(call.args), keywords, skip=1)
        self.buffer_names[handle] = _name_of(target)

    def _entry(self) -> Block:
        types: list[Attribute] = []
        for parameter in self.node.args.args:
            name = parameter.arg
            if name in self.scalars:
                types.append(self.scalars[name])
                continue
            type_ = self.handles[name]
            if type_ is None:
                raise self.exprs.error(parameter, f"expected T.match_buffer for handle '{name}'")
            types.append(type_)
        return Block(arg_types=types)

    def _define_parameters(self, emitter: Emitter, block: Block) -> None:
        for parameter, arg in zip(self.node.args.args, block.args, strict=True):
            name = parameter.arg
            arg.name_hint = self.buffer_names.get(name, name)
            if name in self.handles:
                buffer = Buffer(self.buffer_names[name], arg)
                emitter.buffers[buffer] = arg
                self.scope.bind(self.buffer_names[name], buffer)
            elif not isinstance(arg.type, IndexType):
                dtype = self.scope.frames[-1][name]
                self.scope.bind(name, Value(arg, dtype))


def _annotation_parts(node: ast.expr) -> tuple[ast.expr, list[ast.expr], dict[str, ast.expr]]:
    """Head, positional and keyword arguments of ``T.Buffer(…)``, ``T.Buffer[…]`` or ``T.handle``."""
    if isinstance(node, ast.Call):
        return (
            node.func,
            list(node.args),
            {k.arg: k.value for k in node.keywords if k.arg is not None},
        )
    if isinstance(node, ast.Subscript):
        inner = node.slice
        if (
            isinstance(inner, ast.Tuple)
            and inner.elts
            and isinstance(inner.elts[0], ast.Tuple | ast.List)
        ):
            return node.value, list(inner.elts), {}
        return node.value, [inner], {}
    return node, [], {}


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)

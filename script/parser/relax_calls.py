"""Calls in graph functions: operators, functions of the module, registered functions, constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects import relax
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.relax.types import TensorType, tensors_in
from ...dialects.sym import expr_array, exprs_of
from ..errors import ScriptError
from .relax_dps import DPSCallParser
from .relax_values import constant_data
from .scope import suggestion

if TYPE_CHECKING:
    from .relax_func import RelaxFuncParser
    from .relax_values import ValueParser

OLD_PREFIXES = ("relax.op.", "R.op.", "relax.")


class ModuleName:
    """The module itself, as in ``cls = Module`` and ``cls.linear0``."""


class CallParser:
    """Reads the calls of one function."""

    def __init__(self, function: RelaxFuncParser):
        self.function = function
        self.exprs = function.exprs
        dps = self._dps = DPSCallParser(self)
        self._handlers: dict[str, Callable[[ast.Call], SSAValue]] = {
            "R.call_tir": dps.call_tir,
            "R.call_dps_packed": dps.call_dps_packed,
            "R.call_packed": self._call_packed,
            "R.alloc_tensor": dps.alloc_tensor,
            "R.builtin.alloc_tensor": dps.alloc_tensor,
            "R.const": self._const,
            "R.tuple": self._tuple,
        }

    @property
    def values(self) -> ValueParser:
        """The parser of what calls take."""
        return self.function.values

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.function.error(node, message)

    def emit(self, op: Any, node: ast.AST) -> SSAValue:
        """Append an operation and take its result."""
        return self.function.add(op, node).results[0]

    def path(self, node: ast.AST) -> str:
        """The script path that a call calls, in today's spelling; empty for anything else."""
        path = self.exprs.path(node.func) if isinstance(node, ast.Call) else ""
        old = next((p for p in OLD_PREFIXES if path.startswith(p)), None)
        return path if old is None else f"R.{path.removeprefix(old)}"

    def is_module_name(self, node: ast.expr) -> bool:
        """Whether a name stands for the module that is being parsed."""
        if not isinstance(node, ast.Name):
            return False
        frames = self.function.scope.frames
        found = (f[node.id] for f in reversed(frames) if node.id in f)
        return isinstance(next(found, None), ModuleName)

    def call(self, node: ast.Call) -> SSAValue:
        """The value of a call."""
        with self.function.scope.source.reporting(node):
            return self._call(node)

    def _call(self, node: ast.Call) -> SSAValue:
        sibling = self._sibling(node.func)
        if sibling is not None:
            return self._call_function(node, sibling)
        path = self.path(node)
        if path in self._handlers:
            return self._handlers[path](node)
        name = path.replace("R.", "relax.", 1)
        if name in relax.OPERATORS:
            return self._operator_call(node, name)
        shown = path or ast.unparse(node.func)
        known = [*self._handlers, *(n.replace("relax.", "R.", 1) for n in relax.OPERATORS)]
        raise self.error(
            node.func,
            f"expected an operator or function of Relax, got '{shown}'{suggestion(shown, known)}",
        )

    def _sibling(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute) and self.is_module_name(node.value):
            return node.attr
        if isinstance(node, ast.Name) and self.function.signature_of(node.id) is not None:
            return node.id
        return None

    def _call_function(self, node: ast.Call, name: str) -> SSAValue:
        signature = self.function.signature_of(name)
        if signature is None:
            raise self.error(node.func, f"expected a graph function of the module, got '{name}'")
        params, result = signature
        args = [self.values.value(a) for a in node.args]
        if len(args) != len(params) or node.keywords:
            count = len(args) + len(node.keywords)
            raise self.error(node, f"'{name}' expects {len(params)} arguments, got {count}")
        mapping = _bindings(params, [a.type for a in args])
        return self.emit(relax.CallOp(name, args, _substitute(result, mapping)), node)

    def _tuple(self, node: ast.Call) -> SSAValue:
        return self.values.value(ast.copy_location(ast.Tuple(node.args, ast.Load()), node))

    def _call_packed(self, node: ast.Call) -> SSAValue:
        called = node.args[0] if node.args else None
        callee, _ = self._dps.callee(node, called)
        args = [self.values.value(a) for a in node.args[1:]]
        types = {k.arg: k.value for k in node.keywords}
        annotation = types.pop("sinfo_args", types.pop("ty_args", None))
        if types:
            shown = ", ".join(map(str, types))
            raise self.error(node, f"expected the option sinfo_args, got {shown}")
        if isinstance(annotation, ast.Tuple | ast.List) and len(annotation.elts) == 1:
            annotation = annotation.elts[0]
        if annotation is None:
            return self.emit(relax.CallPackedOp(callee, args, relax.ObjectType()), node)
        type_ = self.function.annotations.type(annotation)
        return self.emit(relax.CallPackedOp(callee, args, type_), node)

    def _const(self, node: ast.Call) -> SSAValue:
        given = dict(zip(("value", "dtype"), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        if set(given) - {"value", "dtype"} or "value" not in given or len(node.args) > 2:
            shown = f"'{ast.unparse(node)}'"
            raise self.error(node, f"expected R.const(value, dtype), got {shown}")
        value = self.exprs.eval(given["value"])
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else _default_dtype(value)
        if isinstance(value, str):
            value = float(value)
        return self.values.constant(constant_data(value, dtype), node)

    def _operator_call(self, node: ast.Call, name: str) -> SSAValue:
        operator = relax.OPERATORS[name]
        named = {k.arg: k.value for k in node.keywords if k.arg is not None}
        try:
            given = operator.match_arguments(node.args, named)
        except ValueError as error:
            known = (*operator.operand_names(), *operator.attribute_names())
            wrong = (k.value for k in node.keywords if k.arg not in known)
            raise self.error(next(wrong, node), str(error)) from None
        operands = [
            operand
            for n in operator.operand_names()
            if n in given
            for operand in self._operands(given[n], n == operator.variadic_operand())
        ]
        attributes = {
            n: self._attribute(given[n]) for n in operator.attribute_names() if n in given
        }
        return self.operator(node, name, operands, attributes)

    def _operands(self, node: ast.expr, several: bool) -> list[SSAValue]:
        """The values of an operand: none for ``None``, the fields of a tuple for a variadic one."""
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        if several and isinstance(node, ast.Tuple | ast.List):
            return [self.values.value(n) for n in node.elts]
        value = self.values.value(node)
        if several and isinstance(value.type, TupleType):
            count = len(value.type.types.data)
            return [self.values.field(value, i, node) for i in range(count)]
        return [value]

    def _attribute(self, node: ast.expr) -> Any:
        """The Python value of an attribute; a shape may be written ``R.shape([n, 4])``."""
        if isinstance(node, ast.Call) and self.path(node) == "R.shape" and len(node.args) == 1:
            node = node.args[0]
        value = self.exprs.eval(node)
        type_ = getattr(value, "type", None)
        return (type_.dims or ()) if isinstance(type_, relax.ShapeType) else value

    def operator(
        self, node: ast.AST, name: str, operands: Sequence[SSAValue], attributes: dict[str, Any]
    ) -> SSAValue:
        """An operator applied to values."""
        kept = {k: v for k, v in attributes.items() if v is not None}
        with self.function.scope.source.reporting(node):
            return self.emit(relax.OPERATORS[name].of(operands, kept), node)


def _default_dtype(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int32"
    return str(value.dtype) if hasattr(value, "dtype") else "float32"


def _bindings(params: Sequence[Attribute], args: Sequence[Attribute]) -> dict[Atom, IntExpr]:
    """What each symbol of the callee is at this call."""
    found: dict[Atom, IntExpr] = {}
    formals, actuals = ([t for x in group for t in tensors_in(x)] for group in (params, args))
    for param, arg in zip(formals, actuals, strict=False):
        for dim, actual in zip(param.dims or (), arg.dims or (), strict=False):
            if isinstance(atom := dim.as_atom, Sym):
                found.setdefault(atom, actual)
    return found


def _substitute(type_: Attribute, mapping: dict[Atom, IntExpr]) -> Attribute:
    match type_:
        case TensorType() if type_.dims is not None:
            dims = expr_array([d.substitute(mapping) for d in type_.dims])
            return TensorType(dims, type_.element_type)
        case TupleType():
            fields: Sequence[Any] = type_.types.data
            return TupleType(tuple(_substitute(t, mapping) for t in fields))  # pyright: ignore[reportArgumentType]
        case _:
            return type_

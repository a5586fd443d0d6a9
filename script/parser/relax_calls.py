"""Calls in graph functions: `R.call_tir` in every historical form, operators, siblings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import Atom, IntExpr, Sym
from ...dialects.relax.types import TensorType, tensors_in
from ...dialects.sym import ExprArray, expr_array
from ...te.arithmetic import dim_expr
from ..errors import ScriptError
from ..namespace import ScriptName
from .relax_values import constant_data
from .scope import suggestion

if TYPE_CHECKING:
    from .relax_func import RelaxFuncParser
    from .relax_values import ValueParser


class ModuleName:
    """The module itself, as in ``cls = Module`` and ``cls.linear0``."""


class CallParser:
    """Reads the calls of one function."""

    def __init__(self, function: RelaxFuncParser):
        self.function = function
        self.exprs = function.exprs

    @property
    def values(self) -> ValueParser:
        """The parser of what calls take."""
        return self.function.values

    def error(self, node: ast.AST, message: str) -> ScriptError:
        """The script error at a node."""
        return self.function.error(node, message)

    def path(self, node: ast.expr) -> str:
        """The script path that a call calls, in today's spelling; empty for anything else."""
        path = self.exprs.path(node.func) if isinstance(node, ast.Call) else ""
        for old in ("relax.op.", "R.op.", "relax."):
            if path.startswith(old):
                return f"R.{path.removeprefix(old)}"
        return path

    def is_module_name(self, node: ast.expr) -> bool:
        """Whether a name stands for the module that is being parsed."""
        if not isinstance(node, ast.Name):
            return False
        frames = self.function.scope.frames
        found = (f[node.id] for f in reversed(frames) if node.id in f)
        return isinstance(next(found, None), ModuleName)

    def call(self, node: ast.Call) -> SSAValue:
        """The value of a call."""
        sibling = self._sibling(node.func)
        if sibling is not None:
            return self._call_function(node, sibling)
        path = self.path(node)
        handlers = {
            "R.call_tir": self._call_tir,
            "R.call_dps_packed": self._call_dps_packed,
            "R.call_packed": self._call_packed,
            "R.call_pure_packed": self._call_packed,
            "R.alloc_tensor": self._alloc_tensor,
            "R.builtin.alloc_tensor": self._alloc_tensor,
            "R.const": self._const,
            "R.tuple": self._tuple,
        }
        if path in handlers:
            return handlers[path](node)
        name = path.replace("R.", "relax.", 1)
        if name in relax.OPERATORS:
            return self._operator_call(node, name)
        shown = path or ast.unparse(node.func)
        known = [*handlers, *(n.replace("relax.", "R.", 1) for n in relax.OPERATORS)]
        raise self.error(
            node.func,
            f"expected an operator or function of Relax, got '{shown}'{suggestion(shown, known)}",
        )

    def _tuple(self, node: ast.Call) -> SSAValue:
        return self.values.value(ast.copy_location(ast.Tuple(node.args, ast.Load()), node))

    def _sibling(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute) and self.is_module_name(node.value):
            return node.attr
        if isinstance(node, ast.Name) and self.function.signature_of(node.id) is not None:
            return node.id
        return None

    def _call_function(self, node: ast.Call, name: str) -> SSAValue:
        signature = self.function.signature_of(name)
        if signature is None:
            raise self.error(node.func, f"expected a function of the module, got '{name}'")
        params, result = signature
        args = [self.values.value(a) for a in node.args]
        if len(args) != len(params):
            raise self.error(node, f"'{name}' expects {len(params)} arguments, got {len(args)}")
        mapping = _bindings(params, [a.type for a in args])
        return self._emit(relax.CallOp(name, args, _substitute(result, mapping)), node)

    def _emit(self, op: Any, node: ast.AST) -> SSAValue:
        return self.function.add(op, node).results[0]

    def _arguments(self, node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
        if len(node.args) > len(names):
            raise self.error(node, f"expected at most {len(names)} arguments, got {len(node.args)}")
        given = dict(zip(names, node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        for old, new in (
            ("out_ty", "out_sinfo"),
            ("output_sinfo", "out_sinfo"),
            ("shape", "out_sinfo"),
            ("out_shape", "out_sinfo"),
        ):
            if old in given:
                given[new] = given.pop(old)
        unknown = set(given) - {*names, "dtype", "tir_vars"}
        if unknown:
            raise self.error(
                node, f"expected arguments {', '.join(names)}, got {', '.join(sorted(unknown))}"
            )
        return given

    def _tensors(self, node: ast.expr | None) -> list[SSAValue]:
        if node is None:
            return []
        nodes = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        return [self.values.value(n) for n in nodes]

    def _out_type(self, node: ast.Call, given: dict[str, ast.expr]) -> Attribute:
        """``R.Tensor(…)``, a list of them, or a shape with ``dtype=``."""
        out = given.get("out_sinfo")
        if out is None:
            raise self.error(
                node, 'expected the type of the result, such as R.Tensor((1, n), "float32")'
            )
        if self.path(out) in ("R.Tensor", "R.Tuple"):
            return self.function.annotations.type(out)
        if (
            isinstance(out, ast.List | ast.Tuple)
            and out.elts
            and all(self.path(n) == "R.Tensor" for n in out.elts)
        ):
            return TupleType([self.function.annotations.type(n) for n in out.elts])
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        return TensorType.of(self.function.annotations.dims(out), element_type(dtype))

    def _callee(self, node: ast.expr) -> tuple[str, bool]:
        """Name of what is called, and whether it is a function of the module rather than a string."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value, False
        if isinstance(node, ast.Attribute) and self.is_module_name(node.value):
            return node.attr, True
        if isinstance(node, ast.Name):
            return node.id, True
        if self._is_extern(node):
            assert isinstance(node, ast.Call)
            return self.exprs.text(node.args[0]), False
        raise self.error(
            node, f"expected a function of the module or a string, got '{ast.unparse(node)}'"
        )

    def _is_extern(self, node: ast.expr) -> bool:
        return self.path(node) in ("R.ExternFunc", "R.extern")

    def _call_tir(self, node: ast.Call) -> SSAValue:
        given = self._arguments(node, ("func", "args", "out_sinfo", "tir_vars"))
        callee, is_sibling = self._callee(node.args[0])
        args, type_ = self._tensors(given.get("args")), self._out_type(node, given)
        if not is_sibling:
            return self._emit(relax.CallDPSPackedOp(callee, args, type_), node)
        variables = self._tir_vars(given.get("tir_vars"))
        return self._emit(relax.CallTIROp(callee, args, type_, variables), node)

    def _tir_vars(self, node: ast.expr | None) -> ExprArray | None:
        if node is None:
            return None
        inner = (
            node.args[0]
            if isinstance(node, ast.Call) and self.path(node) in ("R.shape", "R.ShapeExpr")
            else node
        )
        return expr_array([dim_expr(d) for d in self.exprs.shape(inner)])

    def _call_dps_packed(self, node: ast.Call) -> SSAValue:
        given = self._arguments(node, ("func", "args", "out_sinfo"))
        callee, _ = self._callee(node.args[0])
        args, type_ = self._tensors(given.get("args")), self._out_type(node, given)
        return self._emit(relax.CallDPSPackedOp(callee, args, type_), node)

    def _call_packed(self, node: ast.Call) -> SSAValue:
        if not node.args:
            raise self.error(node, "expected the name of a registered function")
        callee, _ = self._callee(node.args[0])
        args = [self.values.value(a) for a in node.args[1:]]
        types = {k.arg: k.value for k in node.keywords}
        annotation = types.get("sinfo_args", types.get("ty_args"))
        if isinstance(annotation, ast.Tuple | ast.List) and annotation.elts:
            annotation = annotation.elts[0]
        type_ = (
            relax.ObjectType() if annotation is None else self.function.annotations.type(annotation)
        )
        return self._emit(relax.CallPackedOp(callee, args, type_), node)

    def _alloc_tensor(self, node: ast.Call) -> SSAValue:
        given = self._arguments(node, ("out_sinfo", "dtype"))
        type_ = self._out_type(node, given)
        assert isinstance(type_, TensorType)
        return self._emit(relax.AllocTensorOp(type_), node)

    def _const(self, node: ast.Call) -> SSAValue:
        if not node.args:
            raise self.error(node, "expected R.const(value, dtype)")
        value = self.exprs.eval(node.args[0])
        keywords = {k.arg: k.value for k in node.keywords}
        dtype_node = node.args[1] if len(node.args) > 1 else keywords.get("dtype")
        dtype = self.exprs.dtype(dtype_node) if dtype_node is not None else _default_dtype(value)
        if isinstance(value, str):
            value = float(value)
        return self.values.constant(constant_data(value, dtype), node)

    def _operator_call(self, node: ast.Call, name: str) -> SSAValue:
        names = relax.OPERATORS[name].operand_names()
        operands = [self.values.value(a) for a in node.args[: len(names)]]
        attributes: dict[str, Any] = {}
        extra = node.args[len(names) :]
        order = relax.OPERATORS[name].attribute_names()
        for attribute, argument in zip(order, extra, strict=False):
            attributes[attribute] = self.exprs.eval(argument)
        for keyword in node.keywords:
            if keyword.arg in names:
                operands.append(self.values.value(keyword.value))
            elif keyword.arg is not None:
                attributes[keyword.arg] = self.exprs.eval(keyword.value)
        if len(extra) > len(order):
            raise self.error(
                node,
                f"expected at most {len(names) + len(order)} arguments of '{name}', got {len(node.args)}",
            )
        return self.operator(node, name, operands, attributes)

    def operator(
        self, node: ast.AST, name: str, operands: Sequence[SSAValue], attributes: dict[str, Any]
    ) -> SSAValue:
        """An operator applied to values."""
        kept = {k: v for k, v in attributes.items() if v is not None}
        with self.function.scope.source.reporting(node):
            return self._emit(relax.OPERATORS[name].of(operands, kept), node)


def _default_dtype(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int32" if isinstance(value, int) else "float32"


def _bindings(params: Sequence[Attribute], args: Sequence[Attribute]) -> dict[Atom, IntExpr]:
    """What each symbol of the callee is at this call."""
    found: dict[Atom, IntExpr] = {}
    pairs = zip(
        [t for p in params for t in tensors_in(p)],
        [t for a in args for t in tensors_in(a)],
        strict=False,
    )
    for param, arg in pairs:
        for dim, actual in zip(param.dims or (), arg.dims or (), strict=False):
            if isinstance(atom := dim.as_atom, Sym):
                found.setdefault(atom, actual)
    return found


def _substitute(type_: Attribute, mapping: dict[Atom, IntExpr]) -> Attribute:
    match type_:
        case TensorType() if type_.dims is not None:
            return TensorType(
                expr_array([d.substitute(mapping) for d in type_.dims]), type_.element_type
            )
        case TupleType(types=types):
            return TupleType([_substitute(t, mapping) for t in types.data])  # pyright: ignore[reportArgumentType]
        case _:
            return type_

"""Calls in graph functions: operators, functions of the module, registered functions, constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, cast

from xdsl.dialects.builtin import TupleType, UnitAttr
from xdsl.ir import Operation, SSAValue

from ...dialects import relax
from ...dialects.attributes import RECOMPUTED
from ...dialects.diagnostics import suggestion
from ...dialects.dtypes import DTYPES
from ...ir.callees import GlobalVar, graph_call
from ...ir.operators import attribute_value, constant_data, default_dtype
from ...lowering.graph.lower_prims import number_tensor, result_of
from .own_function import OwnFunction
from .relax_closures import ClosureParser, result_type
from .relax_dps import DPSCallParser
from .relax_kernels import KernelParser
from .relax_loops import LoopParser
from .relax_macros import MacroCallParser
from .relax_memory import MemoryCallParser
from .relax_packed import PackedCallParser
from .relax_reader import ExternName, RelaxReader
from .relax_shapes import ShapeCallParser
from .scope import FunctionName


class CallParser:
    """Reads the calls of one function."""

    def __init__(self, function: RelaxReader):
        self.function = function
        self.exprs = function.exprs
        self.macros = MacroCallParser(function)
        self.dps = dps = DPSCallParser(function)
        self.shapes = shapes = ShapeCallParser(function)
        self.number = shapes.number
        self.packed = effects = PackedCallParser(function, dps)
        self.closures = ClosureParser(function, dps)
        self._handlers: dict[str, Callable[[ast.Call], SSAValue]] = {
            "R.call_tir": dps.call_tir,
            "R.call_tir_inplace": dps.call_tir_inplace,
            "R.call_tir_with_grad": dps.call_tir_with_grad,
            "R.call_dps_packed": dps.call_dps_packed,
            "R.assert_op": effects.assert_op,
            "R.call_inplace_packed": effects.call_inplace_packed,
            "R.call_packed": effects.call_packed,
            "R.call_pure_packed": effects.call_pure_packed,
            "R.call_py_func": effects.call_py_func,
            "R.dtype": effects.dtype,
            "R.null_value": effects.null_value,
            "R.print": effects.print_op,
            "R.alloc_tensor": dps.alloc_tensor,
            "R.builtin.alloc_tensor": dps.alloc_tensor,
            "R.const": self._const,
            "R.emit_te": KernelParser(function).emit_te,
            "R.emit_with_sinfo": self._call_of_name,
            "R.emit_with_ty": self._call_of_name,
            "R.grad.recomputed": self._recomputed,
            "R.loop": LoopParser(function, dps).loop,
            "R.invoke_closure": self.closures.invoke_closure,
            "R.invoke_pure_closure": self.closures.invoke_closure,
            "R.make_closure": self.closures.make_closure,
            "R.match_cast": shapes.match_cast,
            "R.prim_to_tensor": shapes.prim_to_tensor,
            "R.prim_value": shapes.prim_value,
            "R.ShapeExpr": shapes.shape,
            "R.TupleGetItem": self._field,
            "R.shape": shapes.shape,
            "R.shape_of": shapes.shape_of,
            "R.str": effects.string,
            "R.tensor_to_prim": shapes.tensor_to_prim,
            "R.tensor_to_shape": shapes.tensor_to_shape,
            "R.tuple": self._tuple,
            **MemoryCallParser(function, dps).handlers,
        }

    def call(self, node: ast.Call) -> SSAValue:
        """The value of a call."""
        with self.function.scope.source.reporting(node):
            return self._call(node)

    def _call(self, node: ast.Call) -> SSAValue:
        local = self._local_function(node.func)
        if local is not None:
            return self._invoke(node, *local)
        sibling = self._sibling(node.func)
        if sibling is not None:
            return self._call_function(node, sibling)
        if self._is_external(node.func):
            call = ast.Call(node.func, [node.func, *node.args], node.keywords)
            return self.packed.call_packed(ast.copy_location(call, node))
        outside = self._outside(node.func)
        if outside is not None and not node.keywords:
            args = [self.function.value(a) for a in node.args]
            return self.function.emit(graph_call(outside, args), node)
        macro = self.macros.macro(node)
        if macro is not None:
            return self.macros.expand(node, macro)
        path = self.function.path(node)
        if path in self._handlers:
            return self._handlers[path](node)
        name = path.replace("R.", "relax.", 1)
        if name in relax.OPERATORS:
            return self._operator_call(node, name)
        if path.startswith("T.") and path.removeprefix("T.") in DTYPES:
            return self.number(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype" and node.args:
            value = self.function.value(node.func.value)
            return self.operator(
                node, "relax.astype", [value], {"dtype": self.exprs.eval(node.args[0])}
            )
        shown = path or ast.unparse(node.func)
        known = [*self._handlers, *(n.replace("relax.", "R.", 1) for n in relax.OPERATORS)]
        raise self.function.error(
            node.func,
            f"expected an operator or function of Relax, got '{shown}'{suggestion(shown, known)}",
        )

    def _call_of_name(self, node: ast.Call) -> SSAValue:
        """``R.emit_with_ty("relax.add", (x, y), (type,))``, which TVM prints: a call by name."""
        match node:
            case ast.Call(
                func=ast.Attribute(value=func),
                args=[ast.Constant(value=str(name)), ast.Tuple(elts=args), _],
                keywords=[],
            ):
                for part in name.removeprefix("relax.").split("."):
                    func = ast.copy_location(ast.Attribute(func, part, ast.Load()), node.func)
                return self._call(ast.copy_location(ast.Call(func, args, []), node))
            case _:
                pass
        raise self.function.error(node, "expected R.emit_with_ty(name, (arguments), (types))")

    def _sibling(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute) and self.function.is_module_name(node.value):
            return node.attr
        if isinstance(node, ast.Name):
            if isinstance(alias := self.function.bound(node.id), FunctionName):
                return str(alias)
            return None if self.function.signature_of(node.id) is None else node.id
        return None

    def _is_external(self, node: ast.expr) -> bool:
        """Whether what is called is ``R.ExternFunc("f")``, also under a name."""
        if isinstance(node, ast.Name):
            return isinstance(self.function.bound(node.id), ExternName)
        return isinstance(node, ast.Call) and self.function.path(node) == "R.ExternFunc"

    def _outside(self, node: ast.expr) -> GlobalVar | None:
        """The function of another module that a name of Python stands for."""
        found = self.function.scope.python.get(node.id) if isinstance(node, ast.Name) else None
        return found if isinstance(found, GlobalVar) else None

    def _local_function(self, node: ast.expr) -> tuple[SSAValue, AbstractSet[str]] | None:
        """The function value that a name is bound to, if it is one, and the symbols around it."""
        if not isinstance(node, ast.Name):
            return None
        found = self.function.bound(node.id)
        if isinstance(found, OwnFunction):
            return found.value, found.around
        is_function = isinstance(getattr(found, "type", None), relax.FuncType)
        return (found, self.function.declared) if is_function else None

    def _invoke(self, node: ast.Call, function: SSAValue, around: AbstractSet[str]) -> SSAValue:
        if node.keywords:
            raise self.function.error(node, "expected arguments of a local function by position")
        args = [self.function.value(a) for a in node.args]
        return self.closures.invoke(node, function, args, around)

    def _call_function(self, node: ast.Call, name: str) -> SSAValue:
        signature = self.function.signature_of(name)
        if signature is None and name in self.function.scope.function_names:
            return self.dps.call_kernel(node, name)
        if signature is None:
            raise self.function.error(
                node.func, f"expected a graph function of the module, got '{name}'"
            )
        params, result = signature
        args = [self.function.value(a) for a in node.args]
        if len(args) != len(params) or node.keywords:
            count = len(args) + len(node.keywords)
            raise self.function.error(
                node, f"'{name}' expects {len(params)} arguments, got {count}"
            )
        return self.function.emit(relax.CallOp(name, args, result_type(params, args, result)), node)

    def _tuple(self, node: ast.Call) -> SSAValue:
        return self.function.value(ast.copy_location(ast.Tuple(node.args, ast.Load()), node))

    def _field(self, node: ast.Call) -> SSAValue:
        if len(node.args) != 2 or node.keywords:
            raise self.function.error(node, "expected R.TupleGetItem(value, index)")
        place = ast.Subscript(node.args[0], node.args[1], ast.Load())
        return self.function.value(ast.copy_location(place, node))

    def _recomputed(self, node: ast.Call) -> SSAValue:
        """``R.grad.recomputed(R.exp(x))``, which is not merged with an earlier ``R.exp(x)``."""
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Name):
            shown = f"'{ast.unparse(node)}'"
            raise self.function.error(node, f"expected R.grad.recomputed(call), got {shown}")
        value = self.function.value(node.args[0])
        assert isinstance(value.owner, Operation)
        value.owner.attributes[RECOMPUTED] = UnitAttr()
        return value

    def _const(self, node: ast.Call) -> SSAValue:
        given = dict(zip(("value", "dtype"), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        if set(given) - {"value", "dtype"} or "value" not in given or len(node.args) > 2:
            shown = f"'{ast.unparse(node)}'"
            raise self.function.error(node, f"expected R.const(value, dtype), got {shown}")
        value = self.exprs.eval(given["value"])
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else _default_dtype(value)
        if isinstance(value, str):
            value = float(value)
        return self.function.constant(constant_data(value, dtype), node)

    def _operator_call(self, node: ast.Call, name: str) -> SSAValue:
        operator = relax.OPERATORS[name]
        named = {k.arg: k.value for k in node.keywords if k.arg is not None}
        try:
            given = operator.match_arguments(node.args, named)
        except ValueError as error:
            known = (*operator.operand_names(), *operator.attribute_names())
            wrong = (k.value for k in node.keywords if k.arg not in known)
            raise self.function.error(next(wrong, node), str(error)) from None
        operands = [
            operand
            for n in operator.operand_names()
            if n in given
            for operand in self._operands(operator, n, given[n])
        ]
        attributes = {
            n: self._attribute(given[n]) for n in operator.attribute_names() if n in given
        }
        for key, value in attributes.items():
            if isinstance(getattr(value, "type", None), relax.ShapeType):
                if (call := self.shapes.of_unknown_rank(name, operands, value)) is not None:
                    return self.function.emit(call, node)
                attributes[key] = dims = self.shapes.named_dims(value, node)
                if name == "relax.reshape":
                    operands = [self.shapes.with_elements(operands[0], dims, node)]
        return self.operator(node, name, operands, attributes)

    def _operands(
        self, operator: type[relax.OperatorOp], name: str, node: ast.expr
    ) -> list[SSAValue]:
        """The values of an operand: none for ``None``, the fields of a tuple for a variadic one."""
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        if name != operator.variadic_operand():
            return [self.function.value(node)]
        if isinstance(node, ast.Call) and self.function.path(node) == "R.tuple":
            node = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
        if isinstance(node, ast.Tuple | ast.List):
            return [self.function.value(n) for n in node.elts]
        value = self.function.value(node)
        operator.require_tuple(name, value.type, value.type)
        count = len(cast(TupleType, value.type).types.data)
        return [self.function.field(value, i, node) for i in range(count)]

    def _attribute(self, node: ast.expr) -> Any:
        """The Python value of an attribute, also of ``R.shape([n])`` and ``R.shape_of(x)``."""
        wrappers = ("R.shape", "R.prim_value", "R.dtype", "R.str")
        if (
            isinstance(node, ast.Call)
            and self.function.path(node) in wrappers
            and len(node.args) == 1
        ):
            node = node.args[0]
        if isinstance(node, ast.Call) and self.function.path(node) == "R.shape_of":
            return attribute_value(self.function.value(node))
        text = self._index_map(node)
        if text is not None:
            return text
        return attribute_value(self.exprs.eval(node))

    def _index_map(self, node: ast.expr) -> str | None:
        """The text of ``lambda i, j: (j, i)``, also in ``T.index_map(…)``."""
        if isinstance(node, ast.Call) and node.args and self.function.path(node) == "T.index_map":
            node = node.args[0]
        return ast.unparse(node) if isinstance(node, ast.Lambda) else None

    def operator(
        self,
        node: ast.AST,
        name: str,
        operands: Sequence[SSAValue],
        attributes: dict[str, Any],
        given: Sequence[SSAValue | None] | None = None,
    ) -> SSAValue:
        """An operator applied to values; `given` has None for numbers among them."""
        kept = {k: v for k, v in attributes.items() if v is not None}
        with self.function.scope.source.reporting(node):
            values = [number_tensor(v, lambda op: self.function.emit(op, node)) for v in operands]
            made = relax.OPERATORS[name].of(values, kept)
            result = result_of(made, operands if given is None else given)
            if result is not made:
                self.function.emit(made, node)
            return self.function.emit(result, node)


def _default_dtype(value: Any) -> str:
    return str(value.dtype) if hasattr(value, "dtype") else default_dtype(value)

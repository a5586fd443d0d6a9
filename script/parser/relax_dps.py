"""Destination-passing calls of graph functions: `R.call_tir`, `R.call_dps_packed`, old and new."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, TupleType
from xdsl.ir import SSAValue, TypeAttribute

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.relax.types import PrimType, TensorType
from ...dialects.sym import ExprArray, expr_array
from ...ir.callees import GlobalVar
from ...ir.operators import prim_op
from ...te.arithmetic import Index, dim_expr
from ...te.attributes import dictionary
from .relax_reader import EXTERNAL, ExternName, RelaxReader
from .scope import FunctionName

OLD_NAMES = {
    "out_ty": "out_sinfo",
    "output_sinfo": "out_sinfo",
    "output_shape": "out_sinfo",
    "out_shape": "out_sinfo",
    "shape": "out_sinfo",
}
SHAPES = ("R.shape", "R.ShapeExpr")
EXPECTED_TYPE = 'expected the type of the result, such as R.Tensor((1, n), "float32")'


class DPSCallParser:
    """Reads calls whose results are allocated by the caller."""

    def __init__(self, function: RelaxReader):
        self.function = function
        self.exprs = function.exprs
        self.annotations = function.annotations

    def call_tir(self, node: ast.Call) -> SSAValue:
        """``R.call_tir(cls.f, (x,), out_sinfo=…)``; a string is looked up like a packed one."""
        return self._kernel(node, self._arguments(node, ("func", "args", "out_sinfo", "tir_vars")))

    def call_tir_with_grad(self, node: ast.Call) -> SSAValue:
        """``R.call_tir_with_grad(cls.f, (x,), out_sinfo=…, te_grad_name="f_grad")``."""
        names = ("func", "args", "out_sinfo", "te_grad_name", "te_grad_kwargs", "tir_vars")
        given = self._arguments(node, names)
        if "te_grad_name" not in given:
            raise self.function.error(node, "expected te_grad_name, got none")
        if not self.callee(node, given.get("func"))[1]:
            raise self.function.error(node, "expected a PrimFunc of the module, got a string")
        return self._kernel(node, given)

    def _kernel(self, node: ast.Call, given: dict[str, ast.expr]) -> SSAValue:
        callee, is_sibling = self.callee(node, given.get("func"))
        elements = self.listed(given.get("args"))
        numbers = [n for n in elements if self._is_number(n)] if is_sibling else []
        floats = "float32" if is_sibling else None
        values = {n: self.argument(n, floats) for n in elements if n not in numbers}
        if any(isinstance(v.type, PrimType) for v in values.values()):
            # Scalars of unknown value keep the order of parameters, so integers are values too.
            values |= {n: self._prim_value(n) for n in numbers}
            numbers = []
        tensors = [values[n] for n in elements if n in values]
        type_ = self._out_type(node, given)
        if not is_sibling:
            return self.function.emit(relax.CallDPSPackedOp(callee, tensors, type_), node)
        variables = self._tir_vars(given.get("tir_vars"))
        if numbers and variables is None:
            variables = expr_array([dim_expr(self.exprs.eval(n)) for n in numbers])
        gradient = self._gradient(given)
        call = relax.CallTIROp(callee, tensors, type_, variables, *gradient)
        return self.function.emit(call, node)

    def _gradient(self, given: dict[str, ast.expr]) -> tuple[str | None, DictionaryAttr | None]:
        """The name of a gradient function and its keywords, which are none where it has none."""
        if "te_grad_name" not in given:
            return None, None
        keywords = self.exprs.eval(given["te_grad_kwargs"]) if "te_grad_kwargs" in given else None
        return self.exprs.text(given["te_grad_name"]), dictionary(keywords) if keywords else None

    def _prim_value(self, node: ast.expr) -> SSAValue:
        return self.function.emit(relax.PrimValueOp(dim_expr(self.exprs.eval(node))), node)

    def _is_number(self, node: ast.expr) -> bool:
        """Whether an argument is an integer over symbols: the value of a parameter for it."""
        if not isinstance(node, ast.Constant | ast.Name | ast.BinOp):
            return False
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        leaves = names or [node]
        return all(isinstance(self.exprs.eval(n), Index | int) for n in leaves)

    def call_tir_inplace(self, node: ast.Call) -> SSAValue:
        """``R.call_tir_inplace(cls.f, (x,), inplace_indices=[0], out_sinfo=…)``."""
        names = ("func", "args", "inplace_indices", "out_sinfo", "tir_vars")
        given = self._arguments(node, names)
        callee, is_sibling = self.callee(node, given.get("func"))
        if not is_sibling:
            raise self.function.error(node, f"expected a PrimFunc of the module, got '{callee}'")
        positions = self.positions(node, given.get("inplace_indices"))
        args = [self.argument(n, "float32") for n in self.listed(given.get("args"))]
        type_ = self._out_type(node, given)
        variables = self._tir_vars(given.get("tir_vars"))
        op = relax.CallTIRInplaceOp(callee, args, positions, type_, variables)
        return self.function.emit(op, node)

    def positions(self, node: ast.Call, given: ast.expr | None) -> list[int]:
        """The positions of arguments that become results: a list, or the only one."""
        if given is None:
            raise self.function.error(node, "expected inplace_indices, got none")
        found = self.exprs.eval(given)
        is_one = not isinstance(found, list | tuple)
        indices = [found] if is_one else list(cast("Sequence[Any]", found))
        positions = [i for i in indices if isinstance(i, int)]
        if len(positions) != len(indices):
            raise self.function.error(given, "expected integers as inplace_indices")
        return positions

    def call_dps_packed(self, node: ast.Call) -> SSAValue:
        """``R.call_dps_packed("f", (x,), out_sinfo=…)``, with a name or a string."""
        return self.function.emit(relax.CallDPSPackedOp(*self.call_parts(node)), node)

    def call_parts(self, node: ast.Call) -> tuple[str, list[SSAValue], TypeAttribute]:
        """The name of what is called, the arguments, and the type of the result."""
        given = self._arguments(node, ("func", "args", "out_sinfo"))
        callee, _ = self.callee(node, given.get("func"))
        args = [self.argument(n) for n in self.listed(given.get("args"))]
        return callee, args, self._out_type(node, given)

    def argument(self, node: ast.expr, floats: str | None = None) -> SSAValue:
        """An argument of a function; a number is one of the graph, and no tensor.

        `floats` is the dtype of Python's floats: float32 for kernels, float64 without.
        """
        if not self.function.is_number(node):
            return self.function.value(node)
        found = self.exprs.eval(node)
        dtype = floats if isinstance(found, float) else None
        op = prim_op(found, dtype, lambda op: self.function.emit(op, node))
        return self.function.emit(op, node)

    def alloc_tensor(self, node: ast.Call) -> SSAValue:
        """``R.alloc_tensor((1, 128), dtype="float32")``."""
        given = self._arguments(
            node, ("out_sinfo", "dtype", "runtime_device_index", "storage_scope")
        )
        type_ = self._out_type(node, given)
        if not isinstance(type_, TensorType):
            raise self.function.error(node, f"expected the shape of one tensor, got {type_}")
        return self.function.emit(relax.AllocTensorOp(type_), node)

    def call_kernel(self, node: ast.Call, name: str) -> SSAValue:
        """``cls.f(x, y)``: the call of a PrimFunc on its inputs and outputs."""
        if node.keywords:
            raise self.function.error(node, f"expected tensors as arguments of '{name}'")
        args = [self.function.value(n) for n in node.args]
        return self.function.emit(relax.CallKernelOp(name, args), node)

    def call_tir_dyn(self, node: ast.Call) -> SSAValue:
        """``R.vm.call_tir_dyn(cls.f, (x, y, R.shape([n])))``: one with index parameters.

        A string names it too.
        """
        given = self._arguments(node, ("func", "args"))
        callee, _ = self.callee(node, given.get("func"))
        elements = self.listed(given.get("args"))
        if not elements:
            raise self.function.error(node, "expected a PrimFunc of the module and its arguments")
        args = [self.function.value(n) for n in elements[:-1]]
        op = relax.CallKernelOp(callee, args, self._tir_vars(elements[-1]))
        return self.function.emit(op, node)

    def callee(self, node: ast.Call, called: ast.expr | None) -> tuple[str, bool]:
        """Name of what is called, and whether it is a function of the module, not a string."""
        match called:
            case ast.Constant(value=str() as name):
                return name, False
            case ast.Attribute(value=owner, attr=name) if self.function.is_module_name(owner):
                return name, True
            case ast.Name(id=name):
                alias = self.function.bound(name)
                if isinstance(alias, FunctionName | ExternName):
                    return str(alias), isinstance(alias, FunctionName)
                known = self.function.scope.python.get(name)
                return known.name_hint if isinstance(known, GlobalVar) else name, True
            case ast.Call(args=[inner]) if self.function.path(called) in EXTERNAL:
                return self.exprs.text(inner), False
            case _:
                shown = "nothing" if called is None else f"'{ast.unparse(called)}'"
                raise self.function.error(
                    called or node, f"expected a function of the module or a string, got {shown}"
                )

    def _arguments(self, node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
        if len(node.args) > len(names):
            raise self.function.error(
                node, f"expected at most {len(names)} arguments, got {len(node.args)}"
            )
        given = dict(zip(names, node.args, strict=False))
        for keyword in node.keywords:
            name = OLD_NAMES.get(keyword.arg or "", keyword.arg or "**")
            if name in given:
                raise self.function.error(keyword, f"expected '{name}' once, got it twice")
            given[name] = keyword.value
        unknown = sorted(set(given) - {*names, "dtype"})
        if unknown:
            raise self.function.error(
                node, f"expected arguments {', '.join(names)}, got {', '.join(unknown)}"
            )
        return given

    def listed(self, node: ast.expr | None) -> list[ast.expr]:
        """The arguments that a tuple has, also as ``R.tuple(x, y)``, or the only one."""
        if isinstance(node, ast.Call) and self.function.path(node) == "R.tuple":
            return node.args
        return [] if node is None else self.exprs.elements(node)

    def _out_type(self, node: ast.Call, given: dict[str, ast.expr]) -> TypeAttribute:
        """``R.Tensor(…)``, a list of them, or a shape or list of shapes with ``dtype=``."""
        out = given.get("out_sinfo")
        if out is None:
            raise self.function.error(node, EXPECTED_TYPE)
        if isinstance(out, ast.Call) and self.function.path(out) in SHAPES and len(out.args) == 1:
            out = out.args[0]
        if self._is_type(out):
            return self.annotations.type(out)
        items = self.exprs.elements(out)
        if items and all(map(self._is_type, items)):
            return _one_or_tuple([self.annotations.type(n) for n in items])
        dtypes = self._dtypes(given.get("dtype"))
        if items and all(isinstance(n, ast.Tuple | ast.List) for n in items):
            spread = dtypes * len(items) if len(dtypes) == 1 else dtypes
            if len(spread) != len(items):
                raise self.function.error(
                    node, f"expected {len(items)} dtypes for {len(items)} shapes, got {len(spread)}"
                )
            pairs = zip(items, spread, strict=True)
            return _one_or_tuple([self._tensor(n, dtype) for n, dtype in pairs])
        return self._tensor(out, dtypes[0])

    def _is_type(self, node: ast.expr) -> bool:
        return self.function.path(node) in ("R.Tensor", "R.Tuple")

    def _tensor(self, shape: ast.expr, dtype: str) -> TensorType:
        return TensorType.of(self.annotations.dims(shape), element_type(dtype))

    def _dtypes(self, node: ast.expr | None) -> list[str]:
        return ["float32"] if node is None else [*map(self.exprs.dtype, self.exprs.elements(node))]

    def _tir_vars(self, node: ast.expr | None) -> ExprArray | None:
        match node:
            case None:
                return None
            case ast.Call(args=[inner]) if self.function.path(node) in SHAPES:
                return expr_array([dim_expr(d) for d in self.exprs.shape(inner)])
            case _:
                return expr_array([dim_expr(d) for d in self.exprs.shape(node)])


def _one_or_tuple(types: Sequence[TypeAttribute]) -> TypeAttribute:
    """A list of one type stands for the type, as in TVM."""
    return types[0] if len(types) == 1 else TupleType(tuple(types))

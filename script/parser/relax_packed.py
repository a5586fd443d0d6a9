"""Calls of registered functions in graph functions, and those for effects."""

from __future__ import annotations

import ast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from ...dialects import relax
from ...dialects.dtypes import element_type
from .relax_dps import DPSCallParser
from .relax_reader import RelaxReader


class PackedCallParser:
    """Reads ``R.call_packed``, ``R.call_pure_packed``, ``R.print`` and ``R.assert_op``."""

    def __init__(self, function: RelaxReader, dps: DPSCallParser):
        self.function = function
        self.dps = dps
        self.exprs = function.exprs

    def call_packed(self, node: ast.Call) -> SSAValue:
        """``R.call_packed("f", x, sinfo_args=…)``, for effects; its result may be used."""
        callee, args, type_ = self._packed(node)
        op = relax.CallPackedOp(callee, args, type_ or relax.ObjectType())
        return self.function.emit(op, node)

    def call_pure_packed(self, node: ast.Call) -> SSAValue:
        """``R.call_pure_packed("f", x, sinfo_args=…)``, for its result."""
        return self._pure(node, None)

    def call_inplace_packed(self, node: ast.Call) -> SSAValue:
        """``R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=…)``."""
        given = [k for k in node.keywords if k.arg == "inplace_indices"]
        positions = self.dps.positions(node, given[0].value if given else None)
        rest = [k for k in node.keywords if k not in given]
        return self._pure(ast.copy_location(ast.Call(node.func, node.args, rest), node), positions)

    def _pure(self, node: ast.Call, positions: list[int] | None) -> SSAValue:
        callee, args, type_ = self._packed(node)
        if type_ is None:
            raise self.function.error(node, "expected the type of the result as sinfo_args")
        return self.function.emit(relax.CallPurePackedOp(callee, args, type_, positions), node)

    def null_value(self, node: ast.Call) -> SSAValue:
        """``R.null_value()``, an object that stands for nothing."""
        if node.args or node.keywords:
            raise self.function.error(node, "expected R.null_value() without arguments")
        op = relax.CallPurePackedOp("vm.builtin.null_value", [], relax.ObjectType())
        return self.function.emit(op, node)

    def string(self, node: ast.Call) -> SSAValue:
        """``R.str("max")``, a string."""
        if len(node.args) != 1 or node.keywords:
            raise self.function.error(node, 'expected R.str("text")')
        return self.function.emit(relax.StringOp(self.exprs.text(node.args[0])), node)

    def dtype(self, node: ast.Call) -> SSAValue:
        """``R.dtype("float32")``, the name of a dtype as a string."""
        if len(node.args) != 1 or node.keywords:
            raise self.function.error(node, 'expected R.dtype("float32")')
        name = self.exprs.text(node.args[0])
        element_type(name)
        return self.function.emit(relax.StringOp(name), node)

    def call_py_func(self, node: ast.Call) -> SSAValue:
        """``R.call_py_func("f", (x,), out_ty=…)``: the call of a Python function of the module."""
        callee, args, type_ = self.dps.call_parts(node)
        return self.function.emit(relax.CallPurePackedOp(callee, args, type_), node)

    def _packed(self, node: ast.Call) -> tuple[str, list[SSAValue], Attribute | None]:
        called = node.args[0] if node.args else None
        callee, _ = self.dps.callee(node, called)
        args = [self.dps.argument(a) for a in node.args[1:]]
        types = {k.arg: k.value for k in node.keywords}
        annotation = types.pop("sinfo_args", types.pop("ty_args", None))
        if types:
            shown = ", ".join(map(str, types))
            raise self.function.error(node, f"expected the option sinfo_args, got {shown}")
        if isinstance(annotation, ast.Tuple | ast.List) and len(annotation.elts) == 1:
            annotation = annotation.elts[0]
        return callee, args, None if annotation is None else self._type(annotation)

    def _type(self, annotation: ast.expr) -> Attribute:
        """The type that is stated; a list of several ones stands for their tuple."""
        if isinstance(annotation, ast.Tuple | ast.List):
            fields = [self.function.annotations.type(n) for n in annotation.elts]
            return TupleType(tuple(fields))
        return self.function.annotations.type(annotation)

    def print_op(self, node: ast.Call) -> SSAValue:
        """``R.print(x, y, format="x = {}, y = {}")``."""
        values, text = self._formatted(node, node.args)
        return self.function.emit(relax.PrintOp(values, text), node)

    def assert_op(self, node: ast.Call) -> SSAValue:
        """``R.assert_op(condition, x, format="x = {}")``."""
        if not node.args:
            raise self.function.error(node, "expected a condition of R.assert_op, got none")
        condition = self.function.value(node.args[0])
        values, text = self._formatted(node, node.args[1:])
        return self.function.emit(relax.AssertOp(condition, values, text), node)

    def _formatted(self, node: ast.Call, args: list[ast.expr]) -> tuple[list[SSAValue], str]:
        nodes = [n for a in args for n in (a.elts if isinstance(a, ast.List) else [a])]
        text = ""
        for keyword in node.keywords:
            if keyword.arg != "format":
                raise self.function.error(keyword.value, f"expected format, got '{keyword.arg}'")
            text = self.exprs.text(keyword.value)
        return [self.function.value(n) for n in nodes], text

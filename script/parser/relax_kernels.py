"""``R.emit_te(topi.add, x, y)``: kernels that functions on tensors define, in graph functions."""

from __future__ import annotations

import ast
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from ...dialects import tir
from ...ir.expr import view
from ...lowering.canonical_form import CanonicalForm
from .relax_reader import RelaxReader
from .scope import Scope


class KernelParser:
    """Reads calls of kernels, which become functions of the module."""

    def __init__(self, function: RelaxReader):
        self.function = function

    def emit_te(self, node: ast.Call) -> SSAValue:
        """``R.emit_te(function, *arguments, **options)``; see `BlockBuilder.emit_te`."""
        from ...ir.te_calls import Kernel  # programs without such calls need no tensor expressions

        if not node.args:
            raise self.function.error(node, "expected a function of R.emit_te, got none")
        called = self.function.exprs.eval(node.args[0])
        args = [self._argument(a) for a in node.args[1:]]
        options = {k.arg: self._argument(k.value) for k in node.keywords if k.arg is not None}
        kernel = Kernel(called, args, options)
        return self.function.emit(kernel.call(self._name(kernel.func, kernel.name, node)), node)

    def _argument(self, node: ast.expr) -> Any:
        """A value of the graph as a view, anything else as it is."""
        if isinstance(node, ast.List | ast.Tuple):
            items = [self._argument(n) for n in node.elts]
            return tuple(items) if isinstance(node, ast.Tuple) else items
        if isinstance(node, ast.Call) and self.function.path(node).startswith("R."):
            return view(self.function.value(node))
        value = self.function.exprs.eval(node)
        return view(value) if isinstance(value, SSAValue) else value  # pyright: ignore[reportUnknownArgumentType]

    def _name(self, func: tir.PrimFuncOp, wanted: str, node: ast.AST) -> str:
        """The name of the kernel in the module; one that computes the same is used again."""
        scope: Scope = self.function.scope
        if scope.kernels is None:
            raise self.function.error(node, "expected R.emit_te in a function of a module")
        key = tuple(CanonicalForm(func, map_free_vars=True, compare_name=False).program)
        if key not in scope.kernels:
            taken = {name for name, _ in scope.kernels.values()} | scope.function_names
            name, number = wanted, 0
            while name in taken:
                number += 1
                name = f"{wanted}{number}"
            func.sym_name = StringAttr(name)
            scope.kernels[key] = (name, func)
        return scope.kernels[key][0]

"""`relax.transform.LegalizeOps`, with functions of the user for some operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..builder.mutator import PyExprMutator
from ..ir.calls import Call
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.transform import Pass, PassContext, PassInfo, apply_in_place
from ..lowering.graph.legalize_ops import LegalizeOpsPass


class LegalizeOps(Pass):
    """Every operator becomes a call of a kernel; TVM's ``relax.transform.LegalizeOps``.

    `customize_legalize_map` has functions by names of operators, such as ``relax.add``. They get a
    BlockBuilder and the call, and return the expression that replaces it, such as
    ``bb.call_te(topi.add, *call.args)``. Operators named `skip_ops` stay. TVM's `enable_warning`
    has nothing to warn of, since every operator has a kernel. Raises ValueError for a name that is
    no operator's, and TypeError for anything but a function.
    """

    info = PassInfo("legalize-ops")

    def __init__(
        self,
        customize_legalize_map: Mapping[str, Callable[[Any, Call], Any]] | None = None,
        skip_ops: Sequence[str] | None = None,
        enable_warning: bool = False,
    ):
        self.custom, self.skip_ops = dict(customize_legalize_map or {}), tuple(skip_ops or ())
        for name in (*self.custom, *self.skip_ops):
            Op.get(str(name))
        for name, function in self.custom.items():
            if not callable(function):
                shown = type(function).__name__
                raise TypeError(f"expected a function for '{name}', got {shown}")

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if self.custom:
            mod = _Legalizer(mod, self.custom).changed()
        apply_in_place(LegalizeOpsPass(self.skip_ops, scalars=True, inline=False), mod.op)
        return mod


class _Legalizer(PyExprMutator):
    """Replaces calls of operators by what the user's functions make of them."""

    def __init__(self, mod: IRModule, functions: Mapping[str, Callable[[Any, Call], Any]]):
        super().__init__(mod)
        self.mod, self.functions = mod, functions

    def changed(self) -> IRModule:
        """The module with the changed functions and their new kernels."""
        for var, func in self.mod.items():
            if isinstance(func, Function):
                self.builder_.update_func(var, self.visit_expr(func))
        return self.builder_.get()

    def visit_call_(self, op: Call) -> Any:
        """The expression that replaces the call on visited arguments."""
        call = super().visit_call_(op)
        replace = self.functions.get(getattr(call.op, "name", ""))
        return call if replace is None else replace(self.builder_, call)

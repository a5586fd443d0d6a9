"""The passes of the graph in TVM's spelling: ``relax.transform.FuseOps()`` is pass `fuse-ops`.

Every pass of the pipeline has a name here, in capitals; its options are keywords. Passes that take
Python values have a class of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from ..builder.mutator import dataflowblock_pass as dataflowblock_pass
from ..dialects.diagnostics import suggestion
from ..dialects.relax import OperatorOp
from ..ir.calls import Call
from ..ir.expr import Var, expression, view
from ..ir.function import symbol_values
from ..ir.module import IRModule
from ..ir.operators import bound_values
from ..ir.transform import Pass as Pass
from ..ir.transform import PassContext, PassInfo, XDSLPass, apply_in_place
from ..ir.transform import Sequential as Sequential
from ..ir.transform import function_pass as function_pass
from ..ir.transform import module_pass as module_pass
from ..lowering.functions import graph_function
from ..lowering.graph.bind_params import bind_everywhere, bind_params, bind_symbolic_vars
from ..lowering.graph.combine_parallel_matmul import combine_parallel_matmul
from ..lowering.graph.desired_layouts import convert_to
from ..lowering.graph.gradient import add_gradient
from ..name_lookup import resolve
from ..names import NAMES
from ..pipeline import PASSES, UPSTREAM_PASSES, load_pass
from .alter_op_impl import AlterOpImpl as AlterOpImpl
from .codegen import FuseOpsByPattern as FuseOpsByPattern
from .codegen import FusionPattern as FusionPattern
from .codegen import PatternCheckContext as PatternCheckContext
from .codegen import RunCodegen as RunCodegen
from .lazy_params import LazyTransformParams as LazyTransformParams
from .legalize import LegalizeOps as LegalizeOps
from .update_param_type import UpdateParamType as UpdateParamType

OWN = (
    "AlterOpImpl",
    "BindParams",
    "BindSymbolicVars",
    "CombineParallelMatmul",
    "ConvertLayout",
    "FuseOpsByPattern",
    "FusionPattern",
    "Gradient",
    "LazyTransformParams",
    "LegalizeOps",
    "Pass",
    "PatternCheckContext",
    "RunCodegen",
    "Sequential",
    "ToMixedPrecision",
    "UpdateParamType",
    "dataflowblock_pass",
    "function_pass",
    "module_pass",
)
"""What is no pass of the pipeline."""

IMPLIED = {
    "AttachAttrLayoutFreeBuffers": {"copies": True},
    "DecomposeOpsForInference": {"norms": True},
    "FoldConstant": {"kernels": True},
    "FuseTIR": {"inline": False},
    "RewriteDataflowReshape": {"kernels": True},
}
"""Options that TVM's passes have always, and those of the pipeline do not."""

TUNING = ("MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR")
"""Passes of `meta_schedule`, which is imported when they are used."""


class BindParams(Pass):
    """Parameters of a function become constants, by name; symbols they determine become numbers.

    TVM's ``relax.transform.BindParams``. Calling it raises Diagnostic with one line for
    an unknown parameter, or a value that does not fit; as `Function.bind_params`.
    """

    info = PassInfo("bind-params")

    def __init__(self, func_name: str, params: Mapping[Any, Any]):
        self.func_name = func_name
        self.params = dict(params)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        func = graph_function(mod.op, self.func_name)
        bind_params(mod.op, self.func_name, bound_values(func, self.params))
        return mod


class BindSymbolicVars(Pass):
    """Symbols of a function become numbers; TVM's ``relax.transform.BindSymbolicVars``.

    `binding_map` has numbers, or expressions of other symbols, by symbol or name. Without a name
    of a function those of all graph functions are bound. Calling it raises Diagnostic with one line
    for an unknown function or symbol, and for a negative number.
    """

    info = PassInfo("bind-symbolic-vars")

    def __init__(self, binding_map: Mapping[Any, Any], func_name: str | None = None):
        self.func_name = func_name
        self.values = symbol_values(binding_map)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if self.func_name is None:
            bind_everywhere(mod.op, self.values)
        else:
            bind_symbolic_vars(mod.op, self.func_name, self.values)
        return mod


class CombineParallelMatmul(Pass):
    """The matmuls of a tensor by several matrices become one.

    `check` gets the tensor, the matrices, their biases, and the values of variables; it returns
    whether to combine them. TVM's ``relax.transform.CombineParallelMatmul``.
    """

    info = PassInfo("combine-parallel-matmul")

    def __init__(self, check: Callable[..., Any] | None = None):
        self.check = check

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        combine_parallel_matmul(mod.op, None if self.check is None else self._agrees)
        return mod

    def _agrees(
        self, lhs: SSAValue, matrices: Sequence[SSAValue], biases: Sequence[SSAValue]
    ) -> bool:
        assert self.check is not None
        owners = {v: v.owner for v in (lhs, *matrices, *biases)}
        bound = {v: op for v, op in owners.items() if isinstance(op, Operation)}
        bindings = {view(v): expression(op) for v, op in bound.items()}
        return bool(self.check(view(lhs), [*map(view, matrices)], [*map(view, biases)], bindings))


class ConvertLayout(Pass):
    """Operators get layouts by name, such as ``{"relax.nn.conv2d": ["NHWC", "OHWI"]}``.

    The layouts are those of data, weight and result of a convolution, or of a resize's data; the
    operators between follow. `layout_cb` has the layouts for each call instead. Without both, the
    pass is that of the pipeline. Calling it raises Diagnostic with one line for layouts that an
    operator cannot have. TVM's ``relax.transform.ConvertLayout``.
    """

    info = PassInfo("convert-layout")

    def __init__(
        self,
        desired_layouts: Mapping[str, Sequence[str]] | None = None,
        layout_cb: Callable[[Call], Mapping[str, Sequence[str]]] | None = None,
    ):
        self.desired_layouts, self.layout_cb = desired_layouts, layout_cb

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if self.desired_layouts is None and self.layout_cb is None:
            apply_in_place(load_pass(self.name)(), mod.op)
        else:
            convert_to(mod.op, self._layouts)
        return mod

    def _layouts(self, op: OperatorOp) -> Sequence[str] | None:
        if self.layout_cb is None:
            found: Mapping[str, Sequence[str]] = self.desired_layouts or {}
        else:
            found = self.layout_cb(expression(op))
        return found.get(op.name)


class Gradient(Pass):
    """The adjoint of a graph function is added, which also returns the gradients of its result.

    The function `func_name` returns a float of rank 0, or a tuple whose field `target_index` is
    one. ``{func_name}_adjoint`` returns what it returns, and the tuple of the gradients by
    `require_grads`: variables, or their names; by default all parameters. Calling it raises
    Diagnostic with one line for another function or variable, and for an operator without a
    gradient. TVM's ``relax.transform.Gradient``.
    """

    info = PassInfo("gradient")

    def __init__(self, func_name: str, require_grads: Any = None, target_index: int = 0):
        self.func_name, self.target_index = func_name, target_index
        given = [require_grads] if isinstance(require_grads, Var | str) else require_grads
        self.names = None if given is None else [str(getattr(v, "name_hint", v)) for v in given]

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        add_gradient(mod.op, self.func_name, self.names, self.target_index)
        return mod


def ToMixedPrecision(
    out_dtype: str = "float32",
    fp16_input_names: Sequence[str] | None = None,
    *,
    dtype: str | None = None,
) -> XDSLPass:
    """Contractions, and what can follow them, in float16; TVM's ``ToMixedPrecision``.

    Contractions of float32 give `out_dtype`, float32 or float16, and the parameters of float32
    named `fp16_input_names` become float16. Shapes, and the dtypes of results, stay. With `dtype`
    only contractions are converted, to it, and sum in float32. The pass raises ValueError with one
    line for another `out_dtype` or `dtype`.
    """
    options = {"out_dtype": out_dtype, "fp16_input_names": tuple(fp16_input_names or ())}
    return XDSLPass(
        load_pass("to-mixed-precision")(**options if dtype is None else {"dtype": dtype})
    )


def pass_name(name: str) -> str:
    """The pipeline's name of a pass: `fuse-tir` for ``FuseTIR``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _factory(name: str) -> Callable[..., XDSLPass]:
    found = load_pass(pass_name(name))

    def make(*args: Any, **options: Any) -> XDSLPass:
        try:
            return XDSLPass(found(*args, **IMPLIED.get(name, {}) | options))
        except TypeError:
            fields = getattr(found, "__dataclass_fields__", {})
            known = ", ".join(n for n in fields if n != "name") or "none"
            given = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in options.items())])
            raise ValueError(f"expected options of {name} ({known}), got {given}") from None

    make.__name__ = make.__qualname__ = name
    make.__doc__ = found.__doc__ or f"xDSL's pass `{found.name}`."
    return make


def __getattr__(name: str) -> Any:
    if name in TUNING:
        from ..meta_schedule import passes

        return getattr(passes, name)
    if f"relax.transform.{name}" in NAMES:
        return resolve("relax.transform.", name)
    if pass_name(name) in (*PASSES, *UPSTREAM_PASSES):
        return _factory(name)
    hint = suggestion(name, __dir__())
    raise AttributeError(f"expected a pass, got 'relax.transform.{name}'{hint}")


def _camel(name: str) -> str:
    words = (w.upper() if w in ("tir", "rt", "llvm", "dce", "cse") else w for w in name.split("-"))
    return "".join(w[0].upper() + w[1:] for w in words)


def __dir__() -> list[str]:
    return sorted({*OWN, *TUNING, *map(_camel, (*PASSES, *UPSTREAM_PASSES))})

"""The passes of the graph in TVM's spelling: ``relax.transform.FuseOps()`` is pass `fuse-ops`.

Every pass of the pipeline has a name here, in capitals; its options are keywords. Passes that take
Python values have a class of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..builder.dpl import DFPattern
from ..builder.mutator import dataflowblock_pass as dataflowblock_pass
from ..dialects.diagnostics import suggestion
from ..ir.expr import Var
from ..ir.function import symbol_values
from ..ir.module import IRModule
from ..ir.operators import tensor_data
from ..ir.transform import Pass as Pass
from ..ir.transform import PassContext, PassInfo, XDSLPass
from ..ir.transform import Sequential as Sequential
from ..ir.transform import function_pass as function_pass
from ..ir.transform import module_pass as module_pass
from ..lowering.graph.bind_params import bind_params, bind_symbolic_vars
from ..lowering.graph.fuse_ops_by_pattern import FusionPattern, fuse_ops_by_pattern
from ..lowering.graph.gradient import add_gradient
from ..pipeline import PASSES, UPSTREAM_PASSES, load_pass

OWN = (
    "BindParams",
    "BindSymbolicVars",
    "FuseOpsByPattern",
    "Gradient",
    "Pass",
    "Sequential",
    "dataflowblock_pass",
    "function_pass",
    "module_pass",
)
"""What is no pass of the pipeline."""

TUNING = ("MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod", "MetaScheduleTuneTIR")
"""Passes of `meta_schedule`, which is imported when they are used."""


class BindParams(Pass):
    """Parameters of a function become constants, by name; symbols they determine become numbers.

    TVM's ``relax.transform.BindParams``. Calling it raises Diagnostic with one line for
    an unknown parameter, or a value that does not fit.
    """

    info = PassInfo("bind-params")

    def __init__(self, func_name: str, params: Mapping[Any, Any]):
        self.func_name = func_name
        self.params = {getattr(k, "name_hint", k): v for k, v in params.items()}

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        values = {k: tensor_data(v, str(k)) for k, v in self.params.items()}
        bind_params(mod.op, self.func_name, values)
        return mod


class BindSymbolicVars(Pass):
    """Symbols of a function become numbers; TVM's ``relax.transform.BindSymbolicVars``.

    `binding_map` has numbers, or expressions of other symbols, by symbol or name. Calling it raises
    Diagnostic with one line for an unknown function or symbol, and for a negative number.
    """

    info = PassInfo("bind-symbolic-vars")

    def __init__(self, binding_map: Mapping[Any, Any], func_name: str = "main"):
        self.func_name = func_name
        self.values = symbol_values(binding_map)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        bind_symbolic_vars(mod.op, self.func_name, self.values)
        return mod


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


class FuseOpsByPattern(Pass):
    """Operations that match one of the patterns become private functions, which are called.

    `patterns` are pairs of a name and a pattern, in order of preference; a third entry may be a
    function that accepts or refuses what the parts of the pattern have matched. The functions have
    the attributes ``Composite`` and ``Primitive``. Nothing is computed twice. TVM's
    ``relax.transform.FuseOpsByPattern``.
    """

    info = PassInfo("fuse-ops-by-pattern")

    def __init__(
        self,
        patterns: Sequence[tuple[Any, ...]],
        bind_constants: bool = True,
        annotate_codegen: bool = False,
    ):
        if annotate_codegen:
            raise ValueError("expected annotate_codegen=False: functions are compiled here")
        self.patterns = [_fusion_pattern(*p) for p in patterns]
        self.bind_constants = bind_constants

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        fuse_ops_by_pattern(mod.op, self.patterns, self.bind_constants)
        return mod


def _fusion_pattern(
    name: str, pattern: DFPattern, check: Callable[[dict[DFPattern, Any]], bool] | None = None
) -> FusionPattern:
    if check is None:
        return FusionPattern(name, pattern.core)
    accepts = check
    return FusionPattern(name, pattern.core, lambda found: accepts(pattern.views(found)))


def pass_name(name: str) -> str:
    """The pipeline's name of a pass: `fuse-tir` for ``FuseTIR``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _factory(name: str) -> Callable[..., XDSLPass]:
    found = load_pass(pass_name(name))

    def make(*args: Any, **options: Any) -> XDSLPass:
        try:
            return XDSLPass(found(*args, **options))
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
    if pass_name(name) in (*PASSES, *UPSTREAM_PASSES):
        return _factory(name)
    hint = suggestion(name, __dir__())
    raise AttributeError(f"expected a pass, got 'relax.transform.{name}'{hint}")


def _camel(name: str) -> str:
    words = (w.upper() if w in ("tir", "rt", "llvm", "dce", "cse") else w for w in name.split("-"))
    return "".join(w[0].upper() + w[1:] for w in words)


def __dir__() -> list[str]:
    return sorted({*OWN, *TUNING, *map(_camel, (*PASSES, *UPSTREAM_PASSES))})

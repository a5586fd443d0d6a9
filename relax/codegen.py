"""Code generators outside of the compiler; TVM's "bring your own codegen".

`FuseOpsByPattern` puts matches of patterns such as ``example.relu`` into composite functions,
``MergeCompositeFunctions`` merges those of one code generator, and `RunCodegen` lets the code
generator compile them:

::

    def example(functions, options, constant_names):
        return [{f.attrs["global_symbol"]: compiled(f) for f in functions}]

    tvm.register_global_func("relax.ext.example", example)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.ir import Operation

from ..builder.dpl import DFPattern
from ..dialects import relax
from ..dialects.attributes import to_attribute
from ..dialects.diagnostics import suggestion
from ..ir.expr import expression, view
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.transform import Pass, PassContext, PassInfo
from ..lowering.functions import graph_functions, unique_name
from ..lowering.graph import dataflow_pattern as core
from ..lowering.graph import fuse_ops_by_pattern as fusion
from ..lowering.graph.composite import call_by_name, codegen_of
from ..lowering.graph.dead_code import eliminate_dead_code
from ..runtime.registry import get_global_func, list_global_func_names, register_func


@dataclass(frozen=True)
class PatternCheckContext:
    """What a check of a match sees; TVM's ``relax.transform.PatternCheckContext``."""

    matched_expr: Any
    """The value that the pattern matches."""
    annotated_expr: Mapping[str, Any]
    """The values of the annotated parts of the pattern, by name."""


@dataclass(frozen=True)
class FusionPattern:
    """A pattern under a name; TVM's ``relax.transform.FusionPattern``.

    `annotation_patterns` gives names to parts of the pattern. `check` gets a `PatternCheckContext`
    and accepts or refuses the match. `attrs_getter` gets the annotated values, and returns more
    attributes of the function. `annotation_patterns` may also be a function that gets what all
    parts have matched, and accepts or refuses it.
    """

    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] | Callable[[Any], bool] = field(
        default_factory=lambda: {}
    )
    check: Callable[[PatternCheckContext], bool] | None = None
    attrs_getter: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def core(self) -> fusion.FusionPattern:
        """The pattern as the pass takes it."""
        return fusion.FusionPattern(
            self.name, self.pattern.core, self._accepts, lambda found: self._attributes(found)
        )

    def _accepts(self, found: core.Matches) -> bool:
        if callable(self.annotation_patterns):
            return self.annotation_patterns(self.pattern.views(found))
        if self.check is None:
            return True
        whole = expression_of(self.pattern, found)
        return bool(self.check(PatternCheckContext(whole, self._annotated(found))))

    def _attributes(self, found: core.Matches) -> dict[str, Any]:
        if self.attrs_getter is None:
            return {}
        given = self.attrs_getter(self._annotated(found))
        return {k: to_attribute(v) for k, v in given.items()}

    def _annotated(self, found: core.Matches) -> dict[str, Any]:
        named = cast("Mapping[str, DFPattern]", self.annotation_patterns)
        return {k: expression_of(p, found) for k, p in named.items() if p.core in found}


def expression_of(pattern: DFPattern, found: core.Matches) -> Any:
    """What a part of a pattern has matched: an expression for an operation, else the value."""
    value = found[pattern.core]
    owner = value.owner
    if pattern.core.is_operation and isinstance(owner, Operation):
        return expression(owner)
    return view(value)


class FuseOpsByPattern(Pass):
    """Operations that match one of the patterns become private functions, which are called.

    `patterns` are each a `FusionPattern`, or a tuple of its fields, in order of preference. The
    functions have the attributes ``Composite`` and ``Primitive``. An inner value that is also used
    outside becomes another result. With `annotate_codegen` each function is inside of a public
    one with the attribute ``Codegen``, the part of the pattern's name before the first dot. TVM's
    ``relax.transform.FuseOpsByPattern``.
    """

    info = PassInfo("fuse-ops-by-pattern")

    def __init__(
        self,
        patterns: Sequence[FusionPattern | tuple[Any, ...]],
        bind_constants: bool = True,
        annotate_codegen: bool = False,
        entry_functions: Sequence[str] | None = None,
    ):
        given = [p if isinstance(p, FusionPattern) else FusionPattern(*p) for p in patterns]
        self.patterns = [p.core() for p in given]
        self.bind_constants = bind_constants
        self.annotate_codegen = annotate_codegen
        self.entry_functions = entry_functions

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        fusion.fuse_ops_by_pattern(
            mod.op, self.patterns, self.bind_constants, self.annotate_codegen, self.entry_functions
        )
        return mod


class RunCodegen(Pass):
    """Functions with the attribute ``Codegen`` are compiled by their code generators.

    The code generator `x` is the registered function ``relax.ext.x``. It gets the functions, its
    entry of `target_options`, and names for the constants in them. It returns mappings, from the
    attribute ``global_symbol`` of each function to a callable in destination-passing style: it
    gets the arguments and then the results to write. These are registered, and calls become
    `call_dps_packed`. Calling the pass raises ValueError with one line for a code generator that is
    not registered or that misses a function. TVM's ``relax.transform.RunCodegen``.
    """

    info = PassInfo("run-codegen")

    def __init__(
        self,
        target_options: Mapping[str, Mapping[str, Any]] | None = None,
        entry_functions: Sequence[str] | None = None,
    ):
        self.target_options = target_options or {}
        self.entry_functions = entry_functions

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        for codegen, functions in _by_codegen(mod).items():
            compiled = self._compiled(codegen, functions)
            for func in functions:
                name = unique_name(func.sym_name.data, list_global_func_names())
                register_func(name, compiled[func.sym_name.data])
                call_by_name(mod.op, func, name)
        if self.entry_functions is not None:
            eliminate_dead_code(mod.op, self.entry_functions)
        return mod

    def _compiled(self, codegen: str, functions: Sequence[relax.FuncOp]) -> dict[str, Any]:
        """The callables by function."""
        run = get_global_func(f"relax.ext.{codegen}", allow_missing=True)
        if run is None:
            hint = suggestion(f"relax.ext.{codegen}", list_global_func_names())
            raise ValueError(f"expected 'relax.ext.{codegen}' to be registered, got none{hint}")
        options = dict(self.target_options.get(codegen, {}))
        constants = _constant_names(codegen, functions)
        made: object = run([Function(f) for f in functions], options, constants)
        entries = cast(Sequence[object], made) if isinstance(made, Sequence) else [made]
        if not all(isinstance(entry, Mapping) for entry in entries):
            raise ValueError(
                f"expected 'relax.ext.{codegen}' to return a list of mappings from names of "
                f"functions to callables, got {made!r}"
            )
        mappings = cast(Sequence[Mapping[str, Any]], entries)
        found = {name: callee for mapping in mappings for name, callee in mapping.items()}
        for func in functions:
            if not callable(found.get(func.sym_name.data)):
                names = ", ".join(sorted(found)) or "none"
                raise ValueError(
                    f"expected 'relax.ext.{codegen}' to return a callable "
                    f"'{func.sym_name.data}', got {names}"
                )
        return found


def _by_codegen(mod: IRModule) -> dict[str, list[relax.FuncOp]]:
    found: dict[str, list[relax.FuncOp]] = {}
    for func in graph_functions(mod.op):
        codegen = codegen_of(func)
        if codegen is not None:
            found.setdefault(codegen, []).append(func)
    return found


def _constant_names(codegen: str, functions: Sequence[relax.FuncOp]) -> dict[Any, str]:
    constants = [o for f in functions for o in f.walk() if isinstance(o, relax.ConstantOp)]
    return {view(o.result): f"{codegen}_const_{i}" for i, o in enumerate(constants)}

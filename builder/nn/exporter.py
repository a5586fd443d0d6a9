"""Graph functions of a module's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.expr import Var
from ...ir.module import IRModule
from ...ir.struct_info import to_type
from .. import op
from ..block_builder import BlockBuilder


def export(
    module: Any,
    spec: Mapping[str, Mapping[str, Any]],
    parameters: Sequence[Var],
    effects: Sequence[tuple[str, Any]] = (),
) -> IRModule:
    """The module of the methods in `spec`, which also take the effects and then the parameters."""
    bb = BlockBuilder()
    if effects:
        _export_initial_effects(bb, [name for name, _ in effects])
    for method, inputs in spec.items():
        _export_method(bb, module, method, inputs, parameters, effects)
    return bb.finalize()


def _export_initial_effects(bb: BlockBuilder, names: Sequence[str]) -> None:
    with bb.function("_initialize_effect", []):
        with bb.dataflow():
            states = tuple(bb.emit(op.null_value(), name) for name in names)
            result = bb.emit_output(states)
        bb.emit_func_output(result)


def _export_method(
    bb: BlockBuilder,
    module: Any,
    method: str,
    inputs: Mapping[str, Any],
    parameters: Sequence[Var],
    effects: Sequence[tuple[str, Any]],
) -> None:
    function = getattr(module, method, None)
    if function is None:
        raise ValueError(f"expected a method of '{type(module).__name__}', got '{method}'")
    variables = [Var(name, to_type(info)) for name, info in inputs.items()]
    states = [v for name, effect in effects for v in effect.effect_variables(name)]
    given = [*variables, *states]
    with bb.function(method, [*given, *parameters], {"num_input": len(given)}):
        with bb.dataflow():
            result = _tupled(function(*variables))
            result = bb.emit_output((result, tuple(states)) if states else result)
        bb.emit_func_output(result)


def _tupled(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return tuple(map(_tupled, result))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return result

"""Graph functions of a module's methods."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from inspect import BoundArguments, Parameter, signature
from typing import Any

from ...ir.expr import TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.struct_info import ShapeStructInfo, TupleStructInfo, to_type
from ...te.arithmetic import symbol
from .. import op
from ..block_builder import BlockBuilder
from .effects import IOEffect, printing
from .spec import Int

_IO = "_io"
"""The state of printing, as an input."""

MODES = ("plain", "packed", "none")
"""How parameters or effects are passed: each by itself, all in one tuple, or not at all."""


def export(
    module: Any,
    spec: Mapping[str, Mapping[str, Any]],
    parameters: Sequence[Var],
    io: IOEffect | None = None,
) -> IRModule:
    """The module of the methods in `spec`, which also take the state of printing and parameters."""
    bb = BlockBuilder()
    if io is not None:
        _export_initial_effects(bb)
    for method, inputs in spec.items():
        with printing(io):
            _export_method(bb, module, method, inputs, parameters, io)
    return bb.finalize()


def _export_initial_effects(bb: BlockBuilder) -> None:
    with bb.function("_initialize_effect", []):
        with bb.dataflow():
            result = bb.emit_output((bb.emit(op.null_value(), _IO),))
        bb.emit_func_output(result)


def _export_method(
    bb: BlockBuilder,
    module: Any,
    method: str,
    spec: Mapping[str, Any],
    parameters: Sequence[Var],
    io: IOEffect | None,
) -> None:
    function = getattr(module, method, None)
    if function is None:
        raise ValueError(f"expected a method of '{type(module).__name__}', got '{method}'")
    inputs = _inputs(function, method, spec)
    param_mode, effect_mode = _modes(method, spec.get("$", {}))
    states = [] if io is None else io.effect_variables(_IO)
    effects = _passed(effect_mode, "packed_effects", states)
    weights = _passed(param_mode, "packed_params", parameters)
    given = [*(variable for variable, _ in inputs.values()), *effects]
    with bb.function(method, [*given, *weights], {"num_input": len(given)}):
        with bb.dataflow():
            if effect_mode == "packed":
                _unpack(bb, effects[0], states)
            if param_mode == "packed":
                _unpack(bb, weights[0], parameters)
            if io is not None:
                (io.state,) = states
            bound = _bound(function, {name: v for name, (_, v) in inputs.items()})
            result = _tupled(function(*bound.args, **bound.kwargs))
            result = result if io is None or not effects else (result, (io.state,))
            result = bb.emit_output(result)
        bb.emit_func_output(result)


def _inputs(
    function: Callable[..., Any], method: str, spec: Mapping[str, Any]
) -> dict[str, tuple[Var, Any]]:
    """The inputs in the order of the method's arguments: a variable, and what the method gets.

    Those that the method does not name are the rest, ``*rest``, in the order of the spec.
    """
    named, variadic = _parameters(function)
    rest = [name for name in spec if name not in ("$", *named)]
    if rest and variadic is None:
        raise ValueError(f"expected an argument of '{method}', got '{rest[0]}'")
    if rest and (missing := [name for name in named if name not in spec]):
        raise ValueError(f"expected '{missing[0]}' of '{method}' before '{rest[0]}'")
    return {name: _input(name, spec[name]) for name in (*named, *rest) if name in spec}


def _parameters(function: Callable[..., Any]) -> tuple[list[str], str | None]:
    """The names of the arguments of a method, and that of the rest if it takes any."""
    known = signature(function).parameters
    variadic = [name for name, p in known.items() if p.kind is Parameter.VAR_POSITIONAL]
    return [name for name in known if name not in variadic], next(iter(variadic), None)


def _bound(function: Callable[..., Any], inputs: Mapping[str, Any]) -> BoundArguments:
    """Arguments of a method by their names; those that it does not name are the rest."""
    named, variadic = _parameters(function)
    arguments = {name: inputs[name] for name in named if name in inputs}
    if variadic is not None:
        arguments[variadic] = tuple(v for name, v in inputs.items() if name not in named)
    return BoundArguments(signature(function), OrderedDict(arguments))


def _input(name: str, info: Any) -> tuple[Var, Any]:
    if info in (int, "int", Int) or isinstance(info, Int):
        dim = symbol(name)
        return Var(name, ShapeStructInfo([dim])), dim
    variable = Var(name, to_type(info))
    return variable, variable


def _modes(method: str, options: Mapping[str, str]) -> tuple[str, str]:
    """How the parameters and the effects of a method are passed."""
    modes = {"param_mode": "plain", "effect_mode": "plain", **options}
    for name, mode in modes.items():
        if name not in ("param_mode", "effect_mode") or mode not in MODES:
            raise ValueError(
                f"expected param_mode and effect_mode of '{method}' to be one of "
                f"{', '.join(MODES)}, got {name} '{mode}'"
            )
    return modes["param_mode"], modes["effect_mode"]


def _passed(mode: str, name: str, variables: Sequence[Var]) -> list[Var]:
    """The parameters of a function by which variables are passed."""
    if mode == "packed":
        return [Var(name, TupleStructInfo([v.struct_info for v in variables]))]
    return list(variables) if mode == "plain" else []


def _unpack(bb: BlockBuilder, bundle: Var, variables: Sequence[Var]) -> None:
    """Let the fields of a tuple stand for variables."""
    for index, variable in enumerate(variables):
        hint = variable.name_hint.replace(".", "_")
        bb.scope.stand_in(variable, bb.emit(TupleGetItem(bundle, index), hint))


def _tupled(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return tuple(map(_tupled, result))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return result

"""Calls of converters: inputs and attributes of a node are checked against the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from onnx import AttributeProto, GraphProto

from ...dialects.relax import TensorData
from ...dialects.relax.types import python_shape
from ..unsupported import Unsupported
from .registry import Converter
from .tensor import Tensor
from .weights import tensor_data

_KINDS: Mapping[Any, str] = {
    int: "an int",
    float: "a float",
    str: "a string",
    list[int]: "ints",
    list[float]: "floats",
    list[str]: "strings",
    TensorData: "a tensor",
}
"""The types of attributes that are checked, and their names in messages."""

_GRAPHS = ("body", "else_branch", "then_branch")
"""Attributes that are graphs."""


@dataclass(frozen=True)
class Signature:
    """What a converter takes.

    `inputs` are the names of inputs and their types, of which the first `least` are required;
    `others` is the type of more inputs, `None` if there are none. `attributes` are names and types,
    `None` for any; those of `required` have no default.
    """

    inputs: tuple[tuple[str, Any], ...]
    least: int
    others: Any
    attributes: Mapping[str, Any] | None
    required: tuple[str, ...]


@cache
def signature_of(converter: Converter) -> Signature:
    """The signature of a converter, whose first parameter is the context."""
    hints = _hints(converter)
    own = list(signature(converter, follow_wrapped=False).parameters.values())
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    inputs = [p for p in own if p.kind in positional][1:]
    named = signature(converter).parameters.values()
    keywords = [p for p in named if p.kind is Parameter.KEYWORD_ONLY]
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in named)
    return Signature(
        tuple((p.name, hints.get(p.name, Any)) for p in inputs),
        sum(p.default is Parameter.empty for p in inputs),
        next((hints.get(p.name, Any) for p in own if p.kind is Parameter.VAR_POSITIONAL), None),
        None if takes_any else {p.name: hints.get(p.name, Any) for p in keywords},
        tuple(p.name for p in keywords if p.default is Parameter.empty),
    )


def _hints(converter: Converter) -> Mapping[str, Any]:
    try:
        return get_type_hints(converter)
    except (NameError, TypeError):  # annotations that only type checkers evaluate
        return {}


def attribute_value(attribute: Any, folder: Path | None) -> Any:
    """The value of an attribute; a graph is as it is."""
    match attribute.type:
        case AttributeProto.FLOAT:
            return attribute.f
        case AttributeProto.INT:
            return attribute.i
        case AttributeProto.STRING:
            return attribute.s.decode("utf-8", "replace")
        case AttributeProto.TENSOR:
            return tensor_data(attribute.t, folder)
        case AttributeProto.GRAPH:
            return attribute.g
        case AttributeProto.FLOATS:
            return list(attribute.floats)
        case AttributeProto.INTS:
            return list(attribute.ints)
        case AttributeProto.STRINGS:
            return [s.decode("utf-8", "replace") for s in attribute.strings]
        case AttributeProto.TYPE_PROTO:
            return attribute.tp
        case _:
            raise Unsupported(f"attribute '{attribute.name}'")


def call(
    converter: Converter, context: Any, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> Any:
    """What a converter makes of a node's inputs and attributes.

    Raises ValueError for inputs that are missing, too many, or of a rank that the converter does
    not expect, and for attributes that are missing or of another type; Unsupported for unknown
    attributes.
    """
    known = signature_of(converter)
    given, named = _inputs(known, inputs), _attributes(known, attributes)
    try:
        return converter(context, *given, **named)
    except IndexError as error:  # of a dim that an input does not have
        shapes = [python_shape(t.dims) for t in inputs if isinstance(t, Tensor)]
        raise ValueError(f"expected inputs of other ranks, got {', '.join(shapes)}") from error


def _inputs(known: Signature, inputs: Sequence[Any]) -> Sequence[Any]:
    given = list(inputs)
    if known.others is None:
        while len(given) > len(known.inputs) and given[-1] is None:
            given.pop()
        if len(given) > len(known.inputs):
            raise ValueError(f"expected at most {len(known.inputs)} inputs, got {len(given)}")
    if len(given) < known.least:
        raise ValueError(f"expected at least {known.least} inputs, got {len(given)}")
    more = [(f"{i + 1}", known.others) for i in range(len(known.inputs), len(given))]
    for (name, hint), value in zip((*known.inputs, *more), given, strict=False):
        if hint is Tensor and not isinstance(value, Tensor):
            found = "none" if value is None else "a sequence"
            raise ValueError(f"expected input '{name}' to be a tensor, got {found}")
    return given


def _attributes(known: Signature, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    if known.attributes is not None:
        if unknown := [name for name in attributes if name not in known.attributes]:
            raise Unsupported(f"attribute '{unknown[0]}'")
        for name, value in attributes.items():
            _verify_attribute(name, value, known.attributes[name])
    if missing := [name for name in known.required if name not in attributes]:
        raise ValueError(f"expected attribute '{missing[0]}', got none")
    return attributes


def _verify_attribute(name: str, value: Any, hint: Any) -> None:
    if name in _GRAPHS and not isinstance(value, GraphProto):
        raise ValueError(f"expected attribute '{name}' to be a graph, got {kind_of(value)}")
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = [_kind(kind) for kind in kinds if kind is not NoneType]
    if all(kind in _KINDS for kind in kinds) and not any(_is_a(value, kind) for kind in kinds):
        expected = " or ".join(_KINDS[kind] for kind in kinds)
        raise ValueError(f"expected attribute '{name}' to be {expected}, got {kind_of(value)}")


def _kind(hint: Any) -> Any:
    """A type, where that of lists stands for all sequences."""
    return list[get_args(hint)] if get_origin(hint) is Sequence else hint


def _is_a(value: Any, kind: Any) -> bool:
    if get_origin(kind) is list:
        (element,) = get_args(kind)
        return isinstance(value, list) and all(_is_a(v, element) for v in cast("list[Any]", value))
    return isinstance(value, int | float if kind is float else kind)


def kind_of(value: Any) -> str:
    """The kind of an attribute's value, for messages."""
    if isinstance(value, float):
        return _KINDS[float]
    named = (name for kind, name in _KINDS.items() if kind is not float and _is_a(value, kind))
    return next(named, "a graph or a type")

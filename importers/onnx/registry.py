"""The table of converters for ONNX operators, by domain, name and version."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

Converter: TypeAlias = Callable[..., Any]
"""Called as ``converter(context, *inputs, **attributes)``.

Inputs are of class `Tensor`, `None` where one is left out; attributes are Python values, and those
that are keyword parameters of the converter are accepted. It returns a tensor or an SSA value, or a
tuple of them for an operator with several results.
"""

MICROSOFT = "com.microsoft"
"""The domain of ONNX Runtime's contributed operators."""


class Version(NamedTuple):
    """A converter, and the first opset that it is for."""

    since: int
    converter: Converter


CONVERTERS: dict[tuple[str, str], list[Version]] = {}
"""Converters by domain and operator, the newest first."""

REGISTERED: set[str] = set()
"""The operators with converters from outside the compiler; models are then not cached."""

_THEMES = (
    "activation",
    "arithmetic",
    "attention",
    "channel_normalization",
    "columns",
    "contributed_attention",
    "control",
    "conversion",
    "convolution",
    "creation",
    "einsum",
    "fourier",
    "grid_sampling",
    "indexing",
    "linear",
    "losses",
    "manipulation",
    "ml_ensembles",
    "ml_features",
    "ml_linear",
    "normalization",
    "pooling",
    "packed_weights",
    "quantized",
    "quantized_attention",
    "quantized_layers",
    "quantized_products",
    "quantized_recurrent",
    "quantized_windows",
    "random_numbers",
    "recurrent",
    "reduction",
    "regions",
    "resize",
    "rotary",
    "sampling",
    "scanning",
    "skip_normalization",
    "selection",
    "sequences",
    "slicing",
)

ADVICE: dict[str, str] = {}
"""Advice for unsupported operators, by name."""

DEFAULT_ADVICE = "export with another opset, or register a converter with `converts`"


def converts(*names: str, since: int = 1, domain: str = "") -> Callable[[Converter], Converter]:
    """Register a function as the converter of operators, from an opset on."""

    def register(converter: Converter) -> Converter:
        if converter.__module__.partition(".")[0] != __name__.partition(".")[0]:
            REGISTERED.update(names)
        for name in names:
            known = CONVERTERS.setdefault((domain, name), [])
            known[:] = [v for v in known if v.since != since]
            known.append(Version(since, converter))
            known.sort(key=lambda version: -version.since)
        return converter

    return register


def find_converter(domain: str, name: str, opset: int) -> Converter | None:
    """The converter of an operator in an opset."""
    _load_themes()
    versions = CONVERTERS.get((domain, name), ())
    return next((v.converter for v in versions if v.since <= opset), None)


@cache
def _load_themes() -> None:
    for theme in _THEMES:
        import_module(f".operators.{theme}", __package__)

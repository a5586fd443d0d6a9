"""The table of converters for ATen overloads, and advice for unsupported ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

Converter: TypeAlias = Callable[..., Any]
"""Called as ``converter(context, *args, **kwargs)`` with the node's arguments.

Tensors are passed as SSA values, symbolic integers as `IntExpr`, all else unchanged. The converter
returns a value, or a tuple of them for an operator with several results.
"""

CONVERTERS: dict[str, Converter] = {}
"""Converters by overload, such as "aten.add.Tensor"."""

_AS_TVM: dict[str, Converter] = {}
"""Converters to the operators that TVM's importer emits, by overload."""

_CONDITIONS: dict[Converter, Callable[..., bool]] = {}
"""For converters that take some nodes of their overload only: which, by the node's arguments."""

_THEMES = (
    "activation",
    "adaptive_indices",
    "arithmetic",
    "bits",
    "complex_numbers",
    "control",
    "creation",
    "distances",
    "data_sizes",
    "divisors",
    "elementwise",
    "embedding_bags",
    "fourier",
    "indexing",
    "linear",
    "linear_systems",
    "lu_decompositions",
    "manipulation",
    "matrix_decompositions",
    "normalization",
    "quantization",
    "quantized_blocks",
    "random_numbers",
    "recurrent",
    "reduction",
    "resizing",
    "running",
    "scattering",
    "searching",
    "slicing",
    "special",
    "strides",
    "sorting",
    "vision",
    "windows",
)

IGNORED_KEYWORDS = frozenset(
    {
        "device",
        "generator",
        "layout",
        "memory_format",
        "non_blocking",
        "pin_memory",
        "requires_grad",
    }
)
"""Arguments for the device and layout of a tensor, which is always on the CPU and contiguous."""

KEEP_IN_TENSOR = "keep the value in a tensor: its use would depend on data"

ADVICE: dict[str, str] = {
    "aten._local_scalar_dense": KEEP_IN_TENSOR,
    "aten.item": KEEP_IN_TENSOR,
}
"""Advice for common unsupported operators, by name without the overload."""

DEFAULT_ADVICE = "write it with supported operators, or register a converter with `converts`"


def converts(
    *overloads: str, when: Callable[..., bool] | None = None
) -> Callable[[Converter], Converter]:
    """Register a function as the converter of ATen overloads such as "aten.add.Tensor".

    It is called as ``converter(context, *args, **kwargs)`` with the arguments of a node, in which
    tensors are values of the graph, and returns the node's value, or a tuple for several. It
    replaces the converter that an overload has. `Unsupported` refuses arguments. `when` is called
    with the arguments of a node. If it is false for one, the overload is decomposed.
    """
    return _registering(CONVERTERS, overloads, when)


def converts_as_tvm(
    *overloads: str, when: Callable[..., bool] | None = None
) -> Callable[[Converter], Converter]:
    """Register a function as the converter of overloads to the operators that TVM emits.

    `when` is that of `converts`.
    """
    return _registering(_AS_TVM, overloads, when)


def _registering(
    table: dict[str, Converter], overloads: Iterable[str], when: Callable[..., bool] | None
) -> Callable[[Converter], Converter]:
    def register(converter: Converter) -> Converter:
        table.update(dict.fromkeys(overloads, converter))
        if when is not None:
            _CONDITIONS[converter] = when
        return converter

    return register


def applicable(converters: Mapping[str, Converter], nodes: Iterable[Any]) -> dict[str, Converter]:
    """The converters without those whose condition is false for one of the nodes."""
    left = dict(converters)
    for node in nodes:
        name = overload_name(node.target)
        when = _CONDITIONS.get(left[name]) if name in left else None
        if when is not None and not when(*node.args, **node.kwargs):
            del left[name]
    return left


def load_converters() -> dict[str, Converter]:
    """The complete table, after import of all converters; those of users replace ours."""
    registered = dict(CONVERTERS)
    for theme in _THEMES:
        import_module(f".converters.{theme}", __package__)
    CONVERTERS.update(registered)
    return CONVERTERS


def load_converters_as_tvm() -> dict[str, Converter]:
    """The complete table, with TVM's operators where users have no converter of their own."""
    converters = load_converters()
    package = __package__ or ""
    for theme in ("as_tvm", *(f"as_tvm_{t}" for t in ("choices", "control", "layers", "slices"))):
        import_module(f".converters.{theme}", package)
    ours = {k for k, f in converters.items() if f.__module__.startswith(f"{package}.")}
    return {**converters, **{k: f for k, f in _AS_TVM.items() if k in ours or k not in converters}}


def overload_name(target: Any) -> str:
    """The key of a node's target in the table: "aten.add.Tensor", "higher_order.cond"."""
    if isinstance(target, str):
        return target
    namespace = getattr(target, "namespace", None)
    if namespace is None:
        return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
    text = str(target)
    return text if text.startswith(f"{namespace}.") else f"{namespace}.{text}"


def advice_for(name: str) -> str:
    """Advice for an unsupported operator."""
    return ADVICE.get(name) or ADVICE.get(name.rpartition(".")[0]) or DEFAULT_ADVICE

"""The table of converters, one for each family of ATen overloads, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

Converter: TypeAlias = Callable[..., Any]
"""Called as ``converter(context, *args, **kwargs)`` with the node's arguments.

Tensors come as SSA values, symbolic integers as `IntExpr`, everything else as it is; the result is
a value, or a tuple of them for an operator of several results.
"""

CONVERTERS: dict[str, Converter] = {}
"""Converters by overload, such as "aten.add.Tensor"."""

_THEMES = (
    "activation",
    "arithmetic",
    "creation",
    "elementwise",
    "indexing",
    "linear",
    "manipulation",
    "normalization",
    "reduction",
    "slicing",
    "sorting",
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
"""Arguments that say where and how a tensor is held, which is always on the CPU and packed."""

KEEP_IN_TENSOR = "keep the value in a tensor: its use would depend on data"

ADVICE: dict[str, str] = {
    "aten._local_scalar_dense": KEEP_IN_TENSOR,
    "aten.item": KEEP_IN_TENSOR,
    "aten.masked_select": "use torch.where: the shape of the result depends on data",
    "aten.nonzero": "use torch.where(mask, a, b): the shape of the result depends on data",
    "aten.unique": "the shape of the result depends on data",
    "aten._unique2": "the shape of the result depends on data",
    "aten.bernoulli": "call model.eval() before the export, or pass the random tensor in",
    "aten.native_dropout": "call model.eval() before the export",
    "aten.rand": "pass the random tensor in as an argument",
    "aten.randint": "pass the random tensor in as an argument",
    "aten.randn": "pass the random tensor in as an argument",
    "aten.randperm": "pass the random tensor in as an argument",
    "higher_order.cond": "use torch.where, or make two models",
    "higher_order.while_loop": "write the loop with a number of steps that the export knows",
}
"""What to do about operators that people meet often, by name without the overload."""

DEFAULT_ADVICE = "write it with supported operators, or register a converter with `converts`"


def converts(*overloads: str) -> Callable[[Converter], Converter]:
    """Register a function as the converter of ATen overloads such as "aten.add.Tensor"."""

    def register(converter: Converter) -> Converter:
        CONVERTERS.update(dict.fromkeys(overloads, converter))
        return converter

    return register


def load_converters() -> dict[str, Converter]:
    """The table, complete."""
    for theme in _THEMES:
        import_module(f".converters.{theme}", __package__)
    return CONVERTERS


def overload_name(target: Any) -> str:
    """The name of a node's target as the table has it: "aten.add.Tensor", "higher_order.cond"."""
    if isinstance(target, str):
        return target
    namespace = getattr(target, "namespace", None)
    if namespace is None:
        return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
    text = str(target)
    return text if text.startswith(f"{namespace}.") else f"{namespace}.{text}"


def advice_for(name: str) -> str:
    """What to do where an operator is not supported."""
    return ADVICE.get(name) or ADVICE.get(name.rpartition(".")[0]) or DEFAULT_ADVICE


class Unsupported(Exception):
    """Raised by a converter for arguments that it cannot convert; the importer adds the place."""

    def __init__(self, reason: str, advice: str = ""):
        super().__init__(reason)
        self.reason = reason
        self.advice = advice


class Problem(NamedTuple):
    """A node that cannot be imported, and the error of its converter, if that did not expect it."""

    target: str
    name: str
    place: str
    reason: str
    advice: str
    cause: Exception | None = None

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        advice = f"; {self.advice}" if self.advice else ""
        return f"{self.target} ('{self.name}') at {self.place}{reason}{advice}"


class UnsupportedError(ValueError):
    """Everything in a graph that cannot be imported, a line each.

    `problems` has the nodes' targets, names, source lines, and what to do. `message` is said in
    place of them where the problems are not operations. `failed` has the names of all nodes without
    a value: those of the problems, and those that need a value of which there is no stand-in. The
    cause is the first error of a converter that failed in another way than by refusing arguments.
    """

    def __init__(
        self, problems: Sequence[Problem], message: str = "", failed: Collection[str] = ()
    ):
        self.problems = tuple(problems)
        self.failed = frozenset(failed)
        count = f"{len(problems)} operation{'' if len(problems) == 1 else 's'}"
        head = f"expected a model of supported operations, got {count} without a conversion:"
        super().__init__(message or "\n  ".join([head, *map(str, problems)]))
        self.__cause__ = next((p.cause for p in problems if p.cause is not None), None)

"""The dialects of xrelax, and the xDSL context that registers them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.context import Context
from xdsl.ir import Dialect


def _lazy(module: str, attribute: str) -> Callable[[], Dialect]:
    def load() -> Dialect:
        return getattr(import_module(module, __package__), attribute)

    return load


DIALECTS: dict[str, Callable[[], Dialect]] = {
    "sym": _lazy(".sym", "SymDialect"),
    "relax": _lazy(".relax", "RelaxDialect"),
    "tir": _lazy(".tir", "TIRDialect"),
    "rt": _lazy(".rt", "RTDialect"),
    "loops": _lazy(".loops", "LoopsDialect"),
    "llvm_ext": _lazy(".llvm_ext", "LLVMExt"),
}
"""Our dialects by name; each is imported on first use."""

EXTENDED: dict[str, Callable[[], Dialect]] = {"arith": _lazy(".arith", "Arith")}
"""xDSL's dialects that we extend by operations; they replace xDSL's own."""

_UPSTREAM: dict[str, tuple[str, str]] = {
    "builtin": ("xdsl.dialects.builtin", "Builtin"),
    "math": ("xdsl.dialects.math", "Math"),
    "scf": ("xdsl.dialects.scf", "Scf"),
    "vector": ("xdsl.dialects.vector", "Vector"),
    "llvm": ("xdsl.dialects.llvm", "LLVM"),
}


def get_context() -> Context:
    """A new context with our dialects and those of xDSL that they use, loaded on demand."""
    context = Context()
    for name, (module, attribute) in _UPSTREAM.items():
        context.register_dialect(name, _lazy(module, attribute))
    for name, load in (EXTENDED | DIALECTS).items():
        context.register_dialect(name, load)
    return context

"""A built module: native functions with their signatures and constants."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from .call import CompiledFunction
from .device import Device
from .memory import ArenaPool
from .signature import FunctionSpec
from .tensor import Tensor, as_tensor
from .timing import TimeEvaluator


class NativeLibrary(Protocol):
    """Owner of native code: it stays loaded while this object lives."""

    def address(self, symbol: str) -> int:
        """The address of a function; raises KeyError for an unknown symbol."""
        ...


class Executable:
    """The functions of a built module by name: `ex["main"](x)`.

    `library` holds the native code, `constants` are the arrays in the order of the constants table,
    shared and not copied. `attributes` is for introspection alone (the target, IR texts, …).
    `entry_name` is the function that calling the executable itself runs: "main", or else the first.
    Functions stay usable without the executable. As `tvm.relax.Executable` and a built module.
    """

    def __init__(
        self,
        functions: Iterable[FunctionSpec],
        library: NativeLibrary,
        constants: Iterable[object] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.constants: tuple[Tensor, ...] = tuple(_packed(c) for c in constants)
        self.attributes: Mapping[str, Any] = MappingProxyType(dict(attributes or {}))
        self.library = library
        table = (ctypes.c_int64 * max(len(self.constants), 1))(*(c.address for c in self.constants))
        owners = (library, self.constants, table)
        arenas = ArenaPool()
        self._functions = {
            spec.name: CompiledFunction(
                spec, library.address(spec.entry), ctypes.addressof(table), arenas, owners
            )
            for spec in functions
        }
        self.entry_name = "main" if "main" in self._functions else next(iter(self._functions), "")

    @property
    def functions(self) -> Mapping[str, FunctionSpec]:
        """The signature of every function."""
        return MappingProxyType({name: f.spec for name, f in self._functions.items()})

    def __getitem__(self, name: str) -> CompiledFunction:
        try:
            return self._functions[name]
        except KeyError:
            known = ", ".join(self._functions) or "none"
            raise ValueError(f"unknown function '{name}', expected one of: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self[self.entry_name](*args, **kwargs)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({', '.join(self._functions)})"

    def get_function(self, name: str) -> CompiledFunction:
        """The function of that name; raises ValueError listing the functions there are."""
        return self[name]

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
    ) -> TimeEvaluator:
        """A callable that measures a function on the arguments that it is given."""
        return TimeEvaluator(self[func_name], number, repeat, min_repeat_ms)


def _packed(constant: object) -> Tensor:
    tensor = as_tensor(constant)
    return tensor if tensor.layout.packed else tensor.contiguous_copy()

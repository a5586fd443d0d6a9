"""A built module: native functions with their signatures and constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from ..display.rich import displayed
from .call import CompiledFunction
from .call_words import ENTRY_SYMBOL, POLL_SYMBOL
from .constants import Constants
from .device import Device, device
from .memory import ArenaPool
from .native import NativeCode, NativeError
from .native_call import compiled_function
from .package import Package
from .reports import Debugger, Inspector, Profiler
from .saving import Contents, read, save, to_bytes
from .signature import FunctionSpec, LoadSpec, ParamSpec, TensorSpec, shape_text
from .tensor import Tensor
from .timing import TimeEvaluator


class NativeLibrary(Protocol):
    """Owner of native code: it stays loaded while this object lives."""

    def address(self, symbol: str) -> int:
        """The address of a function; KeyError or NativeError for an unknown symbol."""
        ...


BUILT_HERE = "expected an executable that this process has built"
FROM_FILE = "got one from a file"
SOURCES = {"ll": "llvm-opt", "asm": "asm", "s": "asm"}
"""Stages by the formats of `inspect_source`."""
TEXTS = ("as_text", "stats")
"""What TVM's runtime modules describe themselves with, as functions: ``module["stats"]()``."""


@displayed("executables:executable_html")
class Executable:
    """The functions of a built module by name: `ex["main"](x)`.

    `library` holds the native code, `constants` are the arrays in the order of the constants table,
    of which large ones are shared and not copied. `attributes` is for introspection only (the
    target, IR texts, …). A call of the executable runs `entry_name`: "main", or else the first
    function. Code is linked at the first use of a function, or by `link`; the function of `load`
    then runs once. Functions stay valid without the executable. As `tvm.relax.Executable`;
    `Executable(module)` has the functions of another one, which is its `mod`.
    """

    def __init__(
        self,
        functions: Iterable[FunctionSpec] | Executable,
        library: NativeLibrary | None = None,
        constants: Iterable[object] = (),
        attributes: Mapping[str, Any] | None = None,
        load: LoadSpec | None = None,
    ) -> None:
        self._mod = self
        if isinstance(functions, Executable):
            vars(self).update(vars(functions))
            return
        if library is None:
            raise TypeError("expected a library with the code of the functions, got none")
        self._constants = Constants(constants, load)
        self.constants: tuple[Tensor, ...] = self._constants.given
        self.load = load
        self.attributes: Mapping[str, Any] = MappingProxyType(dict(attributes or {}))
        self.library = library
        self._owners = (library, self._constants)
        self._arenas = ArenaPool()
        self._specs = {spec.name: spec for spec in functions}
        self._functions: dict[str, CompiledFunction] = {}
        self.profiler: Profiler | None = None
        """Runs instrumented calls; the compiler sets it, and code from a file has none."""
        self.debugger: Debugger | None = None
        """What compares operations with a reference; set as `profiler` is."""
        self.inspector: Inspector | None = None
        """What has the texts of the code; set as `profiler` is."""
        self.entry_name = "main" if "main" in self._specs else next(iter(self._specs), "")

    def link(self) -> None:
        """Link every function now; raises NativeError for code that cannot be loaded."""
        for name in self._specs:
            self._function(name)

    def _function(self, name: str) -> CompiledFunction:
        found = self._functions.get(name)
        if found is None:
            spec = self._specs[name]
            self._constants.compute(self.library, self.library.address)
            address = self.library.address(spec.entry)
            made = compiled_function(
                self._symbol(ENTRY_SYMBOL),
                spec,
                address,
                self._constants.table,
                self._arenas,
                self._owners,
                self._constants.read_only(),
                self._symbol(POLL_SYMBOL) or 0,
            )
            found = self._functions.setdefault(name, made)
        return found

    def _symbol(self, name: str) -> int | None:
        """The address of a runtime symbol, if the code has it."""
        try:
            return self.library.address(name)
        except (KeyError, NativeError):  # written by hand, or for another processor
            return None

    @property
    def functions(self) -> Mapping[str, FunctionSpec]:
        """The signature of every function, by name."""
        return MappingProxyType(self._specs)

    @property
    def contents(self) -> Contents:
        """The contents that `save` writes; raises ValueError for a library without object files."""
        code = self.library
        if not isinstance(code, NativeCode):
            raise ValueError(
                f"expected an executable of native code, got one of {type(code).__name__}"
            )
        functions = list(self._specs.values())
        return Contents(functions, code, self.constants, self.attributes, self.load)

    def after_load(self) -> Contents:
        """The contents of an executable that computes nothing on load; raises as `contents`.

        Its constants are the values of this one that functions read.
        """
        self.link()
        return self.contents._replace(constants=self._constants.after_load(), load=None)

    def __getitem__(self, name: str) -> CompiledFunction:
        if name in TEXTS and name not in self._specs:
            return getattr(self, name)
        if name not in self._specs:
            known = ", ".join(self._specs) or "none"
            raise ValueError(f"expected a function ({known}), got '{name}'")
        return self._function(name)

    def __contains__(self, name: object) -> bool:
        return name in self._specs

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self[self.entry_name](*args, **kwargs)

    def __repr__(self) -> str:
        functions = ", ".join(map(signature_text, self._specs.values()))
        size = sum(c.layout.nbytes for c in self.constants)
        return f"<Executable of {functions or 'no functions'}; {size:,} bytes of constants>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has what `save` writes; raises ValueError for a library without object files."""
        return from_bytes, (to_bytes(self.contents),)

    @property
    def mod(self) -> Executable:
        """What the executable was made of, or itself: what TVM calls its runtime module."""
        return self._mod

    def get_function(self, name: str) -> CompiledFunction:
        """The function of that name; raises ValueError listing the existing functions."""
        return self[name]

    def save(self, path: str | Path, packed: bool = False) -> None:
        """Write the executable with its constants to a file, which `xrelax.runtime.load` reads.

        Loading needs no compiler. With `packed`, the file has weights in the layouts that functions
        read, rather than those that loading would compute them from: it loads faster, and processes
        share its memory. Raises ValueError for a library without object files, and NativeError if
        weights are to be packed with code that this machine cannot run.
        """
        save(self.after_load() if packed else self.contents, path)

    def export_library(self, path: str | Path, workspace_dir: str | Path | None = None) -> None:
        """As `save`, under TVM's name; nothing else is written, to `workspace_dir` neither.

        Also under the name of a shared library it is a file of `save`, for `load_module` to read.
        """
        save(self.contents, path)

    def jit(self, force_recompile: bool = False) -> Executable:
        """Link every function now, and return the executable; TVM's ``jit``, which compiles."""
        self.link()
        return self

    def inspect_source(self, fmt: str = "ll") -> str:
        """The code as LLVM IR after optimization ("ll"), or as assembly ("asm" or "s").

        Raises ValueError for another format, and for an executable that was loaded from a file.
        """
        if fmt not in SOURCES:
            raise ValueError(f"expected a format ({', '.join(SOURCES)}), got '{fmt}'")
        if self.inspector is None:
            raise ValueError(f"{BUILT_HERE} to show its code, {FROM_FILE}")
        return self.inspector.text(SOURCES[fmt])

    get_source = inspect_source

    def as_text(self) -> str:
        """The target, and a line for every function and constant."""
        lines = [f"target {self.attributes.get('target', 'unknown')}"]
        lines += [f"function {signature_text(spec)}" for spec in self._specs.values()]
        lines += [
            f"constant {number}: {c.dtype} {shape_text(c.shape)}"
            for number, c in enumerate(self.constants)
        ]
        if self.load is not None:
            lines += [f"computed on load: {_tensor_text(r)}" for r in self.load.function.results]
        return "\n".join(lines) + "\n"

    def stats(self) -> dict[str, int]:
        """The numbers of functions, kernels and constants, and the bytes of code and values."""
        code = self.library
        return {
            "functions": len(self._specs),
            "kernels": int(self.attributes.get("kernels", 0)),
            "code_bytes": sum(map(len, code.objects)) if isinstance(code, NativeCode) else 0,
            "constants": len(self.constants),
            "constant_bytes": sum(c.layout.nbytes for c in self.constants),
        }

    def profile(self, /, func_name: str, *args: Any, repeat: int = 20, **kwargs: Any) -> Any:
        """Profile a call by kernel: see `VirtualMachine.profile`."""
        self[func_name]
        if self.profiler is None:
            raise ValueError(f"{BUILT_HERE} to profile '{func_name}', {FROM_FILE}")
        return self.profiler.profile(func_name, args, kwargs, repeat)

    def debug(
        self,
        /,
        func_name: str,
        *args: Any,
        reference: Any = "f64",
        rtol: float | None = None,
        atol: float | None = None,
        stage: str = "asm",
        **kwargs: Any,
    ) -> Any:
        """The first operation with a wrong result: see `VirtualMachine.debug`."""
        self[func_name]
        if self.debugger is None:
            raise ValueError(f"{BUILT_HERE} to debug '{func_name}', {FROM_FILE}")
        options = {"reference": reference, "rtol": rtol, "atol": atol, "stage": stage}
        return self.debugger.debug(func_name, args, kwargs, **options)

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
    ) -> TimeEvaluator:
        """A callable that measures a function: see `VirtualMachine.time_evaluator`."""
        if dev is not None:
            device(dev)
        return TimeEvaluator(self[func_name], number, repeat, min_repeat_ms)


def load(path: str | Path) -> Executable:
    """The executable in a file of `save`; its constants are views of the file.

    Raises OSError if there is no such file, PackageError for a file that is damaged, truncated or
    of another format, or whose constants or interface do not match its code, and NativeError for
    code that this machine cannot run. The code runs with the caller's rights: load only files that
    you trust.
    """
    return _linked(Package(path))


load_module = load
"""TVM's name."""


def from_bytes(data: bytes) -> Executable:
    """The executable in the bytes of a pickle; raises as `load`."""
    return _linked(Package("<bytes>", data))


def _linked(package: Package) -> Executable:
    executable = Executable(*read(package))
    executable.link()
    return executable


def signature_text(spec: FunctionSpec) -> str:
    """A function as ``name(x: float32 (n, 4)) -> (float32 (n,))``."""
    params = ", ".join(f"{p.name}: {_tensor_text(p)}" for p in spec.params)
    results = ", ".join(map(_tensor_text, spec.results))
    return f"{spec.name}({params}) -> ({results})"


def _tensor_text(tensor: TensorSpec | ParamSpec) -> str:
    return f"{tensor.dtype} {shape_text(tensor.shape)}"

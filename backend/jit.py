"""Machine code from LLVM IR text: optimised for a target, loaded into the process, or as an object.

Text is parsed, optimised by LLVM's default pipeline and turned into one object file, which is what
gets loaded: a cached object and freshly compiled text take the same way into memory.
"""

import ctypes
import itertools
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from .errors import BackendError
from .llvm_binding import LLVM_LOCK, binding, llvm_module
from .object_file import undefined_symbols
from .target import Target, create_target_machine

_LIBM = {"linux": ("libm.so.6",), "darwin": ("libm.dylib",), "win32": ("ucrtbase.dll",)}
_library_numbers = itertools.count()


class Library:
    """Compiled code. Addresses are valid for as long as the library is referenced."""

    def __init__(self, object_bytes: bytes, target: Target, bitcode: bytes | None = None):
        self.target = target
        self._object = object_bytes
        self._bitcode = bitcode
        self._addresses: dict[str, int] = {}
        self._trackers: list[Any] = []
        self._name = ""

    def address(self, symbol: str) -> int:
        """Address of a function or global of external linkage; loads the code at the first call.

        Raises `BackendError` if there is no such symbol, if one that the code needs is found
        neither in it nor in the process, or if the code is for another machine.
        """
        with LLVM_LOCK:
            if symbol not in self._addresses:
                self._addresses[symbol] = self._look_up(symbol)
            return self._addresses[symbol]

    def _look_up(self, symbol: str) -> int:
        try:
            if not self._name:
                self._load()
            tracker = _engine().lookup(self._name, symbol)
        except RuntimeError as error:
            raise BackendError(f"cannot link '{symbol}': {self._link_message(error)}") from None
        self._trackers.append(tracker)
        return tracker[symbol]

    def _load(self) -> None:
        if not self.target.is_host:
            raise BackendError(f"cannot load code for {self.target.triple} into this process")
        name = f"xrelax.{next(_library_numbers)}"
        builder = binding().JITLibraryBuilder().add_object_img(self._object).add_current_process()
        self._trackers.append(builder.link(_engine(), name))
        self._name = name

    def _link_message(self, error: RuntimeError) -> str:
        # LLVM's own message names the code that it could not link, not the symbols it missed.
        process = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.cdll.msvcrt
        missing = [n for n in undefined_symbols(self._object) if not hasattr(process, n)]
        if missing:
            return f"expected symbols of the process, got {', '.join(missing)}"
        return " ".join(str(error).split())

    def object_bytes(self) -> bytes:
        """The object file: ELF, Mach-O or COFF, position-independent."""
        return self._object

    def optimized_ir(self) -> str:
        """LLVM IR after optimisation; `BackendError` for a library made from an object."""
        return self._with_module(str)

    def assembly(self) -> str:
        """Assembly text; `BackendError` for a library made from an object."""
        return self._with_module(lambda module: _machine(self.target, 3).emit_assembly(module))

    def _with_module(self, function: Callable[[Any], str]) -> str:
        if self._bitcode is None:
            raise BackendError("expected a library compiled from LLVM IR, got one from an object")
        with LLVM_LOCK, llvm_module(binding().parse_bitcode, self._bitcode) as module:
            return function(module)


def compile_module(ir_text: str, target: Target, opt_level: int = 3) -> Library:
    """Optimise and compile LLVM IR. `opt_level` 0 to 3 is LLVM's; 3 and 2 vectorise loops.

    Raises `BackendError`, naming the function, for text that LLVM does not accept.
    """
    with LLVM_LOCK, llvm_module(_parse, ir_text) as module:
        _verify(module)
        machine = _machine(target, opt_level)
        module.triple = target.triple
        module.data_layout = target.data_layout
        _optimize(module, machine, opt_level)
        bitcode = module.as_bitcode()
        return Library(machine.emit_object(module), target, bitcode)


def compile_object(object_bytes: bytes, target: Target) -> Library:
    """A library from what `Library.object_bytes` gave, perhaps in another process."""
    return Library(object_bytes, target)


def _machine(target: Target, opt_level: int) -> Any:
    return create_target_machine(target.triple, target.cpu, target.features, opt_level)


def _optimize(module: Any, machine: Any, opt_level: int) -> None:
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = options.slp_vectorization = opt_level >= 2
    options.loop_interleaving = options.loop_unrolling = opt_level >= 2
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _parse(ir_text: str, context: Any) -> Any:
    try:
        return binding().parse_assembly(ir_text, context)
    except RuntimeError as error:
        raise BackendError(_parse_message(str(error), ir_text)) from None


def _verify(module: Any) -> None:
    try:
        module.verify()
    except RuntimeError as error:
        raise BackendError(_verify_message(str(error), str(module))) from None


_POSITION = re.compile(r":(\d+):\d+: error: (.*)")
_DEFINITION = re.compile(r'^(?:define|declare)\b.*?@("[^"]*"|[-\w.$]+)', re.MULTILINE)


def _parse_message(message: str, text: str) -> str:
    match = _POSITION.search(message)
    if match is None:
        return f"internal error in LLVM IR: {' '.join(message.split())}"
    lines = text.splitlines()
    number = int(match[1])
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    where = _function_before("\n".join(lines[:number]))
    return f"internal error in LLVM IR{where}: {match[2]} in '{line}'"


def _verify_message(message: str, text: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    position = next((p for p in map(text.find, lines[1:]) if p >= 0), -1)
    where = _function_before(text[:position]) if position >= 0 else ""
    return f"internal error in LLVM IR{where}: {'; '.join(lines)}"


def _function_before(text: str) -> str:
    names = _DEFINITION.findall(text)
    return f" of '{names[-1].strip(chr(34))}'" if names else ""


@cache
def _engine() -> Any:
    """The process's JIT linker; its memory lives until the process ends."""
    for name in _LIBM.get(sys.platform, ()):
        # Makes libm's functions visible to the linker where Python itself does not link them.
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    host = Target("llvm")
    return binding().create_lljit_compiler(_machine(host, 3), suppress_errors=True)

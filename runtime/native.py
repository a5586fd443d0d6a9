"""Link object files into the process by LLVM, after checking their requirements."""

from __future__ import annotations

import ctypes
import itertools
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .llvm_binding import LLVM_LOCK, binding

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_SYMBOL_TABLE = 2
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def undefined_symbols(objects: Iterable[bytes]) -> list[str]:
    """The undefined symbols of 64-bit little-endian ELF objects; none for other formats."""
    defined: set[str] = set()
    used: dict[str, None] = {}
    for data in objects:
        for name, section in _symbols(data) if data.startswith(_ELF64_LITTLE) else ():
            if section:
                defined.add(name)
            else:
                used[name] = None
    return [name for name in used if name not in defined]


def _symbols(data: bytes) -> Iterator[tuple[str, int]]:
    """The names in the symbol tables, with the section of the definition or 0."""
    (offset,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    headers: list[tuple[int, ...]] = [
        _SECTION_HEADER.unpack_from(data, offset + i * _SECTION_HEADER.size) for i in range(count)
    ]
    for _, kind, _, _, start, size, link, *_ in headers:
        if kind == _SYMBOL_TABLE:
            strings = headers[link][4]
            for name, _, _, section, *_ in _SYMBOL.iter_unpack(data[start : start + size]):
                if name:
                    yield _string(data, strings + name), section


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


_LIBM = {"linux": ("libm.so.6",), "darwin": ("libm.dylib",), "win32": ("ucrtbase.dll",)}
_library_numbers = itertools.count()
_PROVIDED: dict[str, Callable[[], int]] = {}


def provide(symbol: str, address: Callable[[], int]) -> None:
    """Provide a runtime function to object files; `address` is called at its first use."""
    _PROVIDED[symbol] = address


class NativeError(Exception):
    """Native code could not be loaded, linked or read from a file; the message is one line."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The requirements of code: a triple, and features by LLVM's names, such as "avx512f"."""

    triple: str
    features: tuple[str, ...]

    def verify_host(self) -> None:
        """Raise NativeError unless this process can run the code."""
        with LLVM_LOCK:
            own = binding().get_process_triple()
        if self.triple != own:
            raise NativeError(f"cannot load code for {self.triple} into this process, of {own}")
        missing = [f for f in self.features if f not in host_features()]
        if missing:
            raise NativeError(f"cannot run code for a CPU with {', '.join(missing)} on this one")


@cache
def host_features() -> frozenset[str]:
    """The features of the process's CPU, by LLVM's names."""
    with LLVM_LOCK:
        return frozenset(f for f, has in binding().get_host_cpu_features().items() if has)


class NativeCode(ABC):
    """Object files of one program, loaded by the first look-up: ELF, Mach-O or COFF.

    Addresses are valid for as long as this is referenced.
    """

    def __init__(self, objects: Iterable[bytes]) -> None:
        self.objects = tuple(objects)
        self._addresses: dict[str, int] = {}
        self._trackers: list[Any] = []
        self._name = ""

    @property
    @abstractmethod
    def machine(self) -> Machine:
        """The requirements of the code on a machine."""

    def verify_host(self) -> None:
        """Raise NativeError unless this process can run the code."""
        self.machine.verify_host()

    def imports(self) -> list[str]:
        """The runtime functions that the code uses."""
        return [s for s in _PROVIDED if any(s.encode() in content for content in self.objects)]

    def address(self, symbol: str) -> int:
        """Address of a function or global of external linkage; loads the code at the first call.

        Raises NativeError if there is no such symbol, if a symbol that the code uses is undefined
        in it and in the process, or if the code is for another machine.
        """
        with LLVM_LOCK:
            if symbol not in self._addresses:
                self._addresses[symbol] = self._look_up(symbol)
            return self._addresses[symbol]

    def _look_up(self, symbol: str) -> int:
        if not self._name:
            self.verify_host()
        try:
            if not self._name:
                self._load()
            tracker = _engine().lookup(self._name, symbol)
        except RuntimeError as error:
            raise NativeError(f"cannot link '{symbol}': {self._link_message(error)}") from None
        self._trackers.append(tracker)
        return tracker[symbol]

    def _load(self) -> None:
        name = f"xrelax.{next(_library_numbers)}"
        builder = binding().JITLibraryBuilder().add_current_process()
        for content in self.objects:
            builder.add_object_img(content)
        for symbol in self.imports():
            builder.import_symbol(symbol, _PROVIDED[symbol]())
        self._trackers.append(builder.link(_engine(), name))
        self._name = name

    def _link_message(self, error: RuntimeError) -> str:
        # LLVM's own message names the code that it could not link, not the undefined symbols.
        process = ctypes.CDLL(None) if sys.platform != "win32" else ctypes.cdll.msvcrt
        missing = [
            n
            for n in undefined_symbols(self.objects)
            if n not in _PROVIDED and not hasattr(process, n)
        ]
        if missing:
            return f"expected symbols of the process, got {', '.join(missing)}"
        return " ".join(str(error).split())


def link_text(text: str, symbol: str) -> int:
    """The address of a function of a text of LLVM IR, which is valid until the process ends."""
    with LLVM_LOCK:
        builder = binding().JITLibraryBuilder().add_ir(text).export_symbol(symbol)
        tracker = builder.link(_engine(), f"xrelax.{next(_library_numbers)}")
        for owner in (_engine(), tracker):  # others may call it when this module is gone
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
        return tracker[symbol]


@cache
def _engine() -> Any:
    """The process's JIT linker; its memory lives until the process ends."""
    for name in _LIBM.get(sys.platform, ()):
        # Makes libm's functions visible to the linker if Python itself is not linked with libm.
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    llvm = binding()
    host = llvm.Target.from_triple(llvm.get_process_triple())
    machine = host.create_target_machine(reloc="pic", codemodel="small")
    # JITLink keeps the sections of one object together. LLVM's older linker may place them 2 GB
    # apart in a process with many mappings, and then aborts on their relative addresses.
    return llvm.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)

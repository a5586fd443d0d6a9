"""The build cache: compiled modules, and kernels that modules share.

The key of a module hashes its text and the contents of its constants; the key of a kernel hashes
its canonical form. Both include the target, the passes and the compiler's source. The file of a
module is that of an executable (`runtime.saving`), without the module's own constants, and with the
LLVM IR before and after optimization:

    manifest.json · code/N.o · module.ll · bitcode/N.bc · constants that passes have created
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ..dialects.relax.constant import DataAttr, TensorData
from ..runtime.executable import Executable
from ..runtime.package import Package, PackageError, Part
from ..runtime.saving import (
    check_format,
    object_files,
    packed_parts,
    sealed,
    stored_tensor,
    unpacked,
)
from .build import MachineCode, attributes_of
from .build_key import are_known, build_key, cache_for
from .cache import Cache
from .jit import Library
from .target import Target

_LLVM_IR, _BITCODE, _CODE = "module.ll", "bitcode/{}.bc", "code.o"
_LARGE = 1 << 20
"""Total bytes of constants from which they are hashed on several threads."""


class KernelCode(NamedTuple):
    """A kernel in its own object file, and its symbol there."""

    symbol: str
    code: MachineCode


@dataclass(frozen=True)
class BuildCache:
    """The cached builds for a target and a sequence of passes."""

    cache: Cache
    target: Target
    passes: tuple[str, ...]

    def module(self, module: ModuleOp) -> ModuleEntry | None:
        """The entry of a module; `None` if it has operations from outside the compiler.

        Their semantics may change without a change of the compiler's source.
        """
        operations = list(module.walk())
        if not are_known(operations):
            return None
        given = [
            p.data for op in operations for p in op.properties.values() if isinstance(p, DataAttr)
        ]
        digests = _digests(given)  # before the text, which would hash them one by one
        return ModuleEntry(self, self._key("module", str(module), *digests), given)

    def kernel(self, key: str) -> KernelCode | None:
        """The cached kernel of a key, or `None`."""
        key = self._key("kernel", key)
        package = self.cache.get(key)
        if package is None:
            return None
        try:
            with package.reading():
                symbol = str(package.manifest["symbol"])
            library = Library([bytes(package.part(_CODE))], self.target, _bitcode(package, 1))
            return KernelCode(symbol, MachineCode(_llvm_ir(package), library))
        except PackageError:
            self.cache.drop(key)
            return None

    def keep_kernel(self, key: str, kernel: KernelCode) -> None:
        """Store a compiled kernel."""
        (code,) = kernel.code.library.objects
        parts = {_CODE: code, **_texts(kernel.code.llvm_ir, kernel.code.library)}
        self.cache.put(self._key("kernel", key), {"symbol": kernel.symbol}, parts)

    def trim(self) -> None:
        """Evict entries until the cache is within its limit."""
        self.cache.trim()

    def _key(self, *texts: str) -> str:
        return build_key(self.target, *self.passes, *texts)


@dataclass(frozen=True)
class ModuleEntry:
    """The entry of one module in the cache."""

    owner: BuildCache
    key: str
    given: Sequence[TensorData]
    """The constants of the module, in the order of its operations."""

    def load(self) -> Executable | None:
        """The cached executable, or `None`."""
        cache = self.owner.cache
        package = cache.get(self.key)
        if package is None:
            return None
        try:
            check_format(package)
            objects = object_files(package)
            with package.reading():
                count = int(package.manifest["bitcode"])
            library = Library(objects, self.owner.target, _bitcode(package, count))
            attributes = attributes_of(library, _llvm_ir(package))
            return Executable(*unpacked(package, library, self._constant, attributes))
        except PackageError:
            cache.drop(self.key)
            return None

    def _constant(self, position: int) -> object:
        data = self.given[position]
        return stored_tensor(data.values, data.dtype)

    def store(self, executable: Executable, constants: Sequence[TensorData]) -> None:
        """Store an executable with its `constants`."""
        library = executable.library
        assert isinstance(library, Library)
        positions = {data.digest: i for i, data in enumerate(self.given)}
        known = {
            number: positions[data.digest]
            for number, data in enumerate(constants)
            if data.digest in positions
        }
        manifest, parts = packed_parts(executable.contents, known)
        parts |= _texts(str(executable.attributes["llvm_ir"]), library)
        manifest = sealed({**manifest, "bitcode": len(library.bitcode)}, library.objects)
        self.owner.cache.put(self.key, manifest, parts)


def build_cache(target: Target, passes: tuple[str, ...]) -> BuildCache | None:
    """The build cache for a target; `None` if caching is off.

    `passes` are the names of all passes of a build. See `cache_for`.
    """
    cache = cache_for(target)
    return None if cache is None else BuildCache(cache, target, passes)


def _texts(llvm_ir: str, library: Library) -> dict[str, Part]:
    found: dict[str, Part] = {_LLVM_IR: llvm_ir.encode()}
    return found | {_BITCODE.format(i): data for i, data in enumerate(library.bitcode)}


def _llvm_ir(package: Package) -> str:
    return bytes(package.part(_LLVM_IR)).decode()


def _bitcode(package: Package, count: int) -> list[bytes]:
    return [bytes(package.part(_BITCODE.format(i))) for i in range(count)]


def _digests(constants: Sequence[TensorData]) -> list[str]:
    """The hash of each constant's contents, on all cores, since hashing releases the GIL."""
    unknown = [c for c in constants if not c.is_hashed]
    if sum(c.values.nbytes for c in unknown) >= _LARGE:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_digest, unknown))
    return [c.digest for c in constants]


def _digest(data: TensorData) -> str:
    return data.digest

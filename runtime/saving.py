"""Executables as files: `executable.save(path)` writes one, `load(path)` needs no compiler.

A file is a zip archive (see `package`) of

- ``manifest.json``: format and version, the target and the CPU features that the code needs, the
  signature of every function and of the one that runs on load, for each constant its dtype, its
  shape and where its values are, and a hash of all this and of the code;
- ``code/N.o``: the object files;
- ``constants/N.npy``: the values of constants, where they can be mapped into memory as they are.
  bfloat16 is held as its 16 bits.

Native code trusts its caller with all that the manifest says. So nothing runs unless the hash fits
the code and the manifest, and each constant is what the manifest says. Every part has a CRC.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .dtype import dtype_info
from .layout import Layout
from .native import Machine, NativeCode
from .package import Package, PackageError, Part, write_archive, write_package
from .signature import FunctionSpec, LoadSpec, shape_text
from .tensor import Tensor, as_tensor, from_numpy

if TYPE_CHECKING:
    from .executable import Executable

FORMAT = "xrelax executable"
VERSION = 6
"""Changes with what is in the files, and with what native code expects of its caller."""

_CODE = "code/{}.o"


class SavedCode(NativeCode):
    """Code from a file, for the machine that the file names."""

    def __init__(self, objects: Iterable[bytes], machine: Machine) -> None:
        super().__init__(objects)
        self._machine = machine

    @property
    def machine(self) -> Machine:
        """What a machine needs to run the code."""
        return self._machine


def save(executable: Executable, path: str | Path) -> None:
    """Write an executable with its constants to a file, which `load` reads; replaces an old one.

    Raises ValueError for an executable that is not made of an object file.
    """
    write_package(path, *_contents(executable))


def to_bytes(executable: Executable) -> bytes:
    """What `save` writes; raises as it does."""
    buffer = io.BytesIO()
    write_archive(buffer, *_contents(executable))
    return buffer.getvalue()


def from_bytes(data: bytes) -> Executable:
    """The executable that `to_bytes` wrote; raises as `load`."""
    return _loaded(Package("<bytes>", data))


def _contents(executable: Executable) -> tuple[dict[str, Any], dict[str, Part]]:
    code = executable.library
    if not isinstance(code, NativeCode):
        raise ValueError(f"expected an executable of native code, got one of {type(code).__name__}")
    machine = {"triple": code.machine.triple, "features": list(code.machine.features)}
    manifest, parts = packed_parts(executable, code, {})
    return sealed({**manifest, "machine": machine}, code.objects), parts


def load(path: str | Path) -> Executable:
    """The executable in a file of `save`; its constants are views of the file.

    Raises OSError where there is no such file, PackageError for one that is damaged, cut off, or of
    another format, and where a constant or the interface is not what the code was compiled for,
    NativeError for code that this machine cannot run. The code runs as the caller does: load files
    of those alone whose programs you would run.
    """
    return _loaded(Package(path))


def _loaded(package: Package) -> Executable:
    check_format(package)
    with package.reading():
        machine = package.manifest["machine"]
        needed = Machine(str(machine["triple"]), tuple(map(str, machine["features"])))
    needed.verify_host()
    executable = unpacked(package, SavedCode(object_files(package), needed), _nothing_given)
    executable.link()
    return executable


load_module = load
"""TVM's name."""


def packed_parts(
    executable: Executable, code: NativeCode, given: Mapping[int, int]
) -> tuple[dict[str, Any], dict[str, Part]]:
    """The manifest and the parts of an executable.

    `given` says which of its constants a reader has already: their position among the reader's.
    """
    parts: dict[str, Part] = {_CODE.format(i): data for i, data in enumerate(code.objects)}
    objects = list(parts)
    constants: list[dict[str, Any]] = []
    for number, tensor in enumerate(executable.constants):
        entry: dict[str, Any] = {"dtype": tensor.dtype, "shape": list(tensor.shape)}
        if number in given:
            entry["given"] = given[number]
        else:
            entry["part"] = name = f"constants/{number}.npy"
            parts[name] = tensor.view()
        constants.append(entry)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "target": executable.attributes.get("target", ""),
        "kernels": executable.attributes.get("kernels", 0),
        "code": objects,
        "functions": [spec.to_json() for spec in executable.functions.values()],
        "constants": constants,
        "load": None if executable.load is None else executable.load.to_json(),
    }
    return manifest, parts


def check_format(package: Package) -> None:
    """Raise PackageError unless a file holds an executable, in the version of this module."""
    found, version = package.manifest.get("format"), package.manifest.get("version")
    if found != FORMAT:
        raise PackageError(f"cannot read '{package.path}': expected an {FORMAT}, got {found}")
    if version != VERSION:
        raise PackageError(
            f"cannot read '{package.path}': expected version {VERSION} of the format, got {version}"
        )


def sealed(manifest: Mapping[str, Any], objects: Sequence[bytes]) -> dict[str, Any]:
    """A manifest with a hash of itself and of the code that it is for."""
    return {**manifest, "hash": _hash(manifest, objects)}


def _hash(manifest: Mapping[str, Any], objects: Sequence[bytes]) -> str:
    text = json.dumps({k: v for k, v in manifest.items() if k != "hash"}, sort_keys=True)
    found = hashlib.blake2b(text.encode(), digest_size=20)
    for content in objects:
        found.update(hashlib.blake2b(content).digest())
    return found.hexdigest()


def object_files(package: Package) -> list[bytes]:
    """The object files in a file; raises PackageError where its manifest is not for them."""
    with package.reading():
        found = [bytes(package.part(str(name))) for name in package.manifest["code"]]
        if package.manifest.get("hash") != _hash(package.manifest, found):
            raise ValueError("expected the manifest that its code was saved with, got another")
        return found


def unpacked(
    package: Package,
    code: NativeCode,
    given: Callable[[int], object],
    attributes: Mapping[str, Any] = MappingProxyType({}),
) -> Executable:
    """The executable in a file; `given` is asked for the constants that the reader has already."""
    from .executable import Executable

    with package.reading():
        manifest = package.manifest
        functions = [FunctionSpec.from_json(f) for f in manifest["functions"]]
        constants = [_constant(package, c, given) for c in manifest["constants"]]
        load = None if manifest["load"] is None else LoadSpec.from_json(manifest["load"])
        common = {"target": manifest["target"], "kernels": manifest["kernels"]}
    return Executable(functions, code, constants, {**common, **attributes}, load)


def _constant(package: Package, entry: Mapping[str, Any], given: Callable[[int], object]) -> Tensor:
    dtype, shape = str(entry["dtype"]), tuple(entry["shape"])
    if "given" in entry:
        found = as_tensor(given(int(entry["given"])))
        what = f"constant {entry['given']} of the module"
    else:
        found = stored_tensor(package.array(entry["part"]), dtype)
        what = f"'{entry['part']}'"
    if (found.dtype, found.shape) != (dtype, shape):
        raise ValueError(
            f"expected {what} to be {dtype} of shape {shape_text(shape)}, "
            f"got {found.dtype} of shape {shape_text(found.shape)}"
        )
    return found


def _nothing_given(position: int) -> object:
    raise ValueError(f"expected all constants in the file, got constant {position} of a module")


def stored_tensor(array: npt.NDArray[Any], dtype: str) -> Tensor:
    """The tensor that shares the memory of an array, in which bfloat16 is held as its bits."""
    if array.dtype != dtype_info(dtype).storage:
        raise ValueError(f"expected an array of {dtype}, got {array.dtype}")
    tensor = from_numpy(np.asarray(array))
    if tensor.dtype == dtype:
        return tensor
    layout = Layout(tensor.shape, dtype, tensor.layout.strides, tensor.layout.writable)
    return Tensor(tensor.address, layout, tensor)

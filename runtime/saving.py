"""Executables as files: `executable.save(path)` writes one, `load(path)` needs no compiler.

A file is a zip archive (see `package`) of

- ``manifest.json``: format and version, the target and the CPU features that the code needs, the
  signature of every function and of the one that runs on load, the dtype, shape and part of each
  constant, and a hash of all this and of the code;
- ``code/N.o``: the object files;
- ``constants/N.npy``: the values of constants, aligned for memory mapping. bfloat16 is held as its
  16 bits.

Native code does not check that its caller follows the manifest. So nothing runs unless the hash
matches the code and the manifest, and each constant matches its entry. Every part has a CRC.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .dtype import dtype_info
from .layout import Layout
from .native import Machine, NativeCode
from .package import Package, PackageError, Part, write_archive, write_package
from .signature import FunctionSpec, LoadSpec, shape_text
from .tensor import Tensor, as_tensor, from_numpy

FORMAT = "xrelax executable"
VERSION = 7
"""Changes with the format of files, and with the interface between native code and its caller."""

_CODE = "code/{}.o"


class SavedCode(NativeCode):
    """Code from a file, for the machine that the file names."""

    def __init__(self, objects: Iterable[bytes], machine: Machine) -> None:
        super().__init__(objects)
        self._machine = machine

    @property
    def machine(self) -> Machine:
        """The requirements of the code on a machine."""
        return self._machine


class Contents(NamedTuple):
    """The parts of an executable: the arguments of `Executable`."""

    functions: Sequence[FunctionSpec]
    library: NativeCode
    constants: Sequence[Tensor]
    attributes: Mapping[str, Any]
    load: LoadSpec | None


def save(contents: Contents, path: str | Path) -> None:
    """Write an executable with its constants to a file for `load`; replaces an existing one."""
    write_package(path, *_packed(contents))


def to_bytes(contents: Contents) -> bytes:
    """The bytes that `save` writes."""
    buffer = io.BytesIO()
    write_archive(buffer, *_packed(contents))
    return buffer.getvalue()


def _packed(contents: Contents) -> tuple[dict[str, Any], dict[str, Part]]:
    code = contents.library
    machine = {"triple": code.machine.triple, "features": list(code.machine.features)}
    manifest, parts = packed_parts(contents, {})
    return sealed({**manifest, "machine": machine}, code.objects), parts


def read(package: Package) -> Contents:
    """The executable in a file of `save`, with its code; raises as `executable.load`."""
    check_format(package)
    with package.reading():
        machine = package.manifest["machine"]
        needed = Machine(str(machine["triple"]), tuple(map(str, machine["features"])))
    needed.verify_host()
    return unpacked(package, SavedCode(object_files(package), needed))


def packed_parts(
    contents: Contents, given: Mapping[int, int]
) -> tuple[dict[str, Any], dict[str, Part]]:
    """The manifest and the parts of an executable.

    Constants in `given` are not stored: it maps their positions to those among the reader's own.
    """
    parts: dict[str, Part] = {
        _CODE.format(i): data for i, data in enumerate(contents.library.objects)
    }
    objects = list(parts)
    constants: list[dict[str, Any]] = []
    for number, tensor in enumerate(contents.constants):
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
        "target": contents.attributes.get("target", ""),
        "kernels": contents.attributes.get("kernels", 0),
        "code": objects,
        "functions": [spec.to_json() for spec in contents.functions],
        "constants": constants,
        "load": None if contents.load is None else contents.load.to_json(),
    }
    return manifest, parts


def check_format(package: Package) -> None:
    """Raise PackageError unless a file holds an executable of this `VERSION`."""
    found, version = package.manifest.get("format"), package.manifest.get("version")
    if found != FORMAT:
        raise PackageError(f"cannot read '{package.path}': expected an {FORMAT}, got {found}")
    if version != VERSION:
        raise PackageError(
            f"cannot read '{package.path}': expected version {VERSION} of the format, got {version}"
        )


def sealed(manifest: Mapping[str, Any], objects: Sequence[bytes]) -> dict[str, Any]:
    """A manifest with a hash of itself and of its code."""
    return {**manifest, "hash": _hash(manifest, objects)}


def _hash(manifest: Mapping[str, Any], objects: Sequence[bytes]) -> str:
    text = json.dumps({k: v for k, v in manifest.items() if k != "hash"}, sort_keys=True)
    found = hashlib.blake2b(text.encode(), digest_size=20)
    for content in objects:
        found.update(hashlib.blake2b(content).digest())
    return found.hexdigest()


def object_files(package: Package) -> list[bytes]:
    """The object files in a file; raises PackageError if its manifest does not match them."""
    with package.reading():
        found = [bytes(package.part(str(name))) for name in package.manifest["code"]]
        if package.manifest.get("hash") != _hash(package.manifest, found):
            raise ValueError("expected the manifest that its code was saved with, got another")
        return found


def _nothing_given(position: int) -> object:
    raise ValueError(f"expected all constants in the file, got constant {position} of a module")


def unpacked(
    package: Package,
    code: NativeCode,
    given: Callable[[int], object] = _nothing_given,
    attributes: Mapping[str, Any] = MappingProxyType({}),
) -> Contents:
    """The executable in a file; `given` returns the constants that are not stored in it."""
    with package.reading():
        manifest = package.manifest
        functions = [FunctionSpec.from_json(f) for f in manifest["functions"]]
        constants = [_constant(package, c, given) for c in manifest["constants"]]
        load = None if manifest["load"] is None else LoadSpec.from_json(manifest["load"])
        common = {"target": manifest["target"], "kernels": manifest["kernels"]}
    return Contents(functions, code, constants, {**common, **attributes}, load)


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


def stored_tensor(array: npt.NDArray[Any], dtype: str) -> Tensor:
    """The tensor over the memory of an array; bfloat16 is stored as its uint16 bits."""
    if array.dtype != dtype_info(dtype).storage:
        raise ValueError(f"expected an array of {dtype}, got {array.dtype}")
    tensor = from_numpy(np.asarray(array))
    if tensor.dtype == dtype:
        return tensor
    layout = Layout(tensor.shape, dtype, tensor.layout.strides, tensor.layout.writable)
    return Tensor(tensor.address, layout, tensor)

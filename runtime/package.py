"""Files of named parts: a zip archive with arrays as `.npy`, aligned for memory mapping.

``numpy.load`` reads the arrays of such a file, and ``unzip -l`` lists it. The CRC of a part is
checked when it is read. Files are written atomically.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import secrets
import struct
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .memory import ALIGNMENT

Part: TypeAlias = "bytes | npt.NDArray[Any]"
"""The contents of a part; bytes, such as text in UTF-8, are compressed."""

MANIFEST = "manifest.json"
_PADDING_ID = 0xD935
"""The header id under which zip tools expect padding for alignment."""
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_ZIP64_FROM = 1 << 30
_NPY = np.lib.format

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The exceptions of Python's readers for a truncated or damaged file, or one of another format."""


class PackageError(ValueError):
    """A file has another format or is damaged; the message is one line."""


def write_package(path: str | Path, manifest: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
    """Write a file with a JSON manifest and parts by name; replaces an existing one."""
    with _replacing(Path(path)) as file:
        write_archive(file, manifest, parts)


def write_archive(file: IO[bytes], manifest: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
    """As `write_package`, to an open file."""
    with zipfile.ZipFile(file, "w") as archive:
        text = json.dumps(manifest, separators=(",", ":")).encode()
        _add(archive, MANIFEST, text)
        for name, part in parts.items():
            _add(archive, name, part)


@contextmanager
def _replacing(path: Path) -> Generator[IO[bytes]]:
    """A new file that replaces `path` at the end, or is removed if an exception is raised."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _add(archive: zipfile.ZipFile, name: str, part: Part) -> None:
    head, data = (b"", memoryview(part)) if isinstance(part, bytes) else _npy(part)
    info = zipfile.ZipInfo(name)
    if name.endswith((".json", ".ll")):
        info.compress_type = zipfile.ZIP_DEFLATED
    info.file_size = size = len(head) + data.nbytes
    large = size >= _ZIP64_FROM
    start = archive.fp.tell() if archive.fp is not None else 0
    info.extra = _padding(start + _LOCAL_HEADER + len(name.encode()) + _ZIP64_EXTRA * large)
    with archive.open(info, "w", force_zip64=large) as file:
        file.write(head)
        file.write(data)


def _padding(start: int) -> bytes:
    """An extra field of a zip header that aligns the data after it."""
    count = -(start + 4) % ALIGNMENT
    return struct.pack("<HH", _PADDING_ID, count) + bytes(count)


def _npy(array: npt.NDArray[Any]) -> tuple[bytes, memoryview]:
    """The header of an array's `.npy` form, and its memory."""
    header = io.BytesIO()
    packed = np.ascontiguousarray(array).reshape(array.shape)
    _NPY.write_array_header_1_0(header, _NPY.header_data_from_array_1_0(packed))
    return header.getvalue(), memoryview(cast(Any, packed.reshape(-1).view(np.uint8)))


def _mapped(file: IO[bytes]) -> memoryview:
    """The contents of a file, page-aligned and read-only."""
    if not isinstance(file, io.BytesIO):
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data = file.getbuffer()
    copy = mmap.mmap(-1, len(data))
    copy.write(data)
    return memoryview(copy).toreadonly()


class Package:
    """A file of `write_package`, for reading; its arrays are views of the mapped file.

    `source` is an open file, or the contents in memory.
    """

    def __init__(self, path: str | Path, source: IO[bytes] | bytes | None = None) -> None:
        self.path = Path(path)
        if isinstance(source, bytes):
            source = io.BytesIO(source)
        with source or open(self.path, "rb") as file, self.reading():
            self._map = _mapped(file)
            with zipfile.ZipFile(file) as archive:
                self._infos = {info.filename: info for info in archive.infolist()}
            self.manifest: dict[str, Any] = json.loads(bytes(self.part(MANIFEST)))
            if not isinstance(self.manifest, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError("expected its manifest to be a dictionary")

    @contextmanager
    def reading(self) -> Generator[None]:
        """Raise PackageError with one line for exceptions about the contents of the file."""
        try:
            yield
        except PackageError:
            raise
        except _UNREADABLE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise PackageError(f"cannot read '{self.path}': {reason}") from None

    def part(self, name: str) -> memoryview:
        """The bytes of a part; raises PackageError if they are damaged."""
        with self.reading():
            if name not in self._infos:
                raise ValueError(f"expected '{name}' in it, got {', '.join(self._infos)}")
            info = self._infos[name]
            names, extra = struct.unpack_from("<HH", self._map, info.header_offset + 26)
            start = info.header_offset + _LOCAL_HEADER + names + extra
            data = self._map[start : start + info.compress_size]
            if info.compress_type == zipfile.ZIP_DEFLATED:
                data = memoryview(zlib.decompress(data, -zlib.MAX_WBITS))
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise ValueError(f"expected the contents of '{name}' to match its checksum")
            return data

    def array(self, name: str) -> npt.NDArray[Any]:
        """A read-only array over the memory of the file."""
        data = self.part(name)
        with self.reading():
            head = io.BytesIO(data[: 1 << 16])
            _NPY.read_magic(head)
            shape, fortran_order, dtype = _NPY.read_array_header_1_0(head)
            if fortran_order or dtype.hasobject:
                raise ValueError(f"expected numbers in rows in '{name}'")
            size = prod(shape)
            values = np.frombuffer(data, dtype, size, head.tell()) if size else np.empty(0, dtype)
            return values.reshape(shape)

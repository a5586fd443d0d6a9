"""Which symbols ELF object files need from elsewhere; for error messages of the JIT."""

import struct
from collections.abc import Iterable, Iterator

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_SYMBOL_TABLE = 2
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def undefined_symbols(objects: Iterable[bytes]) -> list[str]:
    """Names that 64-bit little-endian ELF objects use and none defines; none for other formats."""
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

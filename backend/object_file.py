"""Which symbols an ELF object file needs from elsewhere; for error messages of the JIT."""

import struct

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_SYMBOL_TABLE = 2
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def undefined_symbols(data: bytes) -> list[str]:
    """Names without a definition in a 64-bit little-endian ELF object; none for other formats."""
    if not data.startswith(_ELF64_LITTLE):
        return []
    (offset,) = struct.unpack_from("<Q", data, 40)
    (count,) = struct.unpack_from("<H", data, 60)
    headers: list[tuple[int, ...]] = [
        _SECTION_HEADER.unpack_from(data, offset + i * _SECTION_HEADER.size) for i in range(count)
    ]
    names: list[str] = []
    for _, kind, _, _, start, size, link, *_ in headers:
        if kind == _SYMBOL_TABLE:
            strings = headers[link][4]
            table = data[start : start + size]
            undefined = (
                name for name, _, _, section, *_ in _SYMBOL.iter_unpack(table) if not section
            )
            names += [_string(data, strings + name) for name in undefined if name]
    return names


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()

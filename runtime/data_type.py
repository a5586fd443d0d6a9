"""`tvm.DataType`: names of element types and of vectors, with their sizes."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"(?P<kind>bfloat|float|uint|int|bool|handle|void)(?P<bits>\d*)(?:_(?P<format>\w+?))?"
    r"(?:x(?P<scale>vscalex)?(?P<lanes>\d+))?"
)
_BITS = {"bool": 8, "handle": 64, "void": 0}


class DataType(str):
    """The name of a data type such as "float32" or "int8x4", which is a string.

    Its `bits` are those of an element, of `lanes` elements. Raises ValueError for another text.
    """

    __slots__ = ("bits", "kind", "lanes")

    bits: int
    kind: str
    lanes: int

    def __new__(cls, name: str) -> DataType:
        match = _NAME.fullmatch(str(name))
        if match is None:
            raise ValueError(f"expected a data type such as float32 or int8x4, got '{name}'")
        made = super().__new__(cls, name)
        made.kind = match["kind"]
        made.bits = int(match["bits"] or _BITS.get(made.kind, 32))
        lanes = int(match["lanes"] or 1)
        made.lanes = -lanes if match["scale"] else lanes
        return made

    @property
    def itemsize(self) -> int:
        """The bytes of all lanes; ValueError if their number is not known before run time."""
        if self.lanes < 0:
            raise ValueError(f"expected lanes of a known number, got '{self}'")
        return (self.bits * self.lanes + 7) // 8

    def with_lanes(self, lanes: int) -> DataType:
        """The vector type of that many of these elements."""
        base = re.sub(r"x(vscalex)?\d+$", "", self)
        return DataType(base if lanes == 1 else f"{base}x{lanes}")

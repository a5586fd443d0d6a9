"""Lists of integers, such as positions of arguments: the attribute, and its text ``[0, -1]``."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.parser import Parser


def int_list(values: Iterable[int]) -> ArrayAttr[IntAttr]:
    """The attribute of some integers."""
    return ArrayAttr([IntAttr(i) for i in values])


def ints_of(attribute: ArrayAttr[IntAttr] | None) -> list[int]:
    """The integers of an attribute; none where there is no attribute."""
    return [] if attribute is None else [i.data for i in attribute.data]


def parse_int_list(parser: Parser) -> list[int]:
    """Parse integers in square brackets, as Python prints a list of them."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

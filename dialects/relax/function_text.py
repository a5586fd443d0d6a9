"""The text that functions of the graph have in common: ``@f(%x: …) -> type attributes {…} {…}``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Region
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..parameters import parse_parameters, print_parameters


def parse_function(
    parser: Parser,
) -> tuple[str, Sequence[str], Attribute, Region, DictionaryAttr | None]:
    """Name, names of parameters, result type, body and attributes of a function."""
    name = parser.parse_symbol_name().data
    args, names = parse_parameters(parser)
    parser.parse_punctuation("->")
    result_type = parser.parse_type()
    attrs = parser.parse_optional_attr_dict_with_keyword()
    return name, names, result_type, parser.parse_region(args), attrs


def print_function(
    printer: Printer,
    name: str,
    names: Sequence[str],
    result_type: Attribute,
    body: Region,
    attrs: DictionaryAttr | None,
) -> None:
    """Print what `parse_function` reads."""
    print_parameters(printer, name, body.block.args, names)
    printer.print_string(" -> ")
    printer.print_attribute(result_type)
    if attrs is not None and attrs.data:
        printer.print_string(" attributes ")
        printer.print_attribute(attrs)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_empty_block=False)

"""Parameters of functions in all dialects: their text, and their user-visible names."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument
from xdsl.irdl import prop_def, region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .irdl import IRDLOperation


class FunctionOp(IRDLOperation, ABC):
    """A function with a name for each parameter."""

    param_names = prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")

    @property
    def params(self) -> tuple[BlockArgument, ...]:
        """The parameters."""
        return tuple(self.body.block.args)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return tuple(n.data for n in self.param_names.data)

    def insert_param(self, place: int, name: str, type_: Attribute) -> BlockArgument:
        """Add a parameter of a name that no other one has; returns it."""
        param = self.body.block.insert_arg(type_, place)
        param.name_hint = value_hint(name)
        names = list(self.param_names.data)
        names.insert(place, StringAttr(name))
        self.param_names = ArrayAttr(names)
        return param

    def erase_params(self, places: Collection[int]) -> None:
        """Remove parameters without uses, by their positions."""
        kept = [n for i, n in enumerate(self.param_names.data) if i not in places]
        for place in sorted(places, reverse=True):
            self.body.block.erase_arg(self.body.block.args[place])
        self.param_names = ArrayAttr(kept)

    def verify_parameters(self) -> None:
        """Raise VerifyException unless each parameter has one name, and all names differ."""
        names, params = self.names, self.params
        if len(names) != len(params):
            raise VerifyException(f"expected {len(params)} parameter names, got {len(names)}")
        if len(set(names)) != len(names):
            raise VerifyException(f"expected distinct parameter names, got {', '.join(names)}")


def parse_parameters(parser: Parser) -> tuple[list[Parser.Argument], list[str]]:
    """Parse ``(%x: type, …)`` and ``params ("name", …)`` where the names differ from ``x``."""
    args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    names = [a.name.text[1:] for a in args]
    if parser.parse_optional_keyword("params"):
        names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_str_literal)
    return args, names


def print_parameters(
    printer: Printer, name: str, args: Sequence[BlockArgument], names: Sequence[str]
) -> None:
    """Print ``@name(%x: type, …)``, and names that differ from those of the values."""
    printer.print_symbol_name(name)
    with printer.in_parens():
        printer.print_list(args, printer.print_block_argument)
    if any(n != a.name_hint for n, a in zip(names, args, strict=False)):
        printer.print_string(" params (")
        printer.print_list(names, lambda n: print_text(printer, n))
        printer.print_string(")")


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def print_text(printer: Printer, text: str) -> None:
    """Print quoted text; xDSL escapes non-ASCII characters, and then parses them as bytes."""
    if text.isascii():
        printer.print_string_literal(text)
    else:
        printer.print_string(f'"{text.translate(_ESCAPES)}"')


def value_hint(name: str) -> str | None:
    """The SSA name of a value that users call `name`; `None` if the syntax does not allow it."""
    return value_name(name) if name.isascii() else None


def value_name(text: str) -> str:
    """The nearest valid SSA name, which also remains valid without its numeric suffix.

    xDSL strips numeric suffixes whenever a value is named or cloned; ``_0`` would become empty.
    """
    name = re.sub(r"[^A-Za-z0-9_$.-]", "_", text)
    if not name or name[0].isdigit():
        return f"v{name}"
    return name if re.sub(r"(_\d+)+$", "", name) else "_"

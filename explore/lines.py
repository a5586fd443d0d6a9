"""Texts of a compilation as lines that know where in the user's program they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import NamedTuple

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.printer import Printer


class Place(NamedTuple):
    """A line of a file; lines count from 1."""

    file: str
    line: int


class Line(NamedTuple):
    """A line of text, and the place that it comes from, if that is known."""

    text: str
    place: Place | None


def ir_lines(op: Operation) -> list[Line]:
    """The text of an operation; each line has the place of the innermost operation in it."""
    printer = _Printer(StringIO())
    printer.print_op(op)
    texts = printer.text().split("\n")
    return [Line(text, printer.places.get(number)) for number, text in enumerate(texts)]


class _Printer(Printer):
    """Notes the place of the operation that begins in each line, or else of the one around it."""

    def __init__(self, stream: StringIO):
        super().__init__(stream=stream)
        self._buffer, self._read, self._number = stream, 0, 0
        self._inherited: Place | None = None
        self.places: dict[int, Place | None] = {}

    def text(self) -> str:
        """Everything that has been printed."""
        return self._buffer.getvalue()

    def print_op(self, op: Operation) -> None:
        start, outer = self._line(), self._inherited
        self._inherited = place_of(op) or outer
        super().print_op(op)
        for number in range(start, self._line() + 1):
            self.places.setdefault(number, self._inherited)
        self._inherited = outer

    def _line(self) -> int:
        """The number of the line that is being printed, from 0."""
        self._buffer.seek(self._read)
        new = self._buffer.read()
        self._read += len(new)
        self._number += new.count("\n")
        return self._number


def place_of(op: Operation) -> Place | None:
    """Where an operation comes from."""
    place = op.location
    if not isinstance(place, FileLineColLoc):
        return None
    return Place(place.filename.data, place.line.data)


_NODE = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)")
_FIELD = re.compile(r'(\w+): (?:"([^"]*)"|!?(\w+))')
_USE = re.compile(r", !dbg !(\d+)(.*)$")
_SCOPE = re.compile(r" !dbg !\d+(?= \{)")
_DEBUG_LINE = re.compile(
    r"!llvm\.(dbg\.cu|module\.flags) = |!\d+ = .*(!DI\w+\(|Debug Info Version)"
)


def llvm_lines(text: str) -> list[Line]:
    """LLVM's IR without its debug metadata, by which lines find their places."""
    nodes = {
        m[1]: {f[1]: f[2] if f[2] is not None else f[3] for f in _FIELD.finditer(m[3])}
        for m in _NODE.finditer(text)
    }
    found: list[Line] = []
    for line in text.split("\n"):
        if _DEBUG_LINE.match(line):
            continue
        use = _USE.search(line)
        place = None if use is None else _metadata_place(nodes, use[1])
        shown = _SCOPE.sub("", line if use is None else line[: use.start()] + use[2])
        found.append(Line(shown, place))
    return found


def _metadata_place(nodes: Mapping[str, Mapping[str, str]], name: str) -> Place | None:
    node = nodes.get(name, {})
    line, scope = int(node.get("line", "0")), nodes.get(node.get("scope", ""), {})
    file = nodes.get(scope.get("file", ""), {}).get("filename")
    return None if not line or file is None else Place(file, line)


_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_DIRECTIVE = re.compile(
    r"\s*\.(cfi|file|section\s+\.debug|loc|p2align|size|type|text|globl|addrsig|ident|hidden)"
    r"|\.L(func_begin|func_end|tmp|debug)|\s*\.section\s+\"?\.note"
)


def assembly_lines(text: str) -> list[Line]:
    """Assembly without directives that say nothing of the code; labels have no place."""
    files: dict[str, str] = {}
    place: Place | None = None
    found: list[Line] = []
    for line in text.split("\n"):
        if match := _FILE.match(line):
            folder, name = (match[2], match[3]) if match[3] else ("", match[2])
            files[match[1]] = f"{folder.rstrip('/')}/{name}" if folder else name
        elif match := _LOC.match(line):
            file = files.get(match[1])
            place = Place(file, int(match[2])) if file is not None and match[2] != "0" else None
        elif not line.strip() or _DIRECTIVE.match(line):
            continue
        elif line.lstrip().startswith((".", "#")) or line.rstrip().endswith(":"):
            place = place if line.startswith(".L") else None
            found.append(Line(line.expandtabs(8), None))
        else:
            found.append(Line(line.expandtabs(8), place))
    return found


def plain_lines(text: str) -> list[Line]:
    """Text that comes from nowhere in particular."""
    return [Line(line, None) for line in text.split("\n")]


def files_of(lines: Iterable[Line]) -> set[str]:
    """The files that lines come from."""
    return {line.place.file for line in lines if line.place is not None}

"""Generates the listings, tables and outputs of the pages in this folder, and their picture.

Run ``python docs/update.py`` after a change that they show; the tests compare them. They show the
package of this checkout, whatever is installed. If one page fails, none is written. A page that
needs a missing module, such as torch, is skipped. A generated part is between
``<!-- KIND ARGUMENTS -->`` and ``<!-- end -->``. The ``python`` blocks of a page are one program,
run from top to bottom, which listings and outputs refer to.
"""

from __future__ import annotations

import argparse
import io
import linecache
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any

from checkout import ROOT  # first: it imports the package of this checkout
from peers_picture import picture as peers_picture
from picture import TARGET, picture
from xdsl.printer import Printer
from xdsl.xdsl_opt_main import xDSLOptMain

from xrelax.dialects import DIALECTS
from xrelax.dialects.relax import OPERATORS
from xrelax.inspection import lower_to
from xrelax.lowering.functions import functions_by_name
from xrelax.name_lookup import resolve
from xrelax.names import NAMES
from xrelax.pipeline import STAGES, load_pass
from xrelax.schedules import schedule_text
from xrelax.te.intrinsics import FUNCTIONS
from xrelax.tools.opt import XRelaxOptMain

FOLDER = ROOT / "docs"
FILENAME = "example.py"
"""What the programs of the pages are called in their error messages."""

UPSTREAM = {"dce": "Remove unused operations (xDSL's)"}
"""What the passes do that have no docstring of ours."""

_TOKEN = re.compile(
    r"^```python\n(?P<program>.*?)^```$"
    r"|^<!-- (?P<kind>[a-z]+)(?P<arguments>[^>\n]*) -->\n.*?^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


class Page:
    """The program of one page, as far as it has run."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def run(self, program: str) -> None:
        """The next block of the program."""
        lines = program.splitlines(keepends=True)
        linecache.cache[FILENAME] = (len(program), None, lines, FILENAME)
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(program, FILENAME, "exec", dont_inherit=True), self.names)
        self.printed = output.getvalue()

    def token(self, match: re.Match[str]) -> str:
        """A block, which runs, or a generated part as it should be."""
        if match["kind"] is None:
            self.run(match["program"])
            return match[0]
        text = PARTS[match["kind"]](self, *match["arguments"].split())
        return f"<!-- {match['kind']}{match['arguments']} -->\n{text}<!-- end -->"


def updated(text: str) -> str:
    """The text of a page with its generated parts as they should be.

    Its programs run for that; those of a page without such parts do not.
    """
    generated = any(match["kind"] is not None for match in _TOKEN.finditer(text))
    return _TOKEN.sub(Page().token, text) if generated else text


def listing(page: Page, module: str, stage: str, function: str) -> str:
    """A function of a module at a stage; the stage "parsed" is before any pass."""
    op = page.names[module].op
    lowered = op if stage == "parsed" else lower_to(op, stage, target=TARGET)
    text = io.StringIO()
    Printer(text).print_op(functions_by_name(lowered)[function])
    return f"```mlir\n{text.getvalue().strip()}\n```\n"


def schedule(page: Page, module: str, function: str) -> str:
    """The default schedule of a kernel."""
    return f"```python\n{schedule_text(page.names[module].op, TARGET, function)}\n```\n"


def output(page: Page) -> str:
    """What the block before has printed."""
    return f"```text\n{page.printed}```\n"


def passes(page: Page, stage: str) -> str:
    """The passes of a stage, in order."""
    names = next(s.passes for s in STAGES if s.name == stage)
    rows = ((code(n), UPSTREAM.get(n) or sentence(load_pass(n))) for n in names)
    return table(("Pass", "What it does"), rows)


def operations(page: Page, dialect: str) -> str:
    """The operations of a dialect, then its types and attributes."""
    loaded = DIALECTS[dialect]()
    parts: list[str] = []
    for title, members in (
        ("Operation", loaded.operations),
        ("Type or attribute", loaded.attributes),
    ):
        rows = sorted((code(member.name), sentence(member)) for member in members)
        if rows:
            parts.append(table((title, "What it is"), rows))
    return "\n".join(parts)


def names(page: Page) -> str:
    """The table of the Python API and where each name lives."""

    def row(name: str, place: str) -> tuple[str, str, str]:
        path = f"xrelax{place}".replace(":", ".") if place[0] == "." else place.replace(":", ".")
        prefix, _, last = name.rpartition(".")
        value = resolve(f"{prefix}." if prefix else "", last)
        return code(f"tvm.{name}"), code(path), sentence(value)

    rows = (row(name, place) for name, place in sorted(NAMES.items()))
    return table(("Name", "Lives in", "What it is"), rows)


def operators(page: Page) -> str:
    """The graph operators as scripts call them."""
    rows: list[tuple[str, str]] = []
    for name, op in sorted(OPERATORS.items()):
        arguments = ", ".join([*op.operand_names(), *op.attribute_names()])
        rows.append((code(f"{name.replace('relax.', 'R.', 1)}({arguments})"), sentence(op)))
    return table(("Operator", "What it is"), rows)


def functions(page: Page) -> str:
    """The names of the scalar functions of TensorIR."""
    return ", ".join(code(f"T.{name}") for name in sorted(FUNCTIONS, key=str.lower)) + "\n"


def options(page: Page) -> str:
    """The options that `xrelax-opt` has beyond those of xDSL's tool."""
    own, inherited = (argparse.ArgumentParser() for _ in range(2))
    tool = XRelaxOptMain([])
    tool.register_all_arguments(own)
    xDSLOptMain.register_all_arguments(tool, inherited)
    known = {action.dest for action in inherited._actions}
    rows = (
        (code(" ".join([action.option_strings[0], *filter(None, [action.metavar])])), action.help)
        for action in own._actions
        if action.dest not in known
    )
    return table(("Option", "What it does"), rows)


def code(text: str) -> str:
    """Text in a fixed-width font."""
    return f"`{text}`"


def sentence(thing: Any) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join((thing.__doc__ or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", text)[0].removesuffix(".")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )


PARTS: dict[str, Callable[..., str]] = {
    "functions": functions,
    "listing": listing,
    "names": names,
    "operations": operations,
    "operators": operators,
    "options": options,
    "output": output,
    "passes": passes,
    "schedule": schedule,
}
"""The kinds of generated parts."""

PICTURES: dict[str, Callable[[], str]] = {"architecture.svg": picture, "peers.svg": peers_picture}
"""The generated files by name."""


def main() -> None:
    """Update every page and picture, but pages that need a missing module."""
    texts = {FOLDER / name: draw() for name, draw in PICTURES.items()}
    for path in sorted(FOLDER.glob("*.md")):
        try:
            texts[path] = updated(path.read_text())
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("", "xrelax"):
                raise
            print(
                f"{path.name} stays as it is: it needs the module '{error.name}'", file=sys.stderr
            )
    for path, text in texts.items():
        path.write_text(text)


if __name__ == "__main__":
    main()

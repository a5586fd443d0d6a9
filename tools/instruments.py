"""What `xrelax-opt` prints around passes: the IR, what changes in it, and the time they take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from time import perf_counter

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from ..dialects.diagnostics import verify

Instrument = Callable[[int, str, ModuleOp], AbstractContextManager[None]]
"""What goes on around a pass, by its position in the pipeline, its name and the module."""

COLORS = {"---": "1", "+++": "1", "@@": "36", "-": "31", "+": "32"}
"""Terminal attributes of the lines of a diff, by how they start: bold, cyan, red, green."""


@dataclass(frozen=True)
class InstrumentedPass(ModulePass):
    """A pass of a pipeline inside of its instruments, the first one outermost."""

    name = "instrumented"
    position: int
    original: ModulePass
    instruments: tuple[Instrument, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with ExitStack() as stack:
            for instrument in self.instruments:
                stack.enter_context(instrument(self.position, self.original.name, op))
            self.original.apply(ctx, op)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options for what is printed around passes; they replace those of xDSL for the same."""
    group = parser.add_argument_group("printing around passes", conflict_handler="resolve")
    add = group.add_argument
    for when in ("before", "after"):
        add(
            f"--print-ir-{when}",
            metavar="PASS[,PASS]",
            action="extend",
            type=_names,
            default=[],
            help=f"print the IR to standard error {when} these passes",
        )
    add("--print-ir-before-all", action="store_true", help="print the IR before each pass")
    add(
        "--print-ir-after-all",
        "--print-between-passes",
        action="store_true",
        help="print the IR after each pass",
    )
    add(
        "--print-ir-after-change",
        action="store_true",
        help="print after those of the passes that change the IR",
    )
    add(
        "--print-ir-diff",
        action="store_true",
        help="print what those of the passes change, as a unified diff",
    )
    add(
        "--print-ir-tree-dir",
        metavar="DIR",
        type=Path,
        help="write the IR to a file for each pass, such as DIR/0_lambda-lift.mlir",
    )
    add(
        "--color",
        metavar="WHEN",
        choices=("auto", "always", "never"),
        default="auto",
        help="color diffs: always, never, or auto, on terminals if NO_COLOR is not set",
    )
    add(
        "--pass-timing",
        "--time-passes",
        action="store_true",
        help="print the time that each pass takes to standard error",
    )


def _names(text: str) -> list[str]:
    return text.split(",")


@dataclass
class Dumps:
    """Prints the IR before and after passes to standard error, or writes it to files."""

    before: frozenset[str]
    after: frozenset[str]
    only_changes: bool
    diff: bool
    folder: Path | None
    is_colored: bool
    text_of: Callable[[ModuleOp], str]
    _count: int = field(default=0, init=False)

    @classmethod
    def from_arguments(cls, args: argparse.Namespace, pipeline: Iterable[str]) -> Dumps:
        """As the command line asks for.

        Options that say how to print after passes concern all passes, if none are named.
        """
        every = frozenset(pipeline)
        named_before = args.print_ir_before or args.print_ir_before_all
        changes = args.print_ir_after_change or args.print_ir_diff
        is_form = changes or (args.print_ir_tree_dir is not None and not named_before)
        after_all = args.print_ir_after_all or (is_form and not args.print_ir_after)
        return cls(
            before=every if args.print_ir_before_all else frozenset(args.print_ir_before),
            after=every if after_all else frozenset(args.print_ir_after),
            only_changes=changes,
            diff=args.print_ir_diff,
            folder=args.print_ir_tree_dir,
            is_colored=_is_colored(args.color),
            text_of=lambda module: _text(module, args),
        )

    @contextmanager
    def around(self, position: int, name: str, module: ModuleOp) -> Generator[None]:
        """Print before and after one pass, also after one that fails."""
        compares = self.only_changes and name in self.after
        before = self.text_of(module) if compares or name in self.before else ""
        if name in self.before:
            self._put(f"Dump Before {name}", f"{name}.before.mlir", before)
        try:
            yield
        except Exception:
            if name in self.after:
                self._put(f"Dump After {name} Failed", f"{name}.failed.mlir", self.text_of(module))
            raise
        if name in self.after:
            self._put_after(name, before, self.text_of(module))
        self._count += 1

    def _put_after(self, name: str, before: str, after: str) -> None:
        if self.only_changes and after == before:
            return
        if not self.diff:
            self._put(f"Dump After {name}", f"{name}.mlir", after)
            return
        sides = (before.splitlines(), after.splitlines())
        lines = unified_diff(*sides, f"before {name}", f"after {name}", lineterm="")
        self._put(f"Diff After {name}", f"{name}.diff", "\n".join(map(self._colored, lines)))

    def _put(self, title: str, file: str, text: str) -> None:
        if self.folder is None:
            print(f"// -----// IR {title} //----- //\n{text}\n", file=sys.stderr)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{self._count}_{file}").write_text(f"{text}\n", encoding="utf-8")

    def _colored(self, line: str) -> str:
        if not self.is_colored or self.folder is not None:
            return line
        code = next((code for start, code in COLORS.items() if line.startswith(start)), None)
        return line if code is None else f"\033[{code}m{line}\033[0m"


def _is_colored(choice: str) -> bool:
    is_terminal = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return choice == "always" or (choice == "auto" and is_terminal)


def _text(module: ModuleOp, args: argparse.Namespace) -> str:
    """The module as the output is printed; generic if it does not verify, as MLIR prints it."""
    try:
        verify(module)
        is_valid = True
    except DiagnosticException:
        is_valid = False
    output = StringIO()
    Printer(
        output,
        print_generic_format=args.print_op_generic or not is_valid,
        print_properties_as_attributes=args.print_no_properties,
        print_debuginfo=args.print_debuginfo,
    ).print_op(module)
    return output.getvalue()


class Timing:
    """The time of each pass of a pipeline, and of what else the tool does."""

    def __init__(self, passes: Sequence[str]):
        rows = enumerate((*passes, "Verifier", "Output"))
        self._start = perf_counter()
        self._seconds = {(-1, "Parser"): 0.0} | dict.fromkeys(rows, 0.0)

    @contextmanager
    def around(self, position: int, name: str, module: ModuleOp | None = None) -> Generator[None]:
        """Add the time of one pass, whose position tells it from others of the name."""
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[position, name] += perf_counter() - start

    def of(self, name: str) -> AbstractContextManager[None]:
        """Add the time of what is no pass: the parser, the verifier or the output."""
        position = next(p for p, n in reversed(self._seconds) if n == name)
        return self.around(position, name)

    def report(self) -> str:
        """MLIR's table: seconds, their share and the name, in the order of the pipeline."""
        total = perf_counter() - self._start
        rows = [(name, seconds) for (_, name), seconds in self._seconds.items()]
        rows += [("Rest", total - sum(seconds for _, seconds in rows)), ("Total", total)]
        rule = f"===-{'-' * 73}-==="
        return "\n".join(
            (
                rule,
                "... Execution time report ...".center(80).rstrip(),
                rule,
                f"  Total Execution Time: {total:.4f} seconds\n",
                "  ----Wall Time----  ----Name----",
                *(f"  {s:8.4f} ({100 * s / total:5.1f}%)  {name}" for name, s in rows),
            )
        )

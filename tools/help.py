"""The help of `xrelax-opt`, with the passes that it can run, and its completion in shells."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from ..pipeline import PASSES, load_pass

SHELLS = ("bash", "zsh", "tcsh")

# A completion of `a,b,c` replaces what comes after the last comma.
_BASH = """
_xrelax_opt_passes() {{
  compgen -P "${{1%"${{1##*,}}"}}" -W "{names}" -- "${{1##*,}}"
}}
"""
_ZSH = """
_xrelax_opt_passes() {{
  _values -s , pass {names}
}}
"""
_COMPLETE_PASSES = {"bash": "_xrelax_opt_passes", "zsh": "_xrelax_opt_passes"}
PASS_LISTS = ("passes", "print_ir_before", "print_ir_after")
"""The options whose values are passes, by their attribute."""


def add_help(parser: argparse.ArgumentParser, passes: Iterable[str]) -> None:
    """Replace the help and xDSL's `-p`, whose help would be the names of all its passes."""

    def usage(parser: argparse.ArgumentParser) -> str:
        return f"{parser.format_help()}\n{pass_list(passes)}\n"

    def script(parser: argparse.ArgumentParser, shell: str) -> str:
        return completion(parser, passes, shell)

    group = parser.add_argument_group("passes", conflict_handler="resolve")
    group.add_argument(
        "-p",
        "--passes",
        metavar="PASS[,PASS]",
        default="",
        help="run these passes, such as fuse-ops,schedule-default{rules=contraction}",
    )
    group.add_argument(
        "-h",
        "--help",
        action=_action(usage),
        help="print this help with all passes",
    )
    group.add_argument(
        "--print-completion",
        metavar="SHELL",
        choices=SHELLS,
        action=_action(script, nargs=None),
        help=f"print the completion script for a shell: {', '.join(SHELLS)}",
    )


def pass_list(passes: Iterable[str]) -> str:
    """Our passes with the first line of their docstrings, then the names of the others."""
    width = max(map(len, PASSES)) + 2
    own = [f"  {name:{width}}{_summary(name)}" for name in sorted(PASSES)]
    others = ", ".join(sorted(set(passes) - set(PASSES)))
    wrapped = textwrap.wrap(others, 98, break_on_hyphens=False)
    return "\n".join(
        ["passes of xrelax:", *own, "", "passes of xDSL:", *(f"  {w}" for w in wrapped)]
    )


def completion(parser: argparse.ArgumentParser, passes: Iterable[str], shell: str) -> str:
    """The script that completes options, files and passes in a shell, as shtab writes it.

    Raises ValueError where shtab is not installed.
    """
    try:
        shtab: Any = import_module("shtab")  # which has no types
    except ImportError:
        raise ValueError(
            "expected the package shtab for --print-completion: pip install 'xrelax[completion]'"
        ) from None
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if action.dest in PASS_LISTS:
            _set(action, "complete", _COMPLETE_PASSES)
        elif action.dest in ("input_file", "output_file", "weights", "save_weights"):
            _set(action, "complete", shtab.FILE)
        elif action.dest == "print_ir_tree_dir":
            _set(action, "complete", shtab.DIRECTORY)
    return shtab.complete(parser, shell, preamble=_preamble(sorted(passes)))


def _preamble(passes: Iterable[str]) -> dict[str, str]:
    described = (f"'{name}[{_quoted(_summary(name))}]'" for name in passes)
    return {
        "bash": _BASH.format(names=" ".join(passes)),
        "zsh": _ZSH.format(names=" ".join(described)),
    }


def _summary(name: str) -> str:
    """The first line of the docstring of one of our passes."""
    text = inspect.getdoc(load_pass(name)) if name in PASSES else None
    return (text or "").partition("\n")[0]


def _quoted(text: str) -> str:
    """Text for a description in zsh, within single quotes and brackets."""
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _set(action: argparse.Action, name: str, value: Any) -> None:
    setattr(action, name, value)


def _action(text: Callable[..., str], nargs: int | None = 0) -> type[argparse.Action]:
    """An action that prints a text of the parser, and of the value if it takes one, and stops."""

    class PrintAction(argparse.Action):
        def __init__(self, option_strings: Any, dest: str, **options: Any):
            options |= {"nargs": nargs, "default": argparse.SUPPRESS}
            super().__init__(option_strings, dest, **options)

        def __call__(
            self,
            parser: argparse.ArgumentParser,
            namespace: argparse.Namespace,
            values: Any,
            option_string: str | None = None,
        ) -> None:
            print(text(parser, *([values] if nargs is None else [])), end="")
            parser.exit()

    return PrintAction

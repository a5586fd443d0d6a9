"""`xrelax-explore`: open the explorer on a program, or write its page to a file."""

from __future__ import annotations

import argparse
import linecache
import runpy
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp

from ..backend.errors import BackendError
from ..backend.target import Target
from ..dialects.diagnostics import Diagnostic
from ..ir.base_function import BaseFunc
from ..ir.module import IRModule
from .actions import Actions
from .exploration import Exploration
from .server import ExplorerServer

PROGRAM_NAME = "__explore__"
"""The `__name__` that a Python program sees."""


class UsageError(Exception):
    """What is wrong with the command line, or with the file that it names, in one line."""


def explore(mod: Any, target: Any = "llvm", title: str = "Module") -> Exploration:
    """The exploration of an IRModule, a function or a module of xDSL.

    The source of a module that no program wrote, as with a `BlockBuilder` or a file of ONNX, is its
    TVMScript.
    """
    from ..inspection import module_of

    module = module_of(mod)
    sources: dict[str, str] = {}
    if not _has_source(module):
        from ..script.parser.module import parse_text
        from ..script.printer import Metadata, print_module

        name, metadata = f"{title}.py", Metadata()
        text = print_module(module, metadata=metadata)
        parsed = parse_text(text, filename=name, constants=metadata.constants)
        assert isinstance(parsed, ModuleOp)
        module, sources = parsed, {name: text}
    return Exploration(module, Target(target), title, sources)


def _has_source(module: ModuleOp) -> bool:
    from .lines import place_of

    files = {place.file for op in module.walk() if (place := place_of(op)) is not None}
    return any(linecache.getlines(file) for file in files)


def load(path: str, name: str | None, target: str = "llvm") -> tuple[str, Any]:
    """The module of a file: a Python program's, which is run, or one of IR.

    That of a language model is one of its functions. Raises UsageError where there is no such file
    or module, and what the program raises.
    """
    file = Path(path)
    if file.suffix == ".gguf" or (file / "config.json").is_file():
        from ..llm.compilation import step_module
        from ..llm.options import Options

        options = Options("int16", "float16", None, target)
        step = name or "decode"
        return f"{step} of {file.name}", step_module(file, options, step)
    if not file.is_file():
        raise UsageError(f"expected a file, got '{path}'")
    if file.suffix == ".mlir":
        from ..dialects import get_context
        from ..tools.located_parser import parse_ir

        return file.name, parse_ir(get_context(), file.read_text(), path)
    if file.suffix == ".pt2":
        import torch

        from ..relax.frontend.torch import from_exported_program

        return file.name, from_exported_program(torch.export.load(path))
    if file.suffix == ".onnx":
        from ..relax.frontend.onnx import from_onnx

        return file.name, from_onnx(path)
    if file.suffix != ".py":
        raise UsageError(f"expected a file of .py, .mlir, .pt2, .onnx or .gguf, got '{path}'")
    found = {
        key: value
        for key, value in runpy.run_path(path, run_name=PROGRAM_NAME).items()
        if isinstance(value, IRModule | BaseFunc) and not key.startswith("_")
    }
    known = ", ".join(found) or "none"
    if name is None and not found:
        raise UsageError(f"expected '{path}' to define a module or a function, got none")
    if name is not None and name not in found:
        raise UsageError(f"expected a module of '{path}' ({known}), got '{name}'")
    chosen = name or next(iter(found))
    return chosen, found[chosen]


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = argparse.ArgumentParser(prog="xrelax-explore", description=(__doc__ or "").strip())
    add = made.add_argument
    add("file", help="a Python program with a module, IR (.mlir), or a model (.onnx, .pt2, .gguf)")
    add("--module", metavar="NAME", help="which module (the first), or step of a model (decode)")
    add("--target", default="llvm", help='what to compile for, such as "llvm -mcpu=znver4"')
    add("--export", metavar="PAGE", type=Path, help="write the page to a file, and stop")
    add("--port", type=int, default=0, help="the port to serve at (any that is free)")
    add("--no-browser", action="store_true", help="print the address, and open nothing")
    return made


def run(args: Sequence[str] | None = None) -> int:
    """Run the command; the exit status. Mistakes are one line on standard error, status 1."""
    options = parser().parse_args(args)
    try:
        title, mod = load(options.file, options.module, options.target)
        exploration = explore(mod, options.target, title)
        if options.export is not None:
            from .page import page_text

            options.export.write_text(page_text(exploration), "utf-8")
            print(f"wrote {options.export}")
            return 0
        with ExplorerServer(Actions(exploration), options.port) as server:
            print(f"{server.url}  (Ctrl-C to stop)", flush=True)
            if not options.no_browser:
                webbrowser.open(server.url)
            server.serve_forever()
    except KeyboardInterrupt:
        return 0
    except (BackendError, Diagnostic, UsageError, OSError, ValueError, TypeError) as error:
        print(f"error: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return 1
    return 0


def main() -> NoReturn:
    """Entry point of the `xrelax-explore` command."""
    sys.exit(run())

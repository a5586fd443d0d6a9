"""The reference of the site: a page for every public name, operator and pass, each from its code.

Examples run when the site is built. Those of names are the programs in the folder examples, those
of operators cases of the operators' tests, and those of passes their FileCheck tests.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from name_examples import first_names, programs, value_of
from operator_examples import operator_examples
from update import sentence, table
from xdsl.utils.arg_spec import parse_pipeline

from xrelax.dialects import get_context
from xrelax.dialects.relax import OPERATORS
from xrelax.names import NAMES
from xrelax.pipeline import PASSES, STAGES, load_pass
from xrelax.tools.located_parser import parse_ir

ROOT = Path(__file__).parents[1]
MAX_LINES = 40
"""Lines of an example's IR that a page shows."""


def pages() -> Iterator[tuple[str, str]]:
    """The path and the Markdown of each page."""
    indexes = [_names(), _operators(), _passes()]
    for title, folder, rows, texts in indexes:
        yield f"reference/{folder}/index.md", f"# {title}\n\n{table(('Name', 'What it is'), rows)}"
        yield from ((f"reference/{folder}/{name}.md", text) for name, text in texts.items())
    links = "".join(f"- [{title}]({folder}/index.md)\n" for title, folder, *_ in indexes)
    yield (
        "reference/index.md",
        f"# Reference\n\nGenerated from the docstrings and tests.\n\n{links}",
    )


Index = tuple[str, str, list[tuple[str, str]], dict[str, str]]
"""A title, a folder, the rows of a table, and pages by name."""


def _names() -> Index:
    known = first_names()
    rows = {n: (f"[tvm.{n}]({n}.md)", sentence(value_of(n))) for n in known}
    examples = {name: p.markdown() for p in programs() for name in p.names}
    own = {id(value_of(name)): name for name in known.values()}
    texts: dict[str, str] = {}
    for name, first in known.items():
        what = f"{sentence(value_of(name))}."
        also = "" if name == first else f"Another name of [tvm.{first}]({first}.md)."
        inside = [row for n, row in rows.items() if n.rpartition(".")[0] == name]
        if inspect.ismodule(value := value_of(name)):  # a member with a page has it nowhere else
            inside += [rows[own[id(m)]] for m in _members(value) if own.get(id(m), name) != name]
        parts = [f"# tvm.{name}", also, what, examples.get(name) or examples[first]]
        parts += [f"## Names\n\n{table(('Name', 'What it is'), inside)}"] if inside else []
        parts += [] if also else [_description(value, NAMES[name], own)]
        texts[name] = "\n\n".join(filter(None, parts))
    return "Python API", "api", sorted(rows.values()), texts


def _members(module: ModuleType) -> list[Any]:
    return [getattr(module, name) for name in _public(module)]


def _description(value: Any, place: str, own: Container[int]) -> str:
    """What is written of a value where it is defined, without members that have `own` pages."""
    if inspect.isclass(value):
        options = f"    options:\n      inherited_members: {_inherited(value)}\n"
        return f"::: {value.__module__}.{value.__name__}\n{options}"
    if inspect.ismodule(value):
        shown = [name for name in _public(value) if id(getattr(value, name)) not in own]
        options = f"    options:\n      members: {shown}\n      show_submodules: true\n"
        return f"::: {value.__name__}\n{options}"
    if value.__code__.co_name == value.__name__:
        return f"::: {value.__module__}.{value.__name__}\n"
    name = place.rpartition(":")[2]  # what a loop makes, as `cuda`
    return f"## {name}\n\n```python\n{name}{inspect.signature(value)}\n```\n"


def _public(module: ModuleType) -> list[str]:
    """The public names that a module defines or, by ``import x as x``, exports."""
    found: list[str] = []
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.append(name)
            case ast.ImportFrom(names=names):
                found += [n.name for n in names if n.name == n.asname]
    return [name for name in found if not name.startswith("_")]


def _inherited(value: type) -> list[str]:
    """The members that a class inherits, but for the helpers of base classes in modules `base`."""
    bases = [c for c in value.__mro__[1:] if c.__module__.startswith("xrelax.")]
    shown = [c for c in bases if not c.__module__.endswith(".base")]
    return [name for c in shown for name in vars(c) if not name.startswith("_")]


def _operators() -> Index:
    examples = operator_examples()
    rows: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    for name, op in sorted(OPERATORS.items()):
        short = name.removeprefix("relax.")
        rows.append((f"[R.{short}]({short}.md)", sentence(op)))
        arguments = ", ".join([*op.operand_names(), *op.attribute_names()])
        text = f"# R.{short}\n\n```python\nR.{short}({arguments})\n```\n\n{inspect.getdoc(op)}\n\n"
        texts[short] = text + examples.get(name, "")
    return "Operators", "operators", rows, texts


def _passes() -> Index:
    rows: list[tuple[str, str]] = []
    texts: dict[str, str] = {}
    stages = {name: stage.name for stage in STAGES for name in stage.passes}
    for name in sorted(PASSES):
        found = load_pass(name)
        rows.append((f"[{name}]({name}.md)", sentence(found)))
        module = inspect.getdoc(sys.modules[found.__module__]) or ""
        stage = (
            f"\nIt belongs to the stage `{stages[name]}` of the pipeline.\n"
            if name in stages
            else ""
        )
        texts[name] = f"# {name}\n\n{inspect.getdoc(found)}\n{stage}\n{_fenced(module)}\n"
        texts[name] += _pass_example(name)
    return "Passes", "passes", rows, texts


def _fenced(text: str) -> str:
    """A module's docstring, in which a listing follows ``::``."""
    return re.sub(
        r"(?m)^(?:(.*)::)$\n\n((?:^(?: {4}.*)?$\n?)+)",
        lambda m: f"{m[1]}\n\n```mlir\n{inspect.cleandoc(m[2])}\n```\n\n",
        text + "\n",
    )


def _pass_example(name: str) -> str:
    """The first case of a FileCheck test that runs a pass: the IR before it and after it."""
    for file in sorted((ROOT / "tests" / "filecheck").rglob("*.mlir")):
        text = file.read_text().split("// -----")[0]
        spec = _spec_of(text.splitlines()[0])
        specs = list(parse_pipeline(spec)) if spec and "invalid" not in file.stem else []
        names = [part.name for part in specs]
        if name not in names:
            continue
        before = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
        module = parse_ir(get_context(), before, file.name)
        for part in specs[: names.index(name) + 1]:
            before = before if part is specs[0] else str(module)
            load_pass(part.name).from_spec(part).apply(get_context(), module)
        run = specs[names.index(name)]
        after = f"After `xrelax-opt -p '{run}'`:\n\n{_listing(str(module))}"
        return f"## Example\n\nBefore:\n\n{_listing(before)}\n{after}"
    return ""


def _spec_of(run: str) -> str | None:
    """The passes that the first line of a FileCheck test runs, where it needs no other file."""
    words = shlex.split(run.removeprefix("// RUN:"))
    if "-p" not in words or "--weights" in words or "%s" not in words:
        return None
    return words[words.index("-p") + 1]


def _listing(text: str) -> str:
    lines = text.strip().splitlines()
    kept = lines if len(lines) <= MAX_LINES else [*lines[:MAX_LINES], "// …"]
    return "```mlir\n" + "\n".join(kept) + "\n```\n"

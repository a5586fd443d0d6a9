"""Modules that import one another, inside of functions too, lie in one folder."""

import ast
import tomllib
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]


def modules() -> dict[str, Path]:
    """The modules of the package, by full name."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for file in ROOT.joinpath(*package.split(".")[1:]).glob("*.py"):
            found[package if file.stem == "__init__" else f"{package}.{file.stem}"] = file
    return found


MODULES = modules()


def at_run_time(node: ast.AST) -> list[ast.ImportFrom]:
    """The imports below a node that are not for type checkers alone."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return [i for child in node.orelse for i in at_run_time(child)]
    found = [i for child in ast.iter_child_nodes(node) for i in at_run_time(child)]
    return [node, *found] if isinstance(node, ast.ImportFrom) else found


@cache
def imported_by(name: str) -> set[str]:
    """The modules of the package that a module imports."""
    file = MODULES[name]
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in at_run_time(ast.parse(file.read_text())):
        if node.level:
            origin = resolve_name("." * node.level + (node.module or ""), package)
            named = {f"{origin}.{alias.name}" for alias in node.names}
            found |= {n if n in MODULES else origin for n in named}
    return found & MODULES.keys() - {name}


@cache
def reached_from(name: str) -> set[str]:
    """The modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = imported_by(waiting.pop()) - found
        found |= new
        waiting += new
    return found


CIRCLES = {
    "dialects.int_expr": "compounds terms text",
    "dialects.tir": "access block iterations ranges verify_access verify_block verify_regions "
    "verify_spatial",
    "ir": "blocks call_expr call_parts calls expr function module op region_exprs",
    "runtime": "executable saving",
    "te": "arithmetic expr prim_expr",
}
"""What is left, by folder: terms hold compounds of terms; accesses and blocks are verified by the
loops and blocks around them; an expression of the graph is called, and shows its parts, which are
expressions again; an executable saves itself; a product of expressions is an expression.
"""


def test_modules_that_import_one_another_lie_in_one_folder():
    found: dict[str, set[str]] = {}
    for name in MODULES:
        circle = {other for other in reached_from(name) if name in reached_from(other)}
        if circle:
            folders = {module.removeprefix("xrelax.").rpartition(".")[0] for module in circle}
            assert len(folders) == 1, f"{name} is in a circle of imports: {sorted(circle)}"
            found.setdefault(folders.pop(), set()).add(name.rpartition(".")[2])
    assert found == {folder: set(names.split()) for folder, names in CIRCLES.items()}

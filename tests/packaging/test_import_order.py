"""Modules import what is below them alone: `ORDER` lists the packages, and there are no circles."""

import ast
import tomllib
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]

ORDER = (
    # what needs nothing of the compiler
    "names",
    "name_lookup user_frames display",
    "error_hooks",
    "backend.targets",
    "runtime",
    "testing",
    # the dialects
    "dialects.int_expr",
    "dialects",
    "dialects.tir",
    "dialects.relax",
    "dialects.llvm_ext",
    "dialects.loops dialects.rt",
    "display.graph",
    "reference",
    # what turns LLVM IR into machine code, with the facts of processors
    "backend",
    # the passes
    "lowering",
    "lowering.analysis",
    "lowering.schedule",
    "lowering.schedule.primitives",
    "lowering.schedule.rules",
    "lowering.loops",
    "te",
    "lowering.graph",
    "lowering.schedule.default",
    "lowering.runtime",
    "lowering.llvm",
    # the compiler as a whole
    "pipeline",
    "compilation",
    "script.namespace script.errors",
    "script.printer",
    "schedules",
    "inspection",
    # what programs are written with
    "ir",
    "te.__init__",
    "script.parser",
    "script",
    "tir",
    "builder",
    "profiling",
    "display.executables",
    "debugging",
    "meta_schedule",
    "relax.alter_op_impl",
    "relax.codegen",
    "relax.lazy_params",
    "relax.legalize",
    "relax.pattern_registry",
    "relax.update_param_type",
    "relax.transform",
    "relax.training",
    "relax.pipelines",
    "driver",
    "py_module",
    "importers",
    "quantization",
    "relax tools",
    "llm",
    "explore",
)
"""Packages and modules, the lowest first; those in one line do not know each other.

An entry has the modules of the package that no longer entry has; `te.__init__` is one module.
"""


def modules() -> dict[str, Path]:
    """The modules of the package, by name without ``xrelax``; a package is its `__init__`."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for file in ROOT.joinpath(*package.split(".")[1:]).glob("*.py"):
            name = f"{package}.{file.stem}".removeprefix("xrelax.")
            if name != "__init__":
                found[name] = file
    return found


MODULES = modules()


def imports(name: str) -> set[str]:
    """The modules that a module imports: in functions, and for type checkers, too."""
    package = f"xrelax.{name}".rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            origin = resolve_name("." * node.level + (node.module or ""), package)
            origin = origin.removeprefix("xrelax").lstrip(".")
            for alias in node.names:
                full = f"{origin}.{alias.name}".lstrip(".")
                candidates = (full, f"{full}.__init__", origin, f"{origin}.__init__")
                found.add(next(c for c in candidates if c in MODULES or c == ".__init__"))
    return found - {name, ".__init__"}


IMPORTS = {name: imports(name) for name in MODULES}


@cache
def room(name: str) -> tuple[int, str]:
    """The place in `ORDER` of a module, and the entry that has it."""
    prefixes = [name[:i] for i in range(len(name), 0, -1) if f"{name}."[i] == "."]
    for prefix in prefixes:
        for place, line in enumerate(ORDER):
            if prefix in line.split():
                return place, prefix
    raise AssertionError(f"expected '{name}' in ORDER")


def upward(name: str) -> list[str]:
    """The imports of a module that point up, or to the side."""
    place, entry = room(name)
    rooms = {other: room(other) for other in IMPORTS[name]}
    return sorted(o for o, (p, e) in rooms.items() if p > place or (p == place and e != entry))


def test_modules_import_what_is_below():
    found = {name: " ".join(upward(name)) for name in MODULES if upward(name)}
    assert found == {}


def test_every_entry_of_the_order_has_a_module():
    entries = [entry for line in ORDER for entry in line.split()]
    assert sorted(entries) == sorted({room(name)[1] for name in MODULES})


def test_no_modules_import_each_other():
    below: dict[str, set[str]] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"a circle of imports: {' → '.join((*path, name))}"
        if name not in below:
            below[name] = IMPORTS[name]
            for other in sorted(IMPORTS[name]):
                visit(other, (*path, name))

    for name in MODULES:
        visit(name, ())

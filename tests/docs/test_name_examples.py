"""The examples of public names run, use the names, and show something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from name_examples import Program, first_names, programs

from xrelax.names import NAMES

PROGRAMS = programs()
LONGEST = 13
"""Lines of a program that are neither empty nor imports."""


@pytest.fixture(params=PROGRAMS, ids=lambda program: "+".join(program.names))
def program(request: pytest.FixtureRequest) -> Program:
    for module in re.findall(r"^import (torch|onnx)$", request.param.text, re.MULTILINE):
        pytest.importorskip(module)
    return request.param


def test_every_name_has_a_program():
    for module in ("torch", "onnx"):
        pytest.importorskip(module)
    shown = [name for program in PROGRAMS for name in program.names]
    assert len(shown) == len(set(shown)) and set(shown) <= NAMES.keys()
    assert [n for n, first in first_names().items() if not {n, first} & set(shown)] == []


def test_program_runs_and_shows_something(program: Program):
    last = program.text.splitlines()[-1]
    assert program.printed() or re.match(r"\s*(assert |[\w.]*\bassert_\w+\()", last)


def test_program_uses_its_names(program: Program):
    used = {f"{name}." for name in names_used(program.text)}
    unused = [n for n in program.names if not any(u.startswith(f"{n}.") for u in used)]
    assert unused == []


def test_program_is_short(program: Program):
    lines = re.findall(r"^(?!(?:import|from)\b).*\S", program.text, re.MULTILINE)
    assert 2 <= len(lines) <= LONGEST


def test_a_program_that_fails_is_named():
    with pytest.raises(ZeroDivisionError) as raised:
        Program(("cpu", "device"), "1 / 0\n").printed()
    assert raised.value.__notes__ == ["in the example of cpu, device"]


def test_programs_have_namespaces_of_their_own():
    Program((), "x = 1\n").printed()
    with pytest.raises(NameError):
        Program((), "print(x)\n").printed()


def test_names_of_imports_and_attributes_are_found():
    text = "import xrelax as tvm\nfrom xrelax import relax as r\nprint(tvm.nd.array, r.Var, y.z)\n"
    assert set(names_used(text)) == {"nd", "nd.array", "relax", "relax.Var"}


def names_used(text: str) -> Iterator[str]:
    """The names of the package that a program uses, without the package's own."""
    tree = ast.parse(text)
    known = dict(binding for node in ast.walk(tree) for binding in imported(node))
    for node in ast.walk(tree):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in known and (parts or known[node.id]):
            yield ".".join(filter(None, [known[node.id], *parts]))


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import statement binds, and what of the package they are."""
    if isinstance(node, ast.Import):
        yield from ((n.asname or n.name, "") for n in node.names if n.name == "xrelax")
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "xrelax":
        inside = (node.module or "").split(".")[1:]
        yield from ((n.asname or n.name, ".".join([*inside, n.name])) for n in node.names)

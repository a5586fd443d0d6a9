"""The stub of the root package declares the names that the package has, and no others."""

import ast
from pathlib import Path

from xrelax.name_lookup import known

ROOT = Path(__file__).parents[2]
STUB = ast.parse((ROOT / "__init__.pyi").read_text())


def declared(body: list[ast.stmt], prefix: str = "") -> set[str]:
    """Full names of what a module or class of the stub declares, namespaces included."""
    found: set[str] = set()
    for node in body:
        match node:
            case ast.ImportFrom():
                found |= {prefix + (alias.asname or alias.name) for alias in node.names}
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.add(prefix + name)
            case ast.ClassDef():
                found |= {prefix + node.name, *declared(node.body, f"{prefix}{node.name}.")}
    return found


def namespaces() -> set[str]:
    """Full names of what the stub declares as classes."""
    names = {name.rpartition(".")[0] for name in declared(STUB.body)}
    return names - {""}


def test_stub_declares_the_names_of_the_package():
    top = {name for name in declared(STUB.body) if "." not in name}
    assert top == set(known(""))


def test_stub_declares_the_names_of_its_namespaces():
    for namespace in namespaces():
        prefix = f"{namespace}."
        inside = {n.removeprefix(prefix) for n in declared(STUB.body) if n.startswith(prefix)}
        assert {n for n in inside if "." not in n} == set(known(prefix)), namespace

"""The properties in which processors differ, with one file per architecture.

Each file defines an `ARCHITECTURE`. The folder imports nothing else of the package, since the
runtime uses it too.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .architecture import Architecture

GENERIC = Architecture()
"""The architecture of triples without a file: 128-bit vectors."""


REGISTERED: dict[str, Architecture] = {}
"""The architectures from outside the package, by each of their names."""


def architecture_of(triple: str) -> Architecture:
    """The architecture of a triple; `GENERIC` if none has the triple's first word as a name."""
    name = triple.partition("-")[0]
    return architectures().get(name) or REGISTERED.get(name, GENERIC)


@cache
def architectures() -> dict[str, Architecture]:
    """The architectures that have files, by each of their names."""
    files = (import_module(f".{module.name}", __name__) for module in iter_modules(__path__))
    found = (getattr(file, "ARCHITECTURE", GENERIC) for file in files)
    return {name: architecture for architecture in found for name in architecture.names}

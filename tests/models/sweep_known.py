"""The list of models that are known to equal PyTorch, in sweep_equal.txt: the tests draw from it.

A line has a package, a name, CPU seconds of the compiler, and for dynamic shapes the dynamic dims:
``timm resnet10t 5.2`` is static, ``timm resnet10t 6.1 batch`` has a symbol for its batch.
"""

from __future__ import annotations

from pathlib import Path

from sweep_worker import Outcome

FILE = Path(__file__).with_name("sweep_equal.txt")


def known_seconds(package: str, dynamic: bool) -> dict[str, float]:
    """CPU seconds of the compiler, by the names of a package's models that equal PyTorch."""
    fields = [line.split() for line in FILE.read_text().splitlines()[1:]]
    return {
        name: float(seconds)
        for owner, name, seconds, *dims in fields
        if owner == package and bool(dims) == dynamic
    }


def add_known(package: str, outcome: Outcome) -> None:
    """Add an equal model that the list does not have; its lines stay in order."""
    head, *lines = FILE.read_text().splitlines()
    dims = outcome.detail.replace(", ", ",")
    found = f"{package} {outcome.name} {outcome.compile_seconds:.1f} {dims}".rstrip()
    if outcome.state == "equal" and outcome.name not in known_seconds(package, bool(dims)):
        lines = sorted([*lines, found], key=lambda line: _key(line))
        FILE.write_text("\n".join([head, *lines]) + "\n")


def _key(line: str) -> tuple[str, str, int]:
    package, name, _, *dims = line.split()
    return package, name, len(dims)

"""Check names of processors and features, for which LLVM only prints warnings to stderr.

LLVM ignores unknown names. It then aborts the process if an unknown processor has no 64-bit code.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable

from .errors import BackendError
from .targets import architecture_of

_STDERR = 2
_UNKNOWN = re.compile(r"^'([^'\n]*)' is not a recognized (processor|feature) .*\n?", re.MULTILINE)


class TargetKind(str):
    """The kind of a target, a string with TVM's `name`: ``target.kind.name == "llvm"``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The kind as a plain string."""
        return str(self)


def verify_supported(triple: str, cpu: str, features: str) -> None:
    """Raise BackendError for a processor without 64-bit code, for which LLVM aborts the process."""
    architecture = architecture_of(triple)
    if cpu in architecture.excluded_cpus:
        raise BackendError(f"expected a processor of {triple} with code of 64 bits, got '{cpu}'")
    signs = {feature[1:]: feature[0] for feature in features.split(",") if feature}
    for name in architecture.required_features:  # the last sign of a feature counts
        if signs.get(name) == "-":
            raise BackendError(f"expected features of {triple} to include '{name}', got '-{name}'")


def verify_signs(features: str) -> None:
    """Raise BackendError for a feature without + or -, for which LLVM aborts the process."""
    for feature in filter(None, features.split(",")):
        if not feature.startswith(("+", "-")):
            raise BackendError(
                f"expected target option '-mattr' to be features with + or -, got '{feature}'"
            )


def verify_known(create: Callable[[], object], triple: str) -> None:
    """Create a target machine; raise BackendError if LLVM does not know one of its names."""
    said = _said_by(create)
    unknown = _UNKNOWN.search(said)
    if rest := _UNKNOWN.sub("", said):
        os.write(_STDERR, rest.encode())
    if unknown is not None:
        name, kind = unknown.groups()
        raise BackendError(f"expected a {kind} of {triple} that LLVM knows, got '{name}'")


def _said_by(call: Callable[[], object]) -> str:
    """The text that a call writes to the process's stderr."""
    with tempfile.TemporaryFile() as file:
        try:
            before = os.dup(_STDERR)
        except OSError:  # stderr is closed
            before = None
        os.dup2(file.fileno(), _STDERR)
        try:
            call()
        finally:
            if before is None:
                os.close(_STDERR)
            else:
                os.dup2(before, _STDERR)
                os.close(before)
        file.seek(0)
        return file.read().decode(errors="replace")

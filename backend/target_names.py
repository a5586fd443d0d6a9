"""Names of processors and features that LLVM does not know, of which it tells on stderr alone.

It goes on without them, and then ends the process where an unknown processor has no code of the
target's width.
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


def verify_supported(triple: str, cpu: str, features: str) -> None:
    """Raise BackendError for what LLVM has no code of 64 bits for: it ends the process there."""
    architecture = architecture_of(triple)
    if cpu in architecture.excluded_cpus:
        raise BackendError(f"expected a processor of {triple} with code of 64 bits, got '{cpu}'")
    signs = {feature[1:]: feature[0] for feature in features.split(",") if feature}
    for name in architecture.required_features:  # the last sign of a feature holds
        if signs.get(name) == "-":
            raise BackendError(f"expected features of {triple} to include '{name}', got '-{name}'")


def verify_signs(features: str) -> None:
    """Raise BackendError for a feature that is neither asked for nor refused: LLVM ends there."""
    for feature in filter(None, features.split(",")):
        if not feature.startswith(("+", "-")):
            raise BackendError(
                f"expected target option '-mattr' to be features with + or -, got '{feature}'"
            )


def verify_known(create: Callable[[], object], triple: str) -> None:
    """Create a target machine; raise BackendError if LLVM does not know a name that it gets."""
    said = _said_by(create)
    unknown = _UNKNOWN.search(said)
    if rest := _UNKNOWN.sub("", said):
        os.write(_STDERR, rest.encode())
    if unknown is not None:
        name, kind = unknown.groups()
        raise BackendError(f"expected a {kind} of {triple} that LLVM knows, got '{name}'")


def _said_by(call: Callable[[], object]) -> str:
    """What is written to the process's stderr during a call."""
    with tempfile.TemporaryFile() as file:
        try:
            before = os.dup(_STDERR)
        except OSError:  # the process has none
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

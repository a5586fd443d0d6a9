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

_STDERR = 2
_UNKNOWN = re.compile(r"^'([^'\n]*)' is not a recognized (processor|feature) .*\n?", re.MULTILINE)

_32_BIT = frozenset(
    """athlon athlon-4 athlon-mp athlon-tbird athlon-xp c3 c3-2 geode i386 i486 i586 i686 k6
    k6-2 k6-3 lakemont pentium pentium-m pentium-mmx pentium2 pentium3 pentium3m pentium4
    pentium4m pentium_4 pentium_4_sse3 pentium_ii pentium_iii pentium_iii_no_xmm_regs
    pentium_m pentium_mmx pentium_pro pentiumpro prescott winchip-c6 winchip2 yonah""".split()
)
"""The processors in LLVM's list for x86 that have no code of 64 bits."""
_X86_64 = ("64bit", "64bit-mode", "sse")
"""What every x86-64 has: code of 64 bits, and floats in vector registers."""


def verify_64_bit(triple: str, cpu: str, features: str) -> None:
    """Raise BackendError for what is no x86-64, of which LLVM ends the process."""
    if not triple.startswith(("x86_64", "amd64")):
        return
    if cpu in _32_BIT:
        raise BackendError(f"expected a processor of {triple} with code of 64 bits, got '{cpu}'")
    signs = {feature[1:]: feature[0] for feature in features.split(",") if feature}
    for name in _X86_64:  # the last sign of a feature holds
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

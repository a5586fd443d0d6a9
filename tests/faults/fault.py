"""A fault: one change of the compiler's text that makes it wrong, and what may find it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INJECTED = Path(__file__).parent / "injected"


@dataclass(frozen=True)
class Fault:
    """What is wrong in words, the file, the text that stands in it once and what replaces it.

    `probes` are names of programs in `probes.py` that reach the text. `tests` are paths for pytest,
    also of folders of FileCheck files; they run in order where no probe finds the fault. `wants` is
    the test to write if nothing finds it.
    """

    what: str
    file: str
    old: str
    new: str
    probes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    wants: str = ""

    @property
    def count(self) -> int:
        """How often the text stands in the file; another number than 1 is a stale fault."""
        return (ROOT / self.file).read_text().count(self.old)

    def environment(self) -> dict[str, str]:
        """The environment of a process that has the fault, and compiles everything anew."""
        module = "xrelax." + self.file.removesuffix(".py").removesuffix("/__init__").replace(
            "/", "."
        )
        change = json.dumps({"module": module, "old": self.old, "new": self.new})
        path = os.pathsep.join([str(INJECTED), *filter(None, [os.environ.get("PYTHONPATH")])])
        return {**os.environ, "PYTHONPATH": path, "XRELAX_FAULT": change, "XRELAX_CACHE": "0"}

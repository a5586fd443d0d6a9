"""What became of a program: nothing wrong, or a failure with a kind and a message."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from typing import Any


class Wrong(Exception):
    """A result that is not what the evaluation says, or memory that is not what it was."""


@dataclass(frozen=True)
class Failure:
    """`kind` is "wrong", "refused", "exception", "crash", "time" or "replay"."""

    kind: str
    message: str
    place: str = ""

    @property
    def key(self) -> str:
        """What failures of one cause have in common, as far as one can say."""
        text = self.message.splitlines()[0] if self.message else ""
        text = re.sub(r"^.*?error: ", "", text) if self.kind == "refused" else text
        text = "" if self.kind == "wrong" else re.sub(r"'[^']*'|`[^`]*`|[\w.]*\d[\w.]*", "_", text)
        return f"{self.kind}: {self.place}: {text}"


ERRORS = ("Diagnostic", "ScriptError", "ScheduleError", "PassFailedException", "UnsupportedError")
"""The classes whose messages are for users."""


def failure_of(error: Exception) -> Failure:
    """The failure that an exception is, with the innermost frame of the package."""
    if isinstance(error, Wrong):
        return Failure("wrong", str(error))
    kind = "refused" if type(error).__name__ in ERRORS else "exception"
    return Failure(kind, f"{type(error).__name__}: {error}", _place(error))


def _place(error: BaseException) -> str:
    frames: list[Any] = traceback.extract_tb(error.__traceback__)
    inner = [
        f for f in frames if "/fuzzer/" not in f.filename and "/site-packages/" not in f.filename
    ]
    return f"{inner[-1].filename.rsplit('/xrelax/')[-1]}:{inner[-1].name}" if inner else ""

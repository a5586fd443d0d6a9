"""A file of JSON lines that several processes append to and read."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # a system without POSIX locks: one process may write there
    fcntl = None


class JSONLines:
    """A file, and how far it was read."""

    def __init__(self, path: Path):
        self.path = path
        self._read = 0

    def append(self, entry: Any) -> None:
        """Write a line, by one write under a lock; a cut line before it is ended."""
        line = json.dumps(entry).encode() + b"\n"
        with open(self.path, "a+b", buffering=0) as file, _locked(file):
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)
            os.fsync(file.fileno())

    def new(self) -> Iterator[Any]:
        """The lines that are new since the last call; what is no JSON was cut short, and ignored.

        A last line without an end may still be written, and is read by a later call.
        """
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return
        complete = data.rfind(b"\n") + 1
        self._read += complete
        for line in data[:complete].splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            yield entry


@contextmanager
def _locked(file: IO[bytes]) -> Generator[None]:
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)

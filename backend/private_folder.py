"""Folders that no other user can write to, and the files in them that the user owns.

A folder is checked when it is open, and what is in it is reached from there: it does not matter
what its path leads to meanwhile. Where the system has no owners of files (Windows), paths are used.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotPrivateError(Exception):
    """A folder or a file is not the user's alone; the message is one line."""


@dataclass(frozen=True)
class PrivateFolder:
    """An open folder; `descriptor` is `None` where it is reached by its path."""

    path: Path
    descriptor: int | None

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        if self.descriptor is None:
            return str(self.path / name), {}
        return name, {"dir_fd": self.descriptor}

    @contextmanager
    def folder(self, name: str, *, create: bool = False) -> Generator[PrivateFolder]:
        """A folder in this one; raises as `private_folder`."""
        place, where = self._at(name)
        if create:
            _make(place, where)
        with _opened(self.path / name, place, where, os.O_NOFOLLOW if where else 0) as found:
            yield found

    def open(self, name: str) -> IO[bytes]:
        """A file for reading; raises OSError for none or a link, NotPrivateError for another's."""
        place, where = self._at(name)
        if self.descriptor is None:
            return open(place, "rb")
        file = os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, **where), "rb")
        try:
            _verify(self.path / name, os.fstat(file.fileno()), stat.S_ISREG)
        except NotPrivateError:
            file.close()
            raise
        return file

    @contextmanager
    def replacing(self, name: str) -> Generator[IO[bytes]]:
        """A new file that takes the place of another at the end, or goes away if something fails.

        Others can neither read nor write it.
        """
        temporary = f".{name}.{os.getpid()}.{secrets.token_hex(4)}"
        place, where = self._at(temporary)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with os.fdopen(os.open(place, flags, 0o600, **where), "wb") as file:
                yield file
            directory = {"src_dir_fd": self.descriptor, "dst_dir_fd": self.descriptor}
            os.replace(place, self._at(name)[0], **directory if where else {})
        finally:
            self.unlink(temporary)

    def unlink(self, name: str) -> None:
        """Remove a file, unless there is none, or the system forbids it."""
        place, where = self._at(name)
        try:
            os.unlink(place, **where)
        except OSError:
            pass  # another process has removed it, or has it open where that forbids removal

    def entries(self) -> list[os.DirEntry[str]]:
        """What is in the folder."""
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            return list(found)


@contextmanager
def private_folder(path: Path, *, create: bool = False) -> Generator[PrivateFolder]:
    """A folder, made for the user alone if there is none; its path may be a link to one.

    Raises OSError where there is none, NotPrivateError for one of another user, and for one that
    other users can write to.
    """
    if create and not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        _make(str(path), {})
    with _opened(path, str(path), {}, 0) as found:
        yield found


@contextmanager
def _opened(path: Path, place: str, where: dict[str, Any], flags: int) -> Generator[PrivateFolder]:
    if sys.platform == "win32":
        yield PrivateFolder(path, None)
        return
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | flags, **where)
    try:
        _verify(path, os.fstat(descriptor), stat.S_ISDIR)
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _make(place: str, where: dict[str, Any]) -> None:
    try:
        os.mkdir(place, 0o700, **where)
    except FileExistsError:
        pass


def _verify(path: Path, found: os.stat_result, is_kind: Any) -> None:
    user = os.geteuid()
    if not is_kind(found.st_mode) or found.st_uid != user or found.st_mode & _OTHERS_WRITE:
        raise NotPrivateError(
            f"expected '{path}' to be of user {user} and writable for no other, got one of user "
            f"{found.st_uid} with mode {stat.S_IMODE(found.st_mode):04o}"
        )

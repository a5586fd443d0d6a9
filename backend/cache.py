"""A cache of compiled packages: files by key in a folder of bounded size.

``XRELAX_CACHE_DIR`` names the folder, ``XRELAX_CACHE=0`` turns the cache off. Any number of
processes may use one folder: a file appears complete, a damaged one counts as missing, and nothing
is kept where the folder cannot be written to.

The files are native code, which runs as the user does. So the folder and its files are the user's
alone (see `PrivateFolder`), and a folder that others can write to is not used.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import time
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..runtime.package import Package, PackageError, Part, write_archive
from ..runtime.warning import XRelaxWarning

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotPrivateError(Exception):
    """A folder or a file is not the user's alone; the message is one line."""


@dataclass(frozen=True)
class PrivateFolder:
    """A folder that no other user can write to, with files that the user owns.

    It is checked when it is open, and what is in it is reached by its descriptor: it does not
    matter what its path leads to meanwhile. `descriptor` is `None` where the system has no owners
    of files (Windows): there, paths are used.
    """

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


DEFAULT_LIMIT = 1 << 30
"""Bytes that a folder may hold."""

_ABANDONED_AFTER = 3600.0
"""Seconds after which an incomplete file is taken to be abandoned."""


@dataclass(frozen=True)
class Cache:
    """A folder of packages; the least recently used ones are evicted if it gets too large."""

    root: Path
    limit: int = DEFAULT_LIMIT

    def path(self, key: str) -> Path:
        """The path of the package of a key, if there is one."""
        return self.root / key[:2] / key[2:]

    def get(self, key: str) -> Package | None:
        """The package of a key; `None` if there is none, or a damaged one, which then goes away."""
        try:
            with (
                private_folder(self.root) as root,
                root.folder(key[:2]) as folder,
                folder.open(key[2:]) as file,
            ):
                os.utime(file.name if folder.descriptor is None else file.fileno())
                return Package(self.path(key), file)
        except PackageError:
            self.drop(key)
        except OSError:
            pass  # there is none
        except NotPrivateError as error:
            _warn(error)
        return None

    def put(self, key: str, manifest: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        """Keep a package under a key, if the folder can be written to; `trim` bounds the whole."""
        try:
            with (
                private_folder(self.root, create=True) as root,
                root.folder(key[:2], create=True) as folder,
                folder.replacing(key[2:]) as file,
            ):
                write_archive(file, manifest, parts)
        except OSError:
            pass  # there is no cache where none can be written
        except NotPrivateError as error:
            _warn(error)

    def drop(self, key: str) -> None:
        """Forget a package."""
        try:
            with private_folder(self.root) as root, root.folder(key[:2]) as folder:
                folder.unlink(key[2:])
        except (OSError, NotPrivateError):
            pass  # there is none

    def trim(self) -> None:
        """Evict least recently used packages until the rest fits, and remove incomplete files."""
        try:
            with private_folder(self.root) as root:
                self._trim(root)
        except OSError:
            pass  # there is none, or another process removes it
        except NotPrivateError as error:
            _warn(error)

    def _trim(self, root: PrivateFolder) -> None:
        found = [(e.name, f.name, s) for e in root.entries() for f, s in _files(root, e)]
        now, size = time.time(), sum(s.st_size for _, _, s in found)
        for folder, name, status in sorted(found, key=lambda f: f[2].st_mtime):
            is_partial = name.startswith(".")
            if size > self.limit if not is_partial else now - status.st_mtime > _ABANDONED_AFTER:
                with root.folder(folder) as opened:
                    opened.unlink(name)
                size -= status.st_size


def _files(
    root: PrivateFolder, entry: os.DirEntry[str]
) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    """The files in a folder of the cache; none where another process has removed it meanwhile."""
    try:
        with root.folder(entry.name) as folder:
            return [(f, s) for f in folder.entries() if (s := _stat(f)) is not None]
    except (OSError, NotPrivateError):
        return []


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # another process has removed it meanwhile
        return None


def _warn(error: NotPrivateError) -> None:
    warnings.warn(f"the cache is not used: {error}", XRelaxWarning, stacklevel=3)


def default_cache() -> Cache | None:
    """The cache that the environment asks for; `None` if it is off or there is no place for it."""
    if os.environ.get("XRELAX_CACHE", "1") == "0":
        return None
    if given := os.environ.get("XRELAX_CACHE_DIR"):
        return Cache(Path(given))
    try:
        return Cache(_user_folder() / "xrelax")
    except RuntimeError:  # there is no home
        return None


def _user_folder() -> Path:
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (folder := os.environ.get("LOCALAPPDATA")):
        return Path(folder)
    return Path.home() / ".cache"

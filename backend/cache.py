"""A cache of compiled packages: files by key in a folder of bounded size.

``XRELAX_CACHE_DIR`` names the folder, ``XRELAX_CACHE=0`` turns the cache off. Any number of
processes may share a folder: files are replaced atomically, damaged ones count as missing, and
nothing is stored in a read-only folder.

The files are native code, which runs with the user's rights. So only the user may access the folder
and its files (see `PrivateFolder`), and a folder that others can write to is not used.
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
    """Other users own or can write to a folder or file; the message is one line."""


@dataclass(frozen=True)
class PrivateFolder:
    """A folder that no other user can write to, with files that the user owns.

    It is checked after opening, and files are opened relative to its descriptor, so that a changed
    path has no effect. `descriptor` is `None` on systems without file owners (Windows), where paths
    are used.
    """

    path: Path
    descriptor: int | None

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        if self.descriptor is None:
            return str(self.path / name), {}
        return name, {"dir_fd": self.descriptor}

    @contextmanager
    def folder(self, name: str, *, create: bool = False) -> Generator[PrivateFolder]:
        """A subfolder; raises as `private_folder`."""
        place, where = self._at(name)
        if create:
            _make(place, where)
        with _opened(self.path / name, place, where, os.O_NOFOLLOW if where else 0) as found:
            yield found

    def open(self, name: str) -> IO[bytes]:
        """A file for reading; raises OSError for none or a link, NotPrivateError as the folder."""
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
        """A new file that replaces `name` at the end, or is removed if an exception is raised.

        Other users can neither read nor write it.
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
            pass  # another process has removed it, or has it open (Windows)

    def entries(self) -> list[os.DirEntry[str]]:
        """The entries of the folder."""
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            return list(found)


@contextmanager
def private_folder(path: Path, *, create: bool = False) -> Generator[PrivateFolder]:
    """A folder at a path, which may be a link; with `create`, it is created for the user only.

    Raises OSError if there is none, NotPrivateError if another user owns it or can write to it.
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


DEFAULT_LIMIT = 1 << 32
"""Bytes that a folder may hold."""

_ABANDONED_AFTER = 3600.0
"""Seconds after which an incomplete file is taken to be abandoned."""


@dataclass(frozen=True)
class Cache:
    """A folder of packages; the least recently used ones are evicted if it gets too large."""

    root: Path
    limit: int = DEFAULT_LIMIT

    def path(self, key: str) -> Path:
        """The path of a key's package, which need not exist."""
        return self.root / key[:2] / key[2:]

    def get(self, key: str) -> Package | None:
        """The package of a key; `None` if there is none, or for a damaged one, which is removed."""
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
        """Store a package under a key, if the folder is writable; `trim` bounds the total size.

        One of more than half of the limit is not stored, since it would evict most others.
        """
        if sum(map(_size, parts.values())) > self.limit // 2:
            return
        try:
            with (
                private_folder(self.root, create=True) as root,
                root.folder(key[:2], create=True) as folder,
                folder.replacing(key[2:]) as file,
            ):
                write_archive(file, manifest, parts)
        except OSError:
            pass  # the folder cannot be written to
        except NotPrivateError as error:
            _warn(error)

    def drop(self, key: str) -> None:
        """Remove a package."""
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


def _size(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part.nbytes


def _files(
    root: PrivateFolder, entry: os.DirEntry[str]
) -> list[tuple[os.DirEntry[str], os.stat_result]]:
    """The files in a folder of the cache; none if another process has removed it meanwhile."""
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
    """The cache of the environment variables; `None` if it is off or there is no home folder."""
    if os.environ.get("XRELAX_CACHE", "1") == "0":
        return None
    if given := os.environ.get("XRELAX_CACHE_DIR"):
        return Cache(Path(given))
    try:
        return Cache(_user_folder() / "xrelax")
    except RuntimeError:  # there is no home folder
        return None


def _user_folder() -> Path:
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (folder := os.environ.get("LOCALAPPDATA")):
        return Path(folder)
    return Path.home() / ".cache"

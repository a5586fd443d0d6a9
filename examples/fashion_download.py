"""Fetches the Fashion-MNIST test images and the course's published parameters, with checksums."""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fashion_data import DataError

TIMEOUT = 30.0
CHUNK = 1 << 16
BAR = 30


@dataclass(frozen=True)
class RemoteFile:
    """A file, the folder it is published in, and the SHA-256 that its content must have."""

    name: str
    folder: str
    sha256: str


_IMAGES = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
_MODELS = "https://raw.githubusercontent.com/mlc-ai/web-data/main/models"
PARAMETERS = "fasionmnist_mlp_params.pkl"
FILES = (
    RemoteFile(
        "t10k-images-idx3-ubyte.gz",
        _IMAGES,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    RemoteFile(
        "t10k-labels-idx1-ubyte.gz",
        _IMAGES,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
    RemoteFile(
        PARAMETERS,
        _MODELS,
        "65e60c21536ed052ba5e1e6c94806530c7d804056822a6b39066ce6a5b02e646",
    ),
)


def download(folder: Path, mirror: str | None = None, files: tuple[RemoteFile, ...] = FILES):
    """Bring every file into the folder; one that is already there and intact is not fetched.

    `mirror` is the address of a folder that holds all the files, instead of the published places.
    Raises DataError when a file cannot be had whole and unchanged; nothing is left of it then.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            target = folder / file.name
            if not (target.is_file() and _sha256(target) == file.sha256):
                _fetch(f"{(mirror or file.folder).rstrip('/')}/{file.name}", target, file.sha256)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror or error}") from error


def _fetch(url: str, target: Path, sha256: str) -> None:
    """Download to a file beside the target, which is replaced only by what passed its checks."""
    partial = target.with_name(f"{target.name}.part")
    try:
        with partial.open("wb") as output:
            digest = _copy(url, target.name, output)
        if digest != sha256:
            raise DataError(f"{url}: expected SHA-256 {sha256}, got {digest}")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _copy(url: str, name: str, output: IO[bytes]) -> str:
    """Copy the file at the address and return the SHA-256 of what came."""
    digest = hashlib.sha256()
    received = 0
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            total = int(response.headers.get("Content-Length") or 0)
            while chunk := response.read(CHUNK):
                output.write(chunk)
                digest.update(chunk)
                received += len(chunk)
                _show_progress(name, received, total)
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(f"{url}: the server answered {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise DataError(f"{url}: cannot be downloaded: {error}") from error
    if received < total:
        raise DataError(f"{url}: expected {total} bytes, got {received}")
    return digest.hexdigest()


def _show_progress(name: str, received: int, total: int) -> None:
    """Redraw one line on a terminal; elsewhere say when a file is there."""
    done = received >= total > 0
    if not (done or sys.stderr.isatty()):
        return
    filled = BAR * received // total if total else 0
    bar = "#" * filled + "." * (BAR - filled)
    start = "\r" if sys.stderr.isatty() else ""
    line = f"{start}{name:28} [{bar}] {received / 1e6:5.1f} MB"
    print(line, end="\n" if done else "", file=sys.stderr, flush=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

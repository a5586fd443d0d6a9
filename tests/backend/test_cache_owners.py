"""Whose files the cache loads: the user's own, which nobody else can write to, and no links."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from cached_modules import ROW, X, module

from xrelax import relax
from xrelax.backend import cache as cache_module
from xrelax.backend.cache import Cache
from xrelax.runtime import XRelaxWarning

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
KEY = "ab" * 10


@posix
def test_folders_and_files_are_the_users_alone(folder):
    before = os.umask(0)
    try:
        relax.build(module())
    finally:
        os.umask(before)
    modes = {p: p.stat().st_mode & 0o777 for p in (folder, *folder.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def mode_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o777)


def mode_of_the_group(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o770)


def mode_of_a_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in folder.iterdir():
        part.chmod(0o777)


def mode_of_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in folder.glob("*/*"):
        file.chmod(0o666)


def another_owner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)


def link_to_a_shared_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o777)
    folder.rename(folder.with_name("real"))
    folder.symlink_to(folder.with_name("real"))


SHARED = (
    mode_of_others,
    mode_of_the_group,
    mode_of_a_part,
    mode_of_the_files,
    another_owner,
    link_to_a_shared_folder,
)


@posix
@pytest.mark.parametrize("share", SHARED, ids=lambda share: share.__name__)
def test_what_others_can_write_to_is_not_loaded(folder, compiled, monkeypatch, share):
    relax.build(module())
    share(folder, monkeypatch)
    with pytest.warns(XRelaxWarning, match="^the cache is not used: expected '.*' to be") as seen:
        executable = relax.build(module())
    assert len(compiled) == 2
    assert all("\n" not in str(w.message) for w in seen)
    np.testing.assert_array_equal(executable(X).numpy(), X + ROW)


@posix
def test_a_link_to_a_folder_of_the_user_is_used(folder, compiled):
    relax.build(module())
    folder.rename(folder.with_name("real"))
    folder.symlink_to(folder.with_name("real"))
    relax.build(module())
    assert len(compiled) == 1


@posix
@pytest.mark.parametrize("level", ["file", "folder"])
def test_links_inside_of_the_cache_are_not_followed(tmp_path, level):
    cache, other = Cache(tmp_path / "cache"), Cache(tmp_path / "other")
    cache.put(KEY, {"of": "cache"}, {})
    other.put(KEY, {"of": "other"}, {})
    path, target = cache.path(KEY), other.path(KEY)
    path.unlink()
    if level == "folder":
        path, target = path.parent, target.parent
        path.rmdir()
    path.symlink_to(target)
    assert cache.get(KEY) is None and other.get(KEY) is not None
    if level == "file":
        cache.put(KEY, {"of": "cache"}, {})
        assert cache.get(KEY).manifest == {"of": "cache"}
        assert other.get(KEY).manifest == {"of": "other"}


@posix
def test_a_folder_that_is_exchanged_while_it_is_read(tmp_path, monkeypatch):
    """Between the check of a folder and the reading of its files, its path leads elsewhere."""
    cache, other = Cache(tmp_path / "cache"), Cache(tmp_path / "other")
    cache.put(KEY, {"of": "cache"}, {})
    other.put(KEY, {"of": "other"}, {})
    verify = cache_module._verify

    def exchange(path: Path, *rest):
        verify(path, *rest)
        if path == cache.root:
            cache.root.rename(tmp_path / "moved")
            cache.root.symlink_to(other.root)

    monkeypatch.setattr(cache_module, "_verify", exchange)
    assert cache.get(KEY).manifest == {"of": "cache"}

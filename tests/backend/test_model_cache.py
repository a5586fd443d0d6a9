"""The entries of models: found by the state of their files, whatever these have."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from cached_modules import ROW, X, module

from xrelax import relax
from xrelax.backend import build_key, model_cache
from xrelax.backend.model_cache import file_state, model_entry
from xrelax.backend.target import Target

TARGET = Target("llvm")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files have no time of their last change")


@pytest.fixture
def path(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a model, with an entry in the cache that has another file too."""
    monkeypatch.setattr(model_cache, "SETTLED", -(10**12))
    found, other = tmp_path / "model", tmp_path / "other"
    found.write_text("the model")
    other.write_text("its data")
    entry = model_entry(str(found), TARGET, "options")
    entry.store(relax.build(module()), {"inputs": ["x"]}, [str(other)])
    return found


def test_an_entry_has_code_and_notes(path):
    found = model_entry(str(path), TARGET, "options").load()
    assert found.notes == {"inputs": ["x"]}
    assert [*found.files] == [str(path), str(path.with_name("other"))]
    np.testing.assert_array_equal(found.executable(X).numpy(), X + ROW)
    found.verify_files()


def test_the_key_has_the_file_the_target_and_the_options(path, monkeypatch):
    linked = path.with_name("link")
    linked.symlink_to(path)
    assert model_entry(str(linked), TARGET, "options").load() is not None
    assert model_entry(str(path), TARGET, "others").load() is None
    assert model_entry(str(path), Target("llvm -math=accurate"), "options").load() is None
    assert model_entry(str(path), Target("llvm -mtriple=aarch64-linux-gnu"), "options") is None
    assert model_entry(str(path.with_name("absent")), TARGET, "options") is None
    monkeypatch.setattr(build_key, "source_hash", lambda: "another")
    assert model_entry(str(path), TARGET, "options").load() is None


@pytest.mark.parametrize("name", ["model", "other"])
def test_every_write_is_seen(path, name):
    changed, entry = path.with_name(name), model_entry(str(path), TARGET, "options")
    loaded, before = entry.load(), changed.stat()
    with changed.open("r+") as file:
        file.write("T")
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert changed.stat().st_size == before.st_size
    assert model_entry(str(path), TARGET, "options").load() is None
    with pytest.raises(ValueError, match=f"expected '.*{name}' as it was compiled"):
        loaded.verify_files()


def test_a_removed_file_is_seen(path):
    path.with_name("other").unlink()
    assert model_entry(str(path), TARGET, "options").load() is None
    assert file_state(str(path.with_name("other"))) is None


def test_files_that_may_have_changed_since_are_not_stored(path, monkeypatch):
    monkeypatch.setattr(model_cache, "SETTLED", 2_000_000_000)
    path.touch()
    executable = relax.build(module())
    entry = model_entry(str(path), TARGET, "options")
    entry.store(executable, {}, [])
    assert entry.load() is None
    monkeypatch.setattr(model_cache, "SETTLED", -(10**12))
    path.touch()
    entry.store(executable, {}, [])
    assert entry.load() is None

"""The cache of builds: what is found again, what is not, and what happens to damaged folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from cached_modules import ROW, X, module

import xrelax as tvm
from xrelax import relax
from xrelax.backend import build_key
from xrelax.backend.cache import Cache, default_cache
from xrelax.runtime.call_words import ENTRY_SYMBOL
from xrelax.script import from_source

MODULE, KERNEL = "code/0.o", "code.o"


def files(folder: Path, member: str = "manifest.json") -> list[Path]:
    """The files of modules, or those with another member; not the one of calls from Python."""
    found = [zipfile.ZipFile(f) for f in folder.rglob("*") if zipfile.is_zipfile(f)]
    manifests = [(f, json.loads(f.read("manifest.json"))) for f in found if member in f.namelist()]
    return [Path(str(f.filename)) for f, m in manifests if m.get("symbol") != ENTRY_SYMBOL]


def test_the_second_build_is_a_load(folder, compiled):
    first, second = relax.build(module()), relax.build(module())
    assert len(compiled) == 1 and len(files(folder, MODULE)) == len(files(folder, KERNEL)) == 1
    np.testing.assert_array_equal(second(X).numpy(), X + ROW)
    np.testing.assert_array_equal(second(X).numpy(), first(X).numpy())
    assert second.functions == first.functions
    for key, value in first.attributes.items():
        other = second.attributes[key]
        assert (other() if callable(other) else other) == (value() if callable(value) else value)


@pytest.mark.parametrize(
    "change",
    [{"name": "multiply"}, {"last": "5.0"}, {"last": "-0.0"}],
)
def test_another_program_is_compiled(folder, compiled, change):
    relax.build(module())
    executable = relax.build(module(**change))
    assert len(compiled) == 2 and len(files(folder, MODULE)) == 2
    values = np.array([1, 2, 3, float(change.get("last", "4.0"))], "float32")
    expected = X * values if change.get("name") == "multiply" else X + values
    np.testing.assert_array_equal(executable(X).numpy(), expected)


LOOP = """
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), h: R.Tensor((4,), "float32")):
        i = T.int64()
        return (R.add(h, h),)

    @R.function
    def main(h: R.Tensor((4,), "float32")):
        r = R.loop(cls.step, (h,), trips={})
        return r[0]
"""


def test_loops_are_found_by_their_text(folder, compiled):
    """Another number of iterations is another program, whose kernels are known."""
    for trips in (3, 3, 5):
        executable = relax.build(from_source(LOOP.format(trips)))
        np.testing.assert_array_equal(executable(ROW.astype("float32")).numpy(), ROW * 2**trips)
    assert len(files(folder, MODULE)) == 2 and len(files(folder, KERNEL)) == 1


def test_another_target_is_another_build(folder, compiled):
    relax.build(module())
    narrow = relax.build(module(), "llvm -mcpu=x86-64")
    assert len(compiled) == 2
    assert "-mcpu=x86-64" in narrow.attributes["target"]
    relax.build(module(), "llvm -mcpu=x86-64")
    assert len(compiled) == 2


def test_another_compiler_is_another_build(folder, compiled, monkeypatch):
    relax.build(module())
    monkeypatch.setattr(build_key, "source_hash", lambda: "another")
    relax.build(module())
    assert len(compiled) == 2


def test_the_source_hash_follows_the_source(monkeypatch, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "other").mkdir()
    for name in ("a.py", "sub/__init__.py", "sub/b.py", "other/c.py"):
        (tmp_path / name).write_text("")
    assert [f.removeprefix(str(tmp_path)) for f in build_key.source_files(str(tmp_path))] == [
        "/a.py",
        "/sub/__init__.py",
        "/sub/b.py",
    ]
    monkeypatch.setattr(build_key, "_ROOT", str(tmp_path))
    hashes = {build_key.source_hash.__wrapped__()}
    (tmp_path / "sub/b.py").write_text("x = 1")
    hashes.add(build_key.source_hash.__wrapped__())
    (tmp_path / "sub/b.py").rename(tmp_path / "sub/d.py")
    hashes.add(build_key.source_hash.__wrapped__())
    assert len(hashes) == 3
    monkeypatch.setattr(tvm, "imported_at", time.time() + 5)
    assert build_key.sources_are_loaded()
    monkeypatch.setattr(tvm, "imported_at", time.time() - 5)
    assert not build_key.sources_are_loaded()


def test_edited_source_is_not_cached(folder, compiled, monkeypatch):
    monkeypatch.setattr(build_key, "sources_are_loaded", lambda: False)
    relax.build(module())
    assert not folder.exists()


WEIGHTED = """
@R.function
def main(x: R.Tensor((2, 64), "float32"), w: R.Tensor((64, 64), "float32")):
    return R.{operator}(x, w)
"""


def test_weights_of_the_module_are_not_stored_and_are_its_own(folder, compiled):
    weight = np.random.default_rng(0).standard_normal((2, 64), dtype="float32")
    source = WEIGHTED.format(operator="add").replace("(64, 64)", "(2, 64)")
    x = np.ones((2, 64), "float32")
    results = []
    for _ in range(2):
        executable = relax.build(from_source(source), params={"w": weight})
        results.append(executable(x).numpy())
        assert executable.constants[0].address == weight.ctypes.data
    assert len(compiled) == 1
    np.testing.assert_array_equal(*results)
    (entry,) = files(folder, MODULE)
    assert not [n for n in np.load(entry).files if n.startswith("constants/")]
    relax.build(from_source(source), params={"w": weight + 1})
    assert len(compiled) == 2


def test_packed_weights_are_stored_with_the_module(folder, compiled):
    weight = np.random.default_rng(0).standard_normal((64, 64), dtype="float32")
    source = WEIGHTED.format(operator="matmul")
    x = np.ones((2, 64), "float32")
    results = [relax.build(from_source(source), params={"w": weight})(x).numpy() for _ in range(2)]
    assert len(compiled) == 1
    np.testing.assert_array_equal(*results)
    (entry,) = files(folder, MODULE)
    (packed,) = [n for n in np.load(entry).files if n.startswith("constants/")]
    stored = np.load(entry)[packed]  # padded to panels as wide as the target likes
    assert set(stored.flat) - {0} == set(weight.flat)


def test_names_called_at_run_time_are_checked_at_every_build(folder, compiled):
    source = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.call_dps_packed("test.cache", (x,), R.Tensor((4,), "float32"))
"""
    tvm.register_func("test.cache", lambda x, y: y.copyfrom(x))
    try:
        relax.build(from_source(source))
        executable = relax.build(from_source(source))
        assert len(compiled) == 1
        np.testing.assert_array_equal(executable(X[0]).numpy(), X[0])
    finally:
        tvm.runtime.remove_global_func("test.cache")
    with pytest.raises(Exception, match=r"expected 'test\.cache' to be a PrimFunc"):
        relax.build(from_source(source))


@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "text", "older"])
@pytest.mark.parametrize("kind", [MODULE, KERNEL])
def test_a_damaged_file_is_compiled_again(folder, compiled, kernels, kind, damage):
    relax.build(module())
    (entry,) = files(folder, kind)
    if kind == KERNEL:
        files(folder, MODULE)[0].unlink()
    content = bytearray(entry.read_bytes())
    match damage:
        case "empty":
            content = bytearray()
        case "half":
            content = content[: len(content) // 2]
        case "flipped":
            content[content.index(b"\x7fELF") + 64] ^= 1
        case "text":
            content = bytearray(b"nothing of the kind")
        case _:
            package = entry.read_bytes()
            content = bytearray(package.replace(b"manifest.json", b"manifest.jsoX"))
    entry.write_bytes(content)
    np.testing.assert_array_equal(relax.build(module())(X).numpy(), X + ROW)
    assert len(compiled) == 2 and len(kernels) == (2 if kind == KERNEL else 1)
    relax.build(module())
    assert len(compiled) == 2


def square(body: str):
    return from_source(f"""
@R.function
def main(x: R.Tensor((4, 4), "float32")):
    return {body}
""")


def test_kernels_are_shared_between_modules(folder, compiled, kernels):
    x = np.arange(16, dtype="float32").reshape(4, 4)
    first = relax.build(square("R.matmul(x, x)"))
    second = relax.build(square("R.matmul(R.matmul(x, x), x)"))
    assert len(compiled) == 2 and len(kernels) == 1
    np.testing.assert_array_equal(second(x).numpy(), x @ x @ x)
    # The kernel, and the code for calls from Python, which all modules have.
    assert len(set(first.library.objects) & set(second.library.objects)) == 2
    third = relax.build(square("R.matmul(R.matmul(x, x), x)"), "llvm -mcpu=x86-64")
    assert len(kernels) == 2
    np.testing.assert_array_equal(third(x).numpy(), x @ x @ x)


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, folder, compiled, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(tmp_path / "file" / "cache"))
    for _ in range(2):
        np.testing.assert_array_equal(relax.build(module())(X).numpy(), X + ROW)
    assert len(compiled) == 2


def test_the_environment_chooses_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XRELAX_CACHE", "0")
    assert default_cache() is None
    monkeypatch.delenv("XRELAX_CACHE")
    monkeypatch.delenv("XRELAX_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == Cache(tmp_path / "xrelax")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(tmp_path / "here"))
    assert default_cache() == Cache(tmp_path / "here")


def test_what_is_unused_for_longest_goes_first(tmp_path):
    cache = Cache(tmp_path, limit=10_000)
    now = time.time()
    for age, key in enumerate(("old", "used", "new")):
        cache.put(key * 10, {}, {"code.o": bytes(4000)} if key != "new" else {})
        os.utime(cache.path(key * 10), (now - 100 + age,) * 2)
    assert cache.get("old" * 10) is not None  # and so it is the last used
    cache.put("more" * 10, {}, {"code.o": bytes(4000)})
    cache.trim()
    assert [cache.get(k * 10) is not None for k in ("old", "used", "new", "more")] == [
        True,
        False,
        True,
        True,
    ]


def test_a_package_of_more_than_half_of_the_limit_is_not_stored(tmp_path):
    cache = Cache(tmp_path, limit=10_000)
    cache.put("fits" * 10, {}, {"code.o": bytes(1000), "x": np.zeros(1000, np.float32)})
    cache.put("large" * 10, {}, {"code.o": bytes(1001), "x": np.zeros(1000, np.float32)})
    assert cache.get("fits" * 10) is not None and cache.get("large" * 10) is None


def test_a_build_bounds_the_cache(folder, monkeypatch):
    def small():
        return Cache(folder, limit=1)

    monkeypatch.setattr(build_key, "default_cache", small)
    np.testing.assert_array_equal(relax.build(module())(X).numpy(), X + ROW)
    assert files(folder) == []


def test_half_written_files_are_not_read_and_go_away(tmp_path):
    cache = Cache(tmp_path)
    cache.put("ab" * 10, {}, {})
    left = cache.path("ab" * 10).with_name(".left.1.2")
    left.write_bytes(b"half")
    cache.trim()
    assert left.exists()
    os.utime(left, (time.time() - 7200,) * 2)
    cache.trim()
    assert not left.exists() and cache.get("ab" * 10) is not None


WRITER = """
import sys
from pathlib import Path
from xrelax.backend.cache import Cache
cache, seen = Cache(Path(sys.argv[1]), limit=60_000), 0
for i in range(60):
    key = f"{i % 5:02}" * 20
    cache.put(key, {"number": i % 5}, {"code.o": bytes([i % 5]) * 20_000})
    cache.trim()
    found = cache.get(key)
    if found is not None:
        assert found.manifest["number"] == i % 5
        assert bytes(found.part("code.o")) == bytes([i % 5]) * 20_000
        seen += 1
print(seen)
"""


def test_processes_share_a_folder(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert int(out) > 0
    assert sum(f.stat().st_size for f in files(tmp_path)) <= 60_000

"""Models of ONNX files in the cache: found without reading them, and never after a change."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import model

import xrelax
from xrelax.backend import build_key, model_cache
from xrelax.backend.cache import Cache
from xrelax.importers.onnx import compiled_model
from xrelax.importers.onnx.compiled_model import OnnxModel
from xrelax.importers.onnx.versions import Versions

ROWS, COLUMNS, DEPTH = 3, 700, 600
"""A weight of so many rows and columns is packed on load."""

X = np.random.default_rng(1).standard_normal((ROWS, DEPTH), np.float32)
WEIGHT = np.random.default_rng(0).standard_normal((DEPTH, COLUMNS), np.float32)
BIAS = np.arange(COLUMNS, dtype="float32")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, which takes files that were just written."""
    monkeypatch.setenv("XRELAX_CACHE", "1")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build_key, "sources_are_loaded", lambda: True)
    monkeypatch.setattr(model_cache, "SETTLED", -(10**12))
    monkeypatch.setattr(compiled_model, "REGISTERED", set[str]())
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that were compiled and not found."""
    seen: list[str] = []
    original = Versions.__init__

    def record(self, imported, options):
        seen.append(imported.model.name)
        original(self, imported, options)

    monkeypatch.setattr(Versions, "__init__", record)
    return seen


def linear(weight: np.ndarray = WEIGHT, bias: np.ndarray = BIAS) -> onnx.ModelProto:
    weights = {"w": weight, "b": bias}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["y"]),
    ]
    return model(nodes, {"x": ("float32", ["n", DEPTH])}, ["y"], initializers=weights)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a linear layer."""
    found = tmp_path / "linear.onnx"
    found.write_bytes(linear().SerializeToString())
    return found


def entries(folder: Path) -> list[Path]:
    """The files of models in the cache."""
    return [f for f in folder.rglob("*") if f.is_file() and b'"notes":' in manifest(f)]


def manifest(path: Path) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.read("manifest.json")


def check(found: OnnxModel, shift: float = 0.0) -> None:
    np.testing.assert_allclose(found(X).numpy(), X @ WEIGHT + BIAS + shift, rtol=1e-4, atol=1e-3)


def test_the_second_model_is_found(folder, path, compiled):
    first, second = xrelax.compile(path), xrelax.compile(str(path))
    assert compiled == ["linear.onnx"] and len(entries(folder)) == 1
    np.testing.assert_array_equal(first(X).numpy(), second(X).numpy())
    assert second(x=X).shape == (ROWS, COLUMNS)
    assert repr(second) == repr(first) == "<OnnxModel (x) -> (y)>"
    assert second.constant_inputs == second.constant_sizes == ()
    assert [n for n in np.load(entries(folder)[0]).files if n.startswith("constants/")]
    assert "known in the process that built it" in second._repr_html_()
    assert len(compiled) == 1
    check(second)


def test_passes_and_precisions_have_entries_of_their_own(folder, path, compiled):
    """A model is not found for other passes or another precision."""
    xrelax.compile(path)
    with xrelax.transform.PassContext(disabled_pass=["UseDotProducts"]):
        xrelax.compile(path)
    xrelax.compile(path, precision="bf16")
    assert len(compiled) == len(entries(folder)) == 3
    xrelax.compile(path, precision="bf16")
    assert len(compiled) == 3


READER = """
import sys
import numpy as np
import xrelax
from xrelax.backend import model_cache

model = xrelax.compile(sys.argv[1])
(y,) = model.run(["y"], {"x": np.load(sys.argv[2])})
np.save(sys.argv[3], y)
heavy = [m for m in ("onnx", "xdsl.ir", "xrelax.dialects", "xrelax.driver") if m in sys.modules]
print(heavy)
"""


def test_a_process_that_finds_a_model_imports_no_compiler(tmp_path, path, monkeypatch):
    """Its source must be older than the process, which that of a commit is."""
    first = xrelax.compile(path)
    np.save(tmp_path / "x.npy", X)
    files = [str(path), str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    done = subprocess.run(
        [sys.executable, "-c", READER, *files], check=True, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"
    np.testing.assert_array_equal(np.load(files[-1]), first(X).numpy())


def test_weights_are_packed_once(path, compiled):
    first, second = xrelax.compile(path), xrelax.compile(path)
    assert first.executable.load is not None
    assert compiled == ["linear.onnx"]
    ready = second.running
    assert ready.load is None
    shapes = [c.shape for c in ready.constants]
    assert (0,) in shapes and (DEPTH, COLUMNS) not in shapes  # the packed weight has padding
    assert not any(c.view().flags.writeable for c in ready.constants if c.size)


def rewrite(path: Path, content: bytes) -> None:
    """Write a file in place, and pretend that it is as old as before."""
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_changed_file_is_compiled_again(path, compiled):
    xrelax.compile(path)
    rewrite(path, linear(bias=BIAS + 1).SerializeToString())
    check(xrelax.compile(path), 1)
    replaced = path.with_name("other.onnx")
    replaced.write_bytes(linear(bias=BIAS + 2).SerializeToString())
    os.utime(replaced, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    replaced.replace(path)
    check(xrelax.compile(path), 2)
    assert len(compiled) == 3


def test_changed_data_in_another_file_is_seen(tmp_path, compiled):
    made = linear()
    (constant,) = (t for t in made.graph.initializer if t.name == "b")
    constant.ClearField("raw_data")
    constant.data_location = TensorProto.EXTERNAL
    constant.external_data.add(key="location", value="bias")
    path, bias = tmp_path / "model.onnx", tmp_path / "bias"
    path.write_bytes(made.SerializeToString())
    bias.write_bytes(BIAS.tobytes())
    check(xrelax.compile(path))
    check(xrelax.compile(path))
    assert len(compiled) == 1
    rewrite(bias, (BIAS + 1).tobytes())
    check(xrelax.compile(path), 1)
    check(xrelax.compile(path), 1)
    assert len(compiled) == 2
    bias.unlink()
    with pytest.raises(ValueError, match="expected the data of tensor 'b' in a file"):
        xrelax.compile(path)


@pytest.mark.parametrize(
    "options",
    [
        {"shape_dict": {"x": [ROWS, DEPTH]}},
        {"shape_dict": {"x": ["m", DEPTH]}},
        {"opset": 18},
        {"precision": "bf16"},
        {"target": "llvm -mcpu=x86-64"},
    ],
)
def test_other_options_are_another_model(folder, path, compiled, options):
    for _ in range(2):
        xrelax.compile(path)
        xrelax.compile(path, **options)
    assert len(compiled) == len(entries(folder)) == 2


@pytest.mark.parametrize("options", [{"check": True}, {"params": {"x": np.ones(4, "float32")}}])
def test_options_that_ask_for_more_compile(folder, tmp_path, compiled, options):
    path = tmp_path / "relu.onnx"
    made = model(helper.make_node("Relu", ["x"], ["y"]), {"x": ("float32", [4])}, ["y"])
    path.write_bytes(made.SerializeToString())
    for _ in range(2):
        xrelax.compile(path, **options)
    assert len(compiled) == 2 and not entries(folder)


@pytest.mark.parametrize("damage", ["empty", "half", "weights", "code", "text"])
def test_a_damaged_entry_is_compiled_again(folder, path, compiled, damage):
    xrelax.compile(path)
    (entry,) = entries(folder)
    content = bytearray(entry.read_bytes())
    match damage:
        case "empty":
            content = bytearray()
        case "half":
            content = content[: len(content) // 2]
        case "weights":
            content[len(content) // 2] ^= 1
        case "code":
            content[content.index(b"\x7fELF") + 64] ^= 1
        case _:
            content = bytearray(b"nothing of the kind")
    entry.write_bytes(content)
    check(xrelax.compile(path))
    check(xrelax.compile(path))
    assert len(compiled) == 2 and len(entries(folder)) == 1


def test_the_cache_can_be_off(folder, path, compiled, monkeypatch):
    monkeypatch.setenv("XRELAX_CACHE", "0")
    for _ in range(2):
        check(xrelax.compile(path))
    assert len(compiled) == 2 and not folder.exists()
    monkeypatch.setenv("XRELAX_CACHE", "1")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(path / "cache"))  # a folder that cannot be made
    for _ in range(2):
        check(xrelax.compile(path))
    assert len(compiled) == 4


def test_a_folder_without_the_right_to_write_is_read(folder, path, compiled):
    xrelax.compile(path)
    for place in [*folder.rglob("*"), folder]:
        place.chmod(0o500 if place.is_dir() else 0o400)
    check(xrelax.compile(path))
    assert len(compiled) == 1


def test_a_file_that_was_just_written_is_not_stored(folder, path, compiled, monkeypatch):
    """A write at the same tick of the clock might follow the reading."""
    monkeypatch.setattr(model_cache, "SETTLED", 10**15)
    path.touch()
    for _ in range(2):
        check(xrelax.compile(path))
    assert len(compiled) == 2 and not entries(folder)


def test_a_file_that_changes_while_it_is_compiled_is_not_stored(folder, path, monkeypatch):
    original = Versions.__init__

    def change(self, imported, options):
        original(self, imported, options)
        path.touch()

    monkeypatch.setattr(Versions, "__init__", change)
    check(xrelax.compile(path))
    assert not entries(folder)


def test_a_large_model_is_not_stored(folder, path, monkeypatch):
    size = WEIGHT.nbytes
    monkeypatch.setattr(build_key, "default_cache", lambda: Cache(folder, limit=size))
    check(xrelax.compile(path))
    assert not entries(folder)


def test_more_than_calls_needs_the_file(tmp_path, path, compiled):
    xrelax.compile(path)
    found = xrelax.compile(path)
    found.save(tmp_path / "linear.xr")
    loaded = xrelax.runtime.load(tmp_path / "linear.xr")
    np.testing.assert_array_equal(loaded["main"](X).numpy(), found(X).numpy())
    assert "R.matmul" in found.module.script()
    assert len(list(found.profile(X, repeat=1))) > 0
    assert len(compiled) == 2
    late = xrelax.compile(path)
    path.touch()
    check(late)
    with pytest.raises(ValueError, match=r"expected '.*linear\.onnx' as it was compiled"):
        late.save(tmp_path / "late.xr")


def test_models_that_depend_on_values_compile(folder, tmp_path, compiled):
    made = model(
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
        {"x": ("float32", [2, 6]), "shape": ("int64", [2])},
        ["y"],
    )
    path = tmp_path / "reshape.onnx"
    path.write_bytes(made.SerializeToString())
    for shape in ([3, 4], [4, 3]):
        found = xrelax.compile(path)
        x = np.zeros((2, 6), "float32")
        assert found(x, np.array(shape)).shape == tuple(shape)
        assert found.constant_inputs == ("shape",)
    assert len(compiled) == 2 and not entries(folder)


def test_random_numbers_start_from_the_seed_of_each_model(tmp_path, compiled):
    made = model(helper.make_node("RandomNormal", [], ["y"], shape=[4]), {}, ["y"])
    path = tmp_path / "random.onnx"
    path.write_bytes(made.SerializeToString())
    first, second, other = (xrelax.compile(path, seed=seed) for seed in (3, 3, 4))
    assert len(compiled) == 1
    np.testing.assert_array_equal(first().numpy(), second().numpy())
    assert (first().numpy() != other().numpy()).all()


def test_models_are_not_cached_with_converters_from_outside(folder, path, compiled, monkeypatch):
    from xrelax.importers.onnx import registry

    monkeypatch.setattr(registry, "CONVERTERS", dict(registry.CONVERTERS))
    monkeypatch.setattr(registry, "REGISTERED", compiled_model.REGISTERED)
    xrelax.compile(path)
    registry.converts("Polish", domain="com.acme")(lambda context, x: x)
    assert compiled_model.REGISTERED == {"Polish"}
    xrelax.compile(path)
    assert len(compiled) == 2


def test_processes_write_at_once(folder, path, tmp_path):
    np.save(tmp_path / "x.npy", X)
    source = READER.replace("model = ", "model_cache.SETTLED = -(10**12)\nmodel = ")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", source, str(path), str(tmp_path / "x.npy"), str(tmp_path / y)],
            stdout=subprocess.PIPE,
        )
        for y in ("first.npy", "second.npy")
    ]
    assert [(p.communicate()[0] != b"", p.returncode) for p in processes] == [(True, 0)] * 2
    first, second = (np.load(tmp_path / y) for y in ("first.npy", "second.npy"))
    np.testing.assert_array_equal(first, second)
    assert len(entries(folder)) == 1

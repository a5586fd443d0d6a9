"""Executables in files: saved with a compiler, loaded without one, and files that are no good."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.runtime import NativeError, PackageError
from xrelax.runtime.executable import Executable
from xrelax.runtime.package import Package, write_package
from xrelax.runtime.saving import (
    VERSION,
    SavedCode,
    packed_parts,
    sealed,
    stored_tensor,
    unpacked,
)
from xrelax.script import from_source

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func
    def reverse(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[n - 1 - vi]

    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.call_dps_packed("saving.double", (y,), R.Tensor((n, 32), "float32"))
            R.output(y, z)
        return (y, R.nn.relu(z))
"""
LOADER = """
import sys
import numpy as np
import xrelax.runtime as rt

@rt.register_func("saving.double")
def double(x, y):
    np.multiply(np.asarray(x), 2, out=np.asarray(y))

executable = rt.load(sys.argv[1])
x = np.load(sys.argv[2])
np.savez(sys.argv[3], *(r.numpy() for r in rt.VirtualMachine(executable)["main"](x)))
reversed = executable["reverse"]
y = np.zeros(64, "float32")
reversed(x[0], y)
assert (y == x[0][::-1]).all()
ours = sorted(m for m in sys.modules if m.startswith("xrelax."))
assert all(m.split(".")[1] in ("error_hooks", "runtime") for m in ours), ours
assert "xdsl" not in sys.modules
"""


def double(x, y):
    np.multiply(np.asarray(x), 2, out=np.asarray(y))


@pytest.fixture(scope="module")
def weight() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((64, 32), dtype="float32")


@pytest.fixture(scope="module")
def executable(weight) -> Executable:
    tvm.register_func("saving.double", double, override=True)
    return relax.build(from_source(SOURCE), params={"w": weight})


@pytest.fixture
def saved(executable, tmp_path) -> Path:
    path = tmp_path / "model.xrelax"
    executable.save(path)
    return path


def contents(path: Path) -> tuple[dict[str, Any], dict[str, bytes], dict[str, np.ndarray]]:
    """The manifest, the object files and the constants of a file."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        code = {n: archive.read(n) for n in archive.namelist() if n.endswith(".o")}
    arrays = np.load(path)
    return manifest, code, {f"{n}.npy": arrays[n] for n in arrays.files if "constants/" in n}


def edited(path: Path, **changes: Any) -> Path:
    """The file with another manifest, of which it has the hash, and the same parts."""
    manifest, code, parts = contents(path)
    write_package(path, sealed({**manifest, **changes}, list(code.values())), {**code, **parts})
    return path


def test_a_process_without_the_compiler_computes_the_same(executable, saved, tmp_path):
    x = np.random.default_rng(2).standard_normal((5, 64), dtype="float32")
    np.save(tmp_path / "x.npy", x)
    files = [str(saved), str(tmp_path / "x.npy"), str(tmp_path / "results.npz")]
    subprocess.run([sys.executable, "-c", LOADER, *files], check=True)
    results = np.load(tmp_path / "results.npz")
    for ours, theirs in zip(executable(x), results.values(), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_what_a_loaded_executable_tells(executable, saved):
    loaded = tvm.load_module(saved)
    assert loaded.functions == executable.functions
    assert loaded.as_text() == executable.as_text()
    assert loaded.stats() == executable.stats()
    assert executable.as_text().startswith("target llvm -mtriple=")
    lines = executable.as_text().splitlines()
    assert "function reverse(x: float32 (n,), y: float32 (n,)) -> ()" in lines
    assert any(line.startswith("constant 0: float32 (") for line in lines)
    stats = executable.stats()
    assert (stats["functions"], stats["constants"], stats["constant_bytes"]) == (2, 1, 64 * 32 * 4)
    assert stats["kernels"] == 3
    assert stats["code_bytes"] == sum(map(len, executable.library.objects))


def test_a_loaded_executable_is_saved_again(saved, tmp_path):
    again = tmp_path / "again"
    tvm.runtime.load(saved).export_library(again)
    assert again.read_bytes() == saved.read_bytes()


def test_weights_are_mapped_and_readable_by_numpy(saved, weight):
    (constant,) = tvm.runtime.load(saved).constants
    assert constant.address % 64 == 0 and not constant.layout.writable
    np.testing.assert_array_equal(np.load(saved)["constants/0"], constant.numpy())
    # The weight is packed in panels as wide as the target's registers ask for.
    np.testing.assert_array_equal(np.sort(constant.numpy(), None), np.sort(weight, None))


def test_every_dtype_survives(tmp_path):
    values = {"float32": [1.5, np.nan], "int8": [-1, 2], "bool": [True, False], "int64": [2**40, 0]}
    for dtype, listed in values.items():
        source = f'''
@R.function
def main(x: R.Tensor((2,), "{dtype}"), y: R.Tensor((2,), "{dtype}")):
    return (x, y)
'''
        array = np.array(listed, dtype)
        built = relax.build(from_source(source), params={"y": array})
        built.save(tmp_path / dtype)
        loaded = tvm.runtime.load(tmp_path / dtype)
        np.testing.assert_array_equal(loaded(array)[1].numpy(), array)
        assert loaded(array)[1].dtype == dtype


def test_bfloat16_and_empty_constants_survive(build, tmp_path):
    bits = stored_tensor(np.array([0x3F80, 0x4000], "uint16"), "bfloat16")
    made = Executable([], object(), [bits, np.zeros((0, 3), "int32")])
    manifest, parts = packed_parts(made, SavedCode([], None), {})
    machine = {"triple": "", "features": []}
    write_package(tmp_path / "file", {**manifest, "machine": machine}, parts)
    package = Package(tmp_path / "file")
    loaded = unpacked(package, SavedCode([], None), lambda i: None)
    assert [c.dtype for c in loaded.constants] == ["bfloat16", "int32"]
    assert loaded.constants[0].numpy().tolist() == [1.0, 2.0]
    assert loaded.constants[1].shape == (0, 3)


@pytest.mark.parametrize("length", [0, 1, 100, 0.3, 0.9, -1])
def test_a_file_that_is_cut_off_is_named(saved, length):
    content = saved.read_bytes()
    saved.write_bytes(content[: length if isinstance(length, int) else int(len(content) * length)])
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(saved)
    assert str(error.value).startswith(f"cannot read '{saved}': ")
    assert "\n" not in str(error.value)


def test_no_flipped_bit_is_read(saved):
    """Flips in the whole file: refused, or in a place that means nothing."""
    content, rng = saved.read_bytes(), np.random.default_rng(3)
    original, weights = tvm.runtime.load(saved), len(content) - 64 * 32 * 4 - 400
    for position in [*rng.integers(0, len(content), 60), weights, len(content) - 1000]:
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        try:
            loaded = tvm.runtime.load(saved)
        except PackageError as error:
            assert str(error).startswith(f"cannot read '{saved}': ") and "\n" not in str(error)
        else:
            assert loaded.functions == original.functions
            assert loaded.library.objects == original.library.objects
            for ours, theirs in zip(loaded.constants, original.constants, strict=True):
                np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


WEIGHT = {"dtype": "float32", "shape": [64, 32], "part": "constants/0.npy"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "a cake"}, "expected an xrelax executable, got a cake"),
        ({"version": VERSION + 1}, f"expected version {VERSION} of the format, got {VERSION + 1}"),
        ({"functions": [{"name": "f"}]}, "'entry'"),
        ({"constants": [WEIGHT | {"part": "nowhere"}]}, "expected 'nowhere' in it, got"),
        ({"constants": [WEIGHT | {"dtype": "int8"}]}, "an array of int8"),
        ({"constants": [WEIGHT | {"dtype": "int32"}]}, "an array of int32"),
        ({"constants": [{"dtype": "int8", "shape": [2], "given": 0}]}, "expected all constants in"),
        (
            {"constants": [WEIGHT | {"shape": [2, 2]}]},
            "expected 'constants/0.npy' to be float32 of shape (2, 2), got float32 of shape (",
        ),
        ({"machine": None}, "not subscriptable"),
    ],
)
def test_a_manifest_that_does_not_fit(saved, changes, message):
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(edited(saved, **changes))
    assert str(error.value).startswith(f"cannot read '{saved}': ") and message in str(error.value)


@pytest.mark.parametrize(
    "change",
    [lambda a: a[..., :1], lambda a: a.astype("float64"), lambda a: a.view("int32")],
    ids=["shape", "dtype", "bits"],
)
def test_a_constant_that_is_not_what_the_code_reads(saved, change):
    manifest, code, parts = contents(saved)
    ((name, weights),) = parts.items()
    write_package(saved, manifest, {**code, name: change(weights)})
    with pytest.raises(PackageError) as error:
        tvm.runtime.load(saved)
    assert str(error.value).startswith(f"cannot read '{saved}': expected ")
    assert "\n" not in str(error.value)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all numbers, strings and other single values."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        found
        for key, item in items
        for found in (
            leaves(item, (*path, key)) if isinstance(item, dict | list) else [(*path, key)]
        )
    ]


def test_every_value_of_the_manifest_is_that_of_the_code(saved):
    """What native code trusts, such as sizes, the names of symbols, and how many results."""
    manifest, code, parts = contents(saved)
    places = leaves(manifest)
    assert len(places) > 40
    for place in places:
        changed = json.loads(json.dumps(manifest))
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        old = holder[place[-1]]
        holder[place[-1]] = not old if isinstance(old, bool) else old * 2 if old else 7
        write_package(saved, changed, {**code, **parts})
        with pytest.raises((PackageError, NativeError)) as error:
            tvm.runtime.load(saved)
        assert "\n" not in str(error.value), place


def test_code_of_another_build_is_refused(executable, saved, tmp_path):
    other = relax.build(
        from_source(SOURCE.replace(" 64)", " 48)").replace("(64,", "(48,")),
        params={"w": np.ones((48, 32), "f4")},
    )
    other.save(tmp_path / "other")
    manifest, _, parts = contents(saved)
    _, code, _ = contents(tmp_path / "other")
    write_package(saved, manifest, {**code, **parts})
    with pytest.raises(PackageError, match="expected the manifest that its code was saved with"):
        tvm.runtime.load(saved)


DAMAGE = """
import sys
from pathlib import Path
import numpy as np
import xrelax.runtime as rt

@rt.register_func("saving.double")
def double(x, y):
    np.multiply(np.asarray(x), 2, out=np.asarray(y))

path, content = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
rng, x = np.random.default_rng(int(sys.argv[2])), np.ones((3, 64), "float32")
expected = [r.numpy() for r in rt.load(path)["main"](x)]
starts = (b"manifest.json", b"\\x7fELF", b"constants/0", b"PK\\x01\\x02")
regions = [content.index(m) for m in starts]
regions = [0, *regions, len(content) - 22, len(content)]
refused = 0
for number in range(240):
    low, high = regions[number % 6 : number % 6 + 2]
    start = int(rng.integers(low, high))
    length = int(rng.choice([1, 2, 8, 64, 4096]))
    damaged = bytearray(content)
    match number // 6 % 5:
        case 0:
            damaged[start] ^= 1 << int(rng.integers(8))
        case 1:
            damaged[start : start + length] = bytes(len(damaged[start : start + length]))
        case 2:
            damaged[start : start + length] = b"\\xff" * len(damaged[start : start + length])
        case 3:
            del damaged[start : start + length]
        case _:
            damaged[start:start] = rng.bytes(length)
    path.write_bytes(damaged)
    try:
        results = rt.load(path)["main"](x)
    except rt.PackageError as error:
        assert "\\n" not in str(error)
        refused += 1
    else:
        for ours, theirs in zip(results, expected, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs)
print(refused)
"""


@pytest.mark.parametrize("seed", range(2))
def test_damage_of_any_kind_in_any_region_is_refused_or_means_nothing(saved, seed):
    command = [sys.executable, "-c", DAMAGE, str(saved), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 150


def test_a_pickle_is_a_saved_executable(executable):
    x = np.random.default_rng(2).standard_normal((5, 64), dtype="float32")
    again = pickle.loads(pickle.dumps(executable))
    for ours, theirs in zip(again(x), executable(x), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    (constant,) = again.constants
    assert constant.address % 64 == 0 and not constant.layout.writable
    assert again.as_text() == executable.as_text()
    assert pickle.dumps(again) == pickle.dumps(executable)


def test_what_an_executable_is_in_one_line(executable):
    assert repr(executable) == (
        "<Executable of reverse(x: float32 (n,), y: float32 (n,)) -> (), main(x: float32 (n, 64)) "
        "-> (float32 (n, 32), float32 (n, 32)); 8,192 bytes of constants>"
    )


def test_code_for_another_machine_is_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        machine = json.loads(archive.read("manifest.json"))["machine"]
    lacking = {**machine, "features": [*machine["features"], "tensor-unit"]}
    with pytest.raises(NativeError) as error:
        tvm.runtime.load(edited(saved, machine=lacking))
    assert str(error.value) == "cannot run code for a CPU with tensor-unit on this one"
    foreign = {"triple": "sparc-sun-solaris", "features": []}
    with pytest.raises(NativeError, match="cannot load code for sparc-sun-solaris into this pro"):
        tvm.runtime.load(edited(saved, machine=foreign))


def test_code_for_another_machine_is_saved(tmp_path):
    source = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(x, x)
"""
    target = "llvm -mtriple=aarch64-unknown-linux-gnu"
    built = relax.build(from_source(source), target)
    built.save(tmp_path / "file")
    with pytest.raises(NativeError, match="cannot load code for aarch64-unknown-linux-gnu"):
        built(np.ones(4, "float32"))
    with pytest.raises(NativeError, match="cannot load code for aarch64-unknown-linux-gnu"):
        tvm.runtime.load(tmp_path / "file")


def test_the_features_of_a_target_are_those_its_cpu_has():
    from xrelax.backend.cpu_features import required_machine
    from xrelax.backend.target import Target

    own = Target("llvm")
    if not own.triple.startswith("x86_64"):
        pytest.skip("the names are those of x86-64")
    base, haswell = (
        set(required_machine(Target(f"llvm -mcpu={cpu}")).features) for cpu in ("x86-64", "haswell")
    )
    assert {"sse2"} <= base and base.isdisjoint({"avx", "avx2", "fma"})
    assert {"avx", "avx2", "fma", "bmi2"} <= haswell and "avx512f" not in haswell
    without = set(required_machine(Target("llvm -mcpu=haswell -mattr=-avx2")).features)
    assert haswell - without == {"avx2"}
    assert set(required_machine(Target("llvm -mcpu=x86-64 -mattr=+avx")).features) >= {"avx"}
    required_machine(own).verify_host()


def test_what_cannot_be_saved(executable, build, tmp_path):
    with pytest.raises(ValueError, match=r"cannot make the shared library '.*lib.so': `save`"):
        executable.export_library(tmp_path / "lib.so")
    with pytest.raises(ValueError, match="expected an executable of native code, got one of"):
        build().save(tmp_path / "file")
    with pytest.raises(ValueError, match="expected an executable of native code, got one of"):
        pickle.dumps(build())
    with pytest.raises(FileNotFoundError):
        executable.save(tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError):
        tvm.runtime.load(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []

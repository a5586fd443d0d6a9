"""Executables in files: saved with a compiler and loaded without one."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from saved_modules import edited

import xrelax as tvm
from xrelax import relax
from xrelax.runtime import NativeError
from xrelax.runtime.executable import Executable
from xrelax.runtime.package import Package, write_package
from xrelax.runtime.saving import (
    SavedCode,
    packed_parts,
    stored_tensor,
    unpacked,
)
from xrelax.script import from_source

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
of_processors = ("xrelax.backend", "xrelax.backend.targets")
others = (*of_processors, "xrelax.display", "xrelax.display.rich")
own = [m for m in ours if m not in others and not m.startswith(of_processors[1] + ".")]
light = ("error_hooks", "name_lookup", "names", "runtime")
assert all(m.split(".")[1] in light for m in own), own
assert "xdsl" not in sys.modules
"""


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
    assert loaded.stats() == executable.stats() == executable["stats"]()
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
    made = Executable([], SavedCode([], None), [bits, np.zeros((0, 3), "int32")])
    manifest, parts = packed_parts(made.contents, {})
    machine = {"triple": "", "features": []}
    write_package(tmp_path / "file", {**manifest, "machine": machine}, parts)
    package = Package(tmp_path / "file")
    loaded = unpacked(package, SavedCode([], None), lambda i: None)
    assert [c.dtype for c in loaded.constants] == ["bfloat16", "int32"]
    assert loaded.constants[0].numpy().tolist() == [1.0, 2.0]
    assert loaded.constants[1].shape == (0, 3)


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
    from xrelax.backend.target import Target, required_machine

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
    with pytest.raises(ValueError, match="expected an executable of native code, got one of"):
        build().save(tmp_path / "file")
    with pytest.raises(ValueError, match="expected an executable of native code, got one of"):
        pickle.dumps(build())
    with pytest.raises(FileNotFoundError):
        executable.save(tmp_path / "no" / "folder")
    with pytest.raises(FileNotFoundError):
        tvm.runtime.load(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []

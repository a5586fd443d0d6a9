"""Targets: what their text and dict forms say, and what LLVM says about their CPU."""

import os
import pickle
import subprocess
import sys

import pytest

import xrelax
from xrelax.backend import machine_model
from xrelax.backend.errors import BackendError
from xrelax.backend.machine_model import CacheSizes
from xrelax.backend.target import Target


def test_host_is_the_default():
    target = Target("llvm")
    assert target == Target({"kind": "llvm"}) == Target(target)
    assert target.is_host and target.cpu and target.triple
    assert target.vector_bits in (128, 256, 512)
    assert target.lanes(32) == target.vector_bits // 32
    assert target.caches.l1 <= target.caches.l2 <= target.caches.l3


@pytest.mark.parametrize(
    ("options", "bits", "registers"),
    [
        ("-mcpu=x86-64", 128, 16),
        ("-mcpu=haswell", 256, 16),
        ("-mcpu=x86-64 -mattr=+avx2", 256, 16),
        ("-mcpu=skylake-avx512", 512, 32),
        ("-mcpu=haswell -mattr=-avx,-avx2", 128, 16),
        ("-mcpu=generic -mtriple=aarch64-unknown-linux-gnu", 128, 32),
    ],
)
def test_vector_registers(options: str, bits: int, registers: int):
    triple = "" if "mtriple" in options else " -mtriple=x86_64-unknown-linux-gnu"
    target = Target(f"llvm {options}{triple}")
    assert (target.vector_bits, target.vector_registers) == (bits, registers)


@pytest.mark.parametrize(
    ("options", "scales"),
    [
        ("-mcpu=haswell", False),
        ("-mcpu=skylake-avx512", True),
        ("-mcpu=x86-64 -mattr=+avx512f", False),
        ("-mcpu=x86-64 -mattr=+avx512f,+avx512vl", True),
    ],
)
def test_scaling_of_vectors_of_every_length(options: str, scales: bool):
    isa = Target(f"llvm {options} -mtriple=x86_64-unknown-linux-gnu").isa
    found = [isa.scale(32, bits) is not None for bits in (64, 128, 256, 512, 1024)]
    assert found == [False, scales, scales, scales, False]


def test_text_and_dict_give_the_same_target():
    text = Target("llvm -mcpu=haswell -mattr=+fma,-avx2 -num-cores 4")
    assert text == Target(
        {"kind": "llvm", "mcpu": "haswell", "mattr": ["+fma", "-avx2"], "num-cores": 4}
    )
    assert (text.cpu, text.features, text.num_cores) == ("haswell", "+fma,-avx2", 4)
    assert Target(str(text)) == text
    assert Target('{"kind": "llvm", "mcpu": "haswell"}') == Target(target="llvm -mcpu=haswell")
    assert Target({"kind": "llvm", "host": "llvm"}).host == Target()
    assert text.kind.name == text.kind and Target.list_kinds() == [text.kind]
    with pytest.raises(BackendError, match=r"^expected a target as JSON, got '\{': Expecting"):
        Target("{")


@pytest.mark.parametrize("device", ["cpu", "cpu:0", xrelax.cpu(0)])
def test_target_of_a_device(device):
    assert Target.from_device(device) == Target("llvm")


def test_target_of_a_device_of_another_kind():
    with pytest.raises(BackendError, match="expected a target of kind 'llvm', got 'cuda'"):
        Target.from_device(xrelax.cuda(0))


def test_targets_are_hashable_frozen_and_pickled():
    target = Target("llvm -mcpu=haswell", host="llvm")
    assert target.host == Target("llvm")
    assert {target: 1}[Target("llvm -mcpu=haswell", host="llvm")] == 1
    assert target != Target("llvm -mcpu=haswell")
    assert pickle.loads(pickle.dumps(target)) == target
    with pytest.raises(AttributeError):
        target.cpu = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cuda", "expected a target of kind 'llvm', got 'cuda': xrelax compiles for CPUs only"),
        ("", "expected a target of kind 'llvm', got ''"),
        ({"mcpu": "haswell"}, "expected a target of kind 'llvm', got ''"),
        (
            "llvm -foo=1",
            "expected target option mcpu, mattr, mtriple, num-cores, cache-sizes, keys, math, "
            "model, got 'foo'",
        ),
        ("llvm haswell", "expected a target option '-name=value', got 'haswell'"),
        ("llvm -mcpu", "expected target option '-mcpu' to have a value"),
        ("llvm -math=slow", "expected target option '-math' to be fast or accurate, got 'slow'"),
        ("llvm -num-cores=two", "expected target option '-num-cores' to be positive, got 'two'"),
        (
            "llvm -cache-sizes=1024,0",
            "expected target option '-cache-sizes' to be three positive numbers, got '1024,0'",
        ),
        (
            "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=fastest",
            "expected a processor of x86_64-unknown-linux-gnu that LLVM knows, got 'fastest'",
        ),
        (
            "llvm -mtriple=aarch64-unknown-linux-gnu -mattr=+neon,+avx2",
            "expected a feature of aarch64-unknown-linux-gnu that LLVM knows, got '+avx2'",
        ),
        (
            "llvm -mattr=+avx,avx2",
            "expected target option '-mattr' to be features with + or -, got 'avx2'",
        ),
        (
            "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=pentium4",
            "expected a processor of x86_64-unknown-linux-gnu with code of 64 bits, got 'pentium4'",
        ),
        (
            "llvm -mtriple=x86_64-unknown-linux-gnu -mattr=-64bit",
            "expected features of x86_64-unknown-linux-gnu to include '64bit', got '-64bit'",
        ),
        (
            "llvm -mtriple=x86_64-unknown-linux-gnu -mattr=+sse,-sse",
            "expected features of x86_64-unknown-linux-gnu to include 'sse', got '-sse'",
        ),
        (
            "llvm -mtriple=nowhere",
            "unknown target triple 'nowhere': No available targets are compatible with triple"
            ' "nowhere"',
        ),
    ],
)
def test_error(spec: str, message: str):
    with pytest.raises(BackendError) as error:
        Target(spec)
    assert str(error.value) == message


def test_known_names_print_nothing_and_unknown_ones_neither(capfd: pytest.CaptureFixture[str]):
    Target("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver3 -mattr=-fma4")
    with pytest.raises(BackendError):
        Target("llvm -mcpu=slowest")
    assert capfd.readouterr() == ("", "")


def test_names_without_a_stderr():
    code = (
        "import os; os.close(2); from xrelax.backend import errors, target\n"
        "try: target.Target('llvm -mcpu=slowest')\n"
        "except errors.BackendError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE).stdout
    assert said.endswith(b"that LLVM knows, got 'slowest'\n")


def test_accuracy_of_functions_is_part_of_the_target():
    assert Target("llvm").math == "fast"
    accurate = Target("llvm -math=accurate")
    assert (accurate.math, Target(str(accurate))) == ("accurate", accurate)
    assert accurate != Target("llvm")


def test_llvmlite_is_imported_by_the_first_target_alone():
    code = (
        "import sys; from xrelax.backend import jit, llvm_module, target;"
        "assert 'llvmlite' not in sys.modules; target.Target('llvm');"
        "assert 'llvmlite' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_linux_cache_sizes(tmp_path):
    for index, (kind, level, size) in enumerate(
        [("Data", "1", "48K"), ("Instruction", "1", "32K"), ("Unified", "2", "2M")]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        (folder / "type").write_text(f"{kind}\n")
        (folder / "level").write_text(f"{level}\n")
        (folder / "size").write_text(f"{size}\n")
    (tmp_path / "index9").mkdir()
    assert machine_model._linux_sizes(tmp_path) == {1: 48 << 10, 2: 2 << 20}


def test_cache_sizes_are_kept_where_they_are_not_the_usual_ones():
    small = Target("llvm -mcpu=haswell -cache-sizes=1024,4096,65536")
    assert (small.caches.l1, small.caches.l2, small.caches.l3) == (1024, 4096, 65536)
    assert Target(str(small)) == small
    assert "cache" not in str(Target("llvm -mcpu=haswell"))


def test_the_machine_of_a_named_cpu_is_unknown():
    own = Target("llvm")
    assert (own.num_cores, own.caches) == (os.cpu_count(), machine_model.host_caches())
    assert Target(str(own)) == own
    named = Target(f"llvm -mcpu={own.cpu}")
    assert (named.num_cores, named.caches) == (None, CacheSizes())

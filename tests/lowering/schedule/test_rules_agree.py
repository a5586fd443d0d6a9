"""Kernels with default schedules compute what those without compute, on several processors.

Drawn programs of every family, compiled with the rules and without: the same bits for whole
numbers, results within a bound of the exact ones for random numbers, the same bits on any number of
threads. `XRELAX_SCHEDULE_SEEDS=100:200` draws others than a default run does.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import cast

import numpy as np
import pytest
from differential import Unit, watched_rules, without_rules
from drawn_programs import Draw
from program_families import FAMILIES

from xrelax.backend.target import Target
from xrelax.inspection import stage_text
from xrelax.ir import IRModule
from xrelax.lowering.schedule import default
from xrelax.relax.transform import LegalizeOps
from xrelax.runtime import num_threads, set_num_threads
from xrelax.runtime.native import NativeCode
from xrelax.script import from_source

SEEDS = range(*map(int, os.environ.get("XRELAX_SCHEDULE_SEEDS", "0:6").split(":")))
THREADS = (1, 2, 5)
HOST_TARGETS = (
    "llvm",
    "llvm -mcpu=x86-64-v3 -cache-sizes=8192,65536,262144",
    "llvm -mcpu=x86-64 -cache-sizes=4096,16384,65536",
)
"""Registers of as many bits as the machine has, of 256 and of 128; small caches."""

IS_X86 = Target("llvm").triple.startswith("x86_64")
TARGETS = HOST_TARGETS if IS_X86 else HOST_TARGETS[:1]
EM_AARCH64 = 183
"""ELF's number of the machine."""
AVX512 = "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"
NEON = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"


@cache
def drawn(seed: int) -> Unit:
    """A program of each family."""
    programs = [family(Draw(f"{family.__name__} {seed}")) for family in FAMILIES]
    for family, program in zip(FAMILIES, programs, strict=True):
        program.name = family.__name__
    return Unit(programs, seed)


@cache
def scheduled(seed: int):
    """Machine code with schedules for one of the targets, and what each rule has changed."""
    with watched_rules() as fired:
        return drawn(seed).build(TARGETS[seed % len(TARGETS)]), fired


@pytest.fixture(autouse=True)
def restored_threads():
    """Leave the number of threads as it was."""
    before = num_threads()
    yield
    set_num_threads(before)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", SEEDS)
def test_results(seed: int):
    unit, (code, _) = drawn(seed), scheduled(seed)
    with without_rules():
        plain = unit.build(TARGETS[0])
    for are_whole in (True, False):
        values = unit.values(are_whole)
        for kind, executable in (("as written", plain), ("scheduled", code)):
            for name, found in unit.results(executable, values).items():
                problem = unit.difference(name, values, found, are_whole)
                assert problem is None, f"{unit.programs[name].text}{kind}: {problem}"


@pytest.mark.sampled
@pytest.mark.parametrize("seed", SEEDS)
def test_bits_do_not_depend_on_threads(seed: int):
    unit, (code, _) = drawn(seed), scheduled(seed)
    values, found = unit.values(are_whole=False), []
    for threads in THREADS:
        set_num_threads(threads)
        found.append(unit.results(code, values))
    for name, expected in found[0].items():
        for other in found[1:]:
            np.testing.assert_array_equal(other[name], expected, err_msg=unit.programs[name].text)


PLAIN = """
@R.function
def main(x: R.Tensor((1, 3, 9, 9), "float32"), w: R.Tensor((8, 3, 3, 3), "float32")):
    return R.nn.conv2d(x, w)
"""
FEW_COLUMNS = """
@R.function
def main(x: R.Tensor((14, 9), "float32"), w: R.Tensor((9, 24), "float32")):
    return R.matmul(x, w)
"""


def test_every_rule_fires():
    """Each rule has changed some of the kernels that are compared, or of those of other tests.

    One in TVM's form is compared in `test_plain_forms`, one of few columns in `test_row_pairs`.
    """
    missing = set(default.RULES)
    for seed in SEEDS:
        missing -= scheduled(seed)[1].keys()
    with watched_rules() as fired:
        stage_text(LegalizeOps()(IRModule({"main": from_source(PLAIN)})), "schedule", TARGETS[0])
        stage_text(IRModule({"main": from_source(FEW_COLUMNS)}), "schedule", AVX512)
    assert not missing - fired.keys()


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_code_for_neon(seed: int):
    """It cannot run here, but every kernel is an object of that machine, with its vectors."""
    unit = drawn(seed)
    code = unit.build(NEON)
    objects = cast(NativeCode, code.library).objects
    assert len(objects) >= code.stats()["kernels"] >= len(unit.programs)
    assert {o[:4] + o[18:20] for o in objects} == {b"\x7fELF" + EM_AARCH64.to_bytes(2, "little")}
    assembly = stage_text(unit.module, "asm", NEON)
    found = {n: len(re.findall(rf"\bv\d+\.{n}\b", assembly)) for n in ("4s", "2d")}
    assert min(found.values()) > len(unit.programs), found
    assert not re.search(r"%[xyz]mm\d", assembly)

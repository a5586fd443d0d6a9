"""What loops become on processors with registers of 512, 256 and 128 bits."""

import re

import pytest

from xrelax.backend.build import compile_llvm
from xrelax.backend.target import Target
from xrelax.inspection import lower_to, module_of
from xrelax.script import from_source

TARGETS = {
    "llvm -mcpu=skylake-avx512": (16, r"vfmadd\w+ps\t.*%zmm"),
    "llvm -mcpu=haswell": (8, r"vfmadd\w+ps\t.*%ymm"),
    "llvm -mtriple=aarch64-linux-gnu": (4, r"fmla\tv\d+\.4s"),
}
"""Lanes of f32, and what a multiply-add of a whole register looks like."""

TILE = """
@T.prim_func
def f(A: T.Buffer((24, 96), "float32"), B: T.Buffer((96, {N}), "float32"),
      C: T.Buffer((24, {N}), "float32")):
    T.func_attr({{"global_symbol": "f", "tir.noalias": True, "tir.is_scheduled": True}})
    for i0 in T.serial(6):
        for i1 in T.unroll(4):
            for j1 in T.unroll(2):
                for j2 in T.vectorized({L}):
                    with T.block("init"):
                        vi = T.axis.spatial(24, i0 * 4 + i1)
                        vj = T.axis.spatial({N}, j1 * {L} + j2)
                        C[vi, vj] = T.float32(0)
        for k in T.serial(96):
            for i1 in T.unroll(4):
                for j1 in T.unroll(2):
                    for j2 in T.vectorized({L}):
                        with T.block("update"):
                            vi = T.axis.spatial(24, i0 * 4 + i1)
                            vj = T.axis.spatial({N}, j1 * {L} + j2)
                            vk = T.axis.reduce(96, k)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""

SUM = """
@T.prim_func
def f(X: T.Buffer((64, 4096), "float32"), Y: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "f", "tir.noalias": True, "tir.is_scheduled": True})
    for i in T.serial(64):
        for k in T.vectorized(4096):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]
"""

CLAMP = """
@T.prim_func
def f(X: T.Buffer((4096,), "float32"), Y: T.Buffer((4096,), "float32")):
    T.func_attr({"global_symbol": "f", "tir.noalias": True, "tir.is_scheduled": True})
    for i in T.vectorized(4096):
        with T.block("clamp"):
            vi = T.axis.spatial(4096, i)
            Y[vi] = T.Select(X[vi] < T.float32(1), X[vi] + T.float32(2), T.float32(3))
"""


def innermost_loops(source: str, target: str) -> list[list[str]]:
    """The instructions from each label to a jump back to it, without labels in between."""
    module = lower_to(module_of(from_source(source)), "llvm", target=target)
    found: list[list[str]] = []
    label, body = "", []
    for line in compile_llvm(module, Target(target)).library.assembly().splitlines():
        if line.startswith(".L"):
            label, body = line.rstrip(":"), []
        elif label and re.search(rf"\s{re.escape(label)}$", line):
            found.append(list(body))
            label = ""
        body.append(line.strip())
    return found


def loops_with(source: str, target: str, pattern: str) -> list[list[str]]:
    return [b for b in innermost_loops(source, target) if any(re.search(pattern, i) for i in b)]


def assert_no_stack(loop: list[str]) -> None:
    assert not [i for i in loop if re.search(r"\(%rsp|\(%rbp|\[sp\b", i)]


@pytest.mark.parametrize("target", TARGETS)
def test_register_tile(target: str):
    """Eight accumulators stay in registers: each step has eight multiply-adds and no other."""
    lanes, fma = TARGETS[target]
    loops = loops_with(TILE.format(L=lanes, N=2 * lanes), target, fma)
    assert loops
    for loop in loops:
        count = sum(bool(re.search(fma, i)) for i in loop)
        assert count and count % 8 == 0
        assert_no_stack(loop)


@pytest.mark.parametrize("target", TARGETS)
def test_sum_in_lanes(target: str):
    """Four registers of partial sums, which are only combined after the loop."""
    add = r"fadd\t(v\d+\.4s)" if "aarch64" in target else r"vaddps\t.*, (%\w+)$"
    (loop,) = loops_with(SUM, target, add)
    assert len({m[1] for i in loop if (m := re.search(add, i))}) == 4
    assert_no_stack(loop)


@pytest.mark.parametrize("target", TARGETS)
def test_choice_in_lanes(target: str):
    """A comparison of vectors, and no jump inside the loop."""
    compare = r"fcmg\w\tv" if "aarch64" in target else r"vcmp\w*ps|vmaxps|vminps"
    loops = loops_with(CLAMP, target, compare)
    assert loops
    for loop in loops:
        assert_no_stack(loop)

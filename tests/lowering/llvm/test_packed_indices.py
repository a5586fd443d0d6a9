"""Indices below the bits of a key in one integer: LLVM takes wrong addresses of unrolled ones."""

import pytest

from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.inspection import module_of
from xrelax.pipeline import STAGES, run_passes
from xrelax.script import from_source

PROGRAM = """
@T.prim_func
def main(a: T.Buffer((5, 3), "int32"), y: T.Buffer((5,), "float32"), d: T.Buffer((3,), "float32")):
    T.func_attr({"tir.is_scheduled": True, "tir.noalias": True})
    for i in range(5):
        with T.block("first"):
            vi = T.axis.spatial(5, i)
            keys = T.alloc_buffer((3,), "int64")
            for j in range(3):
                keys[j] = T.shift_left(T.Cast("int64", a[vi, j]), T.int64(32)) JOINED
            least: T.int64 = T.min(keys[0], T.min(T.max(keys[0], keys[1]), keys[2]))
            y[vi] = d[T.min(least, keys[1]) & T.int64(4294967295)]
"""


@pytest.mark.parametrize("joined", ["| T.Cast('int64', j)", "+ T.Cast('int64', j)"])
def test_loop_is_not_unrolled(joined):
    module = module_of(from_source(PROGRAM.replace("JOINED", joined))).clone()
    for stage in STAGES:
        run_passes(module, stage, get_context())
    assert emit_module(module, Target("llvm")).count("llvm.loop.unroll.disable") == 1

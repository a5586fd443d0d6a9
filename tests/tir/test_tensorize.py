"""Blocks computed by the code of tensor intrinsics: `tensorize`."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from programs import chain, matmul_relu
from schedule_check import body, check_refused, check_schedule

import xrelax
from xrelax import tir
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import from_source
from xrelax.tir.schedule import Schedule

DESCRIPTION = """
@T.prim_func
def description(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, ({n}, {k}), "float32", offset_factor=16, scope="{scope}A")
    B = T.match_buffer(b, ({k}, {m}), "float32", offset_factor=16, scope="{scope}B")
    C = T.match_buffer(c, ({n}, {m}), "float32", offset_factor=16, scope="{scope}C")

    with T.block("root"):
        T.reads(C[0:{n}, 0:{m}], A[0:{n}, 0:{k}], B[0:{k}, 0:{m}])
        T.writes(C[0:{n}, 0:{m}])
        for i, j, k in T.grid({n}, {m}, {k}):
            with T.block(""):
                vii, vjj, vkk = T.axis.remap("SSR", [i, j, k])
                C[vii, vjj] = C[vii, vjj] + A[vii, vkk] * B[vkk, vjj]
"""
HEAD = """
@T.prim_func
def implementation(a: T.handle, b: T.handle, c: T.handle) -> None:
    sa = T.var("int32")
    sb = T.var("int32")
    sc = T.var("int32")
    A = T.match_buffer(a, ({n}, {k}), "float32", strides=[sa, 1], scope="{scope}A")
    B = T.match_buffer(b, ({k}, {m}), "float32", strides=[sb, 1], scope="{scope}B")
    C = T.match_buffer(c, ({n}, {m}), "float32", strides=[sc, 1], scope="{scope}C")
"""
CALL = """
    with T.block("root"):
        T.reads(C[0:{n}, 0:{m}], A[0:{n}, 0:{k}], B[0:{k}, 0:{m}])
        T.writes(C[0:{n}, 0:{m}])
        T.evaluate(
            T.call_extern(
                "{function}",
                C.access_ptr("w"),
                A.access_ptr("r"),
                B.access_ptr("r"),
                sa,
                sb,
                sc,
                dtype="int32",
            )
        )
"""
LOOPS = """
    with T.block("root"):
        T.block_attr({{"note": 1}})
        for j in T.vectorized({m}):
            for k, i in T.grid({k}, {n}):
                with T.block("tile"):
                    vj, vk, vi = T.axis.remap("SRS", [j, k, i])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
C_CODE = """
int NAME(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 2; ++k)
        cc[i * stride_c + j] += aa[i * stride_a + k] * bb[k * stride_b + j];
  return 0;
}
"""
SIZES = {"n": 4, "m": 8, "k": 2}


def register(name, implementation, scope=None, **sizes):
    """Register a product of tiles; without `scope` its buffers are those of functions."""
    parts = {**SIZES, **sizes, "scope": scope or "", "function": "xrelax_test_tile"}
    texts = [text.format(**parts) for text in (DESCRIPTION, HEAD + implementation)]
    if scope is None:
        texts = [re.sub(', scope="."', "", text) for text in texts]
    tir.TensorIntrin.register(name, *map(from_source, texts), override=True)


def tile(sch, blockize=True):
    """Tiles of 4 by 8 results over 2 products, as a block or as a loop, started before."""
    i, j, k = sch.get_loops("Y")
    (i0, i1), (j0, j1), (k0, k1) = (
        sch.split(loop, [None, size]) for loop, size in ((i, 4), (j, 8), (k, 2))
    )
    sch.reorder(i0, j0, k0, i1, j1, k1)
    if not blockize:
        sch.decompose_reduction("Y", k0)
        return i1
    block = sch.blockize(i1)
    sch.decompose_reduction(block, k0)
    return block


def test_a_block_is_moved_and_copied_as_one():
    def schedule(s):
        block = tile(s)
        s.compute_at(s.cache_read(block, 1, "local"), s.get_loops(block)[-1])

    check_schedule(matmul_relu(8, 16, 4), schedule)


def test_intrinsics_of_loops():
    register("test.loops", LOOPS)
    for blockize in (True, False):
        sch = check_schedule(
            matmul_relu(8, 16, 4), lambda s, b=blockize: s.tensorize(tile(s, b), "test.loops")
        )
        assert "for j_1 in T.vectorized(8):" in body(sch)
        assert 'T.block_attr({"note": 1})' in body(sch)
        assert "T.match_buffer(A[vi_o * 4:vi_o * 4 + 4, vk_o * 2:vk_o * 2 + 2], (4, 2))" in body(
            sch
        )


@pytest.fixture(scope="module")
def function(tmp_path_factory):
    """The product of tiles as a C function of the process."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("tile")
    source, library = folder / "tile.c", folder / "tile.so"
    source.write_text(C_CODE.replace("NAME", "xrelax_test_tile"))
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def run(sch, n, m, k):
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, s).astype("float32") for s in ((n, k), (k, m)))
    c = np.empty((n, m), "float32")
    xrelax.build(sch.mod)["main"](a, b, c)
    np.testing.assert_array_equal(c, np.maximum(a @ b, 0))


def test_intrinsics_of_c_functions(function):
    register("test.call", CALL)
    sch = Schedule(from_source(matmul_relu(16, 24, 10)), debug_mask="all")
    sch.tensorize(tile(sch), "test.call")
    assert_structural_equal(from_source(sch.mod.script()).op, sch.mod.op)
    assert 'C_1.access_ptr("rw"), A_1.access_ptr("rw")' in sch.mod.script()
    run(sch, 16, 24, 10)


def test_the_tensorization_of_the_course(function):
    register("test.course", CALL, scope="global.")
    sch = Schedule(from_source(matmul_relu(16, 24, 10)), debug_mask="all")
    i, j, k = sch.get_loops(sch.get_block("Y"))
    i, ii = sch.split(i, factors=[None, 4])
    j, ji = sch.split(j, factors=[None, 8])
    k, ki = sch.split(k, factors=[None, 2])
    sch.reorder(i, j, k, ii, ji, ki)
    block_mm = sch.blockize(ii)
    a = sch.cache_read(block_mm, 0, storage_scope="global.A")
    b = sch.cache_read(block_mm, 1, storage_scope="global.B")
    sch.compute_at(a, k)
    sch.compute_at(b, k)
    write_back = sch.cache_write(block_mm, 0, storage_scope="global.C")
    sch.reverse_compute_at(write_back, j)
    sch.decompose_reduction(block_mm, k)
    sch.tensorize(block_mm, "test.course")
    run(sch, 16, 24, 10)


def test_registered_intrinsics():
    register("test.known", LOOPS)
    known = tir.TensorIntrin.get("test.known")
    assert known is not None
    with pytest.raises(ValueError, match=r"expected a new name .*, got 'test\.known'"):
        tir.TensorIntrin.register("test.known", known.desc, known.impl)
    with pytest.raises(ValueError, match=r"expected a tensor intrinsic .*, got 'test\.unknown'"):
        tir.TensorIntrin.get("test.unknown")
    assert tir.TensorIntrin.get("test.unknown", allow_missing=True) is None
    with pytest.raises(ValueError, match="expected an implementation of 3 parameters, got 2"):
        tir.TensorIntrin(known.desc, from_source(chain(4, 4)))
    with pytest.raises(TypeError, match="expected a PrimFunc, got int"):
        tir.TensorIntrin(known.desc, 3)
    with pytest.raises(ValueError, match=r"parameter 0 .* be \(4, 2\) of float32 in 'global', got"):
        tir.TensorIntrin(known.desc, from_source(matmul_relu(4, 8, 3)))


WHERE = "expected block 'Y_o_update' to be what intrinsic '{}' describes: "
REFUSED = [
    (
        matmul_relu(8, 16, 4),
        lambda s: s.tensorize("Y", "test.none"),
        "tensorize: expected a registered tensor intrinsic, got 'test.none'",
    ),
    (
        matmul_relu(8, 16, 4).replace("A[vi, vk] * B[vk, vj]", "B[vk, vj] * A[vi, vk]"),
        lambda s: s.tensorize(tile(s), "test.loops"),
        f"tensorize: {WHERE.format('test.loops')}expected 'A' to be a part of 'B' at "
        "a fixed offset, got offset -vi_i + vk_i + vk_o * 2",
    ),
    (
        matmul_relu(8, 16, 4).replace("A[vi, vk] * B[vk, vj]", "T.max(A[vi, vk], B[vk, vj])"),
        lambda s: s.tensorize(tile(s), "test.loops"),
        f"tensorize: {WHERE.format('test.loops')}expected 'arith.mulf', got 'arith.maximumf'",
    ),
    (
        matmul_relu(8, 16, 4),
        lambda s: s.tensorize(tile(s), "test.wide"),
        f"tensorize: {WHERE.format('test.wide')}expected the extent of loop 'j' to be 16, got 8",
    ),
    (
        matmul_relu(8, 16, 4),
        lambda s: s.tensorize(tile(s), "test.scoped"),
        f"tensorize: {WHERE.format('test.scoped')}expected 'C' to be a part of 'Y', of float32 in "
        "'x.C', got float32 in 'global'",
    ),
    (
        matmul_relu(8, 16, 4),
        lambda s: s.tensorize(tile(s, blockize=False), "test.wide"),
        f"tensorize: {WHERE.format('test.wide').replace('Y_o_update', 'Y_update_o')}expected the "
        "extent of loop 'j' to be 16, got 8",
    ),
    (
        matmul_relu(8, 16, 4),
        lambda s: s.tensorize(s.get_loops("Y")[0], "test.loops"),
        "tensorize: expected block 'Y_o' to be what intrinsic 'test.loops' describes: expected "
        "'tir.for', got 'tir.init'",
    ),
]


@pytest.mark.parametrize(
    ("source", "change", "message"), REFUSED, ids=[row[-1][-50:] for row in REFUSED]
)
def test_refused(source, change, message):
    register("test.loops", LOOPS)
    register("test.wide", LOOPS, m=16)
    register("test.scoped", LOOPS, scope="x.")
    check_refused(source, change, message)

"""The default schedules keep what a reduction computes, whether tiles divide it or not."""

import itertools
import re

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects import get_context
from xrelax.inspection import lower_to
from xrelax.lowering.schedule.default import ScheduleDefaultPass
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

EXTENTS = (0, 1, 7, 12)


def program(rows, columns, depth, right, operation="{0} + {1} * {2}", init="0"):
    shapes = {"W[vj, vk]": (columns, depth), "W[vk, vj]": (depth, columns)}
    update = operation.format("Y[vi, vj]", "X[vi, vk]", right)
    return f"""
@T.prim_func
def kernel(X: T.Buffer(({rows}, {depth}), "float32"), W: T.Buffer({shapes[right]}, "float32"),
           Y: T.Buffer(({rows}, {columns}), "float32")):
    for i, j, k in T.grid({rows}, {columns}, {depth}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32("{init}") if "{init}" != "0" else T.float32(0)
            Y[vi, vj] = {update}
"""


def whole_numbers(shape, seed):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.sampled
@pytest.mark.parametrize("right", ["W[vj, vk]", "W[vk, vj]"])
@pytest.mark.parametrize(
    ("rows", "columns"), list(itertools.product((1, 2, 5, 7, 12), (0, 1, 7, 10, 16)))
)
def test_products(right, rows, columns):
    for depth in EXTENTS:
        x = whole_numbers((rows, depth), 0)
        w = whole_numbers((columns, depth) if right == "W[vj, vk]" else (depth, columns), 1)
        mod = from_source(program(rows, columns, depth, right))
        module = lower_to(_module(mod), "relax")
        ScheduleDefaultPass().apply(get_context(), module)
        (got,) = evaluate(module, "kernel", [x, w, np.zeros((rows, columns), np.float32)])[2:]
        np.testing.assert_array_equal(got, x @ (w.T if right == "W[vj, vk]" else w))


def _module(function):
    from xdsl.dialects.builtin import ModuleOp

    return ModuleOp([function.op.clone()])


@pytest.mark.parametrize("right", ["W[vj, vk]", "W[vk, vj]"])
def test_compiled_products(right):
    for rows, columns, depth in ((64, 128, 784), (3, 10, 17), (33, 47, 512)):
        x = whole_numbers((rows, depth), 0)
        w = whole_numbers((columns, depth) if right == "W[vj, vk]" else (depth, columns), 1)
        y = np.full((rows, columns), np.nan, np.float32)
        relax.build(from_source(program(rows, columns, depth, right)))["kernel"](x, w, y)
        np.testing.assert_array_equal(y, x @ (w.T if right == "W[vj, vk]" else w))


@pytest.mark.parametrize("right", ["W[vj, vk]", "W[vk, vj]"])
def test_maximum(right):
    mod = from_source(program(8, 12, 20, right, "T.max({0}, {1} + {2})", "-inf"))
    x = whole_numbers((8, 20), 0)
    w = whole_numbers((12, 20) if right == "W[vj, vk]" else (20, 12), 1)
    y = np.empty((8, 12), np.float32)
    relax.build(mod, check=True)["kernel"](x, w, y)
    table = w if right == "W[vj, vk]" else w.T
    np.testing.assert_array_equal(y, (x[:, None] + table[None]).max(-1))


def test_graph_products_with_batches():
    mod = from_source("""
@R.function
def main(x: R.Tensor(("b", 8, 24), "float32"), w: R.Tensor((24, 20), "float32")):
    y = R.matmul(x, w)
    return y
""")
    main = relax.build(mod, check=True)["main"]
    for batch in (0, 1, 5):
        x, w = whole_numbers((batch, 8, 24), 0), whole_numbers((24, 20), 1)
        np.testing.assert_array_equal(main(x, w).numpy(), x @ w)


def test_tiles_vectorize():
    mod = from_source(program(64, 128, 512, "W[vk, vj]"))
    optimized = relax.build(mod).attributes["optimized_llvm_ir"]()
    assert re.search(r"fmul [a-z ]*<\d+ x float>", optimized)


@pytest.mark.parametrize("kind", ["range", "T.parallel", "T.vectorized", "T.unroll"])
def test_nests_of_every_kind_of_loop_are_merged_or_left(kind):
    text = f"""
@T.prim_func
def kernel(X: T.Buffer((12, 16), "float32"), Y: T.Buffer((12, 16), "float32")):
    S = T.alloc_buffer((12, 16), "float32")
    M = T.alloc_buffer((12,), "float32")
    for i in {kind}(12):
        for j in {kind if kind != "T.parallel" else "range"}(16):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, k in T.grid(12, 16):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.float32(0)
            M[vi] = M[vi] + S[vi, vk]
    for i, j in T.grid(12, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] - M[vi]
"""
    x, y = whole_numbers((12, 16), 0), np.zeros((12, 16), np.float32)
    relax.build(from_source(text), check=True)["kernel"](x, y)
    np.testing.assert_array_equal(y, 2 * x - 2 * x.sum(1, keepdims=True))


@pytest.mark.parametrize("dims", list(itertools.permutations((0, 3, 5))))
def test_loops_fused_over_nothing(dims):
    mod = from_source(
        f"""
@T.prim_func
def kernel(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, {(*dims, "n")}, "float32")
    for i, j, k, l in T.grid{(*dims, "n")}:
        with T.block("Y"):
            vi, vj, vk, vl = T.axis.remap("SSSS", [i, j, k, l])
            Y[vi, vj, vk, vl] = X[vl]
""".replace("'n'", "n")
    )
    relax.build(_module(mod))["kernel"](np.ones(4, np.float32), np.zeros((*dims, 4), np.float32))


@pytest.mark.parametrize("sizes", [(3, 0), (5, 2), (0, 4)])
def test_an_empty_sum_in_scratch_memory_of_threads(sizes):
    """Rows that each iteration has for itself, in memory of a size that is known at run time."""
    text = """
@T.prim_func
def kernel(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (m,), "int64")
    Y = T.match_buffer(y, (2, n), "int64")
    S = T.alloc_buffer((2, n), "int64")
    for i, j, k in T.grid(2, n, m):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.int64(0)
            S[vi, vj] = S[vi, vj] + T.int64(1)
    for i, j in T.grid(2, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj]
"""
    n, m = sizes
    run = relax.build(from_source(text))["kernel"]
    for before in (9, m):  # the first call leaves sums in the memory
        y = np.full((2, n), 77, np.int64)
        run(np.ones(before, np.int64), y)
        np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_sum_of_which_one_loop_may_be_empty(rows, size):
    """Threads share no loop that it would be fused with: an empty sum is its first value."""
    text = f"""
@T.prim_func
def kernel(x: T.handle, Y: T.Buffer(({rows},), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    for i, j, k0, k1 in T.grid({rows}, 1, 2, (n + 1) // 2):
        with T.block("Y"):
            vi = T.axis.spatial({rows}, i)
            vj = T.axis.reduce(1, j)
            vk = T.axis.reduce(n, k1 * 2 + k0)
            T.where(k1 * 2 + k0 < n)
            with T.init():
                Y[vi] = T.float32(1)
            Y[vi] = Y[vi] + X[vk]
"""
    x, y = np.ones(size, np.float32), np.full(rows, 77, np.float32)
    relax.build(from_source(text), check=True)["kernel"](x, y)
    np.testing.assert_array_equal(y, 1 + size)


def test_a_symbolic_sum_of_an_empty_batch():
    """The sum stays whole where nothing is computed; its loop is not shared out to threads."""
    text = """
@R.function
def main(x: R.Tensor((0, 0, "k"), "int32"), w: R.Tensor(("n", "k"), "int32")):
    return R.linear(x, w)
"""
    run = relax.build(_module(from_source(text)))["main"]
    assert run(np.ones((0, 0, 5), np.int32), np.ones((4, 5), np.int32)).shape == (0, 0, 4)


def test_a_block_with_the_name_of_the_root():
    """The root block of a function is found by its name; a block of the user may have it too."""
    text = """
@T.prim_func
def kernel(X: T.Buffer((7, 3), "float32"), Y: T.Buffer((7,), "float32")):
    S = T.alloc_buffer((7,), "float32")
    for i, k in T.grid(7, 3):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] += X[vi, vk]
    for i in range(7):
        with T.block("root"):
            vi = T.axis.spatial(7, i)
            Y[vi] = T.sqrt(S[vi])
"""
    x, y = np.random.default_rng(0).random((7, 3), np.float32), np.empty(7, np.float32)
    relax.build(from_source(text), check=True)["kernel"](x, y)
    np.testing.assert_allclose(y, np.sqrt(x.sum(1)), rtol=1e-6)

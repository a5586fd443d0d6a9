"""Primitives on the order of elements in memory and of iterations: before, after, refusals."""

import numpy as np
import pytest
from programs import SHAPES, SIZES, VECTORS, chain, matmul_relu, program, row_sum
from schedule_check import check_refused, check_schedule, check_text
from test_index_map import MAPS

import xrelax
from xrelax import tir
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source
from xrelax.tir.schedule import Schedule


def test_transform_layout_of_scratch():
    check_text(
        chain(),
        lambda sch: sch.transform_layout(
            "S", ("write", 0), lambda i, j: (j, i // 4, i % 4), assume_injective_transform=True
        ),
        """
S = T.alloc_buffer((m, (n + 3) // 4, 4))
for i, j in T.grid(n, m):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vj, vi // 4, vi % 4] = X[vi, vj] * T.float32(2)
for i, j in T.grid(n, m):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = S[vj, vi // 4, vi % 4] + T.float32(1)
""",
        *SIZES,
    )


def test_transform_layout_of_chosen_matrices():
    """An index that data gives stays as it is, and so in bounds."""
    check_text(
        """
@T.prim_func
def main(G: T.Buffer((4,), "int64"), X: T.Buffer((3, 8, 6), "float32"),
         Y: T.Buffer((4, 6), "float32")):
    S = T.alloc_buffer((3, 8, 6), "float32")
    for g, i, j in T.grid(3, 8, 6):
        with T.block("S"):
            vg, vi, vj = T.axis.remap("SSS", [g, i, j])
            S[vg, vi, vj] = X[vg, vi, vj]
    for i, j in T.grid(4, 6):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[T.min(G[vi] * G[vi], T.int64(2)), vi, vj]
""",
        lambda sch: sch.transform_layout(
            "S", ("write", 0), lambda g, i, j: (g, j // 4, i, j % 4), shape=[3, 2, 8, 4]
        ),
        """
S = T.alloc_buffer((3, 2, 8, 4))
for g, i, j in T.grid(3, 8, 6):
    with T.block("S"):
        vg, vi, vj = T.axis.remap("SSS", [g, i, j])
        S[vg, vj // 4, vi, vj % 4] = X[vg, vi, vj]
for i, j in T.grid(4, 6):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = S[T.min(G[vi] * G[vi], T.int64(2)), vj // 4, vi, vj % 4]
""",
    )


def test_transform_layout_with_padding():
    check_text(
        chain(m=6),
        lambda s: s.transform_layout("Y", "S", lambda i, j: (i // 4, j, i % 4), pad_value=1.5),
        """
S = T.alloc_buffer(((n + 3) // 4, 6, 4))
for i, j in T.grid(n, 6):
    with T.block("S"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi // 4, vj, vi % 4] = X[vi, vj] * T.float32(2)
for ax0, ax1, ax2 in T.grid((n + 3) // 4, 6, 4):
    with T.block("S_pad"):
        v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
        T.where(n - 1 < ax0 * 4 + ax2)
        S[v_ax0, v_ax1, v_ax2] = T.float32(1.5)
for i, j in T.grid(n, 6):
    with T.block("Y"):
        vi, vj = T.axis.remap("SS", [i, j])
        Y[vi, vj] = S[vi // 4, vj, vi % 4] + T.float32(1)
""",
        *({"n": n} for n in (8, 7, 1)),
    )


@pytest.mark.parametrize("index_map", [lambda i, j: (i, j // 4, j % 4), lambda i, j: (i, j * 2)])
def test_padding_that_depends_on_its_place(index_map):
    """A block that stores all elements in order stores the padding too; others leave it to one."""

    def schedule(sch):
        sch.transform_layout("Y", ("write", 0), index_map, lambda *i: i[0] * 3 + sum(i))

    sch = Schedule(from_source(chain(3, 6)))
    schedule(sch)
    x = np.arange(18, dtype="float32").reshape(3, 6)
    want = tir.IndexMap.from_func(index_map).map_ndarray(x * 2 + 1)
    places = np.indices(want.shape)
    want = np.where(want == 0, places[0] * 3 + places.sum(0), want).astype("float32")
    result = np.zeros_like(want)
    xrelax.build(sch.mod)["main"](x, result)
    np.testing.assert_array_equal(result, want)
    _, evaluated = evaluate(sch.mod.op.clone(), "main", [x, np.zeros_like(want)])
    np.testing.assert_array_equal(evaluated, want)
    again = Schedule(from_source(chain(3, 6)))
    sch.trace.apply_to_schedule(again)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.sampled
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("pad_value", [None, 0])
def test_layouts_of_scratch(name, pad_value):
    def schedule(sch):
        sch.transform_layout("S", ("write", 0), MAPS[name][0], pad_value, pad_value is None)

    check_schedule(chain(7, 13), schedule)


@pytest.mark.parametrize("name", ["tiled", "in steps", "skewed", "padded rows", "reversed"])
def test_layouts_of_parameters(name):
    """The result is where the map says, with the pad value between its elements."""
    function = MAPS[name][0]
    sch = Schedule(from_source(chain(7, 13)))
    sch.transform_layout("S", ("read", 0), function, assume_injective_transform=True)
    sch.transform_layout("Y", ("write", 0), function, pad_value=-5)
    x = np.random.default_rng(0).integers(-3, 4, (7, 13)).astype("float32")
    found = tir.IndexMap.from_func(function)
    want = found.map_ndarray(x * 2 + 1 + 100)
    want = np.where(want == 0, -5, want - 100).astype("float32")
    moved, result = found.map_ndarray(x), np.zeros_like(want)
    xrelax.build(sch.mod)["main"](moved, result)
    np.testing.assert_array_equal(result, want)
    _, evaluated = evaluate(sch.mod.op.clone(), "main", [moved, np.zeros_like(want)])
    np.testing.assert_array_equal(evaluated, want)


def test_symbols_in_maps():
    n = tir.Var("m", "int64")

    def schedule(sch):
        sch.transform_layout("S", ("write", 0), lambda i, j: i * n + j)
        sch.transform_block_layout("Y", lambda i, j: i * n + j)

    sch = check_schedule(chain(), schedule, *SIZES)
    assert 'index_map="lambda i, j: (i * m + j,)"' in str(sch.trace)


def test_traces_print_as_python():
    sch = Schedule(from_source(chain(8, 8)))
    sch.transform_layout("S", ("write", 0), lambda i, j: (i, j // 4, j % 4))
    sch.cache_read("Y", 0, "local", ["Y"])
    assert "index_map=lambda i, j: (i, j // 4, j % 4), pad_value=None" in str(sch.trace)
    names = {"tir": tir}
    exec(str(sch.trace), names)
    again = Schedule(from_source(chain(8, 8)))
    names["apply_trace"](again)
    assert again.mod.script() == sch.mod.script()


def test_transform_block_layout():
    check_text(
        row_sum(),
        lambda sch: sch.transform_block_layout("Y", lambda i, k: (k // 4, i, k % 4)),
        """
for ax0, ax1, ax2 in T.grid((m + 3) // 4, n, 4):
    with T.block("Y"):
        v_ax0, v_ax1, v_ax2 = T.axis.remap("RSR", [ax0, ax1, ax2])
        T.where(ax0 * 4 + ax2 < m)
        with T.init():
            Y[v_ax1] = T.float32(0)
        Y[v_ax1] = Y[v_ax1] + X[v_ax1, v_ax0 * 4 + v_ax2]
""",
        *SIZES,
    )


@pytest.mark.parametrize("name", MAPS)
def test_block_layouts(name):
    check_schedule(chain(7, 13), lambda s: s.transform_block_layout("Y", MAPS[name][0]))


def test_products_in_panels():
    """The operands of a product in the panels that its tiles read."""

    def schedule(sch):
        block = sch.get_block("Y")
        panels = sch.cache_read(block, 1, "global")
        sch.transform_layout(panels, ("write", 0), lambda k, j: (j // 4, k, j % 4), pad_value=0)
        i, j, k = sch.get_loops(block)
        j0, j1 = sch.split(j, [None, 4])
        sch.reorder(j0, i, k, j1)
        sch.vectorize(j1)

    check_schedule(matmul_relu(), schedule, *SHAPES)


SQUARE = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = X[vi]
"""


@pytest.mark.parametrize(
    "source, schedule, message",
    [
        (
            chain(),
            lambda s: s.transform_layout("S", ("write", 0), lambda i, j: (i // 4, j)),
            "expected new indices to tell 'i' of lambda i, j: (i // 4, j)",
        ),
        (
            chain(),
            lambda s: s.transform_layout("S", ("write", 0), lambda i: i),
            "expected a map of 2 indices, got one of i",
        ),
        (
            chain(),
            lambda s: s.transform_layout("S", "Z", lambda i, j: (j, i)),
            "expected block 'S' to read one buffer 'Z', got 'X'",
        ),
        (
            chain(),
            lambda s: s.transform_layout("S", "X", lambda i, j: (i // 4, j, i % 4), 0.0),
            "expected a store to 'X', after which its padding is stored",
        ),
        (
            chain(7, 13),
            lambda s: s.transform_layout("S", ("write", 0), lambda i, j: (j, i // 4, i % 4)),
            "expected pad_value for 'S', whose layout [13, 2, 4] has room for more than the "
            "elements of [7, 13], got None",
        ),
        (
            chain(7, 13),
            lambda s: s.transform_layout(
                "S", ("write", 0), lambda i, j: (j, i // 4, i % 4), "lambda i, j: i"
            ),
            "expected pad_value to map 3 indices to one value, without symbols, got",
        ),
        *(
            (
                chain(7, 13).replace("float32", dtype),
                lambda s, value=value: s.transform_layout(
                    "S", "S", lambda i, j: (i // 4, j, i % 4), value
                ),
                f"expected pad_value to be a number of type {dtype}, as 'S' has, got {value}",
            )
            for dtype, value in (("int32", 1.5), ("int8", 128), ("uint8", -1))
        ),
        (
            program(SQUARE, VECTORS, n="n"),
            lambda s: [
                s.transform_layout("Y", name, lambda i: (i // 4, i % 4), None, True)
                for name in ("X", "Y")
            ],
            "expected symbol 'n' to remain a dim of a parameter, got 'Y' of [(n + 3) floordiv 4, "
            "4]",
        ),
        (
            row_sum(),
            lambda s: s.transform_block_layout("Y", lambda i, k: i * tir.Var("m", "int64") + k),
            "to combine axes of one kind, got reduce and spatial",
        ),
        (
            row_sum(),
            lambda s: s.transform_block_layout("Y", lambda i, k: (i, (k + 1) // 4, (k + 1) % 4)),
            "to keep the first iteration of each reduction",
        ),
        (
            chain(8, 8),
            lambda s: [
                s.fuse(*s.get_loops("S")),
                s.transform_block_layout("S", lambda i, j: (j, i)),
            ],
            "to start at 0 and to be bound to one axis of block 'S'",
        ),
    ],
)
def test_refusals(source, schedule, message):
    check_refused(source, schedule, message, whole=False)


OPAQUE = """
@T.prim_func
def main(A: T.Buffer((14, 8)), n: T.int64, B: T.Buffer((14,)), C: T.Buffer((14,))):
    for i in range(14):
        B[i] = 0.0
        for k in range(8):
            with T.block("sum"):
                B[i] = B[i] + A[i, k]
    if n > 3:
        B[0] = 7.0
    for i in range(14):
        with T.block("copy"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
"""


@pytest.mark.parametrize("n", [2, 5])
def test_padding_after_stores_outside_of_blocks(n):
    sch = Schedule(from_source(OPAQUE))
    sch.transform_layout("sum", "B", lambda i: [i // 4, i % 4], pad_value=-1.0)
    a = np.random.default_rng(0).standard_normal((14, 8), np.float32)
    b, c = (xrelax.runtime.tensor(np.zeros(s, np.float32)) for s in ((4, 4), (14,)))
    xrelax.build(sch.mod)(xrelax.runtime.tensor(a), n, b, c)
    expected = a.sum(1)
    expected[0] = 7 if n > 3 else expected[0]
    np.testing.assert_allclose(b.numpy().ravel()[:14], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(b.numpy().ravel()[14:], -1)
    np.testing.assert_array_equal(c.numpy(), b.numpy().ravel()[:14])


def test_buffers_with_a_declared_region_keep_their_layout():
    def schedule(sch):
        block = sch.get_block("S")
        sch.annotate_buffer_access(block, 0, "write", lambda i, j: (i, i + 1, j, j + 1))
        sch.transform_layout(block, ("write", 0), lambda i, j: (j, i))

    message = "transform_layout: expected no block to declare a region of 'S'"
    check_refused(chain(), schedule, message)

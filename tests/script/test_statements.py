"""TensorIR statements and expressions: what each form computes, and that it survives printing."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import ScriptError, from_source

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")
I8 = 'X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")'
N8 = np.array([-7, -2, -1, 0, 1, 5, 8, 100], "int32")

LOOPS = [
    "range(8)",
    "range(0, 8)",
    "T.serial(8)",
    "T.serial(0, 8)",
    "T.parallel(8)",
    "T.vectorized(8)",
    "T.unroll(8)",
    "T.unrolled(8)",
    "T.grid(8)",
    'T.serial(8, annotations={"pragma": 1, "note": "a", "list": [T.int32(3), 2.5, None]})',
    'T.thread_binding(8, thread="blockIdx.x")',
]


@pytest.mark.parametrize("loop", LOOPS)
def test_loops(run, loop):
    y = run(F8, f"for i in {loop}:\n    Y[i] = X[i] * T.float32(2)", X8)
    np.testing.assert_array_equal(y, X8 * 2)


def test_attributes_of_private_functions_and_others():
    text = "@T.prim_func(private=True)\ndef f(X: T.Buffer((4,))):\n    T.func_attr({'a': 1})\n"
    private = from_source(text + "    X[0] = 1.0")
    public = from_source(text.replace("(private=True)", "") + "    X[0] = 1.0")
    assert private.attrs == {"a": 1} and public.attrs == {"global_symbol": "f", "a": 1}
    with pytest.raises(ScriptError, match="a private function without 'global_symbol'"):
        from_source(text.replace("'a': 1", "'global_symbol': 'f'") + "    X[0] = 1.0")


def test_loops_and_axes_that_do_not_start_at_zero(run):
    y = run(
        F8,
        """
for i in range(2, 6):
    with T.block("Y"):
        vi = T.axis.remap("S", [i])
        Y[vi] = X[vi]
for i in T.serial(6, 8):
    with T.block("Z"):
        vi = T.axis.spatial((6, 8), i)
        Y[vi] = -X[vi]
""",
        X8,
    )
    np.testing.assert_array_equal(y, [0, 0, *X8[2:6], *-X8[6:]])


@pytest.mark.parametrize("loop", ["range(1, 8, 3)", "T.serial(1, 8, step=3)"])
def test_loops_with_steps(run, loop):
    y = run(F8, f"for i in {loop}:\n    Y[i] = X[i] * T.float32(2)", X8)
    np.testing.assert_array_equal(y[1::3], X8[1::3] * 2)
    assert np.count_nonzero(y) == 3


def test_launches_of_threads(run):
    y = run(
        F8,
        """
bx = T.launch_thread("blockIdx.x", 2)
ty = T.env_thread("threadIdx.y")
with T.launch_thread("threadIdx.x", 2) as tx:
    Y[bx * 4 + tx] = X[tx]
T.launch_thread(ty, 2)
Y[bx * 4 + ty + 2] = X[ty] + 1.0
""",
        X8,
    )
    np.testing.assert_allclose(y, np.tile([*X8[:2], *X8[:2] + 1], 2))


def test_axes_of_every_kind(run):
    y = run(
        'X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4,), "float32")',
        """
for i, k in T.grid(4, 6):
    with T.block("S"):
        vi = T.axis.S(4, i)
        vk = T.axis.R(6, k)
        with T.init():
            Y[vi] = 0
        Y[vi] = Y[vi] + X[vi, vk]
for i in range(4):
    with T.block("O"):
        vi = T.axis.opaque(4, i)
        Y[vi] += 1
""",
        np.ones((4, 6), "float32"),
        shape=4,
    )
    np.testing.assert_array_equal(y, [7] * 4)


def test_where_and_split_bindings(run):
    y = run(
        'X: T.Buffer((10,), "float32"), Y: T.Buffer((10,), "float32")',
        """
for i0, i1 in T.grid(3, 4):
    with T.block("Y"):
        T.where(i0 * 4 + i1 < 10 and 0 <= i0)
        vi = T.axis.spatial(10, i0 * 4 + i1)
        T.reads(X[vi])
        T.writes(Y[vi])
        T.block_attr({"hint": True})
        Y[vi] = X[vi] + 1
""",
        np.arange(10, dtype="float32"),
    )
    np.testing.assert_array_equal(y, np.arange(10) + 1)


def test_nested_blocks_views_and_slices(run):
    y = run(
        'X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")',
        """
for io, jo in T.grid(2, 2):
    with T.block("tile"):
        vio, vjo = T.axis.remap("SS", [io, jo])
        T.reads(X[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4])
        T.writes([Y[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4]])
        A = T.match_buffer(X[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4], (4, 4))
        B = T.match_buffer(Y[vio * 4:vio * 4 + 4, vjo * 4:vjo * 4 + 4], (4, 4), "float32")
        for ii, ji in T.grid(4, 4):
            with T.block("copy"):
                vii, vji = T.axis.remap("SS", [ii, ji])
                B[vii, vji] = A[vji, vii]
""",
        np.arange(64, dtype="float32").reshape(8, 8),
    )
    x = np.arange(64).reshape(2, 4, 2, 4)
    np.testing.assert_array_equal(y, x.transpose(0, 3, 2, 1).reshape(8, 8))


def test_an_initialization_below_the_views_that_it_does_not_use(run):
    y = run(
        F8,
        """
for k in range(8):
    with T.block("sum"):
        vk = T.axis.R(8, k)
        A = T.match_buffer(X[vk : vk + 1], (1,))
        with T.init():
            Y[0] = 0
        Y[0] = Y[0] + T.hypot(A[0], T.exp10(A[0]))
T.exp(X[0])
""",
        X8,
    )
    np.testing.assert_allclose(y[0], np.hypot(X8, 10**X8).sum(), rtol=1e-5)


def test_stores_of_several_elements(run):
    y = run(
        F8,
        """
for i in range(2):
    Y[i * 4 : i * 4 + 4] = X[i * 4 : i * 4 + 4] + T.broadcast(X[i], 4)
Y[T.ramp(1, 2, 4)] *= X[0:8:2]
Y[T.Ramp(0, 1, 2)] = T.Broadcast(1.0, 2)
""",
        X8,
    )
    expected = X8 + np.repeat(X8[:2], 4)
    expected[1::2] *= X8[::2]
    expected[:2] = 1
    np.testing.assert_allclose(y, expected)


def test_regions_below_the_values_that_they_use(run):
    y = run(
        F8,
        """
for i in range(8):
    with T.block("Y"):
        vi = T.axis.S(8, i)
        a, b = 7 - vi, vi
        T.reads(X[a])
        T.writes(Y[b])
        assert a >= 0, ("ValueError", ["a of ", "the block"])
        Y[b] = X[a]
""",
        X8,
    )
    np.testing.assert_array_equal(y, X8[::-1])


def test_buffers_on_the_memory_of_others(run):
    y = run(
        F8,
        """
square = T.decl_buffer((2, 4), "float32", data=X.data)
tail = T.Buffer((2, 2), data=square.data, elem_offset=4)
T.assume(X[0] > 0)
T.evaluate(T.assume(X[1] > 0))
for i, j in T.grid(4, 2):
    Y[i * 2 + j] = square[i // 2, i % 2 * 2 + j] + tail[i % 2, j]
""",
        X8,
    )
    np.testing.assert_allclose(y, X8 + np.tile(X8[4:], 2))


def test_views_with_named_strides_and_fewer_dims(run):
    y = run(
        'X: T.Buffer((3, 4), "float32"), Y: T.Buffer((3, 4), "float32")',
        """
s = T.int64()
for i in range(3):
    with T.block("row"):
        vi = T.axis.spatial(3, i)
        T.reads(X[vi, :])
        T.writes(Y[vi, 0:4])
        A = T.match_buffer(X[vi, 0:4], (4,), strides=[s])
        for j in range(4):
            Y[vi, j] = A[3 - j] * T.Cast("float32", s)
""",
        np.arange(12, dtype="float32").reshape(3, 4),
    )
    np.testing.assert_array_equal(y, np.arange(12).reshape(3, 4)[:, ::-1])


def test_if_elif_else(run):
    y = run(
        I8,
        """
for i in range(8):
    if X[i] < 0:
        Y[i] = -1
    elif X[i] == 0 or X[i] > 50:
        Y[i] = 0
    else:
        Y[i] = 1
    if not (X[i] != 5):
        Y[i] = 55
""",
        N8,
        dtype="int32",
    )
    np.testing.assert_array_equal(y, [-1, -1, -1, 0, 1, 55, 1, 0])


def test_while(run):
    y = run(
        I8,
        """
for i in range(8):
    n = T.alloc_buffer((1,), "int32")
    n[0] = X[i]
    while n[0] > 3 and Y[i] < 100:
        n[0] = n[0] // 2
        Y[i] += 1
""",
        N8,
        dtype="int32",
    )
    np.testing.assert_array_equal(y, [0, 0, 0, 0, 0, 1, 2, 5])


def test_while_guards_what_it_reads(run):
    y = run(
        'X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")',
        """
Y[0] = 0
while Y[0] < 8 and X[Y[0]] < 5:
    Y[0] = Y[0] + 1
""",
        N8,
        shape=1,
        dtype="int32",
    )
    assert y[0] == 5
    assert (
        run(
            'X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")',
            "Y[0] = 0\nwhile Y[0] < 8 and X[Y[0]] < 500:\n    Y[0] += 1",
            N8,
            shape=1,
            dtype="int32",
        )[0]
        == 8
    )


def test_bindings(run):
    y = run(
        I8,
        """
for i in range(8):
    a = X[i]
    b: T.int32 = a * 2
    c: T.float32 = X[i]
    even = T.floormod(a, 2) == 0
    d, e = b, a
    d, e = e, d
    Y[i] = a
    a = a + 1
    Y[i] = T.Select(even, d + e, T.Cast("int32", c * 10.0)) + a - X[i]
""",
        N8,
        dtype="int32",
    )
    np.testing.assert_array_equal(y, np.where(N8 % 2 == 0, N8 * 3, N8 * 10) + 1)


def test_a_binding_is_read_where_it_stands(run):
    y = run(
        F8,
        """
for i in range(8):
    old = X[i]
    Y[i] = old
    Y[i], Y[(i + 0)] = Y[i] + 1.0, old * 3.0
with T.LetStmt(X[0]) as first:
    Y[0] = first + 10.0
with T.let(second, X[1]):
    Y[1] = second
""",
        X8,
    )
    np.testing.assert_allclose(y, [X8[0] + 10, X8[1], *X8[2:] * 3])


def test_swapping_elements(run):
    y = run(F8, "for i in range(8):\n    Y[i] = X[i]\nY[0], Y[7] = Y[7], Y[0]", X8)
    np.testing.assert_array_equal(y, [X8[7], *X8[1:7], X8[0]])


def test_augmented_assignment(run):
    y = run(
        F8,
        "for i in range(8):\n    Y[i] = X[i]\n    Y[i] += 1\n    Y[i] *= X[i]\n    Y[i] -= 2",
        X8,
    )
    np.testing.assert_allclose(y, (X8 + 1) * X8 - 2, rtol=1e-6)


def test_asserts(kernel, call, round_trip):
    program = kernel(
        'n: T.int64, Y: T.Buffer((8,), "float32")',
        'assert n % 2 == 0, "n is even"\nT.evaluate(0)\nfor i in range(8):\n'
        '    Y[i] = T.Cast("float32", n)',
    )
    assert 'assert n % 2 == 0, "n is even"' in round_trip(program)
    assert call(program, 4, np.zeros(8, "float32"))[-1][0] == 4
    with pytest.raises(Exception, match="n is even"):
        call(program, 3, np.zeros(8, "float32"))


def test_symbolic_shapes_and_unused_symbols(run):
    y = run(
        "x: T.handle, y: T.handle",
        """
m, n, k = T.int64(), T.int64(), T.int64()
X = T.match_buffer(x, (m, n), "float32")
Y = T.match_buffer(y, (n, m))
for i, k in T.grid(n, m):
    with T.block("Y"):
        vi, vk = T.axis.remap("SS", [i, k])
        Y[vi, vk] = X[vk, vi] + T.Cast("float32", m * 10 + n)
""",
        np.ones((2, 3), "float32"),
        shape=(3, 2),
    )
    np.testing.assert_array_equal(y, np.full((3, 2), 24))


def test_old_declarations_and_a_root_block(run):
    y = run(
        "x: T.handle, y: T.handle",
        """
T.func_attr({"global_symbol": "kernel", "tir.noalias": True})
n = T.var("int64")
X = T.match_buffer(x, [n], dtype="float32", align=64, offset_factor=1)
Y = T.match_buffer(y, [n], dtype="float32")
with T.block("root"):
    T.reads()
    T.writes()
    Z = T.sblock_alloc_buffer((n,), "float32", scope="global")
    for i in T.serial(n):
        with T.block("Z"):
            vi = T.axis.spatial(n, i)
            Z[vi] = X[vi]
    for i in T.serial(n):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            Y[vi] = Z[vi] * Z[vi]
""",
        X8,
    )
    np.testing.assert_allclose(y, X8 * X8)


def test_scalar_parameters(kernel, call, round_trip):
    program = kernel(
        'X: T.Buffer((4,), "float32"), a: T.float32, n: T.int32, f: T.bool, '
        'Y: T.Buffer((4,), "float32")',
        """
for i in range(n):
    Y[i] = T.if_then_else(f, X[i] * a, X[i])
""",
    )
    text = round_trip(program)
    assert "a: T.float32, n: T.int64, f: T.bool" in text
    x = np.arange(4, dtype="float32")
    y = call(program, x, 2.5, 3, True, np.zeros(4, "float32"))[-1]
    np.testing.assert_array_equal(y, [0, 2.5, 5, 0])


def test_bool_buffers(run):
    y = run(
        'X: T.Buffer((8,), "bool"), Y: T.Buffer((8,), "bool")',
        """
for i in range(8):
    Y[i] = (X[i] or i > 5) and not (i == 1) or T.bool(False)
""",
        N8 > 0,
        dtype="bool",
    )
    expected = ((N8 > 0) | (np.arange(8) > 5)) & (np.arange(8) != 1)
    np.testing.assert_array_equal(y, expected)


def test_data_dependent_indices(run):
    y = run(
        I8,
        """
for i in range(8):
    with T.block("Y"):
        vi = T.axis.spatial(8, i)
        T.reads(X[vi], X[T.floormod(X[vi], 8)])
        T.writes(Y[vi])
        Y[vi] = X[T.floormod(X[vi], 8)]
""",
        N8,
        dtype="int32",
    )
    np.testing.assert_array_equal(y, N8[N8 % 8])


def test_extern_calls(kernel, round_trip):
    program = kernel(
        F8,
        """
for i in range(8):
    Y[i] = T.call_extern("float32", "fmaf", X[i], 2.0, T.float32(1)) + 1.0
T.evaluate(T.call_extern("void", "srand", T.int32(3)))
T.call_extern("int32", "puts", Y.data)
""",
    )
    text = round_trip(program)
    assert 'T.call_extern("float32", "fmaf", X[i], T.float32(2), T.float32(1))' in text
    assert 'T.evaluate(T.call_extern("void", "srand", T.int32(3)))' in text
    assert 'T.evaluate(T.call_extern("int32", "puts", Y.data))' in text


def test_regions_are_inferred_and_printed(kernel, round_trip):
    text = round_trip(
        kernel(
            'X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8,), "float32")',
            """
for i, k in T.grid(8, 8):
    with T.block("Y"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            Y[vi] = T.float32(0)
        Y[vi] = Y[vi] + X[vk, vi]
""",
        )
    )
    assert "T.reads(X[vk, vi])" in text and "T.writes(Y[vi])" in text
    assert 'vi, vk = T.axis.remap("SR", [i, k])' in text


def test_attributes_of_buffers_and_expressions(run):
    y = run(
        F8,
        """
for i in range(X.shape[0]):
    Y[i] = T.Cast(X.dtype, X.strides[0] * X.shape[0])
""",
        X8,
    )
    np.testing.assert_array_equal(y, [8] * 8)


@pytest.mark.parametrize("alloc", ["T.alloc_buffer", "T.sblock_alloc_buffer"])
def test_no_scope_is_the_global_one(kernel, round_trip, alloc):
    text = round_trip(
        kernel(
            "a: T.handle, " + F8.split(", ", 2)[2],
            f"""
A = T.match_buffer(a, (8,), "float32", scope="")
Z = {alloc}((8,), "float32", scope="")
for i in range(8):
    Z[i] = A[i]
for i in range(8):
    Y[i] = Z[i]
""",
        )
    )
    assert "scope" not in text
    assert "Z = T.alloc_buffer((8,))" in text


@pytest.mark.parametrize("bounds", ["range(5, 2)", "range(n, n - 3)", "T.serial(n, n - 1)"])
def test_ranges_that_end_before_they_start(kernel, round_trip, bounds):
    """They have no iterations, as Python's."""
    text = round_trip(
        kernel(
            "x: T.handle, y: T.handle",
            f"""
n = T.int64()
X = T.match_buffer(x, (n,), "float32")
Y = T.match_buffer(y, (n,), "float32")
for i in {bounds}:
    Y[i] = X[i]
""",
        )
    )
    first = bounds.split("(")[1].split(",")[0]
    assert f"for i in range({first}, {first}):" in text


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        ('("TypeError", ["expected ", "more than 0"])', TypeError, "^expected more than 0$"),
        ('"RuntimeError: expected more"', RuntimeError, "^expected more$"),
        ('"expected: more"', ValueError, "^expected: more$"),
    ],
)
def test_assertions_name_their_exception(message, error, text):
    func = from_source(f"""
@T.prim_func
def func(x: T.int32):
    assert x > 0, {message}
""")
    compiled = tvm.compile(func)
    compiled(1)
    with pytest.raises(error, match=text):
        compiled(0)
    assert_structural_equal(from_source(func.script()), func)

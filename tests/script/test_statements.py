"""Statements of TensorIR scripts: what each form computes, and that it survives printing."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import ScriptError, from_source

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")
I8 = 'X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")'
N8 = np.array([-7, -2, -1, 0, 1, 5, 8, 100], "int32")


def test_attributes_of_private_functions_and_others():
    text = "@T.prim_func(private=True)\ndef f(X: T.Buffer((4,))):\n    T.func_attr({'a': 1})\n"
    private = from_source(text + "    X[0] = 1.0")
    public = from_source(text.replace("(private=True)", "") + "    X[0] = 1.0")
    assert private.attrs == {"a": 1} and public.attrs == {"global_symbol": "f", "a": 1}
    with pytest.raises(ScriptError, match="a private function without 'global_symbol'"):
        from_source(text.replace("'a': 1", "'global_symbol': 'f'") + "    X[0] = 1.0")


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
third = T.float32()
fourth = T.float32()
with T.LetStmt(X[2], var=third):
    Y[2] = third
T.bind(X[3], var=fourth)
Y[3] = T.Let(fourth + x * x, where={x: X[4] + 1.0})
""",
        X8,
    )
    fourth = X8[3] + (X8[4] + 1) ** 2
    np.testing.assert_allclose(y, [X8[0] + 10, *X8[1:3], fourth, *X8[4:] * 3], rtol=1e-6)


def test_values_have_the_dtype_that_was_declared():
    text = """
@T.prim_func
def main(X: T.Buffer((8,)), Y: T.Buffer((8,))):
    for i in range(8):
        x = T.float64()
        index = T.int64()
        T.bind(i, var=index)
        T.bind(VALUE, var=x)
        Y[T.Let(7 - j, where={j: index})] = x
"""
    func = from_source(text.replace("VALUE", "2"))
    assert "Y[-i + 7] = " in func.script()
    with pytest.raises(ScriptError, match="expected a value of float64 for 'x', got float32"):
        from_source(text.replace("VALUE", "X[i]"))
    with pytest.raises(ScriptError, match="expected a new name, got 'y' of an enclosing scope"):
        from_source(
            text.replace("VALUE, var=x", "1, var=y").replace("    for", "    y = X[0]\n    for")
        )


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


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        ('("TypeError", ["expected ", "more than 0"])', TypeError, "^expected more than 0$"),
        ('("RuntimeError", ["expected more"])', RuntimeError, "^expected more$"),
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

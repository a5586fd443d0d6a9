"""Scalar functions, truth values, shared values and running sums in tensor expressions."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelax as tvm
from xrelax import te
from xrelax.reference.evaluate import evaluate


def run(tensors, *arrays):
    """The last tensor, computed by a kernel of all of them."""
    result = tensors[-1]
    kernel = te.create_prim_func(tensors).op.clone()
    shape = [d if isinstance(d, int) else len(arrays[0]) for d in result.shape]
    out = np.zeros(shape, result.dtype)
    return evaluate(ModuleOp([kernel]), "main", [*arrays, out])[-1]


@pytest.mark.parametrize(
    "name", "exp log sqrt tanh sin cos floor ceil trunc abs erf sigmoid rsqrt log1p isnan".split()
)
def test_functions_have_the_names_that_scripts_have(name):
    x = te.placeholder((4,), "float64", name="X")
    y = te.compute((4,), lambda i: getattr(te, name)(x[i]), name="Y")
    values = np.array([0.25, 1.0, 2.5, 4.0])
    found = run([x, y], values)
    special = {"sigmoid": 1 / (1 + np.exp(-values)), "rsqrt": 1 / np.sqrt(values)}
    if name == "erf":
        assert found[1] == pytest.approx(0.8427007929497149)
    else:
        expected = special[name] if name in special else getattr(np, name)(values)
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_unknown_functions():
    assert "exp" in dir(te) and "sum" in dir(te)
    with pytest.raises(AttributeError, match=r"module 'xrelax\.te' has no attribute 'tanhh'"):
        te.tanhh


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_powers_of_integers(dtype):
    x, y = (te.placeholder((5,), dtype, name=n) for n in "XY")
    z = te.compute((5,), lambda i: te.power(x[i], y[i]), name="Z")
    assert z.dtype == dtype
    base, exponent = np.array([2, 3, 1, 0, 7], dtype), np.array([3, 40, 9, 0, 2], dtype)
    expected = [(int(b) ** int(e)) % 2**32 for b, e in zip(base, exponent, strict=True)]
    np.testing.assert_array_equal(run([x, y, z], base, exponent), np.array(expected).astype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_next_numbers(dtype):
    kind = np.finfo(dtype)
    sizes = [0, kind.smallest_subnormal, kind.tiny, 1, 1.5, kind.max, np.inf]
    edges = np.array([*sizes, *np.negative(sizes), np.nan], dtype)
    pairs = [np.ascontiguousarray(a.ravel()) for a in np.meshgrid(edges, edges)]
    x, y = (te.placeholder(a.shape, dtype, name=n) for n, a in zip("XY", pairs, strict=True))
    z = te.compute(x.shape, lambda i: te.nextafter(x[i], y[i]), name="Z")
    with np.errstate(all="ignore"):
        expected = np.nextafter(*pairs)
    compiled = np.zeros_like(expected)
    tvm.build(te.create_prim_func([x, y, z]))["main"](*pairs, compiled)
    differ = pairs[0] != pairs[1]  # of equal zeros, NumPy's float16 gives the first
    for found in (run([x, y, z], *pairs), compiled):
        np.testing.assert_array_equal(found, expected)
        signs = (np.signbit(a[differ & (expected == 0)]) for a in (found, expected))
        np.testing.assert_array_equal(*signs)


def test_next_numbers_of_integers_are_refused():
    with pytest.raises(TypeError, match="'nextafter' expects a float, got int32"):
        te.nextafter(1, 2)


def test_truth_values():
    x = te.placeholder((3, 4), "int32", name="X")
    k = te.reduce_axis((0, 4), name="k")
    values = np.array([[0, 0, 0, 0], [1, 0, 2, 0], [1, 1, 3, 4]], "int32")
    some = te.compute((3,), lambda i: te.any(x[i, k], axis=k), name="S")
    np.testing.assert_array_equal(run([x, some], values), [False, True, True])
    every = te.compute((3,), lambda i: te.all(x[i, k], axis=k), name="E")
    np.testing.assert_array_equal(run([x, every], values), [False, False, True])
    both = te.compute((3,), lambda i: te.all(x[i, 0], x[i, 1] < 1, i > 0), name="B")
    np.testing.assert_array_equal(run([x, both], values), [False, True, False])
    one = te.compute((3,), lambda i: te.any(x[i, 1] > 0, i < 1), name="O")
    np.testing.assert_array_equal(run([x, one], values), [True, False, True])


def test_a_shared_value_is_computed_once():
    x = te.placeholder((4,), "float32", name="X")
    y = te.compute((4,), lambda i: te.let(lambda e: e * e + e, te.exp(x[i])), name="Y")
    assert str(te.create_prim_func([x, y]).op).count("math.exp") == 1
    values = np.arange(4, dtype="float32") / 4
    np.testing.assert_allclose(run([x, y], values), np.exp(values) ** 2 + np.exp(values), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_recurrence(axis):
    x = te.placeholder((3, 4), "int32", name="X")

    def element(before, i, j):
        at, last = (i, (i - 1, j)) if axis == 0 else (j, (i, j - 1))
        return te.if_then_else(at > 0, before(*last) + x(i, j), x(i, j))

    y = te.recurrence((3, 4), axis, element, "int32", name="Y")
    values = np.arange(12, dtype="int32").reshape(3, 4)
    np.testing.assert_array_equal(run([x, y], values), np.cumsum(values, axis))


def test_scan():
    m, n = te.var("m"), te.var("n")
    x, a, b = (te.placeholder((m, n), name=name) for name in "xab")
    start = te.compute((1, n), lambda _, i: x[0, i])
    total = te.compute((m, n), lambda t, i: a[t - 1, i] + x[t, i])
    both = te.compute((m, n), lambda t, i: a[t - 1, i] - b[t - 1, i])
    values = np.arange(12, dtype="float32").reshape(3, 4)
    found = np.empty((3, 4), "float32")
    tvm.build(te.create_prim_func([x, te.scan(start, total, a)]))["main"](values, found)
    np.testing.assert_array_equal(found, values.cumsum(0))
    results = te.scan([start, start], [total, both], [a, b], inputs=[x])
    assert [r.value_index for r in results] == [0, 1]
    function = te.create_prim_func([x, *results])
    sums, differences = np.empty((3, 4), "float32"), np.empty((3, 4), "float32")
    tvm.build(function)["main"](values, sums, differences)
    np.testing.assert_array_equal(sums, values.cumsum(0))
    np.testing.assert_array_equal(differences[2], sums[1] - (sums[0] - values[0]))
    for wrong, kind, message in (
        (lambda: te.scan(start, total, te.placeholder((m,))), ValueError, "expected shapes of"),
        (lambda: te.scan([start], total, [a, b]), ValueError, "got 1, 1 and 2"),
        (lambda: te.scan([], [], []), ValueError, "got 0, 0 and 0"),
        (lambda: te.scan(x, total, a), TypeError, "to be computed from single elements"),
    ):
        with pytest.raises(kind, match=message):
            wrong()


def test_symbols_of_elements_alone_are_parameters():
    n = te.var("n")
    x = te.placeholder((4,), "int64", name="X")
    y = te.compute((4,), lambda i: x[i] + n, name="Y")
    function = te.create_prim_func([x, y]).op
    assert function.names == ("X", "Y", "n")


def test_constants_are_folded_as_python_does():
    for a in (-7, -1, 3):
        for b in (-3, 2):
            quotient, rest = te.const(a, "int8") // te.const(b, "int8"), te.const(a) % te.const(b)
            assert (int(quotient), int(rest)) == (a // b, a % b)


def rounded_shift(value, bits):
    """``value * 2 ** -bits`` of Python's integers, halves up, in 32 bits."""
    return (((value + (1 << bits - 1)) >> bits) + 2**31) % 2**32 - 2**31


MULTIPLIERS = np.array([2**30, 1395864371, -1395864371, 2**31 - 1, 1, 3], "int32")
FACTORS = np.array([3, -3, 2**31 - 1, -(2**31), 12345, -1], "int32")


@pytest.mark.parametrize("shift", [-3, 0, 1, 4])
def test_products_of_fixed_point_numbers(shift):
    x, y, s = (te.placeholder((6,), "int32", name=n) for n in "XYS")
    given = np.full(6, shift, "int32")
    expected = [
        rounded_shift((int(a) << max(shift, 0)) * int(b), 31 + max(-shift, 0))
        for a, b in zip(FACTORS, MULTIPLIERS, strict=True)
    ]
    for amount in (lambda i: shift, lambda i: s[i]):
        z = te.compute((6,), lambda i: te.q_multiply_shift(x[i], y[i], 31, amount(i)))
        np.testing.assert_array_equal(run([x, y, s, z], FACTORS, MULTIPLIERS, given), expected)


@pytest.mark.parametrize("left, right", [(False, False), (False, True), (True, False)])
def test_products_of_fixed_point_numbers_per_axis(left, right):
    x, y, s = (te.placeholder((6,), "int32", name=n) for n in "XYS")
    shifts = np.array([0, 1, 2, 3, 5, 8], "int32")
    z = te.compute(
        (6,),
        lambda i: te.q_multiply_shift_per_axis(x[i], y[i], s[i], s[i], 20, left, right),
    )
    expected = [
        rounded_shift((int(a) << int(n) * left) * int(b), 20 + int(n) * right)
        for a, b, n in zip(FACTORS, MULTIPLIERS, shifts, strict=True)
    ]
    np.testing.assert_array_equal(run([x, y, s, z], FACTORS, MULTIPLIERS, shifts), expected)


def test_products_of_other_numbers_are_refused():
    x = te.placeholder((6,), "int32", name="X")
    with pytest.raises(TypeError, match=r"expected 'q_multiply_shift' of int32, got int8"):
        te.q_multiply_shift(te.const(1, "int8"), 1, 31, 0)
    with pytest.raises(ValueError, match=r"expected 1 to 31 fraction bits of 'q_mul.*', got 0"):
        te.q_multiply_shift(1, 1, 0, 0)
    with pytest.raises(ValueError, match=r"expected constants for the bits and flags of 'q_mul"):
        te.q_multiply_shift(1, 1, x[0], 0)

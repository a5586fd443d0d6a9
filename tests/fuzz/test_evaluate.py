"""The fuzzer's evaluation: hand-made kernels, whose results are worked out by hand."""

import numpy as np
import pytest
from fuzzer.bounds import TINY
from fuzzer.evaluate import run
from fuzzer.numbers import Value, cast, operate, rounded
from fuzzer.syntax import Axis, Block, Buffer, Expr, Kernel, index, number, var


def load(name, *places, dtype="float32"):
    return Expr("load", dtype, places, name)


def kernel(block, inputs, *outputs):
    return Kernel("k", ("n",), tuple(inputs), (), outputs, (block,), ((5,),))


N = var("n")
X, Y = Buffer("X", "float32", (N,)), Buffer("Y", "float32", (N,))
AXIS, R = Axis("i", "spatial", N), Axis("r", "reduce", N)


def results(block, *outputs, **arrays):
    inputs = [Buffer(name, str(a.dtype), (N,) * a.ndim) for name, a in arrays.items()]
    found = run(kernel(block, inputs, *outputs), (5,), arrays)
    return [found[o.name] for o in outputs]


@pytest.mark.parametrize("form", ["plain", "split", "strided"])
def test_a_shifted_element(form):
    axis = Axis("i", "spatial", N, form, 3)
    inside = Expr("ge", "bool", (var("i"), number(1)))
    before = load("X", index("sub", var("i"), 1))
    value = Expr("if_then_else", "float32", (inside, before, number(7.0, "float32")))
    block = Block("b", (axis,), (load("Y", var("i")),), "plain", (value,))
    (y,) = results(block, Y, X=np.arange(5, dtype=np.float32))
    assert y.error is None
    np.testing.assert_array_equal(y.data, [7, 0, 1, 2, 3])


def test_an_index_out_of_bounds_is_a_mistake():
    block = Block(
        "b", (AXIS,), (load("Y", var("i")),), "plain", (load("X", index("add", var("i"), 1)),)
    )
    with pytest.raises(IndexError, match="an index of X leaves"):
        results(block, Y, X=np.zeros(5, np.float32))


def test_sums_of_whole_numbers_are_exact_and_others_have_a_bound():
    total = Buffer("Y", "float32", ())
    block = Block(
        "b", (R,), (load("Y"),), "reduce", (number(1.0, "float32"), load("X", var("r"))), "add"
    )
    (y,) = results(block, total, X=np.arange(5, dtype=np.float32))
    assert (y.data, y.error) == (11, None)
    (y,) = results(block, total, X=np.full(5, 0.1, np.float32))
    assert abs(y.data - 1.5) < 1e-6 and 1e-8 < y.error < 1e-5


def test_a_sum_of_denormal_products_has_the_bound_of_fused_ones():
    unit = np.float32(TINY["float32"])
    product = Expr("mul", "float32", (load("X", var("r")), number(1.5, "float32")))
    value = (number(float(unit), "float32"), product)
    block = Block("b", (R,), (load("Y"),), "reduce", value, "add")
    (y,) = results(block, Buffer("Y", "float32", ()), X=np.full(5, unit))
    fused = unit
    for _ in range(5):  # exact in float64, rounded once
        fused = np.float32(float(fused) + 1.5 * float(unit))
    assert (y.data, fused) == (11 * unit, 10 * unit)
    assert float(unit) <= y.error < 16 * float(unit)


@pytest.mark.parametrize(
    ("terms", "is_known"),
    [((2, 3, 0, 5, 7), True), ((0, 1e20, 1e20, 1, 1), False), ((1e-30, 1, 1e-30, 1, 1e30), False)],
)
def test_products_that_another_order_may_overflow_or_lose_are_unknown(terms, is_known):
    value = (number(1.0, "float32"), load("X", var("r")))
    block = Block("b", (R,), (load("Y"),), "reduce", value, "mul")
    (y,) = results(block, Buffer("Y", "float32", ()), X=np.float32(terms))
    assert np.isfinite(y.bound) == is_known


@pytest.mark.parametrize(("size", "expected"), [(5, 11), (0, 3)])
def test_a_reduction_over_nothing_is_what_it_starts_with(size, expected):
    block = Block(
        "b",
        (Axis("r", "reduce", number(size)),),
        (load("Y"),),
        "reduce",
        (number(3.0, "float32"), load("X", var("r"))),
        "max",
    )
    (y,) = results(block, Buffer("Y", "float32", ()), X=np.float32([1, 2, 11, 4, 5]))
    assert y.data == expected


def largest(term, *data):
    """The largest term, and its place."""
    targets = (load("Y"), load("P", dtype="int32"))
    block = Block("b", (R,), targets, "argument", (term, number(-1e30, "float32")), "max")
    outputs = Buffer("Y", "float32", ()), Buffer("P", "int32", ())
    return results(block, *outputs, X=np.float32(data))


def test_the_first_of_equal_extremes_is_the_place():
    y, p = largest(load("X", var("r")), 1, 4, 2, 4, 0)
    assert (y.data, p.data) == (4, 1)
    assert (y.error, p.error) == (None, None)


@pytest.mark.parametrize(("data", "place_bound"), [((1, 3, 4, 2, 0), 0), ((3, 1, 4, 4, 0), np.inf)])
def test_the_place_of_inexact_extremes_is_known_where_they_are_apart(data, place_bound):
    y, p = largest(Expr("exp", "float32", (load("X", var("r")),)), *data)
    assert 0 < y.bound < 1e-3
    assert (p.data, p.bound) == (2, place_bound)


OPERATIONS = [
    ("add", "int8", [127, 1], -128),
    ("mul", "uint16", [60000, 2], 54464),
    ("floordiv", "int32", [-7, 2], -4),
    ("floordiv", "int32", [7, 0], 0),
    ("floormod", "int32", [-7, 2], 1),
    ("floormod", "int32", [-7, 0], 0),
    ("truncdiv", "int32", [-7, 2], -3),
    ("truncmod", "int32", [-7, 2], -1),
    ("shl", "uint8", [3, 9], 0),
    ("shr", "int8", [-3, 9], -1),
    ("max", "float32", [np.nan, 1], np.nan),
    ("add", "bfloat16", [256, 1], 256),
    ("round", "float64", [2.5], 2),
]


@pytest.mark.parametrize(("op", "dtype", "args", "expected"), OPERATIONS)
def test_operations(op, dtype, args, expected):
    values = [Value(dtype, rounded(np.array([a]), dtype)) for a in args]
    found = operate(op, dtype, values)
    assert found.error is None
    np.testing.assert_array_equal(found.data, [expected])


CASTS = [
    ("float32", "int8", 300, 127),
    ("float32", "uint8", -3, 0),
    ("float64", "int64", 1e30, 2**63 - 1),
    ("float32", "int32", np.nan, 0),
    ("int32", "uint8", -1, 255),
    ("float32", "bool", 0.5, True),
]


@pytest.mark.parametrize(("source", "target", "value", "expected"), CASTS)
def test_casts(source, target, value, expected):
    found = cast(Value(source, rounded(np.array([value]), source)), target)
    assert found.data[0] == expected


X32 = "float32"


def inexact(*data, error=0.1, dtype=X32):
    return Value(dtype, np.array(data, dtype), np.broadcast_to(error, len(data)).astype(float))


def exact(*data, dtype=X32):
    return Value(dtype, np.array(data, dtype))


UNKNOWN = inexact(1.0, np.nan, error=np.inf)
BOUNDS = [
    ("lt", [inexact(1, 5), exact(1, 1)], [np.inf, 0]),
    ("eq", [UNKNOWN, exact(1, 1)], [np.inf, np.inf]),
    ("mul", [UNKNOWN, exact(0, 0)], [np.inf, np.inf]),
    ("mul", [inexact(np.inf, 3, error=(0, np.inf)), exact(1, 1)], [0, np.inf]),
    ("add", [inexact(3.4e38, 1.0, error=(1e37, 0)), exact(0, 0)], [np.inf, 0]),
    ("tanh", [UNKNOWN], [np.inf, np.inf]),
    ("sin", [inexact(0, 0, error=(np.pi, 0))], [np.pi, 1e-44]),
    ("log", [inexact(0, 0, error=(1e-9, 0))], [np.inf, 0]),
    ("rsqrt", [inexact(-1e-9, -1, error=(1e-8, 0))], [np.inf, 0]),
    ("exp", [inexact(88.72284, 1000, error=1e-6)], [np.inf, 0]),
    ("floor", [inexact(2.5, 3.05)], [0, 1]),
    ("div", [exact(5e-45, 1.0), exact(6, 6)], [2e-45, 0]),
]


@pytest.mark.parametrize(("op", "args", "bounds"), BOUNDS)
def test_bounds_of_inexact_numbers(op, args, bounds):
    found = operate(op, "bool" if op in ("lt", "eq") else X32, args)
    np.testing.assert_allclose(found.bound, bounds, rtol=1, atol=1e-45)


@pytest.mark.parametrize(("dtype", "bounds"), [("int8", [np.inf, 0]), ("bool", [0, 0])])
def test_conversions_of_inexact_numbers_are_exact_where_all_near_ones_are_the_same(dtype, bounds):
    np.testing.assert_array_equal(cast(inexact(3.05, 2.5), dtype).bound, bounds)
    assert np.isinf(cast(inexact(0.0), "bool").bound)


def quotients(values):
    return operate("div", X32, [exact(*np.ones(len(values.data))), values])


def test_either_zero_is_the_smaller_one():
    """What is divided by it may be infinite with either sign; nothing else depends on that."""
    zeros, others = exact(0.0, -0.0, 0.0, 1.0), exact(-0.0, 0.0, 0.0, 2.0)
    least = operate("min", X32, [zeros, others])
    np.testing.assert_array_equal(quotients(least).bound, [np.inf, np.inf, 0, 0])
    assert operate("eq", "bool", [least, zeros]).error is None
    assert cast(least, "int32").error is None
    for op, is_known in (("abs", True), ("neg", False), ("sqrt", False), ("floor", False)):
        assert np.isfinite(quotients(operate(op, X32, [least])).bound[0]) == is_known


@pytest.mark.parametrize("combine", ["add", "mul"])
def test_a_reduction_may_be_a_zero_of_either_sign(combine):
    value = (number(0.0, X32), load("X", var("r")))
    block = Block("b", (R,), (load("Y"),), "reduce", value, combine)
    (y,) = results(block, Buffer("Y", X32, ()), X=np.float32([-1, 1, 2, -2, 0]))
    assert (y.data, y.error) == (0, None)
    assert np.isinf(quotients(y.at(np.newaxis)).bound)


def test_infinities_are_those_of_the_terms():
    value = (number(0.0, X32), load("X", var("r")))
    block = Block("b", (R,), (load("Y"),), "reduce", value, "add")
    (y,) = results(block, Buffer("Y", X32, ()), X=np.float32([0.1, np.inf, 2, 3, 4]))
    assert (y.data, y.error) == (np.inf, None)


def test_denormal_numbers_of_bfloat16_may_be_zeros():
    data = np.array([1e-40, -(2.0**-130), 0, 2.0**-125, 1], np.float32)
    for found in (
        cast(Value("float32", data), "bfloat16"),
        operate("add", "bfloat16", [Value("bfloat16", data), Value("bfloat16", 0 * data)]),
    ):
        np.testing.assert_array_equal(found.bound > 0, [True, True, False, False, False])
        assert (np.abs(found.data) <= found.bound)[:2].all()

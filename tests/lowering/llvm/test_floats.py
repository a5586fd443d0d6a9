"""`arith` and `math` on floats: every dtype, rounding after each operation, NaN and signed zero."""

import math

import numpy as np
import pytest

from xrelax.runtime import from_numpy
from xrelax.runtime.dtype import bfloat16_to_float32, to_bfloat16
from xrelax.runtime.layout import Layout
from xrelax.runtime.tensor import Tensor

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
AWKWARD = np.array(
    [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 3.5, np.inf, -np.inf, np.nan, 100, -100, 0.3, 0.7, 1e-3]
)


def bfloat16(values: np.ndarray) -> Tensor:
    """A tensor of the nearest bfloat16 numbers."""
    bits = from_numpy(to_bfloat16(values.astype(np.float32)))
    return Tensor(bits.address, Layout(bits.shape, "bfloat16"), bits)


def pairs() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(AWKWARD, AWKWARD)
    return x.ravel(), y.ravel()


BINARY = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}


@pytest.mark.parametrize("lanes", [0, 16])
@pytest.mark.parametrize("kind", DTYPES)
def test_arithmetic_is_exact(elementwise, kind, lanes):
    x, y = (a.astype(DTYPES[kind]) for a in pairs())
    for name, function in BINARY.items():
        found = elementwise(f"%r = arith.{name} %x0, %x1 : {{T}}", kind, kind, x, y, lanes=lanes)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found.numpy(), function(x, y), err_msg=name)


@pytest.mark.parametrize("lanes", [0, 16])
def test_bfloat16_rounds_after_each_operation(elementwise, lanes):
    x, y = pairs()
    a, b = (bfloat16_to_float32(to_bfloat16(v.astype(np.float32))) for v in (x, y))
    body = "%p = arith.mulf %x0, %x1 : {T}\n%r = arith.addf %p, %x1 : {T}"
    found = elementwise(body, "bf16", "bf16", bfloat16(x), bfloat16(y), lanes=lanes)
    with np.errstate(all="ignore"):
        product = bfloat16_to_float32(to_bfloat16(a * b))
        expected = bfloat16_to_float32(to_bfloat16(product + b))
    np.testing.assert_array_equal(found.numpy(), expected)
    assert found.dtype == "bfloat16"


@pytest.mark.parametrize("kind", DTYPES)
def test_maximum_propagates_nan_and_maxnum_does_not(elementwise, kind):
    x, y = (a.astype(DTYPES[kind]) for a in pairs())
    functions = {
        "maximumf": np.maximum,
        "minimumf": np.minimum,
        "maxnumf": np.fmax,
        "minnumf": np.fmin,
    }
    for name, function in functions.items():
        found = elementwise(f"%r = arith.{name} %x0, %x1 : {kind}", kind, kind, x, y).numpy()
        np.testing.assert_array_equal(found, function(x, y), err_msg=name)
    largest = elementwise(f"%r = arith.maximumf %x0, %x1 : {kind}", kind, kind, x, y).numpy()
    zeros = (x == 0) & (y == 0)
    both_negative = np.signbit(x[zeros]) & np.signbit(y[zeros])
    np.testing.assert_array_equal(np.signbit(largest[zeros]), both_negative)


@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
@pytest.mark.parametrize("kind", DTYPES)
def test_maximum_with_zero(elementwise, kind, zero):
    x = np.array([-np.inf, -1, -0.0, 0, 1, np.inf, np.nan, -np.nan]).astype(DTYPES[kind])
    body = f"%zero = arith.constant {zero} : {kind}\n%r = arith.maximumf %x0, %zero : {kind}"
    found = elementwise(body, kind, kind, x).numpy()
    np.testing.assert_array_equal(found, np.maximum(x, float(zero)))
    np.testing.assert_array_equal(np.signbit(found[2:4]), [zero == "-0.0", False])


def test_every_comparison(elementwise):
    x, y = (a.astype(np.float32) for a in pairs())
    unordered = np.isnan(x) | np.isnan(y)
    ordered = {
        "eq": (x == y),
        "gt": x > y,
        "ge": x >= y,
        "lt": x < y,
        "le": x <= y,
        "ne": (x != y) & ~unordered,
    }
    expected = {f"o{name}": value for name, value in ordered.items()}
    expected |= {f"u{name}": value | unordered for name, value in ordered.items()}
    expected |= {"ord": ~unordered, "uno": unordered}
    expected |= {"false": np.zeros_like(unordered), "true": np.ones_like(unordered)}
    for name, value in expected.items():
        found = elementwise(f"%r = arith.cmpf {name}, %x0, %x1 : f32", "f32", "i1", x, y).numpy()
        np.testing.assert_array_equal(found, value, err_msg=name)


def test_comparison_and_choice_of_bfloat16(elementwise):
    x, y = pairs()
    body = "%c = arith.cmpf olt, %x0, %x1 : bf16\n%r = arith.select %c, %x0, %x1 : bf16"
    found = elementwise(body, "bf16", "bf16", bfloat16(x), bfloat16(y)).numpy()
    a, b = bfloat16(x).numpy(), bfloat16(y).numpy()
    np.testing.assert_array_equal(found, np.where(a < b, a, b))


UNARY = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "roundeven": np.rint,
    "rsqrt": lambda v: 1 / np.sqrt(v),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "round": lambda v: np.trunc(v) + np.sign(v) * (np.abs(v - np.trunc(v)) >= 0.5),
}
TOLERANCE = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6, "f64": 1e-14}


@pytest.mark.sampled
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("kind", TOLERANCE)
def test_functions(elementwise, kind, lanes):
    values = AWKWARD if kind != "f16" else np.clip(AWKWARD, -10, 10)
    x = bfloat16(values) if kind == "bf16" else values.astype(DTYPES[kind])
    exact = (x.numpy() if isinstance(x, Tensor) else x).astype(np.float64)
    for name, function in UNARY.items():
        found = elementwise(f"%r = math.{name} %x0 : {{T}}", kind, kind, x, lanes=lanes).numpy()
        with np.errstate(all="ignore"):
            expected = function(exact).astype(found.dtype)
            expected = bfloat16(expected).numpy() if kind == "bf16" else expected
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[kind], atol=0, err_msg=name)


@pytest.mark.parametrize("kind", DTYPES)
def test_functions_of_two_numbers(elementwise, kind):
    x, y = (a.astype(DTYPES[kind]) for a in pairs())
    functions = {"atan2": np.arctan2, "copysign": np.copysign, "powf": np.power}
    for name, function in functions.items():
        found = elementwise(f"%r = math.{name} %x0, %x1 : {kind}", kind, kind, x, y).numpy()
        with np.errstate(all="ignore"):
            expected = function(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[kind], err_msg=name)


def test_float_to_integer_power(elementwise):
    x = np.array([2.0, -3.0, 0.5, 1.0, -1.0, 1.5], np.float32)
    n = np.array([10, 3, -2, -7, 5, 0], np.int32)
    found = elementwise("%r = math.fpowi %x0, %x1 : f32, i32", ["f32", "i32"], "f32", x, n).numpy()
    np.testing.assert_array_equal(found, x.astype(np.float64) ** n)


@pytest.mark.parametrize("kind", DTYPES)
def test_fused_multiply_add_rounds_once(elementwise, kind):
    dtype = DTYPES[kind]
    tiny = np.finfo(dtype).eps
    x, y = np.array([1 + tiny, 3], dtype), np.array([1 - tiny, 5], dtype)
    z = np.array([-1, 7], dtype)
    found = elementwise(f"%r = math.fma %x0, %x1, %x2 : {kind}", kind, kind, x, y, z).numpy()
    np.testing.assert_array_equal(found, np.array([-(float(tiny) ** 2), 22], dtype))

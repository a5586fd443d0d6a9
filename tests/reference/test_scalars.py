"""Every scalar operation, exact in its dtype, against NumPy and Python."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from xdsl.dialects.arith import Arith
from xdsl.dialects.math import Math

from xrelax.reference.math_ops import MATH
from xrelax.reference.scalars import SCALARS

INF, NAN = np.inf, np.nan
SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, INF, -INF, NAN, 2.5, 3e38], "float32")


def pairs(values):
    left, right = np.meshgrid(values, values)
    return np.ascontiguousarray(left.ravel()), np.ascontiguousarray(right.ravel())


def test_every_operation_of_arith_and_math_has_a_reference():
    missing = {op.name for op in (*Arith.operations, *Math.operations)} - {*SCALARS, *MATH}
    assert missing == {"arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended"}


@pytest.mark.parametrize(
    ("op", "function"),
    [("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide)],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_float_arithmetic_rounds_to_its_dtype(elementwise, op, function, dtype):
    x, y = pairs(np.array([0.1, 3.0, -7.3, 1e-3, 1000.7, 60000.0], dtype))
    element = {"float16": "f16", "float32": "f32", "float64": "f64"}[dtype]
    with np.errstate(over="ignore"):
        expected = function(x, y)
    found = elementwise(f"%r = arith.{op} %a, %b : {element}", [x, y], dtype)
    np.testing.assert_array_equal(found, expected)


def test_float32_addition_is_not_done_in_float64(elementwise):
    x, y = np.array([16777216.0], "float32"), np.array([1.0], "float32")
    assert elementwise("%r = arith.addf %a, %b : f32", [x, y], "float32")[0] == 16777216.0


def bf16(value: float) -> int:
    """The bits of the nearest bfloat16, ties to even, by exact arithmetic."""
    candidates = np.arange(0x7F80, dtype=np.uint32)
    exact = (candidates << 16).view(np.float32).astype(np.float64)
    distance = np.abs(exact - abs(value))
    best = np.flatnonzero(distance == distance.min())
    chosen = next(int(b) for b in best if len(best) == 1 or b % 2 == 0)
    return chosen | (0x8000 if value < 0 else 0)


def test_bfloat16_rounds_to_nearest_even(elementwise):
    x = np.array([1.0, 1.00390625, 1.01171875, -3.14159, 1e-40, 255.5], "float32")
    found = elementwise("%r = arith.truncf %a : f32 to bf16", [x], "bfloat16")
    assert [int(b) for b in found] == [bf16(float(v)) for v in x]


def test_bfloat16_of_float64_is_rounded_once(elementwise):
    # 1 + 2^-8 is half way between two bfloat16 values; float32 would drop the last bit.
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8 - 2.0**-40], "float64")
    found = elementwise("%r = arith.truncf %a : f64 to bf16", [x], "bfloat16")
    assert [int(b) for b in found] == [0x3F81, 0x3F80, 0x3F81]


def test_bfloat16_arithmetic_rounds_every_operation(elementwise):
    x = np.array([bf16(256.0), bf16(1.0)], "uint16")
    y = np.array([bf16(1.0), bf16(0.00390625)], "uint16")
    found = elementwise(
        "%r = arith.addf %a, %b : bf16", [x, y], "bfloat16", ["bfloat16", "bfloat16"]
    )
    assert [int(b) for b in found] == [bf16(256.0), bf16(1.0)]


def test_maximumf_and_minimumf_propagate_nan_and_order_zeros(elementwise):
    x, y = pairs(SPECIAL)
    for op, pick in (("maximumf", max), ("minimumf", min)):
        found = elementwise(f"%r = arith.{op} %a, %b : f32", [x, y], "float32")
        for a, b, got in zip(x, y, found, strict=True):
            if math.isnan(a) or math.isnan(b):
                assert math.isnan(got)
            else:
                expected = pick((a, math.copysign(1, a)), (b, math.copysign(1, b)))
                assert (got, math.copysign(1, got)) == expected


def test_maxnumf_and_minnumf_prefer_numbers(elementwise):
    x, y = pairs(SPECIAL)
    for op, function in (("maxnumf", np.fmax), ("minnumf", np.fmin)):
        found = elementwise(f"%r = arith.{op} %a, %b : f32", [x, y], "float32")
        np.testing.assert_array_equal(found, function(x, y))


INTEGERS = np.array([-128, -127, -7, -2, -1, 1, 2, 3, 7, 100, 127], "int8")


def wrap(value: int) -> int:
    return (value + 128) % 256 - 128


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("addi", lambda a, b: a + b),
        ("subi", lambda a, b: a - b),
        ("muli", lambda a, b: a * b),
        ("divsi", lambda a, b: abs(a) // abs(b) * (1 if a * b > 0 else -1)),
        ("divui", lambda a, b: (a % 256) // (b % 256)),
        ("floordivsi", lambda a, b: a // b),
        ("ceildivsi", lambda a, b: -(-a // b)),
        ("ceildivui", lambda a, b: -(-(a % 256) // (b % 256))),
        ("remsi", lambda a, b: int(math.fmod(a, b))),
        ("remui", lambda a, b: (a % 256) % (b % 256)),
        ("minsi", min),
        ("maxsi", max),
        ("minui", lambda a, b: min(a % 256, b % 256)),
        ("maxui", lambda a, b: max(a % 256, b % 256)),
        ("andi", lambda a, b: a & b),
        ("ori", lambda a, b: a | b),
        ("xori", lambda a, b: a ^ b),
        ("shli", lambda a, b: a << (b % 256) if b % 256 < 8 else 0),
        ("shrsi", lambda a, b: a >> min(b % 256, 100)),
        ("shrui", lambda a, b: (a % 256) >> (b % 256)),
    ],
)
def test_integers_wrap(elementwise, op, function):
    x, y = pairs(INTEGERS)
    found = elementwise(f"%r = arith.{op} %a, %b : i8", [x, y], "int8")
    expected = [wrap(function(int(a), int(b))) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(found, expected)


def test_unsigned_buffers_hold_signless_values(elementwise):
    x, y = np.array([200, 3], "uint8"), np.array([100, 255], "uint8")
    np.testing.assert_array_equal(
        elementwise("%r = arith.addi %a, %b : i8", [x, y], "uint8"), x + y
    )
    np.testing.assert_array_equal(
        elementwise("%r = arith.divui %a, %b : i8", [x, y], "uint8"), x // y
    )


@pytest.mark.parametrize("op", ["addi", "subi", "xori", "muli", "andi", "maxui", "minsi"])
def test_bool_arithmetic_is_modulo_two(elementwise, op):
    x, y = pairs(np.array([False, True]))
    expected = {"muli": x & y, "andi": x & y, "maxui": x | y, "minsi": x | y}.get(op, x ^ y)
    np.testing.assert_array_equal(
        elementwise(f"%r = arith.{op} %a, %b : i1", [x, y], "bool"), expected
    )


@pytest.mark.parametrize(
    ("predicate", "function", "view"),
    [
        ("eq", np.equal, "int8"),
        ("ne", np.not_equal, "int8"),
        ("slt", np.less, "int8"),
        ("sle", np.less_equal, "int8"),
        ("sgt", np.greater, "int8"),
        ("sge", np.greater_equal, "int8"),
        ("ult", np.less, "uint8"),
        ("ule", np.less_equal, "uint8"),
        ("ugt", np.greater, "uint8"),
        ("uge", np.greater_equal, "uint8"),
    ],
)
def test_integer_comparisons(elementwise, predicate, function, view):
    x, y = pairs(INTEGERS)
    found = elementwise(f"%r = arith.cmpi {predicate}, %a, %b : i8", [x, y], "bool")
    np.testing.assert_array_equal(found, function(x.view(view), y.view(view)))


def test_true_is_minus_one_when_signed(elementwise):
    x, y = pairs(np.array([False, True]))
    np.testing.assert_array_equal(
        elementwise("%r = arith.cmpi slt, %a, %b : i1", [x, y], "bool"), x & ~y
    )
    np.testing.assert_array_equal(
        elementwise("%r = arith.cmpi ult, %a, %b : i1", [x, y], "bool"), ~x & y
    )


ORDERED = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def test_float_comparisons(elementwise):
    x, y = pairs(SPECIAL)
    nan = np.isnan(x) | np.isnan(y)
    expected = {"false": x != x + np.nan, "true": nan | True, "ord": ~nan, "uno": nan}
    expected["false"] = nan & False
    expected |= {"one": (x != y) & ~nan, "une": x != y}
    for name, function in ORDERED.items():
        expected |= {f"o{name}": function(x, y) & ~nan, f"u{name}": function(x, y) | nan}
    assert len(expected) == 16
    for predicate, values in expected.items():
        found = elementwise(f"%r = arith.cmpf {predicate}, %a, %b : f32", [x, y], "bool")
        np.testing.assert_array_equal(found, values, predicate)


def test_select(elementwise):
    c, x = np.array([True, False, True]), np.array([1, 2, 3], "int32")
    found = elementwise("%r = arith.select %a, %b, %c : i32", [c, x, -x], "int32")
    np.testing.assert_array_equal(found, [1, -2, 3])


@pytest.mark.parametrize(
    ("line", "source", "target", "values", "expected"),
    [
        ("fptosi %a : f32 to i8", "float32", "int8", [1.9, -1.9, 300, NAN], [1, -1, 127, 0]),
        ("fptoui %a : f32 to i8", "float32", "uint8", [1.9, -3, 255.5, NAN], [1, 0, 255, 0]),
        ("fptosi %a : f64 to i64", "float64", "int64", [INF, 1e9], [2**63 - 1, 10**9]),
        ("sitofp %a : i8 to f32", "int8", "float32", [-1, 127], [-1.0, 127.0]),
        ("uitofp %a : i8 to f32", "uint8", "float32", [255, 127], [255.0, 127.0]),
        ("sitofp %a : i1 to f32", "bool", "float32", [True, False], [-1.0, 0.0]),
        ("uitofp %a : i1 to f32", "bool", "float32", [True, False], [1.0, 0.0]),
        ("sitofp %a : i64 to f32", "int64", "float32", [2**24 + 1, 2**62 + 1], [2.0**24, 2.0**62]),
        ("extsi %a : i8 to i32", "int8", "int32", [-1, 5], [-1, 5]),
        ("extui %a : i8 to i32", "uint8", "int32", [255, 5], [255, 5]),
        ("extsi %a : i1 to i32", "bool", "int32", [True, False], [-1, 0]),
        ("extui %a : i1 to i32", "bool", "int32", [True, False], [1, 0]),
        ("trunci %a : i32 to i8", "int32", "int8", [300, -129], [44, 127]),
        ("trunci %a : i32 to i1", "int32", "bool", [2, 3, -1], [False, True, True]),
        ("truncf %a : f64 to f32", "float64", "float32", [0.1, 1e300], [np.float32(0.1), INF]),
        ("extf %a : f16 to f32", "float16", "float32", [0.1, INF], [np.float16(0.1), INF]),
        ("bitcast %a : f32 to i32", "float32", "int32", [1.0, -0.0], [0x3F800000, -(2**31)]),
        ("bitcast %a : i16 to f16", "int16", "float16", [0x3C00], [1.0]),
    ],
)  # fmt: skip
def test_casts(elementwise, line, source, target, values, expected):
    found = elementwise(f"%r = arith.{line}", [np.array(values, source)], target)
    np.testing.assert_array_equal(found, np.array(expected, target))


def test_bitcast_of_bfloat16(elementwise):
    bits = np.array([0x3F80, 0xC049], "uint16")
    found = elementwise("%r = arith.bitcast %a : bf16 to i16", [bits], "uint16", ["bfloat16"])
    np.testing.assert_array_equal(found, bits)


@pytest.mark.parametrize(
    "name", ["divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui"]
)
def test_division_by_zero_gives_zero(elementwise, name):
    x, y = np.array([7, -7, 0], "int32"), np.array([0, 0, 0], "int32")
    found = elementwise(f"%r = arith.{name} %a, %b : i32", [x, y], "int32")
    np.testing.assert_array_equal(found, np.zeros(3, "int32"))


def test_remainder_of_floats(elementwise):
    x = np.array([7.5, -7.5, 1e30, 1.0, INF, 1.0], "float32")
    y = np.array([2.0, 2.0, 3.0, INF, 2.0, 0.0], "float32")
    found = elementwise("%r = arith.remf %a, %b : f32", [x, y], "float32")
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, np.fmod(x, y))


FUNCTIONS = {
    "absf": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos,
    "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor,
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "roundeven": np.rint,
    "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "trunc": np.trunc,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_are_rounded_once(elementwise, name, dtype):
    x = np.array([0.0, -0.0, 0.3, -0.7, 1.0, 2.5, 3.5, INF, NAN, 1e-3], dtype)
    element = {"float16": "f16", "float32": "f32", "float64": "f64"}[dtype]
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](x.astype("float64")).astype(dtype)
    np.testing.assert_array_equal(
        elementwise(f"%r = math.{name} %a : {element}", [x], dtype), expected
    )


def test_other_functions(elementwise):
    x = np.array([0.5, 1.5, -2.5, 0.49999997, 4.0], "float32")
    y = np.array([2.0, -1.0, 3.0, 0.0, 0.5], "float32")
    n = np.array([2, -1, 3, 0, 1], "int32")
    erf = np.array([math.erf(v) for v in x], "float32")
    np.testing.assert_array_equal(elementwise("%r = math.erf %a : f32", [x], "float32"), erf)
    np.testing.assert_array_equal(
        elementwise("%r = math.round %a : f32", [x], "float32"), [1, 2, -3, 0, 4]
    )
    rsqrt = (1 / np.sqrt(np.abs(x).astype("f8"))).astype("f4")
    np.testing.assert_array_equal(
        elementwise("%r = math.rsqrt %a : f32", [np.abs(x)], "float32"), rsqrt
    )
    with np.errstate(all="ignore"):
        power = np.power(x.astype("f8"), y).astype("f4")
    np.testing.assert_array_equal(
        elementwise("%r = math.powf %a, %b : f32", [x, y], "float32"), power
    )
    atan2 = np.arctan2(x.astype("f8"), y).astype("f4")
    np.testing.assert_array_equal(
        elementwise("%r = math.atan2 %a, %b : f32", [x, y], "float32"), atan2
    )
    copied = elementwise("%r = math.copysign %a, %b : f32", [x, y], "float32")
    np.testing.assert_array_equal(copied, np.copysign(x, y))
    integer_power = elementwise("%r = math.fpowi %a, %b : f32, i32", [x, n], "float32")
    np.testing.assert_array_equal(integer_power, np.power(x.astype("f8"), n).astype("f4"))


def test_integer_functions(elementwise):
    x = np.array([0, 1, -1, 40, -128, 127], "int8")
    found = {
        n: elementwise(f"%r = math.{n} %a : i8", [x], "int8")
        for n in ("absi", "ctlz", "cttz", "ctpop")
    }
    np.testing.assert_array_equal(found["absi"], [0, 1, 1, 40, -128, 127])
    np.testing.assert_array_equal(found["ctlz"], [8, 7, 0, 2, 0, 1])
    np.testing.assert_array_equal(found["cttz"], [8, 0, 0, 3, 7, 0])
    np.testing.assert_array_equal(found["ctpop"], [0, 1, 8, 2, 1, 7])
    base, exponent = np.array([3, -2, -1, 5, 1], "int32"), np.array([21, 3, -3, -1, -2], "int32")
    power = elementwise("%r = math.ipowi %a, %b : i32", [base, exponent], "int32")
    np.testing.assert_array_equal(power, [np.int64(3**21).astype("int32"), -8, -1, 0, 1])


@pytest.mark.parametrize(
    ("dtype", "element"), [("float16", "f16"), ("float32", "f32"), ("float64", "f64")]
)
def test_fma_is_rounded_once(elementwise, dtype, element):
    rng = np.random.default_rng(1)
    scale = np.array([2.0**e for e in rng.integers(-8, 8, 400)])
    x, y = (rng.standard_normal(400).astype(dtype) for _ in range(2))
    z = (-(x.astype("f8") * y) * (1 + rng.choice([0, 2.0**-11, 2.0**-24, 2.0**-53], 400))).astype(
        dtype
    )
    z[200:] = (z[200:] * scale[200:]).astype(dtype)
    found = elementwise(f"%r = math.fma %a, %b, %c : {element}", [x, y, z], dtype)
    for a, b, c, got in zip(x, y, z, found, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        assert abs(Fraction(float(got)) - exact) <= abs(
            Fraction(float(np.nextafter(got, dtype_inf(dtype)))) - exact
        )
        assert abs(Fraction(float(got)) - exact) <= abs(
            Fraction(float(np.nextafter(got, -dtype_inf(dtype)))) - exact
        )


def dtype_inf(dtype):
    return np.dtype(dtype).type(np.inf)


def test_fma_of_extremes(elementwise):
    x = np.array([1e300, 1e-300, INF, NAN, 1e300, 0.0], "float64")
    y = np.array([1e300, 1e-300, 0.0, 1.0, -1e300, 5.0], "float64")
    z = np.array([1.0, 1e-320, 1.0, 1.0, INF, -0.0], "float64")
    found = elementwise("%r = math.fma %a, %b, %c : f64", [x, y, z], "float64")
    np.testing.assert_array_equal(found, [INF, 1e-320, NAN, NAN, INF, 0.0])

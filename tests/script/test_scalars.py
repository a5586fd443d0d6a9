"""Scalar expressions of TensorIR: literals, functions, dtype rules, against NumPy."""

import ast
import math

import numpy as np
import pytest

F8 = 'X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")'
X8 = np.linspace(-3, 4, 8, dtype="float32")
I8 = 'X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")'
N8 = np.array([-7, -2, -1, 0, 1, 5, 8, 100], "int32")

LITERALS = {
    'T.float32("inf")': np.inf,
    'T.float32("-inf")': -np.inf,
    'T.float32("nan")': np.nan,
    "T.float32(0.1)": np.float32(0.1),
    "T.float16(0.1)": np.float16(0.1),
    "7": 7,
    "True": 1,
    "T.int8(-5)": -5,
    "T.uint8(255)": 255,
    "T.float64(1) / 3": np.float32(1 / 3),
    "T.bfloat16(1.01)": 1.0078125,
    "T.bfloat16(1.00390625)": 1.0,
    "T.bfloat16(1.0039062501)": 1.0078125,
    'T.max_value("int8")': 127,
    'T.min_value("float32")': np.finfo("float32").min,
    'T.infinity("float32")': np.inf,
    "float('inf')": np.inf,
    'T.Cast("uint8", 300)': 44,
    "T.int64(2 ** 40)": 2.0**40,
    'T.IntImm("int64", 7) // 2': 3,
    'T.FloatImm("float32", 0.1)': np.float32(0.1),
    'T.reinterpret("float32", T.int32(1065353216))': 1.0,
    "T.int32(T.float32(2.75))": 2,
    "T.uint8(200) + T.uint8(100)": 44,
    "-T.uint8(1)": 255,
    "T.ceildiv(7, 2)": 4,
    "~T.int8(5)": -6,
    "T.int32(1) << 4": 16,
    "T.uint8(240) >> 4": 15,
    "T.int8(-16) >> 2": -4,
}


@pytest.mark.parametrize("text", LITERALS)
def test_literals(run, text):
    y = run(
        'X: T.Buffer((1,), "float32"), Y: T.Buffer((1,), "float32")',
        f"Y[0] = {text}",
        np.ones(1, "float32"),
    )
    np.testing.assert_array_equal(y[0], np.float32(LITERALS[text]))


def c(function):
    return np.vectorize(function, otypes=["float32"])


FLOATS = {
    "T.exp(x)": np.exp,
    "T.exp2(x)": np.exp2,
    "T.expm1(x)": np.expm1,
    "T.log(a)": np.log,
    "T.log2(a)": np.log2,
    "T.log10(a)": np.log10,
    "T.log1p(a)": np.log1p,
    "T.sqrt(a)": np.sqrt,
    "T.rsqrt(a)": lambda a: 1 / np.sqrt(a),
    "T.sin(x)": np.sin,
    "T.cos(x)": np.cos,
    "T.tan(x)": np.tan,
    "T.asin(u)": np.arcsin,
    "T.acos(u)": np.arccos,
    "T.atan(x)": np.arctan,
    "T.sinh(x)": np.sinh,
    "T.cosh(x)": np.cosh,
    "T.tanh(x)": np.tanh,
    "T.asinh(x)": np.arcsinh,
    "T.acosh(a + 1)": lambda a: np.arccosh(a + 1),
    "T.atanh(u)": np.arctanh,
    "T.erf(x)": c(math.erf),
    "T.floor(x)": np.floor,
    "T.ceil(x)": np.ceil,
    "T.trunc(x)": np.trunc,
    "T.round(x)": np.round,
    "T.nearbyint(x)": np.rint,
    "T.fabs(x)": np.abs,
    "T.abs(x)": np.abs,
    "abs(x)": np.abs,
    "T.pow(a, 2.5)": lambda a: a**2.5,
    "T.power(a, 2)": lambda a: a**2,
    "a ** 2": lambda a: a**2,
    "T.atan2(x, a)": np.arctan2,
    "T.copysign(a, x)": np.copysign,
    "T.nextafter(x, a)": np.nextafter,
    "T.fma(x, x, x)": lambda x: x * x + x,
    "T.sigmoid(x)": lambda x: 1 / (1 + np.exp(-x)),
    "T.max(x, 0.5)": lambda x: np.maximum(x, 0.5),
    "T.min(0.5, x, x * x)": lambda x: np.minimum(np.minimum(0.5, x), x * x),
    "min(x, 0)": lambda x: np.minimum(x, 0),
    "-x": np.negative,
    "x / a": np.divide,
    "x // a": np.floor_divide,
    "x % a": np.mod,
    "T.fmod(x, a)": np.fmod,
    "x - 2 * a": lambda x, a: x - 2 * a,
    'T.Cast("float32", T.isnan(x / 0.0 * 0.0))': lambda x: np.ones_like(x),
    "T.Select(x > 0, x, -x)": np.abs,
    "x if x > 0 else -x": np.abs,
    "T.if_then_else(x > 0 and x < 2, x, 0.0)": lambda x: np.where((x > 0) & (x < 2), x, 0),
    'T.Cast("float32", T.isfinite(x) and not T.isinf(x))': lambda x: np.ones_like(x),
    'T.Cast("float16", x)': lambda x: x.astype("float16"),
    'x.astype("int32")': np.trunc,
}


@pytest.mark.parametrize("text", FLOATS)
def test_float_functions(run, text):
    y = run(
        F8,
        f"""
for i in range(8):
    x = X[i] + 0.25
    a = T.abs(x) + 0.1
    u = x / 10.0
    Y[i] = {text}
""",
        X8,
    )
    x = X8 + np.float32(0.25)
    values = {"x": x, "a": np.abs(x) + np.float32(0.1), "u": x / np.float32(10)}
    names = [n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and n.id in values]
    function = FLOATS[text]
    count = getattr(function, "nin", None) or (
        function.__code__.co_argcount if hasattr(function, "__code__") else 1
    )
    args = [values[n] for n in list(dict.fromkeys(names))[:count]]
    np.testing.assert_allclose(y, function(*args), rtol=2e-5, atol=2e-6)


INTEGERS = {
    "a // 3": lambda a: a // 3,
    "a % 3": lambda a: a % 3,
    "a // -3": lambda a: a // -3,
    "T.floordiv(a, 4)": lambda a: a // 4,
    "T.floormod(a, 4)": lambda a: a % 4,
    "T.truncdiv(a, 3)": lambda a: np.trunc(a / 3),
    "T.truncmod(a, 3)": np.fmod,
    "a & 6": lambda a: a & 6,
    "a | 9": lambda a: a | 9,
    "a ^ 5": lambda a: a ^ 5,
    "~a": np.invert,
    "a << 2": lambda a: a << 2,
    "a >> 1": lambda a: a >> 1,
    "T.shift_left(a, 1)": lambda a: a << 1,
    "-a": np.negative,
    "T.bitwise_xor(a, 3)": lambda a: a ^ 3,
    "T.bitwise_not(a)": np.invert,
    "T.abs(a)": np.abs,
    "T.max(a, 3)": lambda a: np.maximum(a, 3),
    "T.popcount(a & 7)": lambda a: np.bitwise_count(a & 7),
    "T.clz(a)": lambda a: [0 if v < 0 else 32 - int(v).bit_length() for v in a],
    "T.ceildiv(a, 4)": lambda a: -(-a // 4),
    "T.int32(a) * a": lambda a: a * a,
    'T.Cast("int32", T.Cast("uint8", a))': lambda a: a.astype("uint8"),
    'T.Cast("int32", 1 <= a < 9)': lambda a: (a >= 1) & (a < 9),
    'T.Cast("int32", T.all(a > 0, a < 9, T.any(a == 1, a == 8)))': lambda a: (a == 1) | (a == 8),
    'T.Cast("int32", T.Cast("float32", a) * 0.5)': lambda a: np.trunc(a * 0.5),
    'T.Cast("int32", T.Not(T.LT(a, 3)))': lambda a: a >= 3,
}


@pytest.mark.parametrize("text", INTEGERS)
def test_integer_functions(run, text):
    y = run(I8, f"for i in range(8):\n    a = X[i]\n    Y[i] = {text}", N8, dtype="int32")
    extra = (3,) if INTEGERS[text] is np.fmod else ()
    np.testing.assert_array_equal(y, np.asarray(INTEGERS[text](N8, *extra)).astype("int32"))


@pytest.mark.parametrize(
    ("dtype", "text", "function"),
    [
        ("uint8", "a // 3", lambda a: a // 3),
        ("uint8", "a % 7", lambda a: a % 7),
        ("uint8", "T.max(a, 200)", lambda a: np.maximum(a, 200)),
        ("uint8", "a >> 2", lambda a: a >> 2),
        ("uint16", "a + a", lambda a: a + a),
        ("int8", "a * 2", lambda a: a * np.int8(2)),
        ("int64", "a + 1000000000000", lambda a: a + 1000000000000),
        ("float64", "a * 0.1", lambda a: a * 0.1),
        ("float16", "a * 0.1", lambda a: a * np.float16(0.1)),
        ("uint32", "T.Select(a > 7, a, 0)", lambda a: np.where(a > 7, a, 0)),
    ],
)
def test_dtype_rules(run, dtype, text, function):
    x = np.array([0, 1, 7, 100, 250, 255, 128, 3]).astype(dtype)
    y = run(
        f'X: T.Buffer((8,), "{dtype}"), Y: T.Buffer((8,), "{dtype}")',
        f"for i in range(8):\n    a = X[i]\n    Y[i] = {text}",
        x,
        dtype=dtype,
    )
    np.testing.assert_array_equal(y, function(x).astype(dtype))


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ("int32", "int64", "int64"),
        ("int8", "float16", "float16"),
        ("float16", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("int32", "uint32", "uint32"),
        ("uint8", "int16", "int16"),
        ("bool", "int32", "int32"),
        ("bool", "bool", "int32"),
        ("float16", "bfloat16", "float32"),
        ("int64", "float32", "float32"),
    ],
)
def test_the_dtype_of_mixed_arithmetic(a, b, common):
    from xrelax.te.arithmetic import binary, const

    assert binary("mul", const(1, a).astype(a) + const(0, a), const(1, b)).dtype == common
    assert binary("lt", const(1, a), const(2, b)).dtype == "bool"

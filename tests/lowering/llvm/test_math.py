"""Functions of `math`: the bounds that docs/math.md states, special values, and vector code."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

PAGE = Path(__file__).parents[3] / "docs" / "math.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)
COLUMNS = ("f32 fast", "f64 fast", "f32 accurate", "f64 accurate")
BOUNDS = {
    name: dict(zip(COLUMNS, map(float, rest))) for name, *rest in ROW.findall(PAGE.read_text())
}

FUNCTIONS = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
OF_TWO = {"atan2": np.arctan2, "powf": np.power}
ACCURATE = "llvm -math=accurate"
PORTABLE = "llvm -mcpu=x86-64"
"""No fused multiply-add."""
WITHOUT_SCALING = "llvm -mcpu=haswell"
"""No instruction that multiplies vectors by powers of two."""
_SPECIAL = """
    0 0.5 1 1.5 2 3 7 0.3333333333333333 0.3 100 1e-3 5e-324 1e-45 1e-310 1e-40 1e-300 1e22 3.4e38
    1.7e308 88.7 88.8 103.9 104.1 709.7 709.8 745.1 745.2 9007199254740992 3.141592653589793
    1.5707963267948966 inf nan 16777218 0.9999999 1.0000001"""
SPECIAL = np.array([float(word) for word in _SPECIAL.split()])
SPECIAL = np.concatenate([SPECIAL, -SPECIAL])


def errors(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The errors in ulps of the type of `found`; infinite where a special value is wrong."""
    dtype = found.dtype
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        usual = np.isfinite(rounded) & np.isfinite(found)
        _, exponent = np.frexp(np.where(usual, exact, 1))
        ulp = np.ldexp(exact.dtype.type(1), np.maximum(exponent - 1, info.minexp) - info.nmant)
        error = np.where(usual, np.abs(found.astype(exact.dtype) - exact) / ulp, 0)
        is_nan = np.isnan(rounded) & np.isnan(found)
        same = is_nan | (found == rounded) | beyond(found, exact) & ~usual
        signs = is_nan | (np.signbit(rounded) == np.signbit(found))
    return np.where((usual | same) & signs, error, np.inf).astype(np.float64)


def beyond(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Where the largest number and infinity lie within an ulp of the result."""
    largest = np.finfo(found.dtype).max
    return np.abs(np.abs(exact) / exact.dtype.type(largest) - 1) < np.finfo(found.dtype).eps


def check(elementwise, name: str, column: str, x: np.ndarray, lanes: int, target: str = "llvm"):
    """Compare with NumPy in a wider type; numbers are rounded to the dtype of the column."""
    kind = column.split()[0]
    wide = {"f32": np.float64, "f64": np.longdouble}[kind]
    with np.errstate(all="ignore"):
        x = x.astype({"f32": np.float32, "f64": np.float64}[kind])
        exact = np.asarray(FUNCTIONS[name](x.astype(wide)), wide)
    body = f"%r = math.{name} %x0 : {{T}}"
    found = elementwise(body, kind, kind, x, lanes=lanes, target=target).numpy()
    error = errors(found, exact)
    at = int(np.argmax(error))
    place = f"{name}({x[at]!r}) = {found[at]!r} instead of {exact[at]!r}"
    assert error[at] <= BOUNDS[name][column], f"{place}: {error[at]:.2f} ulp"


def patterns(step: int) -> np.ndarray:
    """Every so many'th f32, and the special ones."""
    bits = np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    with np.errstate(over="ignore"):
        return np.concatenate([bits.view(np.float32), SPECIAL.astype(np.float32)])


def wide_samples() -> np.ndarray:
    """f64 of every size, and many of the usual ones."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 1 << 64, 20000, dtype=np.uint64).view(np.float64)
    near = rng.uniform(-1, 1, 20000) * 2.0 ** rng.integers(-30, 10, 20000)
    return np.concatenate([sizes, near, 1 + rng.uniform(-1e-3, 1e-3, 1000), SPECIAL])


def test_the_page_lists_every_function():
    assert sorted(BOUNDS) == sorted([*FUNCTIONS, *OF_TWO])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single(elementwise, name):
    check(elementwise, name, "f32 fast", patterns(4099 if name != "erf" else 40009), 16)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_double(elementwise, name):
    if name == "erf":
        pytest.skip("NumPy has no longer erf, and the code is the C library's")
    check(elementwise, name, "f64 fast", wide_samples(), 4)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf"])
def test_scalars_and_code_without_fused_operations(elementwise, name):
    x = patterns(400009)
    check(elementwise, name, "f32 fast", x, 0)
    check(elementwise, name, "f32 fast", x, 4, PORTABLE)


@pytest.mark.parametrize("target", ["llvm", WITHOUT_SCALING])
@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_powers_of_two_in_registers_of_every_size(elementwise, name, target):
    for lanes in (2, 4, 8, 16, 32):
        check(elementwise, name, "f32 fast", patterns(40009), lanes, target)
        check(elementwise, name, "f64 fast", wide_samples(), lanes, target)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_accurate(elementwise, name):
    x = patterns(400009)
    check(elementwise, name, "f32 accurate", x, 8, ACCURATE)


@pytest.mark.parametrize("name", ["exp", "rsqrt", "sin"])
def test_accurate_double(elementwise, name):
    check(elementwise, name, "f64 accurate", wide_samples(), 4, ACCURATE)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(elementwise, name, column):
    kind = column.split()[0]
    dtype, wide = {"f32": (np.float32, np.float64), "f64": (np.float64, np.longdouble)}[kind]
    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        numbers = np.concatenate([SPECIAL, rng.uniform(0, 3, 50), -np.arange(4, 8)])
        x, y = (v.ravel() for v in np.meshgrid(numbers, numbers))
        near = rng.uniform(0.9, 1.1, 20000)
        x = np.concatenate([x, near, rng.uniform(0, 9, 20000)]).astype(dtype)
        y = np.concatenate([y, rng.uniform(-7000, 7000, 20000), rng.uniform(-99, 99, 20000)])
        y = y.astype(dtype)
        exact = OF_TWO[name](x.astype(wide), y.astype(wide))
    target = ACCURATE if column.endswith("accurate") else "llvm"
    body = f"%r = math.{name} %x0, %x1 : {{T}}"
    found = elementwise(body, kind, kind, x, y, lanes=8, target=target).numpy()
    error = errors(found, exact)
    at = int(np.argmax(error))
    place = f"{name}({x[at]!r}, {y[at]!r}) = {found[at]!r} instead of {exact[at]!r}"
    assert error[at] <= BOUNDS[name][column], f"{place}: {error[at]:.2f} ulp"


def test_values_that_programs_rely_on(elementwise):
    whole = np.arange(-149, 128)
    x = whole.astype(np.float32)
    exp2 = elementwise("%r = math.exp2 %x0 : {T}", "f32", "f32", x, lanes=8).numpy()
    np.testing.assert_array_equal(exp2, np.ldexp(np.float32(1), whole))
    log2 = elementwise("%r = math.log2 %x0 : {T}", "f32", "f32", exp2, lanes=8).numpy()
    np.testing.assert_array_equal(log2, x)
    large = np.array([9.1, 20, 1e30, np.inf, -9.1, -np.inf], np.float32)
    for name in ("tanh", "erf"):
        found = elementwise(f"%r = math.{name} %x0 : {{T}}", "f32", "f32", large, lanes=8).numpy()
        np.testing.assert_array_equal(found, np.sign(large))


EXTREMES = {
    "R.sigmoid(x)": lambda x: np.exp(-np.logaddexp(0, -x)),
    "R.nn.softplus(x)": lambda x: np.logaddexp(0, x),
    "R.tanh(x)": np.tanh,
    "R.erf(x)": np.vectorize(math.erf),
    "R.exp(x)": np.exp,
}


@pytest.mark.parametrize("expression", EXTREMES)
def test_results_that_are_normal_numbers_are_near(expression):
    steep, small = np.linspace(-110, 110, 4001), np.logspace(-37, 0, 300)
    x = np.concatenate([steep, small, -small, [-87.3, -87, -88, -90, -100]]).astype(np.float32)
    function = from_source(f"""
@R.function
def main(x: R.Tensor(({x.size},), "float32")):
    return {expression}
""")
    found, info = relax.build(function)(x).numpy(), np.finfo(np.float32)
    with np.errstate(over="ignore"):
        exact = EXTREMES[expression](x.astype(np.float64))
    normal = (abs(exact) >= info.tiny) & (abs(exact) <= info.max)
    assert normal.sum() > 2000
    np.testing.assert_allclose(found[normal], exact[normal], rtol=4e-7)
    with np.errstate(over="ignore"):
        rest = exact[~normal].astype(np.float32)
    np.testing.assert_allclose(found[~normal], rest, atol=info.tiny)


def test_the_logistic_function_has_no_nan(elementwise):
    x = np.array([0, -0.0, 20, -20, 88, -88, 89, -89, 1e30, -1e30, np.inf, -np.inf], np.float32)
    body = """%one = arith.constant 1.0 : f32
    %m = arith.negf %x0 : f32
    %e = math.exp %m : f32
    %s = arith.addf %e, %one : f32
    %r = arith.divf %one, %s : f32"""
    found = elementwise(body, "f32", "f32", x).numpy()
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found, 1 / (1 + np.exp(-x.astype(np.float64))), 4e-7, 1e-38)


def test_the_remainder_is_exact_for_large_quotients(elementwise):
    rng = np.random.default_rng(2)
    x = rng.integers(0, 1 << 32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    y = rng.integers(0, 1 << 32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    for lanes in (0, 8):
        found = elementwise("%r = arith.remf %x0, %x1 : {T}", "f32", "f32", x, y, lanes=lanes)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(found.numpy(), np.fmod(x, y))


LOOP = """
loops.func @k(%X: !tir.buffer<[4096], f32>, %Y: !tir.buffer<[4096], f32>) noalias {{
  loops.for %i in (0, 4096) {{
    %x = loops.load %X[%i] : !tir.buffer<[4096], f32> -> f32
    %y = math.{name} %x : f32
    loops.store %y, %Y[%i] : !tir.buffer<[4096], f32>, f32
  }}
}}
rt.func @main(%X: !tir.buffer<[4096], f32>, %Y: !tir.buffer<[4096], f32>) results 1 {{
  rt.call_dps @k(%X) outs(%Y) : (!tir.buffer<[4096], f32>), (!tir.buffer<[4096], f32>)
}}"""


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "cbrt"])
def test_loops_of_scalars_become_vectors_without_calls(build, name):
    text = build(LOOP.format(name=name)).attributes["optimized_llvm_ir"]()
    called = set(re.findall(r"call [^\n]*@([\w.]+)\(", text))
    assert not {c for c in called if not c.startswith(("llvm.", "xrelax."))}
    assert re.search(r"store <\d+ x (float|i32)>", text)

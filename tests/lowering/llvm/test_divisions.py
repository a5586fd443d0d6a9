"""Divisions by constants have the same bits as divisions, without the instruction."""

import re

import numpy as np
import pytest

from xrelax import relax
from xrelax.backend.target import Target
from xrelax.inspection import stage_text
from xrelax.lowering.llvm.divisions import hard_dividends, reciprocal
from xrelax.script import from_source

DIVISORS = (3.0, 6.0, -7.0, 10.0, 0.75, 255.0, 1000.0, 2.0**-20 * 5)
EXACT = (1.0, 0.5, -4.0)
LONG = (float(np.float32(0.1)), float(np.float32(np.pi)), 1.9999998807907104, 0.031)
FAR = (1e30, 5e-30)
FUSING = Target("llvm").isa.fuses


def quotient(divisor, dtype):
    return from_source(f"""
@R.function
def main(x: R.Tensor(("n",), "{dtype}")):
    return R.divide(x, R.const({divisor!r}, "{dtype}"))
""")


def dividends(dtype):
    rng, bits = np.random.default_rng(5), np.dtype(dtype).itemsize * 8
    drawn = rng.integers(0, 1 << bits, 20011, f"uint{bits}").view(dtype)
    drawn = drawn[~(np.abs(drawn) < 2.0 ** (-60 if bits == 32 else -960))]
    limits = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, limits.min, 1.0, -6.0]
    return np.concatenate([np.array(special, dtype), np.arange(1, 4096).astype(dtype), drawn])


def drawn(digits):
    """Divisors of all their digits."""
    rng = np.random.default_rng(1)
    return [float(d) for d in rng.integers(1 << digits - 1, 1 << digits, 300)]


def hard(divisor, dtype):
    """Dividends whose quotients are closest to the middle of two floats."""
    digits = 24 if dtype == "float32" else 53
    fraction = np.frexp(abs(np.dtype(dtype).type(divisor)))[0]
    found = [] if fraction == 0.5 else hard_dividends(int(float(fraction) * 2.0**digits), digits)
    return np.array([*found], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("divisor", DIVISORS + EXACT + LONG + FAR)
def test_the_same_bits(divisor, dtype):
    x = np.concatenate([dividends(dtype), hard(divisor, dtype)])
    result = relax.build(quotient(divisor, dtype))(x).numpy()
    with np.errstate(all="ignore"):
        wanted = x / np.dtype(dtype).type(divisor)
    np.testing.assert_array_equal(result, wanted)
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(np.signbit(result)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_drawn_divisors(dtype):
    """Those that are refused too, as columns of one division."""
    divisors = np.array(drawn(24 if dtype == "float32" else 53)[:40], dtype)
    for divisor in divisors:
        x = np.concatenate([hard(float(divisor), dtype), -np.arange(1, 9, dtype=dtype)])
        result = relax.build(quotient(float(divisor), dtype))(x).numpy()
        np.testing.assert_array_equal(result, x / divisor)


@pytest.mark.parametrize("digits", [24, 53])
def test_the_parts(digits):
    for divisor in (*DIVISORS, *LONG):
        high, low = reciprocal(divisor, digits)
        assert high * low > 0 and abs(low) < abs(high) * 2.0 ** (1 - digits)
    assert [reciprocal(d, digits) for d in (*EXACT, 0.0, np.inf, np.nan)] == [None] * 6


@pytest.mark.parametrize("digits", [24, 53])
def test_refused_divisors(digits):
    """The products of some dividend are rounded to the other side of a middle."""
    found = [d for d in drawn(digits) if reciprocal(d, digits) is None]
    assert 0 < len(found) < 60


@pytest.mark.parametrize(
    ("target", "divides"),
    [
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", False),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", False),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", False),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=sandybridge", True),
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64", True),
    ],
)
def test_the_instruction(target, divides):
    assembly = stage_text(quotient(6.0, "float32"), "asm", target)
    found = re.search(r"\t(v?divps|fdiv)\b", assembly)
    assert (found is not None) == divides and "fmaf" not in assembly

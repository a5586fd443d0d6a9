"""The error bound: what rounding may do passes, what a wrong program does fails."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax.reference import close
from xrelax.reference.compare import EPSILON, error_bound, mismatch
from xrelax.reference.values import bfloat16_bits


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("terms", [1, 100, 2000])
def test_sums_in_any_order_are_close(dtype, terms):
    rng = np.random.default_rng(terms)
    x = rng.uniform(-2, 2, (50, terms)).astype(dtype)
    exact = x.astype(np.longdouble).sum(1).astype("float64")
    forward, backward = np.zeros(50, dtype), np.zeros(50, dtype)
    for k in range(terms):
        forward += x[:, k]
        backward += x[:, -1 - k]
    assert close(forward, exact, dtype, terms) and close(backward, exact, dtype, terms)


def test_a_missing_term_is_not_close():
    x = np.random.default_rng(0).uniform(0.01, 2, (50, 784)).astype("float32")
    exact = x.astype("float64").sum(1)
    assert close(x.sum(1), exact, "float32", 784)
    assert not close(x[:, 1:].sum(1), exact, "float32", 784)


def test_the_bound_grows_with_terms_and_magnitude():
    expected = np.array([0.0, 100.0])
    bound = error_bound(expected, "float32", 10)
    np.testing.assert_allclose(bound, EPSILON["float32"] * 18 * np.array([50, 100]))
    assert (error_bound(expected, "float32", 20) > bound).all()
    np.testing.assert_allclose(
        error_bound(expected, "float32", 10, 1.0)[0], EPSILON["float32"] * 18
    )


def test_bfloat16_is_compared_by_value():
    values = np.array([1.0, -3.14159, 1e30])
    bits = bfloat16_bits(values.astype("float32"))
    assert close(bits, values, "bfloat16", 1)
    assert not close(bits + np.uint16(16), values, "bfloat16", 1)


@pytest.mark.parametrize(
    ("actual", "expected", "same"),
    [
        ([np.nan, 1.0], [np.nan, 1.0], True),
        ([np.nan, 1.0], [0.0, 1.0], False),
        ([0.0, 1.0], [np.nan, 1.0], False),
        ([np.inf, 1.0], [np.inf, 1.0], True),
        ([np.inf, 1.0], [-np.inf, 1.0], False),
        ([np.inf, 1.0], [1e39, 1.0], True),  # what float64 still holds overflows float32
        ([3e38, 1.0], [np.inf, 1.0], False),
    ],
)
def test_nan_and_infinity_stay_in_place(actual, expected, same):
    assert close(np.array(actual, "float32"), np.array(expected), "float32", 1) is same


def test_integers_are_exact():
    x = np.array([[1, 2], [3, 2**40]])
    assert close(x, x.copy(), "int64", 1000)
    assert (
        mismatch(x, x + np.eye(2, dtype=int), "int64", 1)
        == "expected 2 at [0, 0], got 1; 2 of 4 elements differ"
    )
    assert mismatch(x, x[:1], "int64", 1) == "expected shape (1, 2), got (2, 2)"
    assert not close(np.array([True]), np.array([False]), "bool", 1)


def test_messages_say_where_and_how_much():
    expected = np.linspace(0, 1, 5)
    actual = expected.astype("float32")
    actual[2] += 0.25
    found = mismatch(actual, expected, "float32", 1)
    assert found == "expected 0.5 within 1.07e-06 at [2], got 0.75; max error 0.25"
    assert close(actual, expected, "float32", 1, noise=0.3)

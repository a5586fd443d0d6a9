"""Comparisons of arrays and of gradients: what they accept, and their messages."""

import numpy as np
import pytest

import xrelax as tvm

X, W = np.array([[1.0, -2.0], [0.5, 3.0]], "float32"), np.array([2.0, -1.0], "float32")


def weighted(x, w):
    return (x * x * w).sum()


def test_gradients_of_two_inputs():
    grads = [2 * X * W, (X * X).sum(0)]
    tvm.testing.check_numerical_grads(weighted, [X, W], grads)
    tvm.testing.utils.check_numerical_grads(weighted, [X, W], grads, float(weighted(X, W)))
    assert X[0, 0] == 1  # inputs are not changed


@pytest.mark.parametrize(
    ("grads", "value", "message"),
    [
        ([2 * X * W], None, "expected a gradient by each of 2 inputs, got 1"),
        ([2 * X * W, X], None, r"gradient by input 1 to have shape \(2,\), got \(2, 2\)"),
        ([2 * X * W, 2 * W], None, "gradient by input 1 within .* got a distance of 1"),
        ([X * np.nan, W], None, "gradient by input 0 within .* got a distance of nan"),
        ([X, W], 1.0, "Not equal to tolerance"),
    ],
)
def test_wrong_gradients(grads, value, message):
    with pytest.raises(AssertionError, match=message):
        tvm.testing.check_numerical_grads(weighted, [X, W], grads, value)


def test_assert_allclose():
    tvm.testing.assert_allclose(tvm.nd.array(X), X + 1e-6, rtol=1e-5)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        tvm.testing.assert_allclose(X, X + 1)
    with pytest.raises(AssertionError, match=r"expected an array of shape \(2,\), got \(2, 2\)"):
        tvm.testing.assert_allclose(X, W)


def test_gradients_by_integers():
    with pytest.raises(TypeError, match="expected input 0 to be of floats, got int64"):
        tvm.testing.check_numerical_grads(lambda x: (x * x).sum(), [[1, 2]], [[2, 4]])

"""The demo's own data and training, without the compiler."""

import sys

import digits_mlp
import numpy as np
import pytest
from fashion_data import DataError


@pytest.fixture(scope="module")
def digits():
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    return digits_mlp.load_digits()


def test_split_is_fixed_and_disjoint(digits):
    train, test = digits
    assert train.images.shape == (1297, 8, 8) and test.images.shape == (500, 8, 8)
    assert train.images.dtype == np.float32 and train.images.max() == 1
    assert set(train.labels) == set(test.labels) == set(range(10))
    again = digits_mlp.load_digits()[1]
    np.testing.assert_array_equal(again.images, test.images)
    np.testing.assert_array_equal(again.labels, test.labels)


def test_training_generalises_and_is_deterministic(digits):
    train, test = digits
    parameters = digits_mlp.train_mlp(train)
    shapes = {name: value.shape for name, value in parameters.items()}
    assert shapes == {"w0": (128, 64), "b0": (128,), "w1": (10, 128), "b1": (10,)}
    assert {value.dtype for value in parameters.values()} == {np.dtype(np.float32)}
    predicted = digits_mlp.numpy_mlp(test.rows, **parameters).argmax(axis=1)
    assert (predicted == test.labels).mean() > 0.95
    for name, value in digits_mlp.train_mlp(train).items():
        np.testing.assert_array_equal(value, parameters[name])


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    rows, labels = rng.random((5, 7)), rng.integers(0, 10, 5)
    parameters = {
        name: value.astype(np.float64)
        for name, value in digits_mlp._initial_parameters(rng, 7).items()
    }

    def loss() -> float:
        scores = digits_mlp.numpy_mlp(rows, **parameters)
        return float((np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(5), labels]).mean())

    for name, gradient in digits_mlp._gradients(parameters, rows, labels):
        # Moving along the gradient by a small step changes the loss by step * |gradient|^2.
        step, start = 1e-6, parameters[name]
        parameters[name] = start + step * gradient
        above = loss()
        parameters[name] = start - step * gradient
        slope = (above - loss()) / (2 * step)
        parameters[name] = start
        np.testing.assert_allclose(slope, (gradient**2).sum(), rtol=1e-5)


def test_missing_scikit_learn_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match="install the extra `demo`, or give --data"):
        digits_mlp.load_digits()

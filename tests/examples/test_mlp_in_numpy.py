"""The classifier's training and probabilities, without the compiler."""

import mlp_in_numpy
import numpy as np
import pytest
from digits_data import load_digits


def test_training_generalises_and_is_deterministic():
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    train, test = load_digits()
    parameters = mlp_in_numpy.train_mlp(train)
    shapes = {name: value.shape for name, value in parameters.items()}
    assert shapes == {"w0": (128, 64), "b0": (128,), "w1": (10, 128), "b1": (10,)}
    assert {value.dtype for value in parameters.values()} == {np.dtype(np.float32)}
    predicted = mlp_in_numpy.numpy_mlp(test.rows, **parameters).argmax(axis=1)
    assert (predicted == test.labels).mean() > 0.95
    for name, value in mlp_in_numpy.train_mlp(train).items():
        np.testing.assert_array_equal(value, parameters[name])


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    rows, labels = rng.random((5, 7)), rng.integers(0, 10, 5)
    parameters = {
        name: value.astype(np.float64)
        for name, value in mlp_in_numpy._initial_parameters(rng, 7, 10).items()
    }

    def loss() -> float:
        scores = mlp_in_numpy.numpy_mlp(rows, **parameters)
        return float((np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(5), labels]).mean())

    for name, gradient in mlp_in_numpy._gradients(parameters, rows, labels):
        # Moving along the gradient by a small step changes the loss by step * |gradient|^2.
        step, start = 1e-6, parameters[name]
        parameters[name] = start + step * gradient
        above = loss()
        parameters[name] = start - step * gradient
        slope = (above - loss()) / (2 * step)
        parameters[name] = start
        np.testing.assert_allclose(slope, (gradient**2).sum(), rtol=1e-5)


def test_softmax():
    scores = np.array([[0, np.log(3)], [1000, -1000], [2, 2]])
    expected = [[0.25, 0.75], [1, 0], [0.5, 0.5]]
    np.testing.assert_allclose(mlp_in_numpy.softmax(scores), expected)

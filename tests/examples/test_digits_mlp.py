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


def test_missing_scikit_learn_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match="install the extra `demo`, or give --data"):
        digits_mlp.load_digits()

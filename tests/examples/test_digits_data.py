"""The digits of the demo."""

import sys

import digits_data
import numpy as np
import pytest
from image_data import DataError


def test_split_is_fixed_and_disjoint():
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    train, test = digits_data.load_digits()
    assert train.images.shape == (1297, 8, 8) and test.images.shape == (500, 8, 8)
    assert train.images.dtype == np.float32 and train.images.max() == 1
    assert set(train.labels) == set(test.labels) == set(range(10))
    assert (test.name, test.title) == ("digits", "scikit-learn's digits")
    again = digits_data.load_digits()[1]
    np.testing.assert_array_equal(again.images, test.images)
    np.testing.assert_array_equal(again.labels, test.labels)


def test_missing_scikit_learn_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match="install the extra `demo`, or give --data"):
        digits_data.load_digits()

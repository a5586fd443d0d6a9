"""The data and the parameters of the demo: scikit-learn's digits and a classifier trained here."""

from __future__ import annotations

import numpy as np
from fashion_data import DataError, LabelledImages, Parameters

SEED = 2024
HIDDEN = 128
TEST_COUNT = 500


def load_digits() -> tuple[LabelledImages, LabelledImages]:
    """1,297 images to train on and 500 to test with, 8x8 pixels each, always the same split.

    Raises DataError when scikit-learn, which ships the images, is not installed.
    """
    try:
        from sklearn import datasets, model_selection
    except ModuleNotFoundError as error:
        raise DataError(
            "the digits come with scikit-learn: install the extra `demo`, or give --data"
        ) from error
    digits = datasets.load_digits()
    train_pixels, test_pixels, train_labels, test_labels = model_selection.train_test_split(
        (digits.images / 16).astype(np.float32),
        digits.target,
        test_size=TEST_COUNT,
        random_state=SEED,
    )
    names = tuple(str(digit) for digit in digits.target_names)
    return (
        LabelledImages(train_pixels, train_labels, names),
        LabelledImages(test_pixels, test_labels, names),
    )


def train_mlp(data: LabelledImages) -> Parameters:
    """Parameters w0 (128, inputs), b0, w1 (classes, 128), b1 fitted with scikit-learn's MLP."""
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    model = MLPClassifier((HIDDEN,), learning_rate_init=0.01, tol=1e-3, random_state=SEED)
    with threadpool_limits(1):  # several threads take far longer for matrices this small
        model.fit(data.rows, data.labels)
    (w0, w1), (b0, b1) = model.coefs_, model.intercepts_
    # scikit-learn computes data @ w; the classifier here, like PyTorch's, has data @ w.T.
    return {"w0": np.ascontiguousarray(w0.T), "b0": b0, "w1": np.ascontiguousarray(w1.T), "b1": b1}


def numpy_mlp(data: np.ndarray, w0: np.ndarray, b0: np.ndarray, w1: np.ndarray, b1: np.ndarray):
    """The model that all of this is about; scores of shape (rows of data, classes)."""
    lv0 = data @ w0.T + b0
    lv1 = np.maximum(lv0, 0)
    return lv1 @ w1.T + b1

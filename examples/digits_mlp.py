"""The data and the parameters of the demo: scikit-learn's digits and a classifier trained here."""

from __future__ import annotations

import numpy as np
from fashion_data import DataError, LabelledImages, Parameters

SEED = 2024
HIDDEN = 128
CLASSES = 10
TEST_COUNT = 500
EPOCHS = 30
BATCH = 32
LEARNING_RATE = 0.1
MOMENTUM = 0.9


def load_digits() -> tuple[LabelledImages, LabelledImages]:
    """1,297 images to train on and 500 to test with, 8x8 pixels each, always the same split.

    Raises DataError when scikit-learn, which ships the images, is not installed.
    """
    try:
        from sklearn.datasets import load_digits as load
    except ModuleNotFoundError as error:
        raise DataError(
            "the digits come with scikit-learn: install the extra `demo`, or give --data"
        ) from error
    digits = load()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    pixels = (digits.images[order] / 16).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    names = tuple(str(digit) for digit in range(CLASSES))
    train = LabelledImages(pixels[TEST_COUNT:], labels[TEST_COUNT:], names)
    test = LabelledImages(pixels[:TEST_COUNT], labels[:TEST_COUNT], names)
    return train, test


def train_mlp(data: LabelledImages) -> Parameters:
    """Parameters w0 (128, inputs), b0, w1 (10, 128), b1 fitted by gradient descent in NumPy."""
    rng = np.random.default_rng(SEED)
    parameters = _initial_parameters(rng, data.rows.shape[1])
    velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
    for _ in range(EPOCHS):
        order = rng.permutation(len(data.labels))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for name, gradient in _gradients(parameters, data.rows[batch], data.labels[batch]):
                velocity[name] = MOMENTUM * velocity[name] - LEARNING_RATE * gradient
                parameters[name] += velocity[name]
    return parameters


def numpy_mlp(data: np.ndarray, w0: np.ndarray, b0: np.ndarray, w1: np.ndarray, b1: np.ndarray):
    """The model that all of this is about; scores of shape (rows of data, classes)."""
    lv0 = data @ w0.T + b0
    lv1 = np.maximum(lv0, 0)
    return lv1 @ w1.T + b1


def _initial_parameters(rng: np.random.Generator, inputs: int) -> Parameters:
    """He initialisation, which keeps the scale of activations through a relu."""

    def weight(rows: int, columns: int) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) * np.sqrt(2 / columns)).astype(np.float32)

    return {
        "w0": weight(HIDDEN, inputs),
        "b0": np.zeros(HIDDEN, np.float32),
        "w1": weight(CLASSES, HIDDEN),
        "b1": np.zeros(CLASSES, np.float32),
    }


def _gradients(parameters: Parameters, rows: np.ndarray, labels: np.ndarray):
    """The mean cross entropy's gradient for each parameter."""
    hidden = np.maximum(rows @ parameters["w0"].T + parameters["b0"], 0)
    scores = hidden @ parameters["w1"].T + parameters["b1"]
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    error = exponents / exponents.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    hidden_error = (error @ parameters["w1"]) * (hidden > 0)
    return [
        ("w0", hidden_error.T @ rows),
        ("b0", hidden_error.sum(axis=0)),
        ("w1", error.T @ hidden),
        ("b1", error.sum(axis=0)),
    ]

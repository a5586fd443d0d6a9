"""The classifier in NumPy: its scores, their probabilities, and its training."""

from __future__ import annotations

import numpy as np
from image_data import LabelledImages, Parameters
from progress import progress

SEED = 2024
HIDDEN = 128
EPOCHS = 30
BATCH = 32
LEARNING_RATE = 0.1
MOMENTUM = 0.9


def numpy_mlp(data: np.ndarray, w0: np.ndarray, b0: np.ndarray, w1: np.ndarray, b1: np.ndarray):
    """The model of every variant; scores of shape (rows of data, classes)."""
    lv0 = data @ w0.T + b0
    lv1 = np.maximum(lv0, 0)
    return lv1 @ w1.T + b1


def softmax(scores: np.ndarray) -> np.ndarray:
    """The probabilities of the classes, for each row of scores."""
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


def train_mlp(data: LabelledImages) -> Parameters:
    """Parameters w0 (128, inputs), b0, w1 (classes, 128), b1 fitted by gradient descent."""
    rng = np.random.default_rng(SEED)
    parameters = _initial_parameters(rng, data.rows.shape[1], len(data.classes))
    velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
    for _ in progress(range(EPOCHS), "training"):
        order = rng.permutation(len(data.labels))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            for name, gradient in _gradients(parameters, data.rows[batch], data.labels[batch]):
                velocity[name] = MOMENTUM * velocity[name] - LEARNING_RATE * gradient
                parameters[name] += velocity[name]
    return parameters


def _initial_parameters(rng: np.random.Generator, inputs: int, classes: int) -> Parameters:
    """He initialization, which keeps the scale of activations through a relu."""

    def weight(rows: int, columns: int) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) * np.sqrt(2 / columns)).astype(np.float32)

    return {
        "w0": weight(HIDDEN, inputs),
        "b0": np.zeros(HIDDEN, np.float32),
        "w1": weight(classes, HIDDEN),
        "b1": np.zeros(classes, np.float32),
    }


def _gradients(parameters: Parameters, rows: np.ndarray, labels: np.ndarray):
    """The mean cross entropy's gradient for each parameter."""
    hidden = np.maximum(rows @ parameters["w0"].T + parameters["b0"], 0)
    error = softmax(hidden @ parameters["w1"].T + parameters["b1"])
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    hidden_error = (error @ parameters["w1"]) * (hidden > 0)
    return [
        ("w0", hidden_error.T @ rows),
        ("b0", hidden_error.sum(axis=0)),
        ("w1", error.T @ hidden),
        ("b1", error.sum(axis=0)),
    ]

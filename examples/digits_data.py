"""scikit-learn's digits, divided into images to train on and images to test with."""

from __future__ import annotations

import numpy as np
from image_data import DataError, LabelledImages

SEED = 2024
CLASSES = 10
TEST_COUNT = 500


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

    def part(chosen: slice) -> LabelledImages:
        names = tuple(str(digit) for digit in range(CLASSES))
        title = "scikit-learn's digits"
        return LabelledImages("digits", title, pixels[chosen], labels[chosen], names)

    return part(slice(TEST_COUNT, None)), part(slice(TEST_COUNT))

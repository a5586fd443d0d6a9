"""Draws a few images, each with what the classifier takes it for, into one PNG file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from fashion_data import DataError, LabelledImages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 6
ROWS = 2


def save_predictions(path: Path, data: LabelledImages, predicted: np.ndarray, first: int) -> None:
    """Draw image `first` and those after it; a wrong prediction is titled in red.

    `predicted` holds a class for every image of `data`. Raises DataError when matplotlib is not
    installed or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise DataError("a picture needs matplotlib: install the extra `demo`") from error
    figure = Figure(figsize=(2 * COLUMNS, 2.4 * ROWS), layout="constrained")
    for offset, axis in enumerate(figure.subplots(ROWS, COLUMNS).flat):
        axis.set_axis_off()
        if offset < len(data.labels):
            _draw(axis, data, predicted, (first + offset) % len(data.labels))
    try:
        figure.savefig(path, format="png")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error


def _draw(axis: Axes, data: LabelledImages, predicted: np.ndarray, image: int) -> None:
    right = predicted[image] == data.labels[image]
    title = f"#{image}: {data.classes[predicted[image]]}"
    axis.imshow(data.images[image], cmap="gray_r", vmin=0, vmax=1)
    axis.set_title(title, color="black" if right else "red", fontsize=10)

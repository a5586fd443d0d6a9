"""Finds the boxes of text lines in a map of probabilities, and cuts them out of a picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from PIL import Image
from scipy import ndimage

PIXEL, LINE = 0.3, 0.5  # probabilities that a pixel and a line must have
GROWTH = 1.6  # the map marks the middle of a line; its margin is this times area / perimeter
SMALLEST = 3  # pixels
SAME_ROW = 10  # pixels between the tops of boxes that are side by side
TALL = 1.5  # times as high as wide is a line that runs from top to bottom
ANGLES = np.deg2rad(np.arange(0, 90, 0.5))
AXES = np.stack([np.cos(ANGLES), np.sin(ANGLES), -np.sin(ANGLES), np.cos(ANGLES)], 1)


@dataclass(frozen=True)
class Box:
    """A rotated rectangle, in coordinates (x, y)."""

    center: np.ndarray
    axes: np.ndarray
    """The directions of its sides, as rows."""
    half: np.ndarray
    """Half of the length of each side."""

    @property
    def corners(self) -> np.ndarray:
        """Top left, top right, bottom right and bottom left: of shape (4, 2)."""
        signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
        found = self.center + signs * self.half @ self.axes
        by_x = found[found[:, 0].argsort()]
        left, right = (side[side[:, 1].argsort()] for side in (by_x[:2], by_x[2:]))
        return np.stack([left[0], right[0], right[1], left[1]])

    def grown(self) -> Box:
        """The box with the margin of a line around it."""
        return replace(self, half=self.half + GROWTH * self.half.prod() / self.half.sum())


def find_boxes(chances: np.ndarray, width: int, height: int) -> list[np.ndarray]:
    """The corners of lines in reading order, in a picture of a width and height.

    `chances` has the probability that a pixel is text, for the picture in any size.
    """
    # To the right and down: the last index of a region is then the end of its last pixel.
    mask = ndimage.binary_dilation(chances > PIXEL, np.ones((2, 2)), origin=-1)
    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    boxes = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), 1):
        offset = np.array([columns.start, rows.start])
        points = _outline(labels[rows, columns] == number) + offset
        box = _smallest_box(points)
        if 2 * box.half.min() >= SMALLEST and _mean_inside(chances, box) >= LINE:
            boxes.append(box.grown().corners * (width, height) / chances.shape[::-1])
    inside = [box.clip(0, (width - 1, height - 1)) for box in boxes]
    return _reading_order([box for box in inside if min(sides(box)) > SMALLEST])


def sides(corners: np.ndarray) -> tuple[int, int]:
    """The width and height of a box, rounded up to pixels."""
    across, down = corners[[1, 2]] - corners[[0, 3]], corners[[3, 2]] - corners[[0, 1]]
    width, height = (ceil(np.linalg.norm(side, axis=1).max()) for side in (across, down))
    return width, height


def cut(picture: Image.Image, corners: np.ndarray) -> Image.Image:
    """The content of a box as a picture of one line, which runs from left to right."""
    size = sides(corners)
    quad = corners[[0, 3, 2, 1]].ravel().tolist()
    line = picture.transform(size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC)
    return line.transpose(Image.Transpose.ROTATE_90) if size[1] >= TALL * size[0] else line


def _outline(mask: np.ndarray) -> np.ndarray:
    """The first and the last pixel of each row of a connected region, as (x, y)."""
    rows = np.arange(len(mask))
    first, last = mask.argmax(1), mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
    return np.concatenate([np.stack([first, rows], 1), np.stack([last, rows], 1)])


def _smallest_box(points: np.ndarray) -> Box:
    """The box of smallest area around points, of those at the angles of `ANGLES`."""
    along = AXES.reshape(-1, 2, 2) @ points.T
    low, high = along.min(2), along.max(2)
    best = (high - low).prod(1).argmin()
    axes = AXES[best].reshape(2, 2)
    return Box((low + high)[best] / 2 @ axes, axes, (high - low)[best] / 2)


def _mean_inside(chances: np.ndarray, box: Box) -> float:
    limits = np.array(chances.shape[::-1])
    low = np.floor(box.corners.min(0)).astype(int).clip(0, limits - 1)
    high = np.ceil(box.corners.max(0)).astype(int).clip(0, limits - 1)
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
    offsets = (np.stack([x, y], -1) - box.center) @ box.axes.T
    inside = (np.abs(offsets) <= box.half + 1e-6).all(-1)
    return float(chances[y[inside], x[inside]].mean())


def _reading_order(boxes: list[np.ndarray]) -> list[np.ndarray]:
    """From top to bottom; those whose tops are close, from left to right."""
    rows: list[list[np.ndarray]] = []
    for box in sorted(boxes, key=lambda corners: corners[0, 1]):
        if rows and box[0, 1] - rows[-1][0][0, 1] < SAME_ROW:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=lambda corners: corners[0, 0])]

"""Draws a picture with text to read, and what has been read in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from image_data import DataError
from matplotlib import get_data_path
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from ocr_boxes import sides
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from ocr import Line

SIZE = (900, 560)
TEXTS = (
    # text, size, angle, left and top, color
    ("A compiler reads text", 56, 0, (40, 30), "black"),
    ("in any size, 12.50 or 99%", 34, 0, (40, 130), "navy"),
    ("also in small print like this", 19, 0, (40, 200), "black"),
    ("Side by side", 30, 0, (520, 195), "darkred"),
    ("Upside down", 40, 180, (540, 300), "black"),
    ("On a slanted line", 40, 12, (60, 260), "darkgreen"),
    ("White on blue", 44, 0, (60, 455), "white"),
)
"""What is drawn, in reading order."""
BAND = (30, 440, 430, 530)
DPI, LETTERS = 100, 0.75  # the part of a box's height that is the size of its font


def sample_picture() -> Image.Image:
    """A picture with `TEXTS`, RGB."""
    picture = Image.new("RGB", SIZE, "ivory")
    ImageDraw.Draw(picture).rectangle(BAND, "steelblue")
    for text, size, angle, place, color in TEXTS:
        font = ImageFont.truetype(Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), size)
        _, _, width, height = map(round, font.getbbox(text))
        letters = Image.new("L", (width, height))
        ImageDraw.Draw(letters).text((0, 0), text, 255, font)
        letters = letters.rotate(angle, Image.Resampling.BICUBIC, expand=True)
        picture.paste(color, place, letters)
    return picture


def open_picture(path: Path) -> Image.Image:
    """The picture in a file, as RGB; raises DataError for what is none."""
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: expected a picture: {error}") from error


def save_result(path: Path, picture: Image.Image, lines: Sequence[Line]) -> None:
    """Draw the picture with the boxes, and beside it the text in their places."""
    figure = Figure(figsize=(2 * picture.width / DPI, picture.height / DPI), dpi=DPI)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.01})
    figure.subplots_adjust(0, 0, 1, 1)
    left.imshow(picture)
    for number, line in enumerate(lines):
        (x, y), (dx, dy) = line.corners[3], line.corners[1] - line.corners[0]
        for axes in (left, right):
            axes.fill(*line.corners.T, facecolor="none", edgecolor=f"C{number % 10}")
        size = LETTERS * sides(line.corners)[1] * 72 / DPI
        angle = -np.rad2deg(np.arctan2(dy, dx))
        options = {"rotation": angle, "rotation_mode": "anchor", "parse_math": False}
        right.text(x, y, line.text, fontsize=size, va="bottom", **options)
    for axes in (left, right):
        axes.set(xlim=(0, picture.width), ylim=(picture.height, 0))
        axes.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)

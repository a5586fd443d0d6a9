"""Draws images with their predictions, and the time of each variant, into one PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from classifier_report import micro, percent
from classifier_runs import Run, accuracy, choose_images
from image_data import DataError, LabelledImages
from mlp_in_numpy import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, ROWS = 4, 2  # of images in order; one more row has wrong predictions
DPI = 200  # twice the pixels of a page that shows the picture 900 pixels wide
FONT = {"font.family": "DejaVu Sans", "font.size": 9.0}

# In inches.
WIDTH, HEIGHT = 9.0, 6.25
LEFT, RIGHT, PANEL = 0.3, 8.7, 6.1
HEADING, FIRST_ROW, WRONG_HEADING, WRONG_ROW, CAPTION = 1.05, 1.18, 4.36, 4.49, 6.06
CELL, ROW, IMAGE = 1.4, 1.5, 1.0
VARIANT, BAR = 0.51, 0.17

# Of Okabe and Ito's colours, which differ in lightness too; WRONG is darker, to be read as text.
INK, GREY, PALE, WRONG = "#1f2328", "#59636e", "#afb8c1", "#b34700"
OTHER, COMPILED, CONVERTING, LIBRARY = "#8c959f", "#0072b2", "#56b4e9", "#e69f00"
SMALL = {"size": 8, "color": GREY}


def save_results(
    path: Path, data: LabelledImages, runs: Sequence[Run], shown: Run, first: int, library: str
) -> None:
    """Write the picture of `draw_results`.

    Raises DataError when matplotlib is not installed or the file cannot be written.
    """
    try:
        from matplotlib import rc_context
    except ModuleNotFoundError as error:
        raise DataError("a picture needs matplotlib: install the extra `demo`") from error
    with rc_context(FONT):
        figure = draw_results(data, runs, shown, first, library)
        try:
            figure.savefig(path, format="png", dpi=DPI)
        except OSError as error:
            raise DataError(f"{path}: cannot be written: {error.strerror}") from error


def draw_results(
    data: LabelledImages, runs: Sequence[Run], shown: Run, first: int, library: str
) -> Figure:
    """Images from `first` on and wrong predictions at the left, times of all runs at the right.

    The predictions are those of the run `shown`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT))
    page = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))  # in inches
    page.set_axis_off()
    page.text(LEFT, 0.42, data.title, size=16, weight="bold", color=INK)
    share = f"{accuracy(shown, data):.2%} of {len(data.labels)} images"
    page.text(LEFT, 0.68, f"{shown.name}, compiled by xrelax, predict {share} right", color=GREY)
    _draw_images(page, data, shown, first)
    _draw_times(page, runs, library)
    return figure


def _draw_images(page: Axes, data: LabelledImages, run: Run, first: int) -> None:
    right = run.predicted == data.labels
    ordered, wrong = choose_images(right, first, COLUMNS * ROWS, COLUMNS)
    after = f" and the {len(ordered) - 1} after it" if len(ordered) > 1 else ""
    others = _wrong_heading(len(wrong), int((~right).sum()))
    page.text(LEFT, HEADING, f"Image #{first}{after}", weight="bold", color=INK)
    page.text(LEFT, WRONG_HEADING, others, weight="bold", color=INK)
    page.text(
        LEFT,
        CAPTION,
        "Below an image: the prediction and its softmax probability. ✗ and a thick frame: wrong.",
        **SMALL,
    )
    probabilities = softmax(run.scores).max(axis=1)
    for position, image in enumerate(ordered):
        row, column = divmod(position, COLUMNS)
        place = LEFT + column * CELL, FIRST_ROW + row * ROW
        _draw_image(page, place, data, image, run.predicted[image], probabilities[image])
    for column, image in enumerate(wrong):
        place = LEFT + column * CELL, WRONG_ROW
        _draw_image(page, place, data, image, run.predicted[image], probabilities[image])


def _wrong_heading(shown: int, count: int) -> str:
    if shown:
        return f"Wrong predictions only: {shown} of {count}"
    return f"All {count} wrong predictions are above" if count else "No prediction is wrong"


def _draw_image(
    page: Axes,
    place: tuple[float, float],
    data: LabelledImages,
    image: int,
    predicted: int,
    probability: float,
) -> None:
    left, top = place
    label = data.labels[image]
    is_right = predicted == label
    bounds = left, top + 0.18, IMAGE, IMAGE
    axes = page.inset_axes(bounds, transform=page.transData, xticks=[], yticks=[])
    axes.imshow(data.images[image], cmap="gray_r", vmin=0, vmax=1)
    axes.spines[:].set(color=PALE if is_right else WRONG, linewidth=0.6 if is_right else 3)
    page.text(left, top + 0.12, f"true: {data.classes[label]}", size=8.5, color=GREY)
    side = left + IMAGE + 0.08, top + 0.18  # vertical, so that a long number has room
    page.text(*side, f"#{image}", rotation=90, va="top", **SMALL)
    page.text(
        left,
        top + 0.18 + IMAGE + 0.17,
        f"{'✓' if is_right else '✗'} {data.classes[predicted]}, {percent(probability)}",
        size=8.5,
        color=INK if is_right else WRONG,
    )


def _draw_times(page: Axes, runs: Sequence[Run], library: str) -> None:
    page.text(PANEL, HEADING, "Median time per image", weight="bold", color=INK)
    scale = (RIGHT - PANEL) / max(run.seconds for run in runs)
    top = FIRST_ROW + 0.2
    for run in runs:
        _draw_line(page, PANEL, top, run.name, run.seconds)
        left = PANEL
        for seconds, color in _parts(run):
            page.barh(top + 0.07, seconds * scale, BAR, left, align="edge", color=color)
            left += seconds * scale
        top += VARIANT
    named = [run for run in runs if run.library_calls is not None]
    if named:
        _draw_legend(page, top + 0.1, named[0], library)


def _draw_legend(page: Axes, top: float, run: Run, library: str) -> None:
    page.text(PANEL, top, f"Parts of {run.name}", weight="bold", color=INK)
    names = (
        "compiled code and its calls",
        f"conversion for {library}",
        f"computation in {library}",
    )
    for name, (seconds, color) in zip(names, _parts(run), strict=True):
        top += 0.22
        page.barh(top - 0.11, 0.12, 0.12, PANEL, align="edge", color=color)
        _draw_line(page, PANEL + 0.2, top, name, seconds)
    assert run.library_calls is not None
    calls = f"{run.library_calls.count} calls per image: each leaves compiled code,"
    note = f"{calls}\ntakes the GIL and makes tensors."
    page.text(PANEL, top + 0.14, note, va="top", linespacing=1.4, **SMALL)


def _draw_line(page: Axes, left: float, top: float, name: str, seconds: float) -> None:
    page.text(left, top, name, color=INK)
    page.text(RIGHT, top, micro(seconds), color=INK, ha="right")


def _parts(run: Run) -> list[tuple[float, str]]:
    """The seconds and the colour of each part of a run's bar."""
    if not run.is_compiled:
        return [(run.seconds, OTHER)]
    return list(zip(run.parts, (COMPILED, CONVERTING, LIBRARY), strict=True))

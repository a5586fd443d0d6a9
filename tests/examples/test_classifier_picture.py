"""The picture of the predictions and times, by what is drawn in it."""

import itertools
from pathlib import Path

import classifier_picture
import numpy as np
import pytest
from classifier_picture import draw_results, save_results
from classifier_runs import LibraryCalls, Run
from image_data import FASHION_CLASSES, DataError, LabelledImages

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

COUNT = 12_000
CALLS = LibraryCalls(count=3, tensors=10, empty=30e-6, converting=70e-6)
SLOW_CALLS = LibraryCalls(count=3, tensors=10, empty=1e-3, converting=5e-3)


@pytest.fixture
def data() -> LabelledImages:
    """Images of the class with the longest name."""
    images = np.random.default_rng(0).random((COUNT, 2, 2), np.float32)
    labels = np.full(COUNT, FASHION_CLASSES.index("Ankle boot"))
    return LabelledImages("fashion_mnist", "Fashion-MNIST", images, labels, FASHION_CLASSES)


def runs_of(data: LabelledImages, wrong: list[int]) -> list[Run]:
    """NumPy and two compiled runs, which take some images for T-shirts."""
    scores = np.zeros((len(data.labels), len(data.classes)))
    scores[np.arange(len(data.labels)), data.labels] = 20
    scores[wrong] = np.log([0.91, *[0.01] * 9])
    return [
        Run("NumPy", scores, 10e-6),
        Run("TensorIR kernels", scores, 5e-6, True),
        Run("library calls", scores, 100e-6, True, CALLS),
    ]


def draw(data: LabelledImages, wrong: list[int], first: int = COUNT - 3):
    runs = runs_of(data, wrong)
    return draw_results(data, runs, runs[1], first, "torch")


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def framed(figure) -> list[np.ndarray]:
    """The images in a thick frame."""
    shown = figure.axes[0].child_axes
    return [a.images[0].get_array() for a in shown if a.spines["left"].get_linewidth() > 1]


def test_images_have_labels_predictions_and_probabilities(data: LabelledImages):
    figure = draw(data, wrong=[1, 7, 9])
    found = texts(figure)
    assert found[0] == "Fashion-MNIST"
    assert found[1] == "TensorIR kernels, compiled by xrelax, predict 99.98% of 12000 images right"
    assert found.count("true: Ankle boot") == len(figure.axes[0].child_axes) == 10
    assert found.count("✓ Ankle boot, >99.9%") == 7
    assert found.count("✗ T-shirt/top, 91.0%") == 3
    numbers = [text for text in found if text.startswith("#")]
    assert numbers == ["#11997", "#11998", "#11999", "#0", "#1", "#2", "#3", "#4", "#7", "#9"]


def test_wrong_predictions_are_framed_and_named(data: LabelledImages):
    figure = draw(data, wrong=[1, 7, 9])
    np.testing.assert_array_equal(framed(figure), data.images[[1, 7, 9]])
    assert "Image #11997 and the 7 after it" in texts(figure)
    assert "Wrong predictions only: 2 of 3" in texts(figure)
    marks = {t.get_color() for t in figure.axes[0].texts if t.get_text().startswith("✗")}
    assert marks == {classifier_picture.WRONG}


@pytest.mark.parametrize(
    ("wrong", "heading"),
    [([], "No prediction is wrong"), ([0, 1], "All 2 wrong predictions are above")],
)
def test_no_other_prediction_is_wrong(data: LabelledImages, wrong: list[int], heading: str):
    figure = draw(data, wrong)
    assert heading in texts(figure)
    assert len(framed(figure)) == len(wrong) and len(figure.axes[0].child_axes) == 8


def test_bars_are_proportional_to_times_and_their_parts(data: LabelledImages):
    from matplotlib.colors import to_hex

    figure = draw(data, wrong=[])
    found = texts(figure)
    for name, time in [("NumPy", "10.0 µs"), ("TensorIR kernels", "5.0 µs")]:
        assert found[found.index(name) + 1] == time
    assert found[found.index("conversion for torch") + 1] == "40.0 µs"
    assert found[-1].startswith("3 calls per image: each leaves compiled code,")
    bars = figure.axes[0].patches[:7]
    assert {round(bar.get_height(), 6) for bar in bars} == {classifier_picture.BAR}
    widths = np.array([bar.get_width() for bar in bars])
    full = classifier_picture.RIGHT - classifier_picture.PANEL
    np.testing.assert_allclose(widths / full * 100, [10, 5, 0, 0, 30, 40, 30], atol=1e-6)
    colors = [to_hex(patch.get_facecolor()) for patch in figure.axes[0].patches]
    parts = [classifier_picture.COMPILED, classifier_picture.CONVERTING, classifier_picture.LIBRARY]
    # NumPy, the kernels, and the library calls; then the squares beside the names of the parts.
    assert colors == [classifier_picture.OTHER, *parts, *parts, *parts]


@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_nothing_overlaps(data: LabelledImages, library: str):
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    names = ["NumPy", "PyTorch", "TensorIR kernels", "library calls", "mixture"]
    scores = runs_of(data, [1, 7, 9, 10, 11])[0].scores
    runs = [
        Run(name, scores, 1e-2, True, SLOW_CALLS) for name in [*names, "mixture, parameters bound"]
    ]
    with rc_context(classifier_picture.FONT):
        figure = draw_results(data, runs, runs[2], COUNT - 3, library)
        renderer = FigureCanvasAgg(figure).get_renderer()
        page = figure.axes[0]
        things = [*page.texts, *page.child_axes, *(p for p in page.patches if p.get_width())]
        boxes = [thing.get_window_extent(renderer) for thing in things]
    inside = figure.bbox.padded(-0.1 * figure.dpi)
    for thing, box in zip(things, boxes, strict=True):
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1, thing
        assert inside.y0 <= box.y0 and box.y1 <= inside.y1, thing
    for (thing, box), (other, place) in itertools.combinations(zip(things, boxes), 2):
        assert not box.padded(-0.01 * figure.dpi).overlaps(place), (thing, other)


def test_saved_picture_is_twice_as_wide_as_a_page_shows_it(data: LabelledImages, tmp_path: Path):
    from matplotlib.image import imread

    runs = runs_of(data, [1])
    save_results(tmp_path / "x.png", data, runs, runs[1], 0, "torch")
    assert imread(tmp_path / "x.png").shape[:2] == (1250, 1800)


def test_unwritable_place_is_one_line(data: LabelledImages, tmp_path: Path):
    runs = runs_of(data, [])
    with pytest.raises(DataError, match=r"x\.png: cannot be written: No such file or directory"):
        save_results(tmp_path / "none" / "x.png", data, runs, runs[1], 0, "torch")

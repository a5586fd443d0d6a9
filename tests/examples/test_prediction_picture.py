"""The picture of the predictions."""

from pathlib import Path

import numpy as np
import pytest
from fashion_data import DataError, LabelledImages
from prediction_picture import save_predictions

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture
def data() -> LabelledImages:
    images = np.random.default_rng(0).random((5, 8, 8), np.float32)
    return LabelledImages(images, np.arange(5), tuple("abcde"))


def red_titles(path: Path) -> bool:
    """Whether the picture has pixels of pure red, the colour of a wrong prediction's title."""
    from matplotlib.image import imread

    red, green, blue = np.moveaxis(imread(path)[..., :3], -1, 0)
    return bool(((red == 1) & (green == 0) & (blue == 0)).any())


def test_marks_wrong_predictions(data: LabelledImages, tmp_path: Path):
    save_predictions(tmp_path / "right.png", data, data.labels, first=3)
    save_predictions(tmp_path / "wrong.png", data, data.labels[::-1], first=3)
    assert not red_titles(tmp_path / "right.png")
    assert red_titles(tmp_path / "wrong.png")


def test_unwritable_place_is_one_line(data: LabelledImages, tmp_path: Path):
    with pytest.raises(DataError, match=r"x\.png: cannot be written: No such file or directory"):
        save_predictions(tmp_path / "none" / "x.png", data, data.labels, first=0)

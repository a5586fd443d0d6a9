"""Compiles a two-layer image classifier in four ways, runs them, and compares them with NumPy.

Without options it classifies scikit-learn's digits, with parameters that it trains in a second.
`--download` fetches Fashion-MNIST and published parameters; `--data` and `--params` take files.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

import numpy as np
from classifier_picture import save_results
from classifier_report import print_predictions, print_runs, print_stages, reason
from classifier_runs import Run, run_all
from digits_data import load_digits
from fashion_download import PARAMETERS, download
from image_data import DataError, LabelledImages, Parameters, load_images, load_parameters
from mlp_in_numpy import train_mlp
from mlp_modules import register_library

TOLERANCE = 1e-4  # of the largest score; sums of 784 products in float32 differ by their order
DEFAULT_FOLDER = "data/fashion_mnist"
SHOWN, EXPLAINED = "TensorIR kernels", "library calls"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status: 1 when a variant disagrees with NumPy."""
    options = _parse(arguments)
    try:
        library = _library(options.library)
        data, parameters = _load(options)
        runs = run_all(data, parameters, library)
        _print(data, runs, options.image, library)
        if options.output is not None:
            path = options.output / f"{data.name}.png"
            save_results(path, data, runs, _named(runs, SHOWN), options.image, library)
            print(f"picture: {path}")
    except DataError as error:
        print(f"image_classifier.py: error: {error}", file=sys.stderr)
        return 2
    return _report_disagreement(runs)


def _library(name: str) -> str:
    """Register the library for the library calls; returns its name."""
    if name == "torch" and find_spec("torch") is None:
        raise DataError("--library torch needs PyTorch: install the extra `torch`")
    return register_library(name)


def _load(options: argparse.Namespace) -> tuple[LabelledImages, Parameters]:
    if options.download is not None:
        download(options.download, options.mirror)
        options.data = options.data or options.download
        options.params = options.params or options.download / PARAMETERS
    if (options.data is None) != (options.params is None):
        raise DataError("expected --data and --params together, got one of them")
    if options.data is None:
        train, data = load_digits()
        parameters = train_mlp(train)
    else:
        data, parameters = load_images(options.data), load_parameters(options.params)
    _check_fit(data, parameters, options)
    return data, parameters


def _check_fit(data: LabelledImages, parameters: Parameters, options: argparse.Namespace) -> None:
    inputs, outputs = parameters["w0"].shape[1], parameters["w1"].shape[0]
    if (inputs, outputs) != (data.rows.shape[1], len(data.classes)):
        raise DataError(
            f"{options.params}: expected parameters from {data.rows.shape[1]} pixels to "
            f"{len(data.classes)} classes, got {inputs} to {outputs}"
        )
    if not 0 <= options.image < len(data.labels):
        raise DataError(f"expected --image from 0 to {len(data.labels) - 1}, got {options.image}")


def _print(data: LabelledImages, runs: list[Run], image: int, library: str) -> None:
    height, width = data.images.shape[1:]
    missing = "" if find_spec("torch") is not None else "; PyTorch is not installed"
    print(f"{data.title}: {len(data.labels)} images of {height}x{width} pixels, one per call")
    print(f"library calls go to {library}{missing}\n")
    print_predictions(data, _named(runs, SHOWN), image)
    print_runs(data, runs, image)
    print(fill(reason(_named(runs, EXPLAINED), library), 100) + "\n")
    print_stages()


def _named(runs: list[Run], name: str) -> Run:
    return next(run for run in runs if run.name == name)


def _report_disagreement(runs: list[Run]) -> int:
    expected = runs[0].scores
    allowed = TOLERANCE * float(np.abs(expected).max())
    wrong = [run.name for run in runs[1:] if not np.abs(run.scores - expected).max() <= allowed]
    for name in wrong:
        print(f"image_classifier.py: error: {name} disagrees with NumPy", file=sys.stderr)
    return 1 if wrong else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="image_classifier.py",
        description="Compile an image classifier in four ways, run it, and compare with NumPy.",
    )
    parser.add_argument(
        "--data", type=Path, help="images of Fashion-MNIST: an npz, or idx files or their folder"
    )
    parser.add_argument("--params", type=Path, help="parameters w0, b0, w1, b1: an npz or a pickle")
    parser.add_argument("--image", type=int, default=0, help="number of the image to show")
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="draw a picture, named like the data set"
    )
    parser.add_argument(
        "--library",
        choices=["auto", "numpy", "torch"],
        default="auto",
        help="what the library calls use (auto: torch when it is installed)",
    )
    parser.add_argument(
        "--download",
        type=Path,
        nargs="?",
        const=Path(DEFAULT_FOLDER),
        metavar="FOLDER",
        help=f"fetch Fashion-MNIST and its parameters first (default folder: {DEFAULT_FOLDER})",
    )
    parser.add_argument("--mirror", metavar="URL", help="a place that holds the files to download")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

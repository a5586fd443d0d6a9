"""Compiles a two-layer image classifier in four ways, runs them, and compares them with NumPy.

Without options it takes scikit-learn's digits and trains the parameters first, in a second or so.
`--download` fetches Fashion-MNIST and published parameters; `--data` and `--params` take files.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from digits_mlp import load_digits, numpy_mlp, train_mlp
from fashion_data import DataError, LabelledImages, Parameters, load_images, load_parameters
from fashion_download import PARAMETERS, download
from mlp_modules import MyModule, MyModuleMixture, MyModuleWithExternCall, register_library
from prediction_picture import save_predictions

import xrelax as tvm
from xrelax import relax

TOLERANCE = 1e-4  # of the largest score; sums of 784 products in float32 differ by their order
DEFAULT_FOLDER = "data/fashion_mnist"


@dataclass(frozen=True)
class Run:
    """What one way of computing the model gave for all images, one call for each image."""

    name: str
    scores: np.ndarray
    """float32 of shape (images, classes)."""
    seconds: float
    """Mean time of a call."""


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status: 1 when compiled code disagrees with NumPy."""
    options = _parse(arguments)
    try:
        data, parameters = _load(options)
        library = register_library(options.library)
        runs = [run_numpy(data, parameters), *run_compiled(data, parameters)]
        _print_runs(runs, data, options.image % len(data.labels), library)
        _print_stages()
        if options.output is not None:
            save_predictions(options.output, data, runs[1].scores.argmax(axis=1), options.image)
            print(f"first predictions drawn in {options.output}")
    except DataError as error:
        print(f"fashion_mnist.py: error: {error}", file=sys.stderr)
        return 2
    return _report_disagreement(runs)


def run_numpy(data: LabelledImages, parameters: Parameters) -> Run:
    """The model in NumPy, one image at a time like the compiled ones."""
    rows = [row[np.newaxis] for row in data.rows]
    return _run("NumPy", lambda row: numpy_mlp(row, **parameters), rows)


def run_compiled(data: LabelledImages, parameters: Parameters) -> list[Run]:
    """Every variant of the model, compiled and run on every image."""
    arrays = {name: tvm.nd.array(value) for name, value in parameters.items()}
    weights = [arrays[name] for name in ("w0", "b0", "w1", "b1")]
    with_parameters = relax.transform.BindParams("main", arrays)(MyModuleMixture)
    variants = [
        ("TensorIR kernels", MyModule, weights),
        ("library calls", MyModuleWithExternCall, weights),
        ("mixture", MyModuleMixture, weights),
        ("mixture, parameters bound", with_parameters, []),
    ]
    rows = [tvm.nd.array(row[np.newaxis]) for row in data.rows]
    runs: list[Run] = []
    for name, module, extra in variants:
        machine = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())
        function = machine["main"]
        runs.append(_run(name, lambda row, f=function, w=extra: f(row, *w).numpy(), rows))
    return runs


def count_operations(text: str) -> int:
    """How many operations a module's printed IR holds: the lines that start with one."""
    return len(re.findall(r'^\s*(?:%[^=]+= )?"?[a-z_]\w*(?:\.\w+)+"?', text, re.MULTILINE))


def stage_sizes() -> list[tuple[str, int]]:
    """The compiler's stages in order, each with the number of operations it has for MyModule."""
    return [(stage, count_operations(text)) for stage, text in tvm.stages(MyModule)]


def accuracy(run: Run, data: LabelledImages) -> float:
    """The share of images whose highest score is that of their own class."""
    return float((run.scores.argmax(axis=1) == data.labels).mean())


def _run(name: str, function: Callable[..., np.ndarray], rows: list) -> Run:
    function(rows[0])  # the first call loads what later calls find in the caches
    start = time.perf_counter()
    scores = [function(row) for row in rows]
    seconds = (time.perf_counter() - start) / len(rows)
    return Run(name, np.concatenate(scores), seconds)


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


def _print_runs(runs: list[Run], data: LabelledImages, image: int, library: str) -> None:
    height, width = data.images.shape[1:]
    print(f"{len(data.labels)} images of {height}x{width} pixels; library calls go to {library}")
    print(f"image #{image} shows: {data.classes[data.labels[image]]}\n")
    scores = [f"{score:.6f}" for score in runs[1].scores[image]]
    _print_table({"class": data.classes, "score": scores})
    _print_table(
        {
            "variant": [run.name for run in runs],
            f"image #{image}": [data.classes[run.scores[image].argmax()] for run in runs],
            "accuracy": [f"{accuracy(run, data):.4f}" for run in runs],
            "time per image": [f"{run.seconds * 1e6:.1f} µs" for run in runs],
        }
    )


def _print_stages() -> None:
    names, sizes = zip(*stage_sizes(), strict=True)
    _print_table({"stage of the TensorIR variant": names, "operations": sizes})


def _print_table(columns: dict[str, Sequence]) -> None:
    """A table under the columns' names, its first column to the left and the others to the right.

    Raises DataError when tabulate is not installed.
    """
    try:
        from tabulate import tabulate
    except ModuleNotFoundError as error:
        raise DataError("the tables need tabulate: install the extra `demo`") from error
    sides = ["left"] + ["right"] * (len(columns) - 1)
    print(tabulate(columns, headers="keys", colalign=sides, disable_numparse=True) + "\n")


def _report_disagreement(runs: list[Run]) -> int:
    expected = runs[0].scores
    allowed = TOLERANCE * float(np.abs(expected).max())
    wrong = [run.name for run in runs[1:] if not np.abs(run.scores - expected).max() <= allowed]
    for name in wrong:
        print(f"fashion_mnist.py: error: {name} disagrees with NumPy", file=sys.stderr)
    return 1 if wrong else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="fashion_mnist.py",
        description="Compile an image classifier in four ways, run it, and compare with NumPy.",
    )
    parser.add_argument("--data", type=Path, help="images: an npz, or idx files or their folder")
    parser.add_argument("--params", type=Path, help="parameters w0, b0, w1, b1: an npz or a pickle")
    parser.add_argument("--image", type=int, default=0, help="number of the image to show")
    parser.add_argument("--output", type=Path, metavar="PNG", help="draw the first predictions")
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

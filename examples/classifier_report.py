"""Prints the classifier's predictions, accuracies and times as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifier_runs import Run, accuracy, choose_images
from image_data import DataError, LabelledImages
from mlp_in_numpy import softmax
from mlp_modules import MyModule

import xrelax as tvm

COUNT, WRONG = 3, 2  # images in the table of predictions


def print_predictions(data: LabelledImages, run: Run, first: int) -> None:
    """The probabilities of image `first`, of two after it, and of two with a wrong prediction."""
    right = run.predicted == data.labels
    images = [i for part in choose_images(right, first, COUNT, WRONG) for i in part]
    probabilities = softmax(run.scores)
    table = {"image": ["true label", "predicted", "right", *data.classes]}
    for image in images:
        table[f"#{image}"] = [
            data.classes[data.labels[image]],
            data.classes[run.predicted[image]],
            "yes" if right[image] else "NO",
            *(percent(value) for value in probabilities[image]),
        ]
    print_table(table)


def print_runs(data: LabelledImages, runs: Sequence[Run], image: int) -> None:
    """The prediction for an image, the accuracy and the time of each variant."""
    print_table(
        {
            "variant": [run.name for run in runs],
            f"image #{image}": [data.classes[run.predicted[image]] for run in runs],
            "accuracy": [f"{accuracy(run, data):.2%}" for run in runs],
            "time per image": [micro(run.seconds) for run in runs],
        }
    )


def reason(run: Run, library: str) -> str:
    """Where a variant with library calls spends its time, in two sentences with its figures."""
    calls = run.library_calls
    assert calls is not None
    empty, conversions, computation = map(micro, run.parts)
    return (
        f"With registered functions that do nothing, {run.name} take {empty} per image: each of "
        f"the {calls.count} calls leaves compiled code, takes the GIL and makes tensors of its "
        f"arguments. Converting these {calls.tensors} tensors for {library} adds {conversions}, "
        f"and {library}'s computation {computation}."
    )


def print_stages() -> None:
    """The number of operations at each stage."""
    names, sizes = zip(*stage_sizes(), strict=True)
    print_table({"stage of TensorIR kernels": names, "operations": sizes})


def stage_sizes() -> list[tuple[str, int]]:
    """The compiler's stages in order, each with the number of operations it has for MyModule."""
    return [(stage, count_operations(text)) for stage, text in tvm.stages(MyModule)]


def count_operations(text: str) -> int:
    """How many operations a module's printed IR holds: the lines that start with one."""
    return len(re.findall(r'^\s*(?:%[^=]+= )?"?[a-z_]\w*(?:\.\w+)+"?', text, re.MULTILINE))


def micro(seconds: float) -> str:
    """A time in microseconds."""
    return f"{seconds * 1e6:.1f} µs"


def percent(probability: float) -> str:
    """A probability with one decimal; a softmax is never exactly 0 or 1."""
    if probability < 0.0005:
        return "<0.1%"
    return ">99.9%" if probability >= 0.9995 else f"{probability:.1%}"


def print_table(columns: dict[str, Sequence]) -> None:
    """A table under the columns' names, its first column to the left and the others to the right.

    Raises DataError when tabulate is not installed.
    """
    try:
        from tabulate import tabulate
    except ModuleNotFoundError as error:
        raise DataError("the tables need tabulate: install the extra `demo`") from error
    sides = ["left"] + ["right"] * (len(columns) - 1)
    print(tabulate(columns, headers="keys", colalign=sides, disable_numparse=True) + "\n")

"""ONNX files as workloads: ``python benchmarks/run.py --only onnx``.

Files of packages and their inputs are those of tests/models/onnx_zoo.py; ``python
tests/models/onnx_files.py`` downloads them. ``python benchmarks/exported_models.py`` exports
well-known networks. ONNX Runtime's result without optimizations is what others are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from exported_models import exported, inputs
from peers import Case, Contestant, onnxruntime, ours_of_file
from precisions import quantized

TOLERANCE = 1e-4
"""The largest difference of the exported networks, over the largest number."""


@dataclass(frozen=True)
class FileWorkload:
    """One call of a file's model."""

    name: str
    path: Path
    feeds: Mapping[str, np.ndarray]
    tolerance: float
    kind: str = "onnx"


class FileCase(Case):
    """A file for contestants that read it."""

    workload: FileWorkload
    peers = ("onnxruntime", "openvino")

    def __post_init__(self) -> None:
        # in the order of the file, which contestants take them in
        declared = onnx.load(self.workload.path, load_external_data=False).graph.input
        feeds = self.workload.feeds
        self.inputs = {i.name: feeds[i.name] for i in declared if i.name in feeds}
        self.constants = {}

    @cached_property
    def onnx_path(self) -> Path:
        """The file, or a quantized copy."""
        if self.precision != "int8":
            return self.workload.path
        return quantized(self.workload.path, self.folder, self.inputs)

    @cached_property
    def expected(self) -> np.ndarray:
        """The first output of the file as it is written, by ONNX Runtime."""
        return onnxruntime(self, is_optimized=False).begin().first[1]

    def ours(self) -> Contestant:
        """What this project makes of the file."""
        return ours_of_file(self)


def standard() -> list[FileWorkload]:
    """The files that are there, with the inputs of the first call; ValueError for none."""
    from onnx_zoo import ONNX_ZOO

    found = [
        FileWorkload(name, path, inputs(name), TOLERANCE)
        for name, path in exported().items()
        if path.exists()
    ]
    found += [
        FileWorkload(name, entry.path, _arrays(entry.calls), entry.tolerance)
        for name, entry in ONNX_ZOO.items()
        if entry.path.exists()
    ]
    if not found:
        raise ValueError("expected ONNX files: run python tests/models/onnx_files.py")
    return found


def _arrays(calls: Callable[[], Any]) -> Mapping[str, np.ndarray]:
    return {name: np.asarray(array) for name, array in calls()[0].items()}

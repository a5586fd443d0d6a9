"""ONNX files as workloads: ``python benchmarks/run.py --only onnx``.

Files of packages and their inputs are those of tests/models/onnx_zoo.py; ``python
tests/models/onnx_files.py`` downloads them. ``python benchmarks/exported_models.py`` exports
well-known networks. ONNX Runtime's result is what others are compared with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from exported_models import exported, inputs
from machine import empty_cache
from peers import Case, Contestant, onnxruntime

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
        """The file."""
        return self.workload.path

    @cached_property
    def expected(self) -> np.ndarray:
        """The first output by ONNX Runtime."""
        return onnxruntime(self).begin().first[1]

    def ours(self) -> Contestant:
        """The file, compiled twice: without a cache, and from it."""
        import xrelax

        seconds: list[float] = []
        with empty_cache():
            for _ in range(2):
                begin = time.perf_counter()
                model = xrelax.compile(str(self.workload.path), target=self.target)
                if model.constant_inputs or model.constant_sizes:
                    model.run(None, self.inputs)  # compiles for these values
                seconds.append(time.perf_counter() - begin)
        given = [self.inputs[n] for n in model.input_names]
        varying = [self.inputs[n] for n in model.input_names if n not in model.constant_inputs]
        report = model.executable.profile("main", *varying, repeat=3)
        facts = {"cold": seconds[0], "cached": seconds[1], "report": report}
        facts["operations"] = sum(k.operations or 0 for k in report)
        return Contestant(lambda: model(*given), _first, facts)


def _first(result: Any) -> np.ndarray:
    return (result[0] if isinstance(result, tuple) else result).numpy()


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

"""Errors of compiled ONNX models beside ONNX Runtime, and their times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx_expected import Outputs
from onnx_zoo import Feeds, OnnxEntry


@dataclass(frozen=True)
class Measured:
    """A model's largest error, and its times: a call after the first, and the compilation."""

    error: float
    call_seconds: float
    compile_seconds: float
    """CPU time of compiling, and of the first call, which may compile for its values."""


def measure(entry: OnnxEntry, repeats: int = 1) -> Measured:
    """Compile a model, compare it with ONNX Runtime, and verify its outputs."""
    import xrelax

    feeds = entry.calls()[0]
    start = time.process_time()
    compiled = xrelax.compile(entry.path)
    compiled.run(None, feeds)
    compile_seconds = time.process_time() - start
    found = entry.run(compiled.run)
    entry.verify(found)
    expected = entry.run(reference(entry.path))
    error = max(difference(*pair) for pair in zip(found, expected, strict=True))
    call = call_seconds(lambda: compiled.run(None, feeds), repeats)
    return Measured(error, call, compile_seconds)


def call_seconds(call: Callable[[], Any], repeats: int) -> float:
    """The shortest time of several calls."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def reference(path: Path) -> Callable[[None, Feeds], Outputs]:
    """ONNX Runtime without optimizations of the graph, which round quantized models differently."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run


def difference(found: Outputs, expected: Outputs) -> float:
    """The largest difference of outputs, over the largest number of each."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert np.isfinite(a).all() and np.isfinite(b).all()
        worst = max(worst, float(np.abs(a - b).max() / np.abs(b).max()))
    return worst

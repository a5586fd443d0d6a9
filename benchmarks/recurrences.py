"""LSTMs of dynamic length beside PyTorch and ONNX Runtime: ``python benchmarks/recurrences.py``.

A line for each size: the compiler's CPU seconds, the largest error of PyTorch's result, and the
microseconds of each contestant. The sequence's length is symbolic in all of them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from machine import empty_cache, medians, prepare

SIZES = ((1, 128, 256), (16, 64, 512))
"""Batch, steps and width; the width is that of the input and of the state."""
LONGEST = 1024


def contestants(batch: int, steps: int, width: int, threads: int) -> tuple[float, float, Any]:
    """CPU seconds of the compiler, the error, and a call of each contestant."""
    import torch

    import xrelax

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = torch.nn.LSTM(width, width, batch_first=True).eval()
    x = torch.randn(batch, steps, width)
    sizes = {"input": {1: torch.export.Dim("steps", min=2, max=LONGEST)}}
    with empty_cache():
        begin = time.process_time()
        compiled = xrelax.compile(model, (x,), dynamic_shapes=sizes)
        seconds = time.process_time() - begin

    def eager() -> Any:
        with torch.inference_mode():
            return model(x)

    error = float((compiled(x)[0] - eager()[0]).abs().max())
    session = _onnxruntime(model, x, threads)
    array = x.numpy()
    calls: dict[str, Callable[[], Any]] = {
        "xrelax": lambda: compiled(x),
        "torch": eager,
        "onnxruntime": lambda: session.run(None, {"x": array}),
    }
    return seconds, error, calls


def _onnxruntime(model: Any, x: Any, threads: int) -> Any:
    import onnxruntime as ort
    import torch

    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = str(Path(folder, "lstm.onnx"))
        torch.onnx.export(
            model, (x,), path, input_names=["x"], dynamic_axes={"x": {1: "steps"}}, dynamo=False
        )
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of every contestant (1)")
    options = parser.parse_args()
    try:
        prepare(options.threads)
    except ValueError as error:
        parser.error(str(error))
    for batch, steps, width in SIZES:
        compiling, error, calls = contestants(batch, steps, width, options.threads)
        first = dict.fromkeys(calls, 0.0)
        times = medians(calls, rounds=15, budget=8, first=first)
        best = min(seconds for name, seconds in times.items() if name != "xrelax")
        row = ", ".join(f"{name} {seconds * 1e6:.0f} µs" for name, seconds in times.items())
        print(
            f"LSTM, batch {batch}, {steps} steps, width {width}: {row}; "
            f"{best / times['xrelax']:.2f} of the best peer; compiled in {compiling:.1f} CPU s; "
            f"error {error:.0e}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Seconds until the model of an ONNX file is ready for its first call, each in a new process.

``taskset -c 1 python benchmarks/start.py bert_base gpt2`` compiles the files of
``python benchmarks/exported_models.py`` with an empty cache, from the cache, and from its modules
alone: a model given as bytes has no file. ONNX Runtime and OpenVINO create a session, if they are
installed. Libraries are imported before. Processes take turns, and the median counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from exported_models import exported, inputs

FROM_CACHE = "from the cache"


def _from_file(path: Path) -> Callable[[Any], Any]:
    import xrelax

    model = xrelax.compile(path)
    return lambda feeds: model.run(None, feeds)


def _from_bytes(path: Path) -> Callable[[Any], Any]:
    from xrelax.importers.onnx.compiled_model import compile_onnx

    model = compile_onnx(path.read_bytes())
    return lambda feeds: model.run(None, feeds)


def _onnxruntime(path: Path) -> Callable[[Any], Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _openvino(path: Path) -> Callable[[Any], Any]:
    import openvino

    model = openvino.compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda feeds: model(list(feeds.values()))


WAYS: dict[str, tuple[str, Callable[[Path], Callable[[Any], Any]]]] = {
    FROM_CACHE: ("xrelax", _from_file),
    "from its modules": ("xrelax", _from_bytes),
    "onnxruntime": ("onnxruntime", _onnxruntime),
    "openvino": ("openvino", _openvino),
}
"""What makes a function of a file, by name, and the module that it needs."""


def measure(way: str, name: str) -> dict[str, float]:
    """The seconds until a function is there, those of its first call, and the memory, in MB."""
    module, make = WAYS[way]
    import_module(module)
    feeds = inputs(name)
    begin = time.perf_counter()
    run = make(exported()[name])
    ready = time.perf_counter()
    run(feeds)
    called = time.perf_counter()
    return {"ready": ready - begin, "first call": called - ready, "memory": _memory()}


def _memory() -> float:
    """The most megabytes that the process had in memory."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_new_process(way: str, name: str, folder: str) -> dict[str, float]:
    """What `measure` says there, with a cache in a folder."""
    environment = {**os.environ, "XRELAX_CACHE": "1", "XRELAX_CACHE_DIR": folder}
    command = [sys.executable, __file__, name, "--way", way]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def rows(name: str, rounds: int) -> dict[str, dict[str, float]]:
    """Medians by way; the first row is a build with an empty cache."""
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        found["with an empty cache"].append(in_new_process(FROM_CACHE, name, folder))
        for _ in range(rounds):
            for way, (module, _) in WAYS.items():
                if find_spec(module) is not None:
                    found[way].append(in_new_process(way, name, folder))
    return {
        way: {key: statistics.median(one[key] for one in several) for key in several[0]}
        for way, several in found.items()
    }


def table(name: str, found: dict[str, dict[str, float]]) -> None:
    """Print the ways of a model."""
    own = found[FROM_CACHE]["ready"]
    for way, one in found.items():
        seconds = f"{one['ready']:.2f} s | {one['ready'] / own:.1f} | {one['first call']:.2f} s"
        print(f"| {name} | {way} | {seconds} | {one['memory']:.0f} MB |")


def main() -> None:
    """Print the table, or what one process measures."""
    known = [name for name, path in exported().items() if path.exists()]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", default=known, help="names of exported models")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each way (3)")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.models:
        if name not in known:
            parser.error(f"expected exported models ({', '.join(known)}), got '{name}'")
    if options.way is not None:
        print(json.dumps(measure(options.way, options.models[0])))
        return
    print("| model | way | ready | ratio | first call | memory |")
    print("|---|---|---|---|---|---|")
    for name in options.models:
        table(name, rows(name, options.rounds))


if __name__ == "__main__":
    main()

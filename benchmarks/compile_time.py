"""Time to compile BERT-base by pass, for models of several depths: it must grow linearly.

``taskset -c 1 python benchmarks/compile_time.py 1 2 4 12`` prints CPU seconds of each pass for
models of so many layers, microseconds for each operation that the pass leaves, and the time of a
second build, which the cache serves. It needs the extra `models`. With ``--profile`` it prints
where the time of the deepest model goes, by function.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any


class Clock:
    """CPU seconds by step, and how many operations a step has left."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.operations: dict[str, int] = defaultdict(int)

    def timed(self, name: str, work: Callable[..., Any], count: bool = False) -> Callable[..., Any]:
        """`work`, whose time is added to a step; its last argument is a module if they `count`."""

        def run(*args: Any, **kwargs: Any) -> Any:
            begin = time.process_time()
            result = work(*args, **kwargs)
            self.seconds[name] += time.process_time() - begin
            if count:
                self.operations[name] += sum(1 for _ in args[-1].walk())
            return result

        return run


def watch(clock: Clock) -> Callable[[], None]:
    """Time every pass, verification and LLVM from now on; returns what ends it."""
    from xrelax import compilation, pipeline
    from xrelax.pipeline import STAGES, load_pass

    undo: list[Callable[[], None]] = []

    def replace(owner: Any, name: str, step: str, count: bool = False) -> None:
        old = getattr(owner, name)
        setattr(owner, name, clock.timed(step, old, count))
        undo.append(lambda: setattr(owner, name, old))

    names = dict.fromkeys(name for stage in STAGES for name in stage.passes)
    for name in names:
        replace(load_pass(name), "apply", name, count=True)
    for owner in (compilation, pipeline):
        replace(owner, "verify", "verify")
    replace(compilation, "compile_llvm", "llvm")
    return lambda: [step() for step in reversed(undo)] and None


def exported(layers: int) -> Any:
    """BERT-base with so many layers, as a program for a batch of 1 and 128 tokens."""
    import torch
    import transformers

    torch.manual_seed(0)
    model = transformers.BertModel(transformers.BertConfig(num_hidden_layers=layers)).eval()
    with torch.no_grad():
        return torch.export.export(model, (torch.ones(1, 128, dtype=torch.int64),))


def measure(layers: int) -> Clock:
    """The steps of a first build without a cache, and a second one with it."""
    import xrelax
    from xrelax.relax.frontend.torch import from_exported_program

    clock = Clock()
    program = clock.timed("torch.export", exported)(layers)
    module = clock.timed("import", from_exported_program)(program)
    os.environ["XRELAX_CACHE"] = "0"
    stop = watch(clock)
    clock.timed("build", xrelax.build)(module)
    stop()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XRELAX_CACHE": "1", "XRELAX_CACHE_DIR": folder}
        xrelax.build(module)
        clock.timed("second build", xrelax.build)(module)
    inside = set(clock.seconds) - {"torch.export", "import", "build", "second build"}
    clock.seconds["the rest"] = clock.seconds["build"] - sum(clock.seconds[n] for n in inside)
    return clock


def table(columns: dict[int, Clock]) -> None:
    """Print seconds by step and number of layers."""
    deepest = columns[max(columns)]
    print("| step | " + " | ".join(f"{n} layers" for n in columns) + " | µs per operation |")
    print("|---" * (len(columns) + 2) + "|")
    for name in deepest.seconds:
        cells = " | ".join(f"{c.seconds[name]:.2f} s" for c in columns.values())
        count = deepest.operations[name]
        each = f"{deepest.seconds[name] / count * 1e6:.1f}" if count else ""
        print(f"| {name} | {cells} | {each} |")


def profile(layers: int) -> None:
    """Print the functions that take most of a build."""
    import xrelax
    from xrelax.relax.frontend.torch import from_exported_program

    os.environ["XRELAX_CACHE"] = "0"
    program, profiler = exported(layers), cProfile.Profile()
    profiler.enable()
    xrelax.build(from_exported_program(program))
    profiler.disable()
    statistics = pstats.Stats(profiler)
    statistics.sort_stats("cumulative").print_stats(60)
    statistics.sort_stats("tottime").print_stats(40)


def main() -> None:
    """Print the table, or the profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layers", nargs="*", type=int, default=[1, 2, 4, 12])
    parser.add_argument("--profile", action="store_true", help="print a profile instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.profile:
        profile(max(options.layers))
        return
    measure(1)  # imports
    table({layers: measure(layers) for layers in options.layers})


if __name__ == "__main__":
    main()

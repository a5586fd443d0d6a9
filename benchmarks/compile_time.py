"""CPU seconds to compile models by step, each in a process of its own.

``python benchmarks/compile_time.py mlp resnet18 resnet50 mobilenet_v3_large bert`` prints a column
for each model: the course's MLP from its script, the others from PyTorch's exported program.
A number instead of a name is BERT-base of so many layers: ``1 2 4 12`` shows that the time grows
linearly. Of several ``--rounds`` the quickest counts. CPU time of all threads is taken, so other
processes hardly disturb it. ``--passes`` prints every pass, ``--profile`` the functions that take
most of the time of a build. Needs the extra `models`.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

MODELS = ("mlp", "resnet18", "resnet50", "mobilenet_v3_large", "bert")
TOTALS = ("import of the compiler", "model", "build", "build from the cache, new process")


class Clock:
    """CPU seconds by step; those of a step inside another one count for the inner one alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inside = 0.0

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """`work`, whose time is added to a step."""

        def run(*args: Any, **kwargs: Any) -> Any:
            outer, self._inside = self._inside, 0.0
            begin = time.process_time()
            try:
                return work(*args, **kwargs)
            finally:
                spent = time.process_time() - begin
                self.seconds[name] += spent - self._inside
                self._inside = outer + spent

        return run


def watch(clock: Clock, each_pass: bool) -> None:
    """Time every pass, verification and step of LLVM from now on."""
    from xrelax import compilation, pipeline
    from xrelax.backend import build, jit
    from xrelax.pipeline import STAGES, load_pass

    def replace(owner: Any, name: str, step: str) -> None:
        setattr(owner, name, clock.timed(step, getattr(owner, name)))

    steps = {name: f"passes of '{s.name}'" for s in reversed(STAGES) for name in s.passes}
    for name in dict.fromkeys(name for stage in STAGES for name in stage.passes):
        alone = each_pass or name in ("schedule-default", "convert-to-llvm")
        replace(load_pass(name), "apply", name if alone else steps[name])
    for owner in (compilation, pipeline):
        replace(owner, "verify", "verifiers")
    replace(build, "emit_module", "text of LLVM IR")
    for name in ("_parse", "_verify", "_optimize", "_clean_up", "_emit"):
        replace(jit, name, f"LLVM: {name.strip('_').replace('_', ' ')}")


def source(name: str) -> Callable[[], Any]:
    """What makes the module of a model, and may be timed; the rest is done before."""
    if name == "mlp":
        from mlp import script

        return lambda: _parsed(script(1))
    import torch

    from xrelax.relax.frontend.torch import from_exported_program

    if name == "bert" or name.isdecimal():
        import transformers

        torch.manual_seed(0)
        layers = int(name) if name.isdecimal() else 12
        config = transformers.BertConfig(num_hidden_layers=layers)
        model, given = transformers.BertModel(config).eval(), torch.ones(1, 128, dtype=torch.int64)
    else:
        from torch_models import image_model

        model, given = image_model(name), torch.ones(1, 3, 224, 224)
    with torch.no_grad():
        program = torch.export.export(model, (given,))
    return lambda: from_exported_program(program)


def _parsed(text: str) -> Any:
    from xrelax.script import from_source

    return from_source(text)


def measure(name: str, each_pass: bool) -> dict[str, float]:
    """The steps of a build in this process, with the cache that the environment names."""
    import xrelax

    clock = Clock()
    clock.timed("import of the compiler", _import_compiler)()
    make = source(name)
    module = clock.timed("model", make)()
    watch(clock, each_pass)
    begin = time.process_time()
    clock.timed("the rest", xrelax.build)(module)
    clock.seconds["build"] = time.process_time() - begin
    return clock.seconds


def _import_compiler() -> None:
    from xrelax.script import ir, relax, tir  # noqa: F401


def in_new_process(name: str, each_pass: bool, **environment: str) -> dict[str, float]:
    """What `measure` says there."""
    command = [sys.executable, __file__, name, "--one", *(["--passes"] if each_pass else [])]
    done = subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def quickest(name: str, rounds: int, each_pass: bool) -> dict[str, float]:
    """The steps of the quickest build, and the time of the quickest one that the cache serves."""
    builds = [in_new_process(name, each_pass, XRELAX_CACHE="0") for _ in range(rounds)]
    found = min(builds, key=lambda seconds: seconds["build"])
    found["import of the compiler"] = min(b["import of the compiler"] for b in builds)
    with tempfile.TemporaryDirectory() as folder:
        cached = [
            in_new_process(name, each_pass, XRELAX_CACHE="1", XRELAX_CACHE_DIR=folder)["build"]
            for _ in range(rounds + 1)
        ]
    return {**found, TOTALS[-1]: min(cached[1:])}


def table(columns: dict[str, dict[str, float]]) -> None:
    """Print seconds by step and model."""
    steps = dict.fromkeys(step for column in columns.values() for step in column)
    print("| CPU seconds | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for step in (*(s for s in steps if s not in TOTALS), *TOTALS):
        cells = " | ".join(f"{column.get(step, 0):.2f}" for column in columns.values())
        print(f"| {step} | {cells} |")


def profile(name: str) -> None:
    """Print the functions that take most of a build."""
    import xrelax

    module, profiler = source(name)(), cProfile.Profile()
    profiler.enable()
    xrelax.build(module)
    profiler.disable()
    statistics = pstats.Stats(profiler)
    statistics.sort_stats("cumulative").print_stats(100)
    statistics.sort_stats("tottime").print_stats(60)


def main() -> None:
    """Print the table, or the profile of the last model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS, help="names, or layers of BERT-base")
    parser.add_argument("--rounds", type=int, default=3, help="builds of each model (3)")
    parser.add_argument("--passes", action="store_true", help="a row for every pass")
    parser.add_argument("--profile", action="store_true", help="print a profile instead")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS and not name.isdecimal():
            parser.error(f"expected models ({', '.join(MODELS)}) or layers of BERT, got '{name}'")
    warnings.simplefilter("ignore")
    if options.profile:
        os.environ["XRELAX_CACHE"] = "0"
        profile(options.models[-1])
    elif options.one:
        print(json.dumps(measure(options.models[-1], options.passes)))
    else:
        table({n: quickest(n, options.rounds, options.passes) for n in options.models})


if __name__ == "__main__":
    main()

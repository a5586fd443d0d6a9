"""What a search for schedules gains: a table of drawn matmuls, convolutions, norms and attention.

``python benchmarks/tuning.py --threads 2 --trials 64`` tunes the kernels of each workload with
``meta_schedule.tune_relax`` in an empty folder, and then times the tuned program in turns with the
default one. "reached" is a default within 3 % of the roofline, where there is nothing to gain.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from machine import interleaved, prepare

REACHED = 1.03
"""Times the roofline, up to which a default counts as the best there is."""


def command_line() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--threads", type=int, default=1, help="threads of the kernels (1)")
    add("--trials", type=int, default=64, help="schedules that are measured of a kernel (64)")
    add("--seconds", type=float, default=300, help="for the search of one kernel (300)")
    add("--random", type=int, default=0, metavar="SEED", help="which shapes are drawn (0)")
    add("--only", metavar="TEXT", default="", help="a part of workloads' names")
    add("--rounds", type=int, default=15, help="rounds of the comparison (15)")
    add("--target", default="llvm", help="what the kernels are compiled for")
    return parser


def workloads(seed: int) -> Iterator[Any]:
    """Twenty drawn matmuls, six of the convolutions of ResNet-18, norms, and attention."""
    import numpy as np
    from workloads import RESNET_CONVOLUTIONS, attention, convolution, matmul, memory_bound

    rng = np.random.default_rng(seed)
    for number in range(20):
        m, n, k = (int(2 ** rng.uniform(low, 10.5)) for low in (0, 4, 4))
        yield matmul(m, n, k, "large", ("constant", "per call", "transposed")[number % 3])
    for sizes in RESNET_CONVOLUTIONS[1:7]:
        yield convolution(*sizes)
    yield from (w for w in memory_bound(1024, 768) if w.name.startswith(("softmax", "layer")))
    yield attention(256, 12, False)


def row(workload: Any, options: argparse.Namespace) -> tuple[str, float, float, float]:
    """A workload's name, its seconds by default, its gain by tuning, and its roofline's seconds.

    The gain is the median of rounds: what concerns both programs of a round does not count.
    """
    from peers import Case, graph_module

    from xrelax import meta_schedule, relax
    from xrelax.backend.target import Target
    from xrelax.profiling.machine import measure_machine

    target = f"{options.target} --num-cores={options.threads}"
    with tempfile.TemporaryDirectory() as folder:
        case = Case(workload, options.threads, Path(folder), options.target)
        module, arrays = graph_module(case)
        count = len(meta_schedule.relax_integration.extract_tasks(module, target))
        database = meta_schedule.tune_relax(
            module,
            None,
            target,
            folder,
            max_trials_global=options.trials * count,
            max_trials_per_task=options.trials,
            max_seconds_per_task=options.seconds,
        )
        tuned = meta_schedule.relax_integration.compile_relax(database, module, target)
    default = relax.build(module, target)
    calls, firsts = dict[str, Any](), dict[str, float]()
    out = default["main"](*arrays)  # of both: times depend on where results are
    for name, executable in (("default", default), ("tuned", tuned)):
        main = executable["main"]
        begin = time.perf_counter()
        main(*arrays, out=out)
        firsts[name] = time.perf_counter() - begin
        if (error := case.error(out.numpy())) > workload.tolerance:
            raise ValueError(
                f"expected the {name} '{workload.name}' to be right, error {error:.1e}"
            )
        calls[name] = lambda main=main: main(*arrays, out=out)
    seconds = interleaved(calls, options.rounds, 10, firsts)
    default_seconds = statistics.median(seconds["default"])
    pairs = zip(seconds["default"], seconds["tuned"], strict=True)
    gain = statistics.median(before / after for before, after in pairs)
    report = default.profile("main", *arrays, repeat=3)
    nbytes = sum(a.nbytes for a in (*case.inputs.values(), *case.constants.values()))
    machine = measure_machine(options.threads, Target(target))
    roofline = machine.seconds(
        sum(k.operations or 0 for k in report), nbytes + 4 * case.expected.size, "float32"
    )
    return workload.name, default_seconds, gain, roofline


def main(args: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 1 if a tuned program is 2 % slower than its default."""
    options = command_line().parse_args(args)
    prepare(options.threads)
    print("| workload | default µs | share of the roofline | tuned µs | gain |")
    print("| --- | --- | --- | --- | --- |")
    gains, slower = list[float](), list[str]()
    for workload in workloads(options.random):
        if options.only not in workload.name:
            continue
        name, default, gain, roofline = row(workload, options)
        is_reached = default <= REACHED * roofline
        gains += [] if is_reached else [gain]
        slower += [name] if gain < 0.98 else []
        note = " (reached)" if is_reached else ""
        share = f"{100 * roofline / default:.0f} %{note}"
        cells = name, f"{1e6 * default:.1f}", share, f"{1e6 * default / gain:.1f}", f"{gain:.2f}"
        print(f"| {' | '.join(cells)} |", flush=True)
    if gains:
        mean = math.exp(sum(map(math.log, gains)) / len(gains))
        print(f"\nGeometric mean of {len(gains)} workloads below the roofline: {mean:.3f}")
    if slower:
        print(f"slower than the default: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compare compiled code with NumPy, PyTorch, ONNX Runtime, OpenVINO, JAX and TVM in one process.

``python benchmarks/run.py --threads 1`` prints a table of every workload: microseconds of each
contestant, the time of the best peer over ours, and the part of the machine's roofline, measured in
the same run. ``--random 7`` draws other shapes of each class. Results are compared with NumPy's in
f64; a wrong one makes the exit status 1. Peers are those that are installed (the extra `bench`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from machine import medians, prepare


def command_line() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--threads", type=int, default=1, help="threads of every contestant (1)")
    add(
        "--only",
        metavar="TEXT",
        help="a class, a part of names, or onnx/PART",
    )
    add("--random", type=int, metavar="SEED", help="draw shapes instead of the standard ones")
    add("--quick", action="store_true", help="two workloads of each class, few rounds")
    add("--rounds", type=int, default=15, help="rounds, of which medians are taken (15)")
    add("--budget", type=float, default=8, help="seconds for the rounds of one workload (8)")
    add("--precision", default="f32", help="f32, bf16 or int8 (f32)")
    add("--peers", help="names of peers, with commas between them")
    add("--former", type=Path, metavar="FOLDER", help="a checkout that takes part as 'former'")
    add("--target", default="llvm", help="what ours is compiled for, as 'llvm -mcpu=haswell'")
    add("--output", type=Path, metavar="FOLDER", help="write results.md and results.svg there")
    return parser


def check_numbers(options: argparse.Namespace) -> None:
    """Raise ValueError for numbers with which nothing can be measured."""
    for name, least in (("threads", 1), ("rounds", 1), ("budget", 0), ("random", 0)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise ValueError(f"expected --{name} to be at least {least}, got {value}")


def check_precision(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown precision; imports NumPy, which reads its threads then."""
    from precisions import PRECISIONS

    if options.precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise ValueError(f"expected --precision of {known}, got '{options.precision}'")


def chosen(options: argparse.Namespace) -> list[Any]:
    """The workloads that the options ask for; ValueError if there are none."""
    from workloads import KINDS, drawn, quick, standard

    only = options.only
    if only is not None and only.partition("/")[0] == "onnx":
        from onnx_models import standard as files

        matching = [w for w in files() if only.partition("/")[2] in w.name]
        return matching[:2] if options.quick else matching
    found = standard() if options.random is None else drawn(options.random)
    if only in KINDS:
        found = (w for w in found if w.kind == only)
    elif only is not None:
        found = (w for w in found if only in w.name)
    workloads = quick(found) if options.quick else list(found)
    if not workloads:
        raise ValueError(
            f"expected --only to be a class ({', '.join(KINDS)}) or a part of a workload's name, "
            f"got '{only}'"
        )
    return workloads


def runnable(text: str) -> Any:
    """The target of a text; ValueError unless this processor runs code for it."""
    from xrelax.backend.errors import BackendError
    from xrelax.backend.target import Target, required_machine
    from xrelax.runtime.native import NativeError

    try:
        target = Target(text)
        required_machine(target).verify_host()
    except (BackendError, NativeError) as error:
        raise ValueError(str(error)) from None
    return target


def measure(workload: Any, names: list[str], options: argparse.Namespace) -> Any:
    """The row of a workload; the machine is measured beside it, for its clock drifts."""
    from onnx_models import FileCase
    from peers import OURS, Case, case_folder, contestants
    from precisions import PRECISIONS
    from report import Row

    from xrelax.backend.target import Target
    from xrelax.profiling.machine import measure_machine

    precision = PRECISIONS[options.precision]
    tolerance = max(workload.tolerance, precision.tolerance)
    with case_folder() as folder:
        kind = FileCase if workload.kind == "onnx" else Case
        case = kind(workload, options.threads, Path(folder), options.target, options.precision)
        found = contestants(case, names)
        errors = {name: case.error(c.first[1]) for name, c in found.items()}
        rounds = 3 if options.quick else options.rounds
        budget = min(options.budget, 1.0) if options.quick else options.budget
        calls = {name: c.call for name, c in found.items()}
        seconds = medians(calls, rounds, budget, {name: c.first[0] for name, c in found.items()})
        for name, error in errors.items():
            if error > tolerance and name != OURS:
                print(f"{name}: left out of '{workload.name}', error {error:.1e}")
                del seconds[name]
        facts = found[OURS].facts
        expected = case.expected.size
    weights = sum(a.size for a in case.constants.values()) * precision.nbytes
    nbytes = sum(a.nbytes for a in case.inputs.values()) + weights + 4 * expected
    machine = measure_machine(options.threads, Target(options.target))
    roofline = machine.seconds(facts["operations"], nbytes, precision.dtype)
    return Row(
        workload.name,
        workload.kind,
        seconds,
        roofline,
        errors[OURS],
        facts["cold"],
        facts["cached"],
        _why(facts["report"]),
        tolerance,
    )


def _why(report: Any) -> str:
    if not len(report):
        return ""
    kernel = max(report, key=lambda k: k.median)
    share = kernel.roofline
    part = "" if share is None else f", {100 * share:.0f} % of {kernel.bound}"
    return f"{kernel.name}: {100 * report.share(kernel):.0f} % of the time{part}"


def rows(workloads: Sequence[Any], names: list[str], options: argparse.Namespace) -> Iterator[Any]:
    """Every workload's row, printed as it comes."""
    for workload in workloads:
        begin = time.perf_counter()
        row = measure(workload, names, options)
        best = "" if row.ratio is None else f", {row.ratio:.2f} of the best peer ({row.best_peer})"
        took = time.perf_counter() - begin
        print(
            f"{row.name}: {100 * row.share:.0f} % of the roofline{best}; error {row.error:.0e}; "
            f"measured in {took:.0f} s",
            flush=True,
        )
        yield row


def main(args: Sequence[str] | None = None) -> int:
    """Run; the exit status is 1 if a result is wrong, 2 for options that are."""
    parser = command_line()
    options = parser.parse_args(args)
    try:
        check_numbers(options)
        prepare(options.threads)
        check_precision(options)
        from peers import installed, load_former

        if options.former is not None:
            load_former(options.former.resolve())
        wanted = None if options.peers is None else options.peers.split(",")
        names = installed(wanted, options.precision)
        workloads, target = chosen(options), runnable(options.target)
    except ValueError as error:
        parser.error(str(error))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    return table(workloads, names, target, options)


def table(workloads: Sequence[Any], names: list[str], target: Any, options: Any) -> int:
    """Measure, print and write the table; the exit status."""
    from report import plot, text

    from xrelax.profiling.machine import measured_machine

    machine = measured_machine(options.threads, target)
    found = list(rows(workloads, names, options))
    result = text(found, names, machine)
    print(f"\n{result}")
    if options.output is not None:
        (options.output / "results.md").write_text(result)
        plot(found, options.output / "results.svg")
    wrong = [row.name for row in found if row.error > row.tolerance]
    if wrong:
        print(f"wrong results: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

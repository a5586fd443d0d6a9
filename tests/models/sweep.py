"""Compiles many architectures with tiny configurations, and compares them with PyTorch.

``python tests/models/sweep.py transformers|timm|torchvision|packages [PATTERN] [--seed N]
[--count K] [--dynamic] [--new]`` prints a line for each model, and a summary by cause. It needs the
extra `models`, and for timm and torchvision the extra `sweep`. `packages` are the networks of
sweep_packages.py, which names its packages. `--new` leaves out the models of sweep_equal.txt, and
adds those that turn out equal.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from importlib import import_module
from random import Random
from statistics import median
from typing import Any

from sweep_known import add_known, known_seconds
from sweep_worker import TOLERANCE, Outcome, serve

PACKAGES = ("transformers", "timm", "torchvision", "packages")


class Worker:
    """A process that compiles models; it is replaced when a model takes too long or ends it."""

    def __init__(self, package: str, limit: int):
        self.package, self.limit = package, limit
        self.process: Any = None

    def outcome(self, name: str, dynamic: bool) -> Outcome:
        """What became of a model."""
        if self.process is None:
            self._start()
        self.connection.send((name, dynamic))
        step = "start"
        while True:
            try:
                answer = self.connection.recv()
            except (EOFError, ConnectionResetError):
                return self._ended(name, step)
            if isinstance(answer, Outcome):
                return answer
            step = answer

    def _ended(self, name: str, step: str) -> Outcome:
        self.process.join()
        slow = self.process.exitcode == -signal.SIGXCPU
        self.stop()
        if slow:
            return Outcome(name, "timeout", f"{self.limit} CPU s, in step {step}")
        return Outcome(name, "crash", f"the process ended in step {step}")

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other, self.package, self.limit), daemon=True
        )
        self.process.start()
        other.close()

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = None


def chosen(names: Sequence[str], pattern: str, seed: int | None, count: int | None) -> list[str]:
    """The names that match a pattern; with a count, so many of them drawn by the seed."""
    found = [name for name in names if fnmatch(name, pattern)]
    if count is not None and count < len(found):
        found = sorted(Random(seed).sample(found, count))
    return found


def sweep(
    package: str, names: Sequence[str], dynamic: bool = False, limit: int = 60
) -> Iterator[Outcome]:
    """The outcomes of models of a package."""
    worker = Worker(package, limit)
    try:
        for name in names:
            yield worker.outcome(name, dynamic)
    finally:
        worker.stop()


def line(outcome: Outcome) -> str:
    """One line about a model."""
    compiled = outcome.state in ("equal", "wrong")
    error = f"{outcome.error:8.1e}" if compiled else " " * 8
    seconds = f"{outcome.compile_seconds:6.1f} s" if outcome.compile_seconds else " " * 8
    text = f"{outcome.name:32} {outcome.state:12} {error} {seconds}  {outcome.detail}"
    return text.rstrip()


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The numbers of models by state, compile times, and failures by cause."""
    states = Counter(o.state for o in outcomes)
    yield f"{len(outcomes)} models: " + ", ".join(f"{n} {s}" for s, n in states.most_common())
    seconds = [o.compile_seconds for o in outcomes if o.state in ("equal", "wrong")]
    if seconds:
        yield f"compile CPU s: median {median(seconds):.1f}, max {max(seconds):.1f}"
    causes: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        for cause in _causes(outcome):
            causes[f"{outcome.state}: {cause}"].append(outcome.name)
    for cause, found in sorted(causes.items(), key=lambda item: -len(item[1])):
        more = ", …" if len(found) > _SHOWN else ""
        yield f"{len(found):4} {cause} [{', '.join(found[:_SHOWN])}{more}]"


_SHOWN = 6
"""Most models that a cause names."""


def _causes(outcome: Outcome) -> list[str]:
    match outcome.state:
        case "equal":
            return []
        case "unsupported":
            return outcome.detail.split("; ")
        case "wrong":
            return [f"error larger than {TOLERANCE}"]
        case _:
            return [outcome.detail]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=PACKAGES)
    parser.add_argument("pattern", nargs="?", default="*", help="names of models (default: all)")
    parser.add_argument("--count", type=int, help="models to draw from those")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--dynamic", action="store_true", help="dynamic batch and length")
    parser.add_argument("--new", action="store_true", help="only unknown ones; keep the equal ones")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for a model (60)")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Print a line for each model and the summary; 1 if a model is wrong or crashes."""
    from tqdm import tqdm

    options = arguments(given)
    known = known_seconds(options.package, options.dynamic) if options.new else {}
    names = [n for n in import_module(f"sweep_{options.package}").names() if n not in known]
    names = chosen(names, options.pattern, options.seed, options.count)
    outcomes: list[Outcome] = []
    bar = tqdm(total=len(names), disable=None)
    for outcome in sweep(options.package, names, options.dynamic, options.limit):
        outcomes.append(outcome)
        if options.new:
            add_known(options.package, outcome)
        tqdm.write(line(outcome))
        sys.stdout.flush()
        bar.update()
    bar.close()
    print(*summary(outcomes), sep="\n")
    return int(any(o.state in ("wrong", "crash") for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())

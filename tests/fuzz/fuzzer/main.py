"""The command: draws programs until the time is up, and reports what fails and what was covered."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from .batch import Request, Result, run_batch
from .report import Report
from .shrink import Shrunk, shrink
from .sources import KINDS

BATCH = 24
COPY = """
@T.prim_func
def copy(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 where a program failed or a primitive was hardly covered."""
    options = _parser().parse_args(arguments)
    os.environ["XRELAX_CACHE"] = "0"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    kinds = KINDS if options.what == "all" else (options.what,)
    seeds = _seeds(options.seeds)
    print(f"seeds from {seeds.start if isinstance(seeds, range) else seeds[0]}", flush=True)
    report = Report(kinds, Path(options.output))
    with ProcessPoolExecutor(options.workers, get_context("fork"), _warm) as pool:
        _run(pool, options, kinds, seeds, report)
    print(report.text(options.workers))
    return 1 if report.failed else 0


def _run(pool: ProcessPoolExecutor, options, kinds, seeds, report: Report) -> None:
    from tqdm import tqdm

    end = time.monotonic() + options.seconds
    batches = _batches(kinds, seeds)
    waiting: set[Future[list[Result] | Shrunk]] = set()
    with tqdm(total=options.seconds, unit="s", disable=not sys.stderr.isatty()) as bar:
        while True:
            while time.monotonic() < end and len(waiting) < 2 * options.workers:
                if (batch := next(batches, None)) is None:
                    break
                waiting.add(pool.submit(run_batch, batch))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                for failed in report.take(future.result()):
                    waiting.add(pool.submit(shrink, failed, options.shrink_seconds))
            bar.n = min(options.seconds, round(options.seconds - (end - time.monotonic())))
            bar.set_postfix_str(report.summary())


def _batches(kinds: Sequence[str], seeds: Sequence[int]) -> Iterator[list[Request]]:
    """Programs of each kind for all seeds, by turns."""
    seeds_left = iter(seeds)
    while some := list(islice(seeds_left, BATCH)):
        for kind in kinds:
            yield [Request(kind, seed) for seed in some]


def _seeds(text: str) -> range:
    """``17`` or ``17:20`` or ``17:``; by default they begin with the clock."""
    if not text:
        return range(int(time.time()) % 10**8 * 100, 10**12)
    first, colon, last = text.partition(":")
    return range(int(first), int(last) if last else 10**12 if colon else int(first) + 1)


def _warm() -> None:
    """Import what the processes of the batches need, once for all of them."""
    import xrelax
    from xrelax.script import from_source
    from xrelax.tir import schedule

    xrelax.build(from_source(COPY))
    if "graphs" in KINDS:
        import torch

        from . import draw_graph
        from .cases import labels

        torch.set_num_threads(1)  # and so in the processes of the batches, which have no others
        labels()
        assert draw_graph
    assert schedule


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to draw (60)")
    parser.add_argument("--seeds", default="", help="17, 17:20 or 17: (from the clock)")
    parser.add_argument("--what", choices=(*KINDS, "all"), default="all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--shrink-seconds", type=float, default=60, help="for each failure (60)")
    parser.add_argument("--output", default="build/fuzz", help="where scripts go (build/fuzz)")
    return parser

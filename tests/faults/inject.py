"""`make faults`: injects the listed faults one at a time and says what finds each.

A fault is found by a verifier or by `check=True` where a probe is refused or differs, else by the
first of its tests that fails. The exit status is 1 where less than 95 % are found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fault import ROOT, Fault
from faults import FAULTS
from probes import PROBES
from tabulate import tabulate
from tqdm import tqdm

HERE = Path(__file__).parent
SHARE = 0.95
FILECHECK = "tests/filecheck/"
FAILURES = ("FAILED", "ERROR")
PROBE_SECONDS, TEST_SECONDS = 60, 900
"""Of the processor's time: what takes longer hangs."""


@dataclass(frozen=True)
class Verdict:
    """What found a fault (`by`: "check=True", "verifier", "exception", "test", "nothing") where."""

    fault: Fault
    by: str
    where: str


def judge(fault: Fault) -> Verdict:
    """Run the probes of a fault, then its tests, until something fails."""
    if fault.count != 1:
        raise ValueError(f"{fault.file}: expected {fault.old!r} once, got {fault.count}")
    return (
        _probe(fault)
        or _test(fault)
        or Verdict(fault, "nothing", fault.wants and f"wants {fault.wants}")
    )


def _probe(fault: Fault) -> Verdict | None:
    """The verdict of the probes, of which those that reach the fault are named by it."""
    if not fault.probes:
        return None
    command = [sys.executable, str(HERE / "probes.py"), *fault.probes]
    done = _run(command, fault, PROBE_SECONDS)
    last = done.stdout.splitlines()[-1:] or ["null"]
    if done.returncode != 0:
        return Verdict(fault, "exception", (done.stderr.splitlines() or [_ended(done)])[-1])
    found = json.loads(last[0])
    return found and Verdict(fault, found["by"], f"{found['program']}: {found['message']}")


def _test(fault: Fault) -> Verdict | None:
    """The verdict of the first test that fails."""
    if not fault.tests:
        return None
    names = [name for path in fault.tests for name in _tests_at(path)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *names]
    done = _run(command, fault, TEST_SECONDS)
    if done.returncode == 0:
        return None
    if done.returncode in (4, 5):
        raise ValueError(f"'{fault.what}' names no tests: {' '.join(fault.tests)}")
    failed = [line for line in done.stdout.splitlines() if line.startswith(FAILURES)]
    return Verdict(fault, "test", failed[0] if failed else _ended(done))


def _tests_at(path: str) -> list[str]:
    """What pytest calls the tests at a path, which may be a folder of FileCheck files."""
    if not path.startswith(FILECHECK):
        return [path]
    files = sorted((ROOT / path).rglob("*.mlir"))
    suite = ROOT / FILECHECK
    return [f"tests/test_filecheck.py::test_filecheck[{f.relative_to(suite)}]" for f in files]


def _ended(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    return (done.stdout.splitlines() or [f"exit status {done.returncode}"])[-1]


def _run(command: list[str], fault: Fault, seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=fault.environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )


def report(verdicts: list[Verdict]) -> float:
    """Print the table; returns the share of the faults that were found."""
    rows = [(v.fault.file, v.fault.what, v.by, v.where[:90]) for v in verdicts]
    print(tabulate(rows, ("file", "fault", "found by", "where"), maxcolwidths=[None, 44, None, 60]))
    counts = Counter(v.by for v in verdicts)
    found = len(verdicts) - counts["nothing"]
    print(", ".join(f"{by}: {count}" for by, count in counts.most_common()))
    print(f"found {found} of {len(verdicts)} faults ({found / max(len(verdicts), 1):.0%})")
    return found / max(len(verdicts), 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="parts of the files or words of the faults to run")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = [f for f in FAULTS if all(o in f.file or o in f.what for o in options.only)]
    if options.sample is not None:
        chosen = random.Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    expected = {name for fault in chosen for name in fault.probes}
    unknown = expected - set(PROBES)
    if unknown:
        parser.error(f"unknown probes: {', '.join(sorted(unknown))}")
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(options.workers) as pool:
        for verdict in tqdm(pool.map(judge, chosen), total=len(chosen), unit="fault", disable=None):
            verdicts.append(verdict)
            tqdm.write(f"{verdict.by}: {verdict.fault.what} ({verdict.fault.file})")
    return 0 if report(verdicts) >= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())

"""Prints the largest error of every operator and dtype: ``python tests/operators/table.py add``."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

from harness import Outcome, labelled_cases, run_case, torch
from tabulate import tabulate

COLUMNS = ("operator", "dtype", "examples", "error", "allowed", "")


def row(label: str, dtype: str, outcomes: list[Outcome]) -> list[str]:
    """One line: the largest error, where 1 is what the tolerance allows."""
    failures = sum(o.failure is not None for o in outcomes)
    verdict = f"{failures} fail" if failures else "ok"
    return [label, dtype, str(len(outcomes)), f"{max(o.error for o in outcomes):.2g}", "1", verdict]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", help="parts of names (all without one)")
    parser.add_argument("--examples", type=int, default=6, help="for each dtype")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rows, failures = list[list[str]](), list[str]()
    for label, case in labelled_cases().items():
        if args.operators and not any(part in label for part in args.operators):
            continue
        try:
            outcomes = run_case(case, args.examples, args.seed)
        except Exception as error:  # the other operators are of interest nevertheless
            rows.append([label, "", "", "", "", "no result"])
            failures.append(f"{label}: {type(error).__name__}: {error}")
            continue
        for dtype, group in groupby(outcomes, lambda o: o.example.dtype):
            rows.append(row(label, dtype, list(group)))
        failures += [o.failure for o in outcomes if o.failure]
    print(tabulate(rows, COLUMNS))
    print(*failures, sep="\n")
    print(f"{len(rows)} combinations, {len(failures)} failures", "" if torch else "(no PyTorch)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

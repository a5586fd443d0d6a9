"""Prints the errors of compiled models beside PyTorch: models by dtypes, static and dynamic.

``python tests/models/table.py [model …]`` needs the extra `models`.
"""

import sys
import time
import warnings
from collections.abc import Sequence

import torch
from zoo import TOLERANCE, ZOO, Entry, error


def cell(entry: Entry, dtype: torch.dtype, dynamic: bool) -> str:
    """The error, or the first line of what went wrong."""
    start = time.perf_counter()
    try:
        found = error(entry, dtype, dynamic)
    except Exception as problem:
        return f"{type(problem).__name__}: {str(problem).splitlines()[0][:60]}"
    verdict = "" if found <= entry.tolerance(dtype) else "  TOO LARGE"
    return f"{found:.1e}  {time.perf_counter() - start:5.1f} s{verdict}"


def main(names: Sequence[str]) -> int:
    """Print the table; 1 if an error is larger than its tolerance."""
    failed = False
    print(f"{'model':12} {'dtype':9} {'tolerance':>9}  {'static':22} dynamic")
    for name in names or ZOO:
        for dtype in TOLERANCE:
            cells = [cell(ZOO[name], dtype, dynamic) for dynamic in (False, True)]
            failed |= any(not c.endswith(" s") for c in cells)
            label = str(dtype).removeprefix("torch.")
            allowed = ZOO[name].tolerance(dtype)
            print(f"{name:12} {label:9} {allowed:9.0e}  {cells[0]:22} {cells[1]}", flush=True)
    return int(failed)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))

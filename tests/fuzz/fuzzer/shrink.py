"""Makes a failing program small: changes it as long as it still fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .batch import Request, Result, run_batch
from .outcome import Failure
from .reductions import reductions_of
from .sources import Program


@dataclass(frozen=True)
class Shrunk:
    """The smallest program found that fails, and what its first was called."""

    request: Request
    program: Program
    failure: Failure
    key: str


def shrink(result: Result, seconds: float) -> Shrunk:
    """Shrink the program of a result for at most so many seconds."""
    assert result.program is not None and result.failure is not None
    found = result.failure

    def fails(program: Program) -> Failure | None:
        (again,) = run_batch([Request(result.request.what, result.request.seed, program)])
        same = again.failure is not None and again.failure.key == found.key
        return again.failure if same else None

    program, failure = minimize(result.program, fails, time.monotonic() + seconds)
    return Shrunk(result.request, program, failure or found, found.key)


def minimize(
    program: Program,
    fails: Callable[[Program], Failure | None],
    end: float,
    smaller: Callable[[Program], Iterator[Program]] = reductions_of,
) -> tuple[Program, Failure | None]:
    """Take the first smaller program that fails, until there is none or the time is up."""
    last: Failure | None = None
    tried: set[Program] = set()
    while True:
        for candidate in smaller(program):
            if time.monotonic() > end:
                return program, last
            if candidate in tried:
                continue
            tried.add(candidate)
            if failure := fails(candidate):
                program, last = candidate, failure
                break
        else:
            return program, last

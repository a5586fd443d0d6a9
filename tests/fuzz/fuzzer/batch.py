"""Runs programs in a process of their own: drawn or given, built as one module, called, compared.

What the process was at when it ended is known from its last message, so that a crash or a hang is
the failure of one program, and the others are run again without it.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from .outcome import Failure, failure_of
from .sources import Program, draw_program

CPU_SECONDS = 60
"""What a program alone may take of the processor, before it counts as a hang."""
WALL_SECONDS = 900


@dataclass(frozen=True)
class Request:
    """A program to draw, of a kind and a seed, or one that is given."""

    what: str
    seed: int
    program: Program | None = None


@dataclass
class Result:
    """What became of a request: how often what was tried in it, and how often that applied.

    `seconds` is the processor's time of the whole batch, of which one result has it.
    """

    request: Request
    program: Program | None = None
    failure: Failure | None = None
    seconds: float = 0.0
    tried: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)


def run_batch(requests: Sequence[Request], drawn_anew: bool = True) -> list[Result]:
    """Run programs together, and those alone that cannot be judged so."""
    results: list[Result] = []
    left = list(requests)
    while left:
        found, undecided = _run(left, CPU_SECONDS + 4 * len(left))
        results += found
        if len(left) == 1:
            break
        if undecided and not found:  # the whole module was refused, or nobody knows by whom
            for request in undecided:
                results += run_batch([request])
            break
        left = undecided
    return results


def _run(requests: list[Request], seconds: int) -> tuple[list[Result], list[Request]]:
    """Run programs in one process; returns the results, and the requests that have none."""
    results = [Result(r, r.program) for r in requests]
    decided: set[int] = set()
    current, stage = -1, "draw"
    reader, process = _start(requests, seconds)
    for message in _messages(reader, process):
        match message:
            case ("at", number, stage):
                current = number
            case ("program", number, program):
                results[number].program = program
            case ("tally", number, tally):
                results[number].tried.update(tally.keys())
                results[number].applied.update(k for k, v in tally.items() if v)
            case ("done", number, failure):
                decided.add(number)
                results[number].failure = failure
    _, status, usage = os.wait4(process, 0)
    results[0].seconds = usage.ru_utime + usage.ru_stime
    if os.WIFSIGNALED(status) and (current >= 0 or len(requests) == 1):
        number = max(current, 0)
        results[number].failure = _death(os.WTERMSIG(status), stage)
        decided.add(number)
    undecided = [r for i, r in enumerate(requests) if i not in decided]
    if len(requests) == 1 and undecided:
        results[0].failure = Failure("crash", f"exit status {status} at {stage}")
        decided.add(0)
    return [r for i, r in enumerate(results) if i in decided], undecided


def _death(number: int, stage: str) -> Failure:
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return Failure("time", f"more than {CPU_SECONDS} s at {stage}")
    return Failure("crash", f"{signal.Signals(number).name} at {stage}")


def _start(requests: list[Request], seconds: int) -> tuple[BinaryIO, int]:
    source, sink = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process:
        os.close(sink)
        return os.fdopen(source, "rb"), process
    status = 1
    try:
        os.close(source)
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(sink, "wb") as out:
            _work(requests, out)
        status = 0
    finally:
        os._exit(status)


def _messages(reader: BinaryIO, process: int) -> Iterator[Any]:
    """What the process sends until it ends; it is ended where it says nothing for long."""
    end = time.monotonic() + WALL_SECONDS
    with reader:
        while True:
            ready, _, _ = select.select([reader], [], [], max(end - time.monotonic(), 0))
            if not ready:
                os.kill(process, signal.SIGKILL)
                return
            try:
                yield pickle.load(reader)
            except (EOFError, pickle.UnpicklingError):
                return


def _work(requests: list[Request], out: BinaryIO) -> None:
    """The process: draw and parse each program, build all, compare each."""

    def say(*message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    parsed: dict[int, tuple[Program, dict[str, Any]]] = {}
    for number, request in enumerate(requests):
        say("at", number, "draw")
        try:
            parsed[number] = _prepared(request, number, say)
        except Exception as error:
            say("done", number, failure_of(error))
    say("at", 0 if len(requests) == 1 else -1, "build")
    try:
        executable = _built([functions for _, functions in parsed.values()])
    except Exception as error:
        if len(requests) == 1 and parsed:
            say("done", 0, failure_of(error))
        return
    for number, (program, _) in parsed.items():
        say("at", number, "call")
        try:
            program.compare(executable)
            say("done", number, None)
        except Exception as error:
            say("done", number, failure_of(error))


def _prepared(request: Request, number: int, say: Any) -> tuple[Program, dict[str, Any]]:
    """A program and its functions; a drawn one is sent as far as it is known at each moment."""
    program = request.program
    if program is not None:
        say("program", number, program)
        return program, program.parsed()
    drawing = draw_program(request.what, request.seed)
    while True:
        try:
            program, tally = next(drawing)
        except StopIteration as end:
            assert program is not None
            return program, end.value or program.parsed()
        say("program", number, program)
        say("tally", number, tally)


def _built(functions: list[dict[str, Any]]) -> Any:
    import xrelax
    from xrelax.ir.module import IRModule

    return xrelax.build(IRModule({name: f for one in functions for name, f in one.items()}))


def request_of(result: Result, program: Program) -> Request:
    """A request for a changed program of a result."""
    return replace(result.request, program=program)

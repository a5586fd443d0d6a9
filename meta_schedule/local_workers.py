"""Worker processes of this machine, each job with a time limit."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .jobs import Job
from .worker import Outcome, receive, send

START_SEC = 120.0
"""Seconds in which a process has to start, which the limit of its first job does not include."""

_CODE = "from {package}.worker import main; main()"


class Workers(Protocol):
    """Processes that run jobs."""

    def run_all(self, jobs: Sequence[Job], timeout_sec: float) -> Iterator[tuple[int, Outcome]]:
        """Run jobs; yields each position with its outcome, in the order in which they end."""
        ...

    def close(self) -> None:
        """End the processes."""
        ...


class _Process:
    """One worker process, which is started again after it was lost."""

    def __init__(self) -> None:
        path = os.pathsep.join(p for p in (*sys.path, os.environ.get("PYTHONPATH", "")) if p)
        self.popen = subprocess.Popen(
            [sys.executable, "-c", _CODE.format(package=__package__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.is_ready = False

    @property
    def stdout(self) -> Any:
        """Where answers come from."""
        return self.popen.stdout

    def start(self, job: Job, timeout_sec: float) -> None:
        """Send a job; raises OSError if the process has ended."""
        assert self.popen.stdin is not None
        send(self.popen.stdin, (job, timeout_sec))

    def answer(self) -> Outcome:
        """The outcome of the job, which is there or will never be."""
        try:
            return receive(self.stdout)
        except EOFError:
            return Outcome(error=f"the worker process ended: {_reason(self.popen.wait())}")

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent data
                    pass


def _reason(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"
    except ValueError:
        return f"signal {-code}"


@dataclass
class LocalWorkers:
    """At most `count` processes, which are kept between calls.

    A job that crashes, or takes longer than its limit, has an error as its outcome; its process is
    replaced.
    """

    count: int
    _idle: list[_Process] = field(default_factory=lambda: [])

    def run_all(self, jobs: Sequence[Job], timeout_sec: float) -> Iterator[tuple[int, Outcome]]:
        """See `Workers`."""
        waiting = deque(enumerate(jobs))
        running: dict[_Process, tuple[int, float]] = {}
        with selectors.DefaultSelector() as selector:
            try:
                while waiting or running:
                    while waiting and len(running) < self.count:
                        number, job = waiting.popleft()
                        process = self._started(job, timeout_sec)
                        limit = timeout_sec if process.is_ready else START_SEC
                        running[process] = number, time.monotonic() + limit
                        selector.register(process.stdout, selectors.EVENT_READ, process)
                    yield from self._ended(selector, running, timeout_sec)
            finally:
                for process in running:
                    process.stop()

    def _started(self, job: Job, timeout_sec: float) -> _Process:
        process = self._idle.pop() if self._idle else _Process()
        try:
            process.start(job, timeout_sec)
        except OSError:  # it has ended since its last job
            process.stop()
            process = _Process()
            process.start(job, timeout_sec)
        return process

    def _ended(
        self,
        selector: selectors.BaseSelector,
        running: dict[_Process, tuple[int, float]],
        timeout_sec: float,
    ) -> Iterator[tuple[int, Outcome]]:
        """Wait for an answer or the next time limit; yields the outcomes."""
        wait = min(limit for _, limit in running.values()) - time.monotonic()
        for key, _ in selector.select(max(0.0, wait)):
            process: _Process = key.data
            number, _ = running[process]
            outcome = process.answer()
            if not process.is_ready and outcome.error is None:
                process.is_ready = True
                running[process] = number, time.monotonic() + timeout_sec
                continue
            selector.unregister(process.stdout)
            del running[process]
            if process.popen.poll() is None:
                self._idle.append(process)
            else:
                process.stop()
            yield number, outcome
        for process, (number, limit) in list(running.items()):
            if time.monotonic() >= limit:
                selector.unregister(process.stdout)
                del running[process]
                process.stop()
                yield number, Outcome(error=f"the job took longer than {timeout_sec:g} s")

    def close(self) -> None:
        """End the processes."""
        while self._idle:
            self._idle.pop().stop()

    def __del__(self) -> None:
        self.close()

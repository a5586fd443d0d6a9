"""The workers of a Dask cluster, whose jobs survive workers that are killed or hang.

Each Dask worker has one job at a time, which runs in a process of its own (`LocalWorkers`): a
crash or hang of a schedule is an error of that job. A Dask worker that ends, or does not answer in
time, is left out, and its job goes to another one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from .jobs import Job
from .local_workers import LocalWorkers
from .worker import Outcome

ATTEMPTS = 3
"""Workers that may be lost with a job before it counts as their cause."""
GRACE_SEC = 10.0
"""Seconds beyond a job's own limit after which its worker counts as hung."""
ABSENT_SEC = 60.0
"""Seconds without any worker after which jobs are given up."""
_POLL_SEC = 0.1

_PROCESS = LocalWorkers(1)


def run_isolated(job: Job, timeout_sec: float) -> Outcome:
    """Run a job in a process of this Dask worker."""
    ((_, outcome),) = _PROCESS.run_all([job], timeout_sec)
    return outcome


@dataclass
class _Running:
    """A job at a Dask worker."""

    number: int
    address: str
    deadline: float


@dataclass
class DaskWorkers:
    """The workers of a client's cluster; without a client, of a `LocalCluster` of processes.

    Raises ValueError where Dask is not installed.
    """

    client: Any = None
    hung: dict[str, Any] = field(default_factory=lambda: {})
    """Workers that did not answer in time, and what they have to do first to get other jobs."""
    _cluster: Any = None

    def __post_init__(self) -> None:
        try:
            self._library: Any = import_module("distributed")
        except ImportError:
            raise ValueError(
                "expected Dask's distributed to be installed (extra `tune`), got none"
            ) from None

    def run_all(self, jobs: Sequence[Job], timeout_sec: float) -> Iterator[tuple[int, Outcome]]:
        """See `Workers`."""
        client = self._connected()
        waiting, attempts = deque(range(len(jobs))), [0] * len(jobs)
        running: dict[Any, _Running] = {}
        seen = time.monotonic()
        while waiting or running:
            present = self._addresses(client)
            seen = time.monotonic() if present else seen
            busy = {r.address for r in running.values()}
            for address in present - busy:
                if waiting:
                    number = waiting.popleft()
                    attempts[number] += 1
                    future = client.submit(
                        run_isolated,
                        *(jobs[number], timeout_sec),
                        workers=[address],
                        allow_other_workers=False,
                        pure=False,
                    )
                    limit = time.monotonic() + timeout_sec + GRACE_SEC
                    running[future] = _Running(number, address, limit)
            time.sleep(_POLL_SEC)
            for future, job in list(running.items()):
                outcome = self._outcome(future, job, present)
                if outcome is None and not self._is_lost(future, job, present):
                    continue
                del running[future]
                if outcome is not None:
                    yield job.number, outcome
                    continue
                if attempts[job.number] < ATTEMPTS:
                    waiting.append(job.number)
                else:
                    yield job.number, Outcome(error=f"{ATTEMPTS} workers were lost with the job")
            if time.monotonic() - seen > ABSENT_SEC:
                while waiting:
                    yield waiting.popleft(), Outcome(error="no worker is left in the cluster")

    def _outcome(self, future: Any, job: _Running, present: set[str]) -> Outcome | None:
        """What a job returned; `None` if it has not ended, or if its worker was lost."""
        if future.status == "finished":
            try:
                return future.result(timeout=GRACE_SEC)
            except Exception:  # the worker ended before its result was fetched
                return None
        if future.status == "error" and job.address in present:
            error = future.exception(timeout=GRACE_SEC)
            if type(error).__name__ not in ("KilledWorker", "FutureCancelledError"):
                return Outcome(error=" ".join(f"{type(error).__name__}: {error}".split()))
        return None

    def _is_lost(self, future: Any, job: _Running, present: set[str]) -> bool:
        """Whether the worker of a job has ended or hangs; one that hangs is noted."""
        if time.monotonic() >= job.deadline:
            self.hung[job.address] = future
            return True
        return future.status in ("finished", "error", "cancelled", "lost") or (
            job.address not in present
        )

    def _addresses(self, client: Any) -> set[str]:
        """The workers that may get a job."""
        self.hung = {a: f for a, f in self.hung.items() if not f.done()}
        return set(client.scheduler_info(n_workers=-1)["workers"]) - self.hung.keys()

    def _connected(self) -> Any:
        if self.client is None:
            self._cluster = self._library.LocalCluster(
                threads_per_worker=1, processes=True, dashboard_address=None
            )
            self.client = self._library.Client(self._cluster)
        return self.client

    def close(self) -> None:
        """End the cluster, unless it came with the client."""
        if self._cluster is not None:
            self.client.close()
            self._cluster.close()
            self.client = self._cluster = None

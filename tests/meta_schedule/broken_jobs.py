"""Jobs that go wrong, and workers that some jobs go wrong in."""

import os
import signal
import time
from dataclasses import dataclass, replace

from xrelax.meta_schedule.jobs import RunJob
from xrelax.meta_schedule.local_workers import LocalWorkers


@dataclass
class Crash:
    """Ends its process by a signal."""

    def run(self):
        os.kill(os.getpid(), signal.SIGSEGV)


@dataclass
class Hang:
    """Never ends."""

    def run(self):
        while True:
            time.sleep(1)


@dataclass
class Fail:
    """Raises an error of two lines."""

    def run(self):
        raise ValueError("first line\nsecond line")


@dataclass
class Answer:
    """Returns a number, and prints, which is no answer."""

    number: int

    def run(self):
        print("noise")
        return self.number


class Faulty(LocalWorkers):
    """Runs the first measurements but that of the default as jobs that go wrong."""

    def __init__(self, faults):
        super().__init__(1)
        self.faults, self.is_first = list(faults), True

    def run_all(self, jobs, timeout_sec):
        jobs = list(jobs)
        if not self.is_first:
            for place, job in enumerate(jobs):
                if self.faults and isinstance(job, RunJob):
                    fault = self.faults.pop(0)
                    jobs[place] = replace(job, candidate=fault(job)) if callable(fault) else fault
        self.is_first = False
        return super().run_all(jobs, timeout_sec)


@dataclass
class Sleep:
    """Takes a while."""

    number: int
    seconds: float

    def run(self):
        time.sleep(self.seconds)
        return self.number

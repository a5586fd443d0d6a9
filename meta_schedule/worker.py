"""A worker process: reads jobs from its standard input, and writes what they return.

Messages are pickles after their length. It is started as ``python -c "…; main()"``: the program
that tunes is not imported again, and needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import struct
import sys
from typing import IO, Any, NamedTuple

from .jobs import Job

LENGTH = struct.Struct("<Q")
GRACE = 2.0
"""How many times its limit a job may run if nobody stops it: the process that asked has ended."""


class Outcome(NamedTuple):
    """What a job returned, or why it did not."""

    value: Any = None
    error: str | None = None


def send(stream: IO[bytes], message: object) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read a message; raises EOFError at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


def outcome_of(job: Job) -> Outcome:
    """Run a job in this process."""
    try:
        return Outcome(job.run())
    except Exception as error:
        text = " ".join(str(error).split())
        return Outcome(error=f"{type(error).__name__}: {text}")


def main() -> None:
    """Run jobs until the standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a job prints is no answer
    send(answers, Outcome())  # the limit of the first job starts now
    while True:
        try:
            job, seconds = receive(sys.stdin.buffer)
        except EOFError:
            return
        faulthandler.dump_traceback_later(GRACE * seconds, exit=True, file=sys.stderr)
        outcome = outcome_of(job)
        faulthandler.cancel_dump_traceback_later()
        send(answers, outcome)

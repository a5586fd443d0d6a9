"""Functions that tests call in several threads at once, and conditions that they wait for."""

import time
from collections.abc import Callable
from threading import Thread


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Call ``work(0)``, ``work(1)``, … at once, each in a thread, and wait for them."""
    threads = [Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive()


def wait_for(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for a condition that another thread makes true."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)

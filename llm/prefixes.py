"""Prompts that stay in the cache, for requests that begin with the same tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .pages import CachedSequence, PagePool


class PrefixCache:
    """The last prompts, in whole chunks; those that were not used for longest are freed first.

    The keys and values of whole chunks depend on their tokens alone. Those of further positions
    also depend on which of them were computed together, by rounding.
    """

    def __init__(self, pool: PagePool, chunk: int, capacity: int):
        self._pool, self._chunk, self._capacity = pool, chunk, capacity
        self._kept: list[tuple[NDArray[np.int64], CachedSequence]] = []

    def keep(self, prompt: Sequence[int], sequence: CachedSequence) -> None:
        """Take over a sequence of a prompt, with or without its last token."""
        length = self._pool.resumable(sequence, self._whole(len(prompt) - 1))
        self._pool.truncate(sequence, length)
        if not length:
            return
        tokens = np.asarray(prompt[:length])
        within = [common_prefix(kept, tokens) == len(kept) for kept, _ in self._kept]
        for (_, other), is_within in zip(self._kept, within, strict=True):
            if is_within:
                self._pool.truncate(other, 0)
        self._kept = [e for e, is_within in zip(self._kept, within, strict=True) if not is_within]
        self._kept.append((tokens, sequence))
        while len(self._kept) > self._capacity:
            self.free_oldest()

    def begin(self, prompt: Sequence[int]) -> CachedSequence:
        """A new sequence with the longest prefix of a prompt that is kept, in shared pages."""
        tokens = np.asarray(prompt[:-1])
        lengths = [
            self._pool.resumable(sequence, self._whole(common_prefix(tokens, kept)))
            for kept, sequence in self._kept
        ]
        if not max(lengths, default=0):
            return CachedSequence()
        best = int(np.argmax(lengths))
        self._kept.append(self._kept.pop(best))
        sequence = self._pool.fork(self._kept[-1][1])
        self._pool.truncate(sequence, lengths[best])
        return sequence

    def free_oldest(self) -> bool:
        """Free the pages of the sequence that was not used for longest; False without any."""
        if self._kept:
            self._pool.truncate(self._kept.pop(0)[1], 0)
            return True
        return False

    def _whole(self, length: int) -> int:
        return length // self._chunk * self._chunk


def common_prefix(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """How many tokens two arrays (n,) begin with in common."""
    length = min(len(left), len(right))
    different = np.flatnonzero(left[:length] != right[:length])
    return int(different[0]) if len(different) else length

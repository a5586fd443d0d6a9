"""The compiled functions of a language model, on sequences of its cache."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.executable import Executable
from .configuration import Configuration
from .pages import PLACES, CachedSequence, PagePool, table_of
from .sampling import Sampler, choice_arguments

CHUNK = 512
"""The most tokens of a call of `prefill`."""


class CachedModel:
    """A compiled model with its cache: token ids in, logits out."""

    def __init__(
        self,
        config: Configuration,
        executable: Executable,
        context: int,
        inspect: Callable[[Executable], None] | None = None,
    ):
        self.config = config
        self.pool = PagePool(config.pages, -(-context // PLACES), config.kept)
        self._inspect = inspect
        """Sets the profiler and debugger of an executable from the cache."""
        self.executable = executable
        self._decode, self._prefill = executable["decode"], executable["prefill"]
        self._choose = executable["choose"]

    def new_sequence(self) -> CachedSequence:
        """An empty sequence; `pool.truncate(sequence, 0)` frees its pages."""
        return CachedSequence()

    @contextmanager
    def sequence(self) -> Generator[CachedSequence]:
        """A new sequence of the cache, which is freed at the end."""
        sequence = self.new_sequence()
        try:
            yield sequence
        finally:
            self.pool.truncate(sequence, 0)

    def prefill(self, sequence: CachedSequence, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to a sequence; returns the logits (vocabulary,) after them.

        Raises ValueError with one line, and changes nothing, where there is no room for them.
        """
        length = sequence.length + len(tokens)
        room = self.room(sequence)
        if not tokens or length > room:
            raise ValueError(f"expected 1 to {room - sequence.length} tokens, got {len(tokens)}")
        logits: Any = None
        for start in range(0, len(tokens), CHUNK):
            chunk = tokens[start : start + CHUNK]
            logits = self._prefill(*self._prefill_arguments(sequence, chunk))
        return logits.numpy()[0]

    def _prefill_arguments(self, sequence: CachedSequence, tokens: Sequence[int]) -> list[Any]:
        """Make room for tokens; returns the arguments of `prefill`."""
        start = sequence.length
        positions = np.arange(start, start + len(tokens), dtype=np.int32)
        slots = self.pool.extend(sequence, len(tokens))
        firsts = [max(0, start + 1 - reach) if reach else 0 for reach in self.config.reaches]
        histories = [sequence.slots(first) for first in firsts]
        return [np.asarray(tokens, np.int32), positions, slots, *histories, *self.pool.arrays]

    def decode(
        self, sequences: Sequence[CachedSequence], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        """Append one token to each sequence; returns the logits (sequences, vocabulary).

        A sequence that follows itself gets several tokens, and the logits after each have the bits
        of those that are computed one after the other. Raises MemoryError as `PagePool.extend`.
        """
        return self._decode(*self._decode_arguments(sequences, tokens)).numpy()

    def _decode_arguments(
        self, sequences: Sequence[CachedSequence], tokens: Sequence[int]
    ) -> list[Any]:
        """Make room for a token of each sequence; returns the arguments of `decode`."""
        places, slots = list[NDArray[np.int32]](), list[NDArray[np.int32]]()
        for _, run in groupby(sequences, key=id):
            sequence, *others = run
            start, count = sequence.length, 1 + len(others)
            places.append(np.arange(start, start + count, dtype=np.int32))
            slots.append(self.pool.extend(sequence, count))
        positions = np.concatenate(places)
        seen = [table_of(sequences, positions + 1, reach) for reach in self.config.reaches]
        known = np.asarray(tokens, np.int32), positions, np.concatenate(slots)
        return [*known, *(array for pair in seen for array in pair), *self.pool.arrays]

    def extend(self, sequence: CachedSequence, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to a sequence; returns the logits (tokens, vocabulary) after each."""
        return self.decode([sequence] * len(tokens), tokens)

    def choose(self, logits: NDArray[np.float32], samplers: Sequence[Sampler]) -> list[int]:
        """The next token of each text by its logits (texts, vocabulary); -1 if these have NaN."""
        return self._choose(logits, *choice_arguments(samplers)).numpy().tolist()

    def room(self, sequence: CachedSequence) -> int:
        """The length to which a sequence can grow: the context, or what the free pages permit."""
        return self.pool.room(sequence, CHUNK, self.config.context)

    @contextmanager
    def _step_of(self, function: str, tokens: Sequence[int], count: int) -> Generator[list[Any]]:
        """The arguments of a step on sequences that are freed at the end.

        A step of "prefill" takes the tokens, one of "decode" the last of them in `count` sequences.
        Raises ValueError with one line for other functions, and where there is no room.
        """
        if function not in ("decode", "prefill"):
            raise ValueError(f"expected a function of decode, prefill, got {function!r}")
        if not tokens or count < 1:
            raise ValueError(f"expected tokens of sequences, got {len(tokens)} of {count}")
        sequences = [self.new_sequence() for _ in range(count)]
        try:
            if function == "prefill":
                yield self._prefill_arguments(sequences[0], tokens)
                return
            for sequence in sequences:
                if len(tokens) > 1:
                    self.prefill(sequence, tokens[:-1])
            yield self._decode_arguments(sequences, [tokens[-1]] * count)
        except MemoryError as error:
            raise ValueError(str(error)) from None
        finally:
            for sequence in sequences:
                self.pool.truncate(sequence, 0)

    def _inspected(self) -> Executable:
        """The executable, with a profiler and a debugger."""
        if self.executable.profiler is None and self._inspect is not None:
            self._inspect(self.executable)
        return self.executable

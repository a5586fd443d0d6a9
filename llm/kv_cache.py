"""TVM's names for the paged cache: `relax.frontend.nn.llm.kv_cache` and ``vm.builtin.kv_state_*``.

`PagedKVCache` is what layers of a model call while its functions are built, and `KVState` the cache
of a compiled model by numbers of sequences. Both are views of `Step` and `PagePool`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.registry import register_func
from .language_model import LanguageModel
from .pages import PLACES, CachedSequence


class KVState:
    """The sequences of a compiled model by number, with the names and semantics of TVM.

    ``begin_forward``, ``forward`` and ``end_forward`` append tokens to some of them.
    """

    def __init__(self, model: LanguageModel):
        self.model = model
        self._sequences: dict[int, CachedSequence] = {}
        self._appended: list[tuple[CachedSequence, int]] | None = None

    def clear(self) -> None:
        """Remove all sequences."""
        for seq_id in list(self._sequences):
            self.remove_sequence(seq_id)

    def add_sequence(self, seq_id: int) -> None:
        """Add an empty sequence; raises ValueError for a number that is taken."""
        self._verify_new(seq_id)
        self._sequences[seq_id] = CachedSequence()

    def remove_sequence(self, seq_id: int) -> None:
        """Remove a sequence, and free the pages that no other one uses."""
        self.model.pool.truncate(self._sequence(seq_id), 0)
        del self._sequences[seq_id]

    def fork_sequence(self, parent_id: int, child_id: int, fork_pos: int = -1) -> None:
        """Add a sequence with the first `fork_pos` positions of another one, or all, by default.

        Raises ValueError for unknown or taken numbers, and for positions that are no longer there.
        """
        parent, pool = self._sequence(parent_id), self.model.pool
        self._verify_new(child_id)
        child = pool.fork(parent)
        try:
            pool.truncate(child, parent.length if fork_pos == -1 else fork_pos)
        except ValueError:
            pool.truncate(child, 0)
            raise
        self._sequences[child_id] = child

    def popn(self, seq_id: int, n: int) -> None:
        """Take the last positions of a sequence back; raises as `PagePool.truncate`."""
        sequence = self._sequence(seq_id)
        self.model.pool.truncate(sequence, sequence.length - n)

    def begin_forward(self, seq_ids: Sequence[int], append_lengths: Sequence[int]) -> None:
        """Say which sequences get how many tokens; raises ValueError for other than positive ones.

        Raises MemoryError with one line if there are too few pages.
        """
        if self._appended is not None:
            raise ValueError("expected end_forward before begin_forward, got none")
        if len(set(seq_ids)) != len(seq_ids) or len(seq_ids) != len(append_lengths):
            raise ValueError(
                f"expected a length for each of different sequences, got {list(seq_ids)} and "
                f"{list(append_lengths)}"
            )
        if min(append_lengths, default=0) < 1:
            raise ValueError(f"expected lengths of at least 1, got {list(append_lengths)}")
        appended = list(zip(map(self._sequence, seq_ids), append_lengths, strict=True))
        pool = self.model.pool
        if (needed := sum(pool.needed(s, n) for s, n in appended)) > pool.free:
            raise MemoryError(f"expected {needed} free pages of the cache, got {pool.free}")
        self._appended = appended

    def forward(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append the tokens of all sequences; returns the logits (tokens, vocabulary) after each.

        They are in the order of `begin_forward`. Raises ValueError for another number of tokens.
        """
        appended = self._begun()
        count = sum(n for _, n in appended)
        if len(tokens) != count:
            raise ValueError(f"expected {count} tokens of begin_forward, got {len(tokens)}")
        return self.model.decode([s for s, n in appended for _ in range(n)], tokens)

    def end_forward(self) -> None:
        """End what `begin_forward` began."""
        self._begun()
        self._appended = None

    def get_query_positions(self) -> NDArray[np.int32]:
        """The positions of the tokens of `begin_forward`, before `forward` appends them."""
        return np.concatenate(
            [np.arange(s.length, s.length + n, dtype=np.int32) for s, n in self._begun()]
        )

    def get_num_available_pages(self) -> int:
        """The pages that no sequence uses."""
        return self.model.pool.free

    def get_total_sequence_length(self) -> int:
        """The positions of all sequences together."""
        return sum(s.length for s in self._sequences.values())

    def debug_get_kv(
        self, seq_id: int, start: int, end: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Keys and values (layers, positions, heads, size) of some positions, in float32.

        Raises ValueError for positions that the sequence does not have, or has no longer.
        """
        sequence, pool = self._sequence(seq_id), self.model.pool
        if not sequence.dropped * PLACES <= start <= end <= sequence.length:
            raise ValueError(
                f"expected positions from {sequence.dropped * PLACES} to {sequence.length}, got "
                f"{start} to {end}"
            )
        slots = sequence.slots(start)[: end - start]
        pages, places, parts = slots // PLACES, slots % PLACES, len(self.model.config.pages.parts)
        arrays = [pool.arrays[at::parts] for at in range(parts)]
        keys = [a.numpy()[pages, :, :, places] for a in arrays[0]]
        values = [a.numpy()[pages, :, places] for a in arrays[1]]
        found = [np.asarray(np.stack(x), np.float32) for x in (keys, values)]
        for number, scales in enumerate(arrays[2:]):
            found[number] *= np.stack([a.numpy()[pages, :, places] for a in scales])[..., None]
        return found[0], found[1]

    def _begun(self) -> list[tuple[CachedSequence, int]]:
        if self._appended is None:
            raise ValueError("expected begin_forward before, got none")
        return self._appended

    def _sequence(self, seq_id: int) -> CachedSequence:
        if seq_id not in self._sequences:
            known = ", ".join(map(str, self._sequences)) or "none"
            raise ValueError(f"expected a sequence ({known}), got {seq_id}")
        return self._sequences[seq_id]

    def _verify_new(self, seq_id: int) -> None:
        if seq_id in self._sequences:
            raise ValueError(f"expected the number of no sequence, got {seq_id}")


BUILTINS: dict[str, Callable[..., Any]] = {
    "vm.builtin.kv_state_clear": KVState.clear,
    "vm.builtin.kv_state_add_sequence": KVState.add_sequence,
    "vm.builtin.kv_state_remove_sequence": KVState.remove_sequence,
    "vm.builtin.kv_state_fork_sequence": KVState.fork_sequence,
    "vm.builtin.kv_state_popn": KVState.popn,
    "vm.builtin.kv_state_begin_forward": KVState.begin_forward,
    "vm.builtin.kv_state_end_forward": KVState.end_forward,
    "vm.builtin.attention_kv_cache_get_query_positions": KVState.get_query_positions,
    "vm.builtin.attention_kv_cache_get_num_available_pages": KVState.get_num_available_pages,
    "vm.builtin.attention_kv_cache_get_total_sequence_length": KVState.get_total_sequence_length,
    "vm.builtin.attention_kv_cache_debug_get_kv": KVState.debug_get_kv,
}
"""The functions of the registry with TVM's names, of a `KVState` and further arguments."""
for _name, _function in BUILTINS.items():
    register_func(_name, _function, override=True)

"""`load`: a language model from its files; it generates text and chats."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backend.model_cache import model_entry
from ..backend.target import HOST, Target
from ..runtime.executable import Executable
from .configuration import Configuration
from .drafts import Draft, draft_of
from .options import Options
from .pages import PLACES, CachedSequence, PagePool, table_of
from .sampling import Sampler, Sampling, choice_arguments
from .tokenizer import Tokenizer

CHUNK = 512
"""The most tokens of a call of `prefill`."""


def load(
    path: str | Path,
    *,
    context: int | None = None,
    activations: str = "int16",
    cache: str = "float16",
    weights: str | None = None,
    target: str = HOST,
) -> LanguageModel:
    """The language model of a GGUF file, or of a model folder of `transformers`.

    Products with weights of few bits are those of integers, for which activations are rounded in
    blocks of the weights' size, to 16 bits. With `activations` of "int8" prompts are read faster,
    and tokens may differ from those of floats; "float32" does not round. `cache` is the dtype of
    keys and values, float16 or float32. `weights` is a format to which matrices of floats are
    rounded: "q4_0", "q4_1", "q5_0", "q5_1" or "q8_0"; by default they are float32.

    The compiled model is kept in the cache, packed, and mapped from there by later processes.
    `context` is the number of positions that all sequences have together, by default those of one
    that is as long as the model permits, at most 8192. Raises FileNotFoundError, and ValueError
    with one line for what is no model of a supported architecture.
    """
    options = Options(activations, cache, weights, target)
    if context is not None and context < 1:
        raise ValueError(f"expected a context of at least 1, got {context}")
    entry = model_entry(str(path), Target(target), "llm", *options.key)
    cached = None if entry is None else entry.load()
    if cached is not None:
        notes, executable = cached.notes, cached.executable
    else:
        from .compilation import compile_files

        notes, others, executable = compile_files(Path(path), options)
        if entry is not None:
            entry.store(executable, notes, others)
    config, tokenizer = Configuration(**notes["configuration"]), Tokenizer(notes["vocabulary"])
    return LanguageModel(config, tokenizer, executable, context or min(config.context, 8192))


class LanguageModel:
    """A compiled model with its tokenizer and cache; one text is generated at a time."""

    def __init__(
        self, config: Configuration, tokenizer: Tokenizer, executable: Executable, context: int
    ):
        self.config, self.tokenizer, self.executable = config, tokenizer, executable
        self.pool = PagePool(config.pages, -(-context // PLACES))
        self._decode, self._prefill = executable["decode"], executable["prefill"]
        self._choose = executable["choose"]

    def generate(
        self,
        prompt: str,
        *,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[str]:
        """The text that follows a prompt, piece by piece, up to a token that ends it.

        With a `draft`, several tokens are verified in a step, and the text is the same: "prompt"
        repeats parts of the text, and a smaller model with the same vocabulary guesses. A `Draft`
        also counts what was right.

        Raises ValueError with one line for a prompt that is empty or longer than the context, and
        for a draft of another vocabulary.
        """
        tokens = self.tokenizer.encode(prompt)
        return self.tokenizer.stream(self.generate_tokens(tokens, max_tokens, sampling, draft))

    def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[str]:
        """The answer to a conversation, piece by piece; messages have a role and a content."""
        tokens = self.tokenizer.encode_chat(messages)
        return self.tokenizer.stream(self.generate_tokens(tokens, max_tokens, sampling, draft))

    def generate_tokens(
        self,
        tokens: Sequence[int],
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[int]:
        """The tokens that follow some tokens, at most so many, without the one that ends them."""
        with self.sequence() as sequence:
            yield from self.continued(sequence, [], tokens, max_tokens, sampling, draft)

    def continued(
        self,
        sequence: CachedSequence,
        text: list[int],
        tokens: Sequence[int],
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[int]:
        """The tokens that follow `text`, which is in the sequence, and further tokens.

        `text` grows with the sequence.
        """
        guesses = draft_of(draft)
        if guesses is not None:
            guesses.verify(self)
        try:
            logits = self.prefill(sequence, tokens)[None]
            text += tokens
            sampler = Sampler(Sampling() if sampling is None else sampling, text)
            chosen, left = self.choose(logits, [sampler]), max_tokens
            while left:
                for token in chosen[:left]:
                    sampler.add(token)
                    if token in self.tokenizer.ends:
                        return
                    yield token
                left -= len(chosen[:left])
                if not left or self.room(sequence) <= sequence.length:
                    return
                chosen = self._step(sequence, text, chosen[-1], sampler, guesses, left)
        finally:
            if guesses is not None:
                guesses.close()

    def _step(
        self,
        sequence: CachedSequence,
        text: list[int],
        token: int,
        sampler: Sampler,
        draft: Draft | None,
        left: int,
    ) -> list[int]:
        """Append a token, and what is right of a draft; returns the tokens that follow it."""
        first, guessed = sequence.length, list[int]()
        if draft is not None:
            most = min(left - 1, self.room(sequence) - first - 1)
            guessed = draft.propose([*text, token])[: max(0, most)]
        new = [token, *guessed]
        samplers = [sampler.after(guessed[:count]) for count in range(len(new))]
        chosen = self.choose(self.extend(sequence, new), samplers)
        pairs = zip(guessed, chosen, strict=False)
        right = next((n for n, (a, b) in enumerate(pairs) if a != b), len(guessed))
        self.pool.truncate(sequence, first + 1 + right)
        text += new[: 1 + right]
        if draft is not None:
            draft.proposed, draft.accepted = draft.proposed + len(guessed), draft.accepted + right
        return chosen[: right + 1]

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
            chunk = np.asarray(tokens[start : start + CHUNK], np.int32)
            first = sequence.length
            slots = self.pool.extend(sequence, len(chunk))
            positions = np.arange(first, sequence.length, dtype=np.int32)
            logits = self._prefill(chunk, positions, slots, sequence.slots(), *self.pool.arrays)
        return logits.numpy()[0]

    def decode(
        self, sequences: Sequence[CachedSequence], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        """Append one token to each sequence; returns the logits (sequences, vocabulary)."""
        positions = np.asarray([s.length for s in sequences], np.int32)
        slots = np.concatenate([self.pool.extend(s, 1) for s in sequences])
        return self._rows(sequences, tokens, positions, slots)

    def extend(self, sequence: CachedSequence, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens to a sequence; returns the logits (tokens, vocabulary) after each.

        They have the bits of those that `decode` computes one after the other. Raises MemoryError
        as `PagePool.extend` does.
        """
        positions = np.arange(sequence.length, sequence.length + len(tokens), dtype=np.int32)
        slots = self.pool.extend(sequence, len(tokens))
        return self._rows([sequence] * len(tokens), tokens, positions, slots)

    def _rows(
        self,
        sequences: Sequence[CachedSequence],
        tokens: Sequence[int],
        positions: NDArray[np.int32],
        slots: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        return self._decode(
            np.asarray(tokens, np.int32),
            positions,
            slots,
            table_of(sequences),
            positions + 1,
            *self.pool.arrays,
        ).numpy()

    def choose(self, logits: NDArray[np.float32], samplers: Sequence[Sampler]) -> list[int]:
        """The next token of each text by its logits (texts, vocabulary); -1 if these have NaN."""
        return self._choose(logits, *choice_arguments(samplers)).numpy().tolist()

    def room(self, sequence: CachedSequence) -> int:
        """The length to which a sequence can grow: the context, or what the free pages permit."""
        return min(self.config.context, (len(sequence.pages) + self.pool.free) * PLACES)

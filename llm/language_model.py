"""A compiled language model, which generates text and chats."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..runtime.executable import Executable
from .configuration import Configuration
from .drafts import Draft, draft_of
from .pages import PLACES, CachedSequence, PagePool, table_of
from .sampling import Sampler, Sampling, choice_arguments
from .tokenizer import Tokenizer
from .verification import Row, verified

if TYPE_CHECKING:  # which need the compiler
    from .reports import ModelDebug, ModelProfile

CHUNK = 512
"""The most tokens of a call of `prefill`."""


class _Options(TypedDict, total=False):
    """What `generate` and `chat` take besides their text."""

    max_tokens: int
    sampling: Sampling | None
    draft: str | LanguageModel | Draft | None


class LanguageModel:
    """A compiled model with its tokenizer and cache; one text is generated at a time."""

    def __init__(
        self,
        config: Configuration,
        tokenizer: Tokenizer,
        executable: Executable,
        context: int,
        inspect: Callable[[Executable], None] | None = None,
    ):
        self.config, self.tokenizer = config, tokenizer
        self.pool = PagePool(config.pages, -(-context // PLACES), config.kept)
        self._inspect = inspect
        """Sets the profiler and debugger of an executable from the cache."""
        self.executable = executable
        self._decode, self._prefill = executable["decode"], executable["prefill"]
        self._choose = executable["choose"]

    @overload
    def generate(
        self, prompt: str, *, stream: Literal[True] = True, **options: Unpack[_Options]
    ) -> Iterator[str]: ...
    @overload
    def generate(
        self, prompt: str, *, stream: Literal[False], **options: Unpack[_Options]
    ) -> str: ...
    def generate(
        self,
        prompt: str,
        *,
        stream: bool = True,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[str] | str:
        """The text that follows a prompt, up to a token that ends it.

        It comes piece by piece, or whole without `stream`.

        With a `draft`, several tokens are verified in a step, and the text is the same: "prompt"
        repeats parts of the text, and a smaller model with the same vocabulary guesses. A `Draft`
        also counts what was right.

        Raises ValueError with one line for a prompt that is empty or longer than the context, and
        for a draft of another vocabulary.
        """
        tokens = self.tokenizer.encode(prompt)
        made = self.tokenizer.stream(self.generate_tokens(tokens, max_tokens, sampling, draft))
        return made if stream else "".join(made)

    @overload
    def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        stream: Literal[True] = True,
        **options: Unpack[_Options],
    ) -> Iterator[str]: ...
    @overload
    def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        stream: Literal[False],
        **options: Unpack[_Options],
    ) -> str: ...
    def chat(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        stream: bool = True,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        draft: str | LanguageModel | Draft | None = None,
    ) -> Iterator[str] | str:
        """The answer to a conversation, as of `generate`; messages have a role and a content."""
        tokens = self.tokenizer.encode_chat(messages)
        made = self.tokenizer.stream(self.generate_tokens(tokens, max_tokens, sampling, draft))
        return made if stream else "".join(made)

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
        guessed = list[int]()
        if draft is not None:
            most = min(left - 1, self.room(sequence) - sequence.length - 1)
            guessed = draft.propose([*text, token])[: max(0, most)]
        (chosen,) = verified(self, [Row(sequence, token, sampler, guessed)])
        text += [token, *chosen[:-1]]
        if draft is not None:
            draft.count_right(len(guessed), len(chosen) - 1)
        return chosen

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

    def profile(
        self, function: str = "decode", *, length: int = 32, sequences: int = 1, repeat: int = 20
    ) -> ModelProfile:
        """The time of each kernel of a step, in all layers and in each: ``print(model.profile())``.

        A step of "decode" takes a token of some sequences of a length, one of "prefill" a prompt of
        this length. The first profile links another build, whose kernels come from the cache.
        Raises ValueError with one line for other functions, and for sequences that are longer than
        the context.
        """
        from .reports import ModelProfile

        with self._step_of(function, [1] * length, sequences) as arguments:
            report = self._inspected().profile(function, *arguments, repeat=repeat)
        return ModelProfile(report, self.config.layers)

    def debug(
        self,
        prompt: str,
        function: str = "prefill",
        *,
        reference: str | LanguageModel = "f64",
        rtol: float | None = None,
        atol: float | None = None,
    ) -> ModelDebug:
        """The error after each layer of a step, with the first bad one: ``print(model.debug(…))``.

        The reference is the graph in float64, or another build of the same model. A step of
        "prefill" takes a prompt, one of "decode" the last token after it. Kernels are those of the
        cache. Raises what `profile` does.
        """
        from .reports import ModelDebug

        tokens = self.tokenizer.encode(prompt)
        other: Any = reference
        if isinstance(reference, LanguageModel):
            other = reference._inspected()
        with self._step_of(function, tokens, 1) as arguments:
            report = self._inspected().debug(
                function, *arguments, reference=other, rtol=rtol, atol=atol
            )
        return ModelDebug(report)

    @contextmanager
    def _step_of(self, function: str, tokens: Sequence[int], count: int) -> Generator[list[Any]]:
        """The arguments of a step on sequences that are freed at the end."""
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

"""A compiled language model, which generates text and chats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from ..runtime.executable import Executable
from .cached_model import CachedModel
from .configuration import Configuration
from .drafts import Draft, draft_of
from .pages import CachedSequence
from .sampling import Sampler, Sampling
from .tokenizer import Tokenizer
from .verification import Row, verified

if TYPE_CHECKING:  # which need the compiler
    from .reports import ModelDebug, ModelProfile


class _Options(TypedDict, total=False):
    """What `generate` and `chat` take besides their text."""

    max_tokens: int
    sampling: Sampling | None
    draft: str | LanguageModel | Draft | None


class LanguageModel(CachedModel):
    """A compiled model with its tokenizer and cache; one text is generated at a time."""

    def __init__(
        self,
        config: Configuration,
        tokenizer: Tokenizer,
        executable: Executable,
        context: int,
        inspect: Callable[[Executable], None] | None = None,
    ):
        super().__init__(config, executable, context, inspect)
        self.tokenizer = tokenizer

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

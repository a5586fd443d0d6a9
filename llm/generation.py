"""A request for text, and the state of its generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .drafts import Draft, propose_together
from .pages import CachedSequence, PagePool
from .sampling import Sampler, Sampling
from .text_pieces import StopStrings, TextPieces
from .tokenizer import Tokenizer


@dataclass(frozen=True)
class Request:
    """At most `max_tokens` tokens after `tokens`, up to one of the strings `stop`."""

    tokens: Sequence[int]
    max_tokens: int = 256
    sampling: Sampling = field(default_factory=Sampling)
    stop: Sequence[str] = ()


@dataclass(frozen=True)
class Piece:
    """Text that a request generated; `tokens` counts all so far, of which `text` is the last part.

    The last piece has a reason: "stop" after a token or string that ends the text, "length" after
    `max_tokens` or at the end of the context, "cancelled", or "error" with the error.
    """

    text: str
    tokens: int
    reason: str | None = None
    error: Exception | None = None


class Generation:
    """A request while it is served; `cancel` may be called from any thread.

    `text` are the tokens of the prompt and those that were generated; the first
    ``sequence.length`` of them are in the cache.
    """

    def __init__(
        self,
        request: Request,
        tokenizer: Tokenizer,
        deliver: Callable[[Piece], None],
        draft: Draft | None = None,
    ):
        self.request, self.deliver, self.draft = request, deliver, draft
        self.text, self.sequence = list(request.tokens), CachedSequence()
        self.is_cancelled = False
        self.served = 0
        """The step in which the last chunk of its prompt was computed."""
        self._ends = tokenizer.ends
        self.sampler = Sampler(request.sampling, self.text)
        self._pieces, self._stops = TextPieces(tokenizer.decode), StopStrings(request.stop)

    def cancel(self) -> None:
        """Let the generation end before the next step; its last piece says "cancelled"."""
        self.is_cancelled = True

    @property
    def count(self) -> int:
        """How many tokens were generated."""
        return len(self.text) - len(self.request.tokens)

    @property
    def missing(self) -> int:
        """How many tokens of the prompt are not in the cache, without its last one."""
        return max(len(self.request.tokens) - 1 - self.sequence.length, 0)

    @property
    def most_guesses(self) -> int:
        """How many tokens a draft may guess after the next one; 0 for a text that is known."""
        if self.draft is None or self.sequence.length < len(self.text) - 1:
            return 0
        return self.request.max_tokens - self.count - 1

    @property
    def next_token(self) -> int:
        """The first token that is not in the cache."""
        return self.text[self.sequence.length]

    def append(self, token: int) -> tuple[str, str | None]:
        """Append the next token; returns text, and why it is the end.

        Text that may be the beginning of a stop string or of a character waits. Raises what
        `Sampler.add` does.
        """
        self.sampler.add(token)
        if token in self._ends:
            return self.rest(), "stop"
        self.text.append(token)
        text = self._stops.add(self._pieces.add(token))
        if self._stops.found:
            return text, "stop"
        if self.count < self.request.max_tokens:
            return text, None
        text += self.rest()
        return text, "stop" if self._stops.found else "length"

    def rest(self) -> str:
        """The text that still waits, at the end."""
        return self._stops.add(self._pieces.rest()) + self._stops.rest()


def guesses_of(ready: Sequence[Generation], pool: PagePool, reserved: int) -> list[list[int]]:
    """What drafts guess after the next token of each text, as far as there are free pages for it.

    `reserved` are the pages that the next tokens take.
    """
    drafts = [(g, g.draft) for g in ready if g.draft is not None and g.most_guesses > 0]
    proposed = propose_together([d for _, d in drafts], [g.text for g, _ in drafts])
    found = {id(g): p[: g.most_guesses] for (g, _), p in zip(drafts, proposed, strict=True)}
    kept: list[list[int]] = []
    for generation in ready:
        sequence, guessed = generation.sequence, found.get(id(generation), [])
        more = pool.needed(sequence, 1 + len(guessed)) - pool.needed(sequence, 1)
        kept.append(guessed if reserved + more <= pool.free else [])
        reserved += more if kept[-1] else 0
    return kept

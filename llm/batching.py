"""Continuous batching: the sequences of several requests take each step of a model together.

A thread owns the model. Before each step it removes cancelled requests and admits waiting ones, in
their order. A step is a chunk of one prompt, so that long prompts do not delay the others, and then
one token of each sequence whose prompt is in the cache. Where pages are too few, the requests that
came last lose theirs, and are computed again later; the first one always goes on.

Every token of a text is computed in the same way, whatever other requests there are: prompts in
chunks that begin at multiples of their size, except for the last token, and then single tokens. So
a text has the same bits in any company.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from queue import SimpleQueue
from threading import Condition, Thread
from types import TracebackType

from .drafts import draft_of
from .generation import Generation, Piece, Request, guesses_of
from .language_model import LanguageModel
from .pages import CachedSequence
from .prefixes import PrefixCache
from .verification import Row, verified


class TooManyRequestsError(Exception):
    """A request came while as many as are permitted were served or waited."""


class Batcher:
    """Serves requests with a model, which nothing else may use until `close`.

    `batch` is the most sequences of a step, `chunk` the most tokens of a prompt in it; `limit` is
    the most requests that run or wait; `prefixes` the most prompts that stay in the cache
    for requests that begin with the same tokens. `draft` guesses tokens as that of
    `LanguageModel.generate`: "prompt", or a smaller model, which nothing else may use either.
    Usable as a context manager.

    A request that runs gets a chunk in as many steps as there are prompts that are not complete,
    and then a token in each step: with ``c`` chunks, among at most ``r`` such prompts, it ends
    after ``1 + c * r + max_tokens`` steps at most, unless it loses its pages.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        batch: int = 64,
        chunk: int = 64,
        limit: int = 256,
        prefixes: int = 32,
        draft: str | LanguageModel | None = None,
    ):
        self.model, self.limit = model, limit
        self._draft, self.proposed, self.accepted = draft, 0, 0
        """How many tokens were guessed for all requests, and how many of them were right."""
        if (guesses := draft_of(draft)) is not None:
            guesses.verify(model)
        self.context = model.pool.room(CachedSequence(), chunk, model.config.context)
        """The most positions of a sequence."""
        self._batch, self._chunk = batch, chunk
        self.steps = 0
        """How many steps were begun."""
        self._prefixes = PrefixCache(model.pool, chunk, prefixes)
        self._waiting: deque[Generation] = deque()
        self._running: list[Generation] = []
        """In the order in which they came, before all that wait."""
        self._changed, self._closed, self._count = Condition(), False, 0
        self._thread = Thread(target=self._run, name="xrelax-batching", daemon=True)
        self._thread.start()

    def __enter__(self) -> Batcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def count(self) -> int:
        """How many requests run or wait."""
        return self._count

    @property
    def is_closed(self) -> bool:
        """Whether requests are refused: after `close`, or an error of the thread."""
        return self._closed

    def close(self) -> None:
        """Cancel all requests, and free the cache; further ones are refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def submit(self, request: Request, deliver: Callable[[Piece], None]) -> Generation:
        """Start to serve a request; `deliver` is called for each piece, by the model's thread.

        A request whose `deliver` raises is cancelled. Raises ValueError for a prompt that is empty,
        longer than the context or has unknown tokens, TooManyRequestsError, and RuntimeError after
        `close`.
        """
        length, vocabulary = len(request.tokens), self.model.config.vocabulary
        if not 1 <= length <= self.context:
            raise ValueError(f"expected a prompt of 1 to {self.context} tokens, got {length}")
        for token in (min(request.tokens), max(request.tokens)):
            if not 0 <= token < vocabulary:
                raise ValueError(f"expected tokens from 0 to {vocabulary - 1}, got {token}")
        if request.max_tokens < 1:
            raise ValueError(f"expected max_tokens of at least 1, got {request.max_tokens}")
        # The last token needs no place: nothing follows it.
        most = min(request.max_tokens, self.context + 1 - length)
        generation = Generation(
            replace(request, max_tokens=most),
            self.model.tokenizer,
            deliver,
            draft_of(self._draft),
        )
        with self._changed:
            if self._closed:
                raise RuntimeError("expected requests before the batcher is closed")
            if self._count >= self.limit:
                raise TooManyRequestsError(
                    f"expected at most {self.limit} requests at once, got another one"
                )
            self._count += 1
            self._waiting.append(generation)
            self._changed.notify()
        return generation

    def stream(self, request: Request) -> Iterator[Piece]:
        """The pieces of a request, which is cancelled if the iterator is closed before the end.

        Raises what `submit` does.
        """
        pieces: SimpleQueue[Piece] = SimpleQueue()
        generation = self.submit(request, pieces.put)
        try:
            reason = None
            while reason is None:
                yield (piece := pieces.get())
                reason = piece.reason
        finally:
            generation.cancel()

    def _run(self) -> None:
        failure: Exception | None = None
        try:
            self._serve()
        except Exception as error:  # requests must not wait for a thread that has ended
            failure = error
        with self._changed:
            self._closed = True
            left = [*self._running, *self._waiting]
        for generation in left:
            self._end(generation, "cancelled" if failure is None else "error", error=failure)
        while self._prefixes.free_oldest():
            pass

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not (self._closed or self._waiting or self._running):
                    self._changed.wait()
                if self._closed:
                    return
                ended = [g for g in (*self._running, *self._waiting) if g.is_cancelled]
                self._waiting = deque(g for g in self._waiting if not g.is_cancelled)
            for generation in ended:
                self._end(generation, "cancelled")
            self._admit()
            self.steps += 1
            self._prefill()
            self._decode()

    def _admit(self) -> None:
        """Let requests run while there are pages for all tokens that are known, and one more each.

        The first one always fits, since it fits into the cache alone.
        """
        while len(self._running) < self._batch:
            with self._changed:
                if not self._waiting:
                    return
                first = self._waiting[0]
            promised = sum(self._pages_for(g) - len(g.sequence.pages) for g in self._running)
            needed = promised + self._pages_for(first) + len(self._running)
            while needed > self.model.pool.free:
                if not self._prefixes.free_oldest():
                    return
            with self._changed:
                self._waiting.popleft()
            first.sequence = self._prefixes.begin(first.request.tokens)
            first.served = self.steps
            self._running.append(first)

    def _pages_for(self, generation: Generation) -> int:
        return self.model.pool.pages_for(len(generation.text), self._chunk)

    def _prefill(self) -> None:
        """Compute a chunk of the prompt that had none for longest."""
        filling = [g for g in self._running if g.missing]
        if not filling:
            return
        generation = min(filling, key=lambda g: g.served)
        generation.served = self.steps
        count = min(generation.missing, self._chunk)
        if not self._has_room(generation, count, 0):
            return
        start = generation.sequence.length
        try:
            self.model.prefill(generation.sequence, generation.text[start : start + count])
        except Exception as error:
            self._end(generation, "error", error=error)
            return
        if not generation.missing:
            prompt = generation.request.tokens
            self._prefixes.keep(prompt, self.model.pool.fork(generation.sequence))

    def _decode(self) -> None:
        """Compute one token of all sequences whose prompts are in the cache."""
        ready: list[Generation] = []
        reserved = 0
        for generation in list(self._running):
            if generation not in self._running or generation.missing:
                continue
            if self._has_room(generation, 1, reserved):
                reserved += self.model.pool.needed(generation.sequence, 1)
                ready.append(generation)
        if not ready:
            return
        try:
            guesses = guesses_of(ready, self.model.pool, reserved)
            rows = [
                Row(g.sequence, g.next_token, g.sampler, guessed)
                for g, guessed in zip(ready, guesses, strict=True)
            ]
            chosen = verified(self.model, rows)
        except Exception as error:
            for generation in ready:
                self._end(generation, "error", error=error)
            return
        for generation, guessed, tokens in zip(ready, guesses, chosen, strict=True):
            self.proposed, self.accepted = (
                self.proposed + len(guessed),
                self.accepted + len(tokens) - 1,
            )
            # A token that was chosen before its request lost its pages is in the text.
            if generation.sequence.length + len(tokens) > len(generation.text):
                self._append(generation, tokens)

    def _append(self, generation: Generation, tokens: Sequence[int]) -> None:
        """Append tokens to a text, and deliver each, up to its end."""
        for token in tokens:
            try:
                text, reason = generation.append(token)
            except Exception as error:
                self._end(generation, "error", error=error)
                return
            if reason is not None:
                self._end(generation, reason, text)
                return
            if text:
                self._deliver(generation, Piece(text, generation.count))

    def _has_room(self, generation: Generation, count: int, reserved: int) -> bool:
        """Free pages for further positions; False if the request itself had to lose its pages."""
        pool = self.model.pool
        while reserved + pool.needed(generation.sequence, count) > pool.free:
            if self._prefixes.free_oldest():
                continue
            last = self._running.pop()
            self._free(last)
            with self._changed:
                self._waiting.appendleft(last)
            if last is generation:
                return False
        return True

    def _end(
        self,
        generation: Generation,
        reason: str,
        text: str = "",
        error: Exception | None = None,
    ) -> None:
        if generation in self._running:
            self._running.remove(generation)
        self._free(generation)
        with self._changed:
            self._count -= 1
        self._deliver(generation, Piece(text, generation.count, reason, error))

    def _free(self, generation: Generation) -> None:
        """Free the pages of a request, also those of its draft."""
        self.model.pool.truncate(generation.sequence, 0)
        if generation.draft is not None:
            generation.draft.close()

    def _deliver(self, generation: Generation, piece: Piece) -> None:
        try:
            generation.deliver(piece)
        except Exception:  # nothing receives the text any more, such as a closed event loop
            generation.cancel()

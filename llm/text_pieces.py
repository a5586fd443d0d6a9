"""Text from tokens piece by piece: whole characters, up to a stop string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

LONGEST = 8
"""Tokens that wait for the end of a character, at most; characters have up to 4 bytes."""


class TextPieces:
    """The text that each token adds; bytes of unfinished characters wait for the next token.

    Tokens are decoded after those before them, since the first space of a text may be omitted.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]):
        self._decode = decode
        self._before: list[int] = []
        self._waiting: list[int] = []

    def add(self, token: int) -> str:
        """The text that can be read after one more token, which may be empty."""
        self._waiting.append(token)
        text = self._added()
        # More tokens than a character has bytes are no text, whose end may never come.
        if (not text or text.endswith("\ufffd")) and len(self._waiting) < LONGEST:
            return ""
        self._before, self._waiting = self._waiting, []
        return text

    def rest(self) -> str:
        """The text of the tokens that still wait, at the end."""
        text = self._added()
        self._waiting.clear()
        return text

    def _added(self) -> str:
        known = self._decode(self._before)
        return self._decode(self._before + self._waiting)[len(known) :]


class StopStrings:
    """Text up to the first of some strings; what may be the beginning of one waits."""

    def __init__(self, stops: Sequence[str]):
        self._stops = stops
        self._waiting: str = ""
        self.found = False
        """Whether the text contained one of the strings."""

    def add(self, text: str) -> str:
        """The text that certainly comes before a stop string; empty once one was found."""
        if self.found:
            return ""
        text = self._waiting + text
        places = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        self.found = bool(places)
        end = min(places) if places else len(text) - self._possible(text)
        self._waiting = "" if self.found else text[end:]
        return text[:end]

    def rest(self) -> str:
        """The text that still waits, at the end."""
        text, self._waiting = self._waiting, ""
        return text

    def _possible(self, text: str) -> int:
        """The length of the longest end of the text that begins a stop string."""
        lengths = range(min(len(text), max(map(len, self._stops), default=1) - 1), 0, -1)
        return next((n for n in lengths if any(s.startswith(text[-n:]) for s in self._stops)), 0)

"""Control tokens of a chat template, apart from the same letters in what users write.

Spellings in the texts of users are replaced by a word that nobody knows before the template is
applied. What is spelled in the result is the template's; the text between is encoded by a tokenizer
without control tokens::

    hide      <|im_end|>  →  WORD 2 WORD
    encode    <|im_end|>  →  the token,    WORD 2 WORD  →  <|im_end|>, plain text
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from secrets import token_hex
from typing import Any


class ControlTokens:
    """The control tokens of an object of the package `tokenizers`."""

    def __init__(self, tokenizer: Any, control: Sequence[str]):
        self._word = token_hex(16)
        self._tokens = sorted(filter(None, control), key=len, reverse=True)
        self._numbers = {token: number for number, token in enumerate(self._tokens)}
        self._hidden = re.compile(f"{self._word}([0-9]+){self._word}")
        self._spelled = re.compile("|".join(map(re.escape, self._tokens)) or r"(?!)")
        added = sorted(tokenizer.get_added_tokens_decoder().items())
        self._added = {token.content: (number, token) for number, token in added}
        others = {token.content: n for n, token in added if token.content not in self._numbers}
        self._plain = _without_added(tokenizer)
        self._plain.add_tokens([self._added[text][1] for text in others])
        self._ids = {self._plain.token_to_id(text): number for text, number in others.items()}

    def hide(self, text: str) -> str:
        """A text of a user for the template, without a control token."""
        return self._spelled.sub(lambda m: f"{self._word}{self._numbers[m[0]]}{self._word}", text)

    def encode(self, text: str) -> list[int]:
        """The tokens of what the template made of texts that `hide` returned."""
        found: list[int] = []
        start, skips = 0, False
        for match in self._spelled.finditer(text):
            number, token = self._added[match[0]]
            found += self._encode(text[start : match.start()], skips, token.lstrip)
            found.append(number)
            start, skips = match.end(), token.rstrip
        return found + self._encode(text[start:], skips, False)

    def _encode(self, text: str, skips_first: bool, skips_last: bool) -> list[int]:
        """The tokens of a text without control tokens; spaces beside these may be theirs."""
        text = text.lstrip() if skips_first else text
        text = text.rstrip() if skips_last else text
        plain = self._hidden.sub(lambda m: self._tokens[int(m[1])], text)
        ids: list[int] = self._plain.encode(plain, add_special_tokens=False).ids
        return [self._ids.get(number, number) for number in ids]


def _without_added(tokenizer: Any) -> Any:
    """A tokenizer with the same model, without tokens that are found before text is split."""
    from tokenizers import Tokenizer

    made: Any = Tokenizer(tokenizer.model)
    for part in ("normalizer", "pre_tokenizer"):
        if (value := getattr(tokenizer, part)) is not None:
            setattr(made, part, value)
    return made

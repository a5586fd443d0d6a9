"""Control tokens of a chat template, apart from the same letters in what users write.

Spellings in the texts of users are replaced by a word that nobody knows before the template is
applied. What is spelled in the result is the template's, and gets a mark, by which another
tokenizer finds it::

    hide      <|im_end|>  →  WORD 2 WORD
    encode    <|im_end|>  →  MARK <|im_end|>,    WORD 2 WORD  →  <|im_end|>, plain text
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from secrets import token_hex
from typing import Any


class ControlTokens:
    """The control tokens of an object of the package `tokenizers`."""

    def __init__(self, tokenizer: Any, control: Sequence[str]):
        self._word, self._mark = token_hex(16), token_hex(16)
        longest = sorted(filter(None, control), key=len, reverse=True)
        self._tokens = longest
        self._numbers = {token: number for number, token in enumerate(longest)}
        self._hidden = re.compile(f"{self._word}([0-9]+){self._word}")
        self._spelled = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
        self._marked = _renamed(tokenizer, {t: self._mark + t for t in longest})
        ids: dict[str, int] = self._marked.get_vocab(with_added_tokens=True)
        self._ids = {n: tokenizer.token_to_id(t.removeprefix(self._mark)) for t, n in ids.items()}

    def hide(self, text: str) -> str:
        """A text of a user for the template, without a control token."""
        return self._spelled.sub(lambda m: f"{self._word}{self._numbers[m[0]]}{self._word}", text)

    def encode(self, text: str) -> list[int]:
        """The tokens of what the template made of texts that `hide` returned."""
        marked = self._spelled.sub(lambda m: self._mark + m[0], text)
        marked = self._hidden.sub(lambda m: self._tokens[int(m[1])], marked)
        found: list[int] = self._marked.encode(marked, add_special_tokens=False).ids
        return [self._ids[number] for number in found]


def _renamed(tokenizer: Any, names: dict[str, str]) -> Any:
    """A tokenizer with other spellings of control tokens."""
    from tokenizers import Tokenizer

    options = json.loads(tokenizer.to_str())
    options["post_processor"] = None  # which names tokens
    for token in options["added_tokens"]:
        if token["special"] and token["content"] in names:
            token["content"], token["normalized"] = names[token["content"]], False
    return Tokenizer.from_str(json.dumps(options))

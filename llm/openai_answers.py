"""Answers as OpenAI's clients expect them: whole ones, and chunks of streams."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from secrets import token_hex
from typing import Any, ClassVar


def usage(prompt: int, generated: int) -> dict[str, int]:
    """The counts of tokens."""
    total = prompt + generated
    return {"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": total}


class Answer(ABC):
    """The objects of one answer, with a common id and time."""

    prefix: ClassVar[str]
    whole_object: ClassVar[str]
    chunk_object: ClassVar[str]

    def __init__(self, model: str):
        self._model, self._id = model, f"{self.prefix}-{token_hex(12)}"
        self._created = int(time.time())

    def whole(self, text: str, reason: str, counts: dict[str, int]) -> dict[str, Any]:
        """The answer in one object."""
        choice = {**self._whole_text(text), "finish_reason": reason}
        return {**self._object(self.whole_object, choice), "usage": counts}

    def chunk(self, text: str, reason: str | None = None) -> dict[str, Any]:
        """A part of a stream; the last one has a reason."""
        choice = {**self._part_of_text(text), "finish_reason": reason}
        return self._object(self.chunk_object, choice)

    def counts(self, counts: dict[str, int]) -> dict[str, Any]:
        """The part of a stream that has the counts of tokens, and no text."""
        return {**self._object(self.chunk_object), "usage": counts}

    def first_chunks(self) -> list[dict[str, Any]]:
        """The parts of a stream before the text."""
        return []

    def _object(self, kind: str, *choices: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._model,
            "choices": [{"index": 0, "logprobs": None, **choice} for choice in choices],
        }

    @abstractmethod
    def _whole_text(self, text: str) -> dict[str, Any]:
        """The member of a choice that has the whole text."""

    @abstractmethod
    def _part_of_text(self, text: str) -> dict[str, Any]:
        """The member of a choice that has a part of the text."""


class ChatAnswer(Answer):
    """The answer to a conversation."""

    prefix, whole_object, chunk_object = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def first_chunks(self) -> list[dict[str, Any]]:
        choice = {"delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        return [self._object(self.chunk_object, choice)]

    def _whole_text(self, text: str) -> dict[str, Any]:
        return {"message": {"role": "assistant", "content": text, "refusal": None}}

    def _part_of_text(self, text: str) -> dict[str, Any]:
        return {"delta": {"content": text} if text else {}}


class TextAnswer(Answer):
    """The text after a prompt."""

    prefix, whole_object, chunk_object = "cmpl", "text_completion", "text_completion"

    def _whole_text(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def _part_of_text(self, text: str) -> dict[str, Any]:
        return {"text": text}

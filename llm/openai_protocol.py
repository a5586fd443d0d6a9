"""Bodies of requests as OpenAI's clients send them, and their errors."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .generation import Request
from .sampling import Sampling
from .tokenizer import Tokenizer

StopString = Annotated[str, Field(min_length=1, max_length=256)]
Zero = Annotated[float, Field(ge=0, le=0)]
Empty = Annotated[dict[str, Any] | list[Any], Field(max_length=0)]
SEEDS = 1 << 64
ALTERNATIVE = re.compile(r"(constrained-)?str|list\[.*\]")
"""How Pydantic calls the types of a value that may have several."""


class ApiError(Exception):
    """What the client gets instead of an answer: a status, and one line on what is wrong."""

    def __init__(
        self, status: int, message: str, param: str | None = None, code: str | None = None
    ):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code

    def body(self) -> dict[str, Any]:
        """The object that describes the error."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        fields = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return {"error": fields}


class _Object(BaseModel):
    """A JSON object, of which members that are null count as absent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value is not None}  # pyright: ignore[reportUnknownVariableType]


class StreamOptions(_Object):
    """`stream_options`."""

    include_usage: bool = False
    include_obfuscation: bool = False


class Body(_Object):
    """What both kinds of requests have.

    Members that change the text have to be supported, or have the value that changes nothing;
    those that only describe the request are ignored.
    """

    model: str
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Annotated[int, Field(ge=0)] = 0
    min_p: Annotated[float, Field(ge=0, le=1)] = 0.0
    repetition_penalty: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    seed: Annotated[int, Field(ge=-SEEDS // 2, lt=SEEDS // 2)] | None = None
    stop: StopString | Annotated[list[StopString], Field(max_length=16)] = []
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()

    n: Literal[1] = 1
    frequency_penalty: Zero = 0.0
    presence_penalty: Zero = 0.0
    logit_bias: Empty = []

    user: str = ""
    metadata: dict[str, Any] = {}
    store: bool = False
    service_tier: str = ""
    safety_identifier: str = ""
    prompt_cache_key: str = ""

    @classmethod
    def read(cls, data: bytes) -> Self:
        """The body of a request; raises ApiError with status 400."""
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            raise _api_error(error) from None

    @abstractmethod
    def tokens(self, tokenizer: Tokenizer) -> Sequence[int]:
        """The prompt; raises ValueError with one line."""

    @property
    def limit(self) -> int | None:
        """The most tokens of the answer; None for as many as fit."""
        return self.max_tokens

    def request(self, tokenizer: Tokenizer, context: int) -> Request:
        """What a `Batcher` serves; raises ValueError with one line."""
        sampling = Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            seed=None if self.seed is None else self.seed % SEEDS,
        )
        stop = [self.stop] if isinstance(self.stop, str) else self.stop
        return Request(self.tokens(tokenizer), self.limit or context, sampling, stop)


class TextPart(_Object):
    """A part of the content of a message."""

    type: Literal["text"]
    text: str


class Message(_Object):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]
    name: str = ""
    annotations: Any = None

    def plain(self) -> dict[str, str]:
        """Role and content, as chat templates have them."""
        parts = self.content
        text = parts if isinstance(parts, str) else "".join(part.text for part in parts)
        return {"role": "system" if self.role == "developer" else self.role, "content": text}


class ResponseFormat(_Object):
    """`response_format`."""

    type: Literal["text"] = "text"


class ChatBody(Body):
    """A request to ``/v1/chat/completions``."""

    messages: Annotated[list[Message], Field(min_length=1)]
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    logprobs: Literal[False] = False
    tools: Empty = []
    tool_choice: Literal["none", "auto"] = "none"
    parallel_tool_calls: bool = True
    response_format: ResponseFormat = ResponseFormat()
    modalities: list[Literal["text"]] = ["text"]

    @property
    def limit(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens

    def tokens(self, tokenizer: Tokenizer) -> Sequence[int]:
        messages = [message.plain() for message in self.messages]
        return tokenizer.encode_chat(messages)


class TextBody(Body):
    """A request to ``/v1/completions``; the prompt is one text, or its tokens."""

    prompt: (
        str
        | Annotated[list[str], Field(min_length=1, max_length=1)]
        | Annotated[list[int], Field(min_length=1)]
        | Annotated[list[list[int]], Field(min_length=1, max_length=1)]
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = 16
    logprobs: None = None
    echo: Literal[False] = False
    best_of: Literal[1] = 1
    suffix: Literal[""] = ""

    def tokens(self, tokenizer: Tokenizer) -> Sequence[int]:
        prompt = self.prompt
        if isinstance(prompt, list) and isinstance(prompt[0], (str, list)):
            prompt = prompt[0]
        return tokenizer.encode(prompt) if isinstance(prompt, str) else prompt  # pyright: ignore[reportReturnType]


def _api_error(error: ValidationError) -> ApiError:
    """A mistake of a body, with what was expected and what came.

    Where a value may have several types, each has a mistake: the one of its own type says most.
    """
    errors = error.errors(include_url=False)
    first = next((e for e in errors if not e["type"].endswith("_type")), errors[0])
    place = ".".join(p for p in map(str, first["loc"]) if not ALTERNATIVE.fullmatch(p))
    got = repr(first["input"])
    got = got if len(got) <= 60 else f"{got[:60]}…"
    match first["type"]:
        case "json_invalid":
            return ApiError(400, f"expected a body of JSON, got {first['msg']}")
        case "extra_forbidden":
            return ApiError(400, f"expected parameters that are supported, got '{place}'", place)
        case "missing":
            return ApiError(400, f"expected '{place}', got none", place)
        case _:
            said = re.sub(r"^\w+ should | after validation.*", "", first["msg"])
            where = f"'{place}'" if place else "the body"
            return ApiError(400, f"expected {where} to {said}, got {got}", place or None)

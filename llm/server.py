"""An HTTP server of a language model with OpenAI's API."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .batching import Batcher, TooManyRequestsError
from .generation import Generation, Piece
from .openai_answers import Answer, ChatAnswer, TextAnswer, usage
from .openai_protocol import ApiError, Body, ChatBody, TextBody

MAX_BODY = 1 << 20
"""Bytes of a body that are read; a prompt of the longest contexts has about half of them."""
Endpoint = Callable[[Request], Awaitable[Response]]


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of this machine for itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """The routes for a model; `app` is the application for an ASGI server.

    With a key, requests must have it. Without, they must name this machine as their host, and have
    a content type that pages of other sites may not send, so that only local programs are served.
    """

    def __init__(self, batcher: Batcher, name: str, key: str | None = None):
        self._batcher, self._name, self._key = batcher, name, key
        self._started = int(time.time())
        self._watches: set[asyncio.Task[None]] = set()
        routes = [
            Route("/health", self._health),
            Route("/v1/models", self._guarded(self._models)),
            Route("/v1/models/{name:path}", self._guarded(self._model)),
            Route("/v1/chat/completions", self._guarded(self._chat), methods=["POST"]),
            Route("/v1/completions", self._guarded(self._text), methods=["POST"]),
        ]
        handlers: dict[Any, Any] = {
            ApiError: _refused,
            HTTPException: _not_found,
            ClientDisconnect: _gone,
            Exception: _failed,
        }
        self.app = Starlette(
            routes=routes, exception_handlers=handlers, lifespan=self._until_shutdown
        )

    @asynccontextmanager
    async def _until_shutdown(self, app: Starlette) -> AsyncGenerator[None]:
        yield
        await run_in_threadpool(self._batcher.close)

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            self._authorize(request)
            return await endpoint(request)

        return guarded

    def _authorize(self, request: Request) -> None:
        if self._key is None:
            host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
            if not is_loopback(host):
                raise ApiError(403, f"expected a request to localhost, got one to '{host}'")
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        is_right = compare_digest(given.encode("latin-1"), self._key.encode())
        if scheme.lower() != "bearer" or not is_right:
            message = "expected the API key of the server as 'Authorization: Bearer KEY'"
            raise ApiError(401, message, code="invalid_api_key")

    async def _health(self, request: Request) -> Response:
        is_open = not self._batcher.is_closed
        body = {"status": "ok" if is_open else "closed", "requests": self._batcher.count}
        return JSONResponse(body, 200 if is_open else 503)

    async def _models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self._description()]})

    async def _model(self, request: Request) -> Response:
        self._check_name(request.path_params["name"])
        return JSONResponse(self._description())

    def _description(self) -> dict[str, Any]:
        base = {"id": self._name, "object": "model", "created": self._started}
        return {**base, "owned_by": "xrelax"}

    def _check_name(self, name: str) -> None:
        if name != self._name:
            message = f"expected the model '{self._name}', got '{name}'"
            raise ApiError(404, message, "model", "model_not_found")

    async def _chat(self, request: Request) -> Response:
        return await self._generate(request, ChatBody, ChatAnswer(self._name))

    async def _text(self, request: Request) -> Response:
        return await self._generate(request, TextBody, TextAnswer(self._name))

    async def _generate(self, request: Request, kind: type[Body], answer: Answer) -> Response:
        body = kind.read(await _content(request))
        self._check_name(body.model)
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[Piece]()

        def deliver(piece: Piece) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        batcher = self._batcher
        try:
            wanted = await run_in_threadpool(body.request, batcher.model.tokenizer, batcher.context)
            generation = batcher.submit(wanted, deliver)
        except ValueError as error:
            raise ApiError(400, str(error)) from None
        except TooManyRequestsError as error:
            raise ApiError(429, str(error), code="rate_limit_exceeded") from None
        except RuntimeError as error:
            raise ApiError(503, str(error)) from None
        # A client that disconnects before the first piece is seen by nothing else.
        watch = asyncio.create_task(_cancel_if_gone(request, generation))
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        prompt, received = len(wanted.tokens), _received(pieces, generation, watch)
        if body.stream:
            events = _events(answer, received, prompt, body.stream_options.include_usage)
            return StreamingResponse(events, media_type="text/event-stream")
        texts: list[str] = []
        piece = None
        async for piece in received:
            texts.append(piece.text)
        assert piece is not None and piece.reason is not None
        counts = usage(prompt, piece.tokens)
        return JSONResponse(answer.whole("".join(texts), piece.reason, counts))


async def _content(request: Request) -> bytes:
    """The body of a request; raises ApiError for other content types, and for long ones."""
    kind = request.headers.get("content-type", "none").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(400, f"expected the content type application/json, got '{kind}'")
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > MAX_BODY:
            raise ApiError(413, f"expected a body of at most {MAX_BODY} bytes, got more")
    return bytes(parts)


async def _received(
    pieces: asyncio.Queue[Piece], generation: Generation, watch: asyncio.Task[None]
) -> AsyncIterator[Piece]:
    """The pieces up to the last one; raises ApiError for a request that failed."""
    try:
        while True:
            piece = await pieces.get()
            if piece.reason == "error":
                raise ApiError(500, f"the model failed: {piece.error}")
            if piece.reason == "cancelled":
                raise ApiError(503, "expected to end the text before the server stops")
            yield piece
            if piece.reason is not None:
                return
    finally:
        generation.cancel()
        watch.cancel()


async def _cancel_if_gone(request: Request, generation: Generation) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    generation.cancel()


async def _events(
    answer: Answer, pieces: AsyncIterator[Piece], prompt: int, has_usage: bool
) -> AsyncIterator[str]:
    """The events of a stream: parts of the text, counts if they are wanted, and the end."""
    nothing = {"usage": None} if has_usage else {}
    for chunk in answer.first_chunks():
        yield _event({**chunk, **nothing})
    tokens = 0
    try:
        async for piece in pieces:
            tokens = piece.tokens
            if piece.text:
                yield _event({**answer.chunk(piece.text), **nothing})
            if piece.reason is not None:
                yield _event({**answer.chunk("", piece.reason), **nothing})
    except ApiError as error:
        yield _event(error.body())
        return
    if has_usage:
        yield _event(answer.counts(usage(prompt, tokens)))
    yield "data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


async def _refused(request: Request, error: ApiError) -> Response:
    headers = {429: {"Retry-After": "1"}, 401: {"WWW-Authenticate": "Bearer"}}
    return JSONResponse(error.body(), error.status, headers.get(error.status))


async def _not_found(request: Request, error: HTTPException) -> Response:
    message = f"expected a known route, got {request.method} {request.url.path}"
    body = ApiError(error.status_code, message).body()
    return JSONResponse(body, error.status_code, error.headers)


async def _gone(request: Request, error: ClientDisconnect) -> Response:
    return Response(status_code=499)  # nothing is sent: the connection is closed


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse(ApiError(500, "the server failed").body(), 500)

"""The server as OpenAI's clients use it, and what it refuses."""

from __future__ import annotations

import json
import socket
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")  # for the client

import uvicorn
from starlette.testclient import TestClient

from xrelax.llm.batching import Batcher
from xrelax.llm.generation import Request
from xrelax.llm.sampling import Sampling
from xrelax.llm.server import MAX_BODY, Server, is_loopback

MESSAGES = [{"role": "user", "content": "hello"}]
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
PROMPT = "Once upon"


def wait_for(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def answer_of(model, tokens):
    """The greedy answer of up to 20 tokens, why it ends, and the counts."""
    with Batcher(model, prefixes=0) as batcher:
        pieces = list(batcher.stream(Request(tokens, 20, Sampling())))
    prompt, count = len(tokens), pieces[-1].tokens
    usage = {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}
    text = "".join(piece.text for piece in pieces)
    return SimpleNamespace(text=text, reason=pieces[-1].reason, usage=usage)


@pytest.fixture(scope="module")
def batcher(tiny_model):
    with Batcher(tiny_model(), limit=16) as batcher:
        yield batcher


@pytest.fixture(scope="module")
def client(batcher):
    """A client without a lifespan, which would close the batcher."""
    return TestClient(Server(batcher, "tiny").app, "http://localhost")


@pytest.fixture(scope="module")
def served(tiny_model):
    """A server that listens at a port."""
    with socket.create_server(("127.0.0.1", 0)) as listener, Batcher(tiny_model(32)) as batcher:
        app = Server(batcher, "tiny", "secret").app
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        wait_for(lambda: server.started)
        yield SimpleNamespace(port=listener.getsockname()[1], batcher=batcher)
        server.should_exit = True
        thread.join(60)
    assert batcher.model.pool.free == 32


@pytest.fixture
def openai(served):
    client = pytest.importorskip("openai").OpenAI(
        base_url=f"http://127.0.0.1:{served.port}/v1", api_key="secret", max_retries=0
    )
    with client:
        yield client


@pytest.fixture(scope="module")
def expected(tiny_model):
    """The greedy answers of 20 tokens to the messages and to the prompt."""
    model = tiny_model()
    chat = model.tokenizer.encode_chat(MESSAGES)
    tokens = model.tokenizer.encode(PROMPT)
    return SimpleNamespace(
        chat=answer_of(model, chat), text=answer_of(model, tokens), prompt=tokens
    )


def events_of(response):
    lines = [line for line in response.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    assert response.headers["content-type"].startswith("text/event-stream")
    return [line.removeprefix("data: ") for line in lines]


def test_chat(client, expected):
    body = {"model": "tiny", "messages": MESSAGES, "max_completion_tokens": 20, "temperature": 0}
    response = client.post(CHAT, json=body).json()
    assert response["object"] == "chat.completion" and response["id"].startswith("chatcmpl-")
    (choice,) = response["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": expected.chat.text,
        "refusal": None,
    }
    assert choice["finish_reason"] == expected.chat.reason
    assert response["usage"] == expected.chat.usage


def test_stream_of_a_chat(client, expected):
    body = {"model": "tiny", "messages": MESSAGES, "max_tokens": 20, "temperature": 0}
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    *events, end = events_of(client.post(CHAT, json=body))
    assert end == "[DONE]"
    first, *texts, last, counts = [json.loads(event) for event in events]
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(t["choices"][0]["delta"]["content"] for t in texts) == expected.chat.text
    assert all(t["choices"][0]["finish_reason"] is None and t["usage"] is None for t in texts)
    assert last["choices"][0] == {
        "index": 0,
        "logprobs": None,
        "delta": {},
        "finish_reason": expected.chat.reason,
    }
    assert counts["choices"] == [] and counts["usage"] == expected.chat.usage
    assert {(e["id"], e["object"]) for e in (first, *texts, last, counts)} == {
        (first["id"], "chat.completion.chunk")
    }


@pytest.mark.parametrize("form", ["text", "list of text", "tokens", "list of tokens"])
def test_text(client, expected, form):
    tokens = expected.prompt
    prompt = {
        "text": PROMPT,
        "list of text": [PROMPT],
        "tokens": tokens,
        "list of tokens": [tokens],
    }[form]
    body = {"model": "tiny", "prompt": prompt, "temperature": 0, "max_tokens": 20}
    response = client.post(TEXT, json=body).json()
    assert response["object"] == "text_completion"
    assert response["choices"][0]["text"] == expected.text.text
    events = events_of(client.post(TEXT, json={**body, "stream": True}))
    texts = [json.loads(event)["choices"][0]["text"] for event in events[:-1]]
    assert "".join(texts) == expected.text.text and events[-1] == "[DONE]"


def test_default_number_of_tokens_of_a_text(client):
    body = {"model": "tiny", "prompt": PROMPT, "temperature": 0}
    assert client.post(TEXT, json=body).json()["usage"]["completion_tokens"] == 16


def test_parts_of_messages_and_roles(client, expected):
    parts = [{"type": "text", "text": part} for part in ("hel", "lo")]
    messages = [{"role": "user", "content": parts, "name": "me", "tool_calls": None}]
    body = {"model": "tiny", "messages": messages, "max_tokens": 20, "temperature": 0}
    response = client.post(CHAT, json=body)
    assert response.json()["choices"][0]["message"]["content"] == expected.chat.text
    texts = [
        client.post(CHAT, json={**body, "messages": [{"role": role, "content": "x"}, *messages]})
        for role in ("system", "developer")
    ]
    one, other = (text.json()["choices"] for text in texts)
    assert one == other


@pytest.mark.parametrize("stop", ["text", "list"])
def test_stop(client, expected, stop):
    string = expected.text.text[4:7]
    stops = string if stop == "text" else ["never in it", string]
    body = {"model": "tiny", "prompt": PROMPT, "temperature": 0, "max_tokens": 20, "stop": stops}
    (choice,) = client.post(TEXT, json=body).json()["choices"]
    assert choice["text"] == expected.text.text[: expected.text.text.index(string)]
    assert choice["finish_reason"] == "stop"


def test_seeds(client):
    body = {"model": "tiny", "prompt": PROMPT, "top_p": 0.9, "top_k": 50, "min_p": 0.01}
    body |= {"repetition_penalty": 1.1, "frequency_penalty": 0, "n": 1, "logit_bias": None}
    texts = [
        client.post(TEXT, json={**body, "seed": seed}).json()["choices"][0]["text"]
        for seed in (1, 1, -1)
    ]
    assert texts[0] == texts[1] != texts[2]


WRONG = {
    "no JSON": (b"{", "expected a body of JSON, got Invalid JSON: EOF"),
    "no object": (b"[]", "expected the body to be an object, got []"),
    "no messages": ({"messages": None}, "expected 'messages', got none"),
    "empty messages": ({"messages": []}, "expected 'messages' to have at least 1 item, got []"),
    "role": (
        {"messages": [{"role": "king", "content": "x"}]},
        "expected 'messages.0.role' to be 'system', 'developer', 'user' or 'assistant', got 'king'",
    ),
    "picture": (
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        "expected 'messages.0.content.0.type' to be 'text', got 'image_url'",
    ),
    "type": ({"max_tokens": "9"}, "expected 'max_tokens' to be a valid integer, got '9'"),
    "boolean": ({"max_tokens": True}, "expected 'max_tokens' to be a valid integer, got True"),
    "range": ({"temperature": 3}, "expected 'temperature' to be less than or equal to 2, got 3"),
    "not finite": (
        b'{"model": "tiny", "temperature": NaN}',
        "expected 'temperature' to be a finite number, got nan",
    ),
    "top_p": ({"top_p": 0}, "expected 'top_p' to be greater than 0, got 0"),
    "stop": ({"stop": [""]}, "expected 'stop.0' to have at least 1 character, got ''"),
    "stops": ({"stop": ["x"] * 17}, "expected 'stop' to have at most 16 items, got ['x', 'x'"),
    "penalty of 0": (
        {"repetition_penalty": 0},
        "expected 'repetition_penalty' to be greater than or equal to 0.01, got 0",
    ),
    "nested": (b"[" * 100_000, "expected a body of JSON, got Invalid JSON: recursion limit"),
    "n": ({"n": 2}, "expected 'n' to be 1, got 2"),
    "seed": ({"seed": 1 << 64}, "expected 'seed' to be"),
    "penalty": ({"presence_penalty": 1}, "expected 'presence_penalty' to be"),
    "tools": ({"tools": [{}]}, "expected 'tools"),
    "unknown": ({"colour": 1}, "expected parameters that are supported, got 'colour'"),
    "long prompt": (
        {"messages": [{"role": "user", "content": "x" * 300}]},
        "expected a prompt of 1 to 256 tokens, got ",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_bodies(client, name):
    body, message = WRONG[name]
    if isinstance(body, dict):
        body = json.dumps({"model": "tiny", "messages": MESSAGES, **body}).encode()
    response = client.post(CHAT, content=body, headers={"Content-Type": "application/json"})
    error = response.json()["error"]
    assert response.status_code == 400 and error["type"] == "invalid_request_error"
    assert "\n" not in error["message"]
    assert error["message"].startswith(message)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ([300], "expected tokens from 0 to 299, got 300"),
        ("", "expected a prompt of 1 to 256 tokens, got 0"),
        (["a", "b"], "expected 'prompt"),
        ([], "expected 'prompt"),
    ],
)
def test_wrong_prompts(client, prompt, message):
    response = client.post(TEXT, json={"model": "tiny", "prompt": prompt})
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith(message)


def test_other_models_routes_and_methods(client):
    response = client.post(CHAT, json={"model": "huge", "messages": MESSAGES})
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"
    assert client.get("/v1/models/tiny").json()["id"] == "tiny"
    assert client.get("/v1/models/huge").status_code == 404
    assert "expected a known route" in client.get("/v2").json()["error"]["message"]
    assert client.get(CHAT).status_code == 405


def test_long_bodies(client):
    body = {"model": "tiny", "prompt": "x" * MAX_BODY}
    response = client.post(TEXT, json=body)
    assert response.status_code == 413
    assert response.json()["error"]["message"] == (
        f"expected a body of at most {MAX_BODY} bytes, got more"
    )


def test_pages_of_other_sites_are_refused(client):
    """They cannot send this content type, and a name that they bound to this machine is theirs."""
    body = json.dumps({"model": "tiny", "prompt": PROMPT})
    response = client.post(TEXT, content=body, headers={"Content-Type": "text/plain"})
    assert response.status_code == 400 and "application/json" in response.text
    response = client.get("/v1/models", headers={"Host": "evil.example:8000"})
    assert response.status_code == 403
    for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
        assert client.get("/v1/models", headers={"Host": host}).status_code == 200


def test_api_key(batcher):
    client = TestClient(Server(batcher, "tiny", "secret").app)
    assert client.get("/health").json()["status"] == "ok"
    for value in (None, "secret", "Bearer wrong", "Bearer ", "Bearer sécret", "Basic secret"):
        headers = {} if value is None else {"Authorization": value.encode()}
        for response in (
            client.get("/v1/models", headers=headers),
            client.post(TEXT, json={"model": "tiny", "prompt": PROMPT}, headers=headers),
        ):
            assert response.status_code == 401
            assert response.json()["error"]["code"] == "invalid_api_key"
    headers = {"Authorization": "Bearer secret"}
    assert client.get("/v1/models", headers=headers).json()["data"][0]["id"] == "tiny"


def test_too_many_requests(client, batcher):
    running = [batcher.submit(Request([5], 256), lambda piece: None) for _ in range(16)]
    response = client.post(TEXT, json={"model": "tiny", "prompt": PROMPT})
    assert response.status_code == 429 and response.headers["retry-after"] == "1"
    assert response.json()["error"]["code"] == "rate_limit_exceeded"
    for generation in running:
        generation.cancel()
    wait_for(lambda: batcher.count == 0)


@pytest.mark.parametrize("stream", [False, True])
def test_a_failure_of_the_model(client, batcher, monkeypatch, stream):
    monkeypatch.setattr(batcher.model, "decode", lambda *_: 1 / 0)
    body = {"model": "tiny", "messages": MESSAGES, "stream": stream}
    response = client.post(CHAT, json=body)
    if stream:
        assert '"error": {"message": "the model failed: division by zero"' in response.text
        assert "[DONE]" not in response.text
    else:
        assert response.status_code == 500
        assert response.json()["error"]["type"] == "server_error"


def test_after_the_shutdown(tiny_model):
    server = Server(Batcher(tiny_model()), "tiny")
    with TestClient(server.app, "http://localhost") as client:
        assert client.get("/health").status_code == 200
    client = TestClient(server.app, "http://localhost")
    assert client.get("/health").status_code == 503
    assert client.post(TEXT, json={"model": "tiny", "prompt": PROMPT}).status_code == 503


def test_openai_client(openai, expected):
    pages = {"max_tokens": 20, "temperature": 0}
    assert [model.id for model in openai.models.list()] == ["tiny"]
    chat = openai.chat.completions.create(model="tiny", messages=MESSAGES, **pages)
    assert chat.choices[0].message.content == expected.chat.text
    stream = openai.chat.completions.create(
        model="tiny",
        messages=MESSAGES,
        stream=True,
        stream_options={"include_usage": True},
        extra_body={"top_k": 1},
        **pages,
    )
    chunks, counts = list(stream), expected.chat.usage["completion_tokens"]
    texts = [c.choices[0].delta.content or "" for c in chunks if c.choices]
    assert "".join(texts) == expected.chat.text and chunks[-1].usage.completion_tokens == counts
    text = openai.completions.create(model="tiny", prompt=PROMPT, **pages)
    assert text.choices[0].text == expected.text.text


def test_errors_of_the_openai_client(openai):
    import openai as package

    with pytest.raises(package.BadRequestError, match="expected 'temperature' to be less than"):
        openai.chat.completions.create(model="tiny", messages=MESSAGES, temperature=9)
    with pytest.raises(package.NotFoundError, match="expected the model 'tiny', got 'huge'"):
        openai.chat.completions.create(model="huge", messages=MESSAGES)
    with pytest.raises(package.AuthenticationError):
        openai.with_options(api_key="other").models.list()


def test_many_clients(openai, served, expected):
    """200 streams at once; the server has room for them all, the cache for a few."""
    results = [None] * 200

    def run(at):
        stream = openai.chat.completions.create(
            model="tiny", messages=MESSAGES, stream=True, max_tokens=20, temperature=0
        )
        results[at] = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert results == [expected.chat.text] * 200
    wait_for(lambda: served.batcher.count == 0)


@pytest.mark.parametrize("stream", [False, True])
def test_clients_that_disconnect(served, monkeypatch, stream):
    """While the prompt is computed, before any text is there that could not be sent."""
    model = served.batcher.model
    is_gone, decode = threading.Event(), model.decode

    def held(sequences, tokens):
        assert is_gone.wait(60)
        return decode(sequences, tokens)

    monkeypatch.setattr(model, "decode", held)
    body = json.dumps({"model": "tiny", "prompt": PROMPT, "max_tokens": 256, "stream": stream})
    head = (
        f"POST {TEXT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    cancelled = []
    end = served.batcher._end
    monkeypatch.setattr(
        served.batcher,
        "_end",
        lambda g, reason, *a, **k: (cancelled.append(reason), end(g, reason, *a, **k)),
    )
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall((head + body).encode())
        wait_for(lambda: served.batcher.count == 1)
    time.sleep(0.2)
    is_gone.set()
    wait_for(lambda: served.batcher.count == 0)
    assert cancelled == ["cancelled"]


def test_a_client_that_disconnects_in_its_body(served, openai):
    head = (
        f"POST {TEXT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
        'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"model": '
    )
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(head.encode())
        time.sleep(0.1)
    assert openai.models.list().data[0].id == "tiny"


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True)]
    + [(host, False) for host in ("0.0.0.0", "::", "", "192.168.1.2", "localhost.evil.example")],
)
def test_loopback(host, is_local):
    assert is_loopback(host) == is_local

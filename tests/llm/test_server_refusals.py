"""What the server refuses: wrong bodies, other sites, missing keys, too many requests."""

import json

import pytest
from concurrent_calls import wait_for
from server_requests import CHAT, MESSAGES, PROMPT, TEXT

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")  # for the client

from starlette.testclient import TestClient

from xrelax.llm.batching import Batcher
from xrelax.llm.generation import Request
from xrelax.llm.server import MAX_BODY, Server, is_loopback

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


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True)]
    + [(host, False) for host in ("0.0.0.0", "::", "", "192.168.1.2", "localhost.evil.example")],
)
def test_loopback(host, is_local):
    assert is_loopback(host) == is_local

"""The server at a port, as the client of OpenAI and many others at once use it."""

import json
import socket
import threading
import time
from types import SimpleNamespace

import pytest
from concurrent_calls import in_threads, wait_for
from server_requests import MESSAGES, PROMPT, TEXT

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")  # for the client

import uvicorn

from xrelax.llm.batching import Batcher
from xrelax.llm.server import Server


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

    in_threads(200, run)
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

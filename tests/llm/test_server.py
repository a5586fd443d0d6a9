"""Answers of the server in the forms that clients of OpenAI ask for."""

import json

import pytest
from server_requests import CHAT, MESSAGES, PROMPT, TEXT

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")  # for the client


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

"""A tiny random model, compiled once, and a client of its server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

PLACES = 32


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file of a Llama with a context of 256 tokens."""
    for module in ("torch", "gguf", "tokenizers"):
        pytest.importorskip(module)
    import gguf_models

    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    gguf_models.write(gguf_models.model_of("llama"), "llama", "Q4_1", path)
    return path


@pytest.fixture(scope="session")
def tiny_model(tiny_file: Path) -> Callable[..., Any]:
    """Make a model with so many pages; all have the same compiled functions."""
    from xrelax.llm import LanguageModel, load

    model = load(tiny_file)

    def made(pages: int = 256) -> LanguageModel:
        return LanguageModel(model.config, model.tokenizer, model.executable, pages * PLACES)

    return made


@pytest.fixture(scope="module")
def batcher(tiny_model: Callable[..., Any]) -> Iterator[Any]:
    from xrelax.llm.batching import Batcher

    with Batcher(tiny_model(), limit=16) as batcher:
        yield batcher


@pytest.fixture(scope="module")
def client(batcher: Any) -> Any:
    """A client of a server, without a lifespan, which would close the batcher."""
    from starlette.testclient import TestClient

    from xrelax.llm.server import Server

    return TestClient(Server(batcher, "tiny").app, "http://localhost")


@pytest.fixture(scope="module")
def expected(tiny_model: Callable[..., Any]) -> SimpleNamespace:
    """The greedy answers of 20 tokens to the messages and to the prompt."""
    from server_requests import MESSAGES, PROMPT, answer_of

    model = tiny_model()
    chat = model.tokenizer.encode_chat(MESSAGES)
    tokens = model.tokenizer.encode(PROMPT)
    return SimpleNamespace(
        chat=answer_of(model, chat), text=answer_of(model, tokens), prompt=tokens
    )

"""A tiny random model, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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

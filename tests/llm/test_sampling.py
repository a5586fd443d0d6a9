"""Which tokens the options of sampling leave, and how often they are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax.llm import Sampling

PROBABILITIES = np.array([0.06, 0.4, 0.3, 0.04, 0.2])
CASES = [
    ({}, [0.06, 0.4, 0.3, 0.04, 0.2]),
    ({"top_k": 2}, [0, 4 / 7, 3 / 7, 0, 0]),
    ({"top_p": 0.65}, [0, 4 / 7, 3 / 7, 0, 0]),
    ({"min_p": 0.45}, [0, 4 / 9, 3 / 9, 0, 2 / 9]),
    ({"top_k": 3, "top_p": 0.7}, [0, 4 / 7, 3 / 7, 0, 0]),
    ({"top_k": 9}, [0.06, 0.4, 0.3, 0.04, 0.2]),
    ({"temperature": 1e-40}, [0, 1, 0, 0, 0]),
    ({"temperature": 0.5}, PROBABILITIES**2 / (PROBABILITIES**2).sum()),
]


@pytest.mark.parametrize(("options", "expected"), CASES, ids=lambda case: str(case))
def test_frequencies(options, expected):
    sampling = Sampling(**{"temperature": 1.0, "seed": 1, **options})
    logits, rng = np.log(PROBABILITIES).astype(np.float32), sampling.generator()
    tokens = [sampling.choose(logits, [], rng) for _ in range(20000)]
    found = np.bincount(tokens, minlength=5) / len(tokens)
    np.testing.assert_allclose(found, expected, atol=0.015)
    assert not found[np.asarray(expected) == 0].any()


@pytest.mark.parametrize("top_p", [0.1, 0.6, 0.9, 0.99])
def test_the_fewest_tokens_with_a_probability_of_many(top_p):
    logits = np.random.default_rng(0).normal(0, 1, 5000).astype(np.float32)
    weights = np.sort(np.exp(logits.astype(np.float64)))[::-1]
    count = int(np.searchsorted(weights.cumsum(), top_p * weights.sum())) + 1
    kept = Sampling(temperature=1.0, top_p=top_p)._kept(np.exp(logits - logits.max()))
    assert abs(len(kept) - count) <= 1  # float32
    assert set(kept.tolist()) == set(np.argsort(-logits)[: len(kept)].tolist())


def test_greedy_and_repetition():
    logits, rng = np.array([1, 3, 2], np.float32), np.random.default_rng(0)
    assert Sampling().choose(logits, [1], rng) == 1
    assert Sampling(repetition_penalty=2.0).choose(logits, [1], rng) == 2


@pytest.mark.parametrize("option", ["top_p", "min_p", "temperature", "repetition_penalty"])
def test_wrong_values(option):
    with pytest.raises(ValueError, match=rf"^expected {option} .*, got -1$"):
        Sampling(**{option: -1})

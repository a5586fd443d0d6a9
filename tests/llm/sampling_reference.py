"""Choices of tokens in NumPy, in float64: which stay, and with which probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xrelax.dialects.relax.operators.philox import philox
from xrelax.llm import Sampling

WORD = 0xFFFFFFFF


def penalized(logits: Any, text: Sequence[int], sampling: Sampling) -> Any:
    """The logits (vocabulary,) after a text."""
    changed = np.array(logits, np.float64)
    for token in set(text):
        logit, penalty = changed[token], sampling.repetition_penalty
        changed[token] = logit / penalty if logit > 0 else logit * penalty
    return changed


def probabilities(logits: Any, text: Sequence[int], sampling: Sampling) -> Any:
    """The probability of each token of logits (vocabulary,)."""
    changed = penalized(logits, text, sampling)
    if not sampling.temperature:
        return np.eye(len(logits))[changed.argmax()]
    weights = np.exp((changed - changed.max()) / sampling.temperature)
    if 0 < sampling.top_k < len(weights):
        weights[weights < np.sort(weights)[-sampling.top_k]] = 0
    order = np.argsort(-weights, kind="stable")
    sums = weights[order].cumsum()
    last = order[min(np.searchsorted(sums, sampling.top_p * sums[-1]), len(sums) - 1)]
    weights[weights < max(weights[last], sampling.min_p)] = 0
    return weights / weights.sum()


def uniform(seed: int, position: int) -> float:
    """The random number of a choice."""
    counter = [np.uint64(n) for n in (position, 0, 0, 0)]
    key = [np.uint64(n) for n in (seed & WORD, seed >> 32 & WORD)]
    words = philox(counter, key, lambda w: w, lambda function, value: function(value))
    return (int(words[0]) << 21 | int(words[1]) >> 11) * 2.0**-53


def choice(logits: Any, text: Sequence[int], sampling: Sampling, position: int = 0) -> int:
    """The token at the place of the random number in the running sum of probabilities."""
    assert sampling.seed is not None
    sums = probabilities(logits, text, sampling).cumsum()
    return int(np.searchsorted(sums, uniform(sampling.seed, position) * sums[-1], side="right"))

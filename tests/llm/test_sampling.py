"""Which tokens the options of sampling leave, and how often they are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from sampling_reference import choice, probabilities

from xrelax import relax
from xrelax.builder.block_builder import BlockBuilder
from xrelax.ir.expr import Var
from xrelax.ir.struct_info import TensorStructInfo
from xrelax.llm import Sampling
from xrelax.llm.choice import chosen
from xrelax.llm.sampling import FACTORS, NUMBERS, Sampler, choice_arguments

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
SIZES = (1, 5, 64, 300, 1024, 5000)
_compiled = {}


def choose(logits, samplers):
    """The compiled kernel, for logits (n, vocabulary)."""
    size = logits.shape[1]
    if size not in _compiled:
        builder, shapes = BlockBuilder(), {"logits": size, "factors": 4, "numbers": 4, "seen": "m"}
        dtypes = dict(zip(shapes, ("float32", "float32", "uint32", "int32"), strict=True))
        parameters = [Var(n, TensorStructInfo(("n", s), dtypes[n])) for n, s in shapes.items()]
        with builder.function("main", parameters):
            builder.emit_func_output(builder.emit(builder.call_te(chosen, *parameters)))
        _compiled[size] = relax.build(builder.get(), check=size < 400)
    return _compiled[size](logits, *choice_arguments(samplers)).numpy()


def samplers_of(sampling, count):
    """Samplers of the same text at different positions."""
    made = [Sampler(sampling) for _ in range(count)]
    for position, sampler in enumerate(made):
        sampler.position = position
    return made


def test_columns():
    sampler = Sampler(Sampling(0.5, 3, 0.25, 0.125, 2.0, seed=1 << 40 | 7), [4, 4, 2])
    sampler.add(4)
    factors, numbers, seen = choice_arguments([sampler, Sampler(Sampling(seed=-1))])
    assert dict(zip(FACTORS, factors[0], strict=True)) == {
        "temperature": 0.5, "top_p": 0.25, "min_p": 0.125, "repetition_penalty": 2.0
    }  # fmt: skip
    assert dict(zip(NUMBERS, numbers[0], strict=True)) == {
        "top_k": 3, "seed_low": 7, "seed_high": 256, "position": 1
    }  # fmt: skip
    assert seen.tolist() == [[4, 2], [-1, -1]]
    assert numbers[1].tolist() == [0, 2**32 - 1, 2**32 - 1, 0]


@pytest.mark.parametrize(("options", "expected"), CASES, ids=lambda case: str(case))
def test_frequencies(options, expected):
    sampling = Sampling(**{"temperature": 1.0, "seed": 1, **options})
    logits = np.tile(np.log(PROBABILITIES).astype(np.float32), (20000, 1))
    tokens = choose(logits, samplers_of(sampling, 20000))
    found = np.bincount(tokens, minlength=5) / len(tokens)
    np.testing.assert_allclose(found, expected, atol=0.015)
    assert not found[np.asarray(expected) == 0].any()
    np.testing.assert_allclose(probabilities(logits[0], [], sampling), expected, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_tokens_are_those_of_the_reference(size, seed):
    """Rows with other options and texts; rounding may choose a neighbour."""
    rng = np.random.default_rng(seed)
    count = 40
    logits = rng.normal(0, rng.choice([0.5, 3]), (count, size)).astype(np.float32)
    logits[rng.random(logits.shape) < 0.1] = -np.inf
    logits[:, rng.integers(size)] = 1.0
    texts = [rng.integers(0, size, rng.integers(9)).tolist() for _ in range(count)]
    samplings = [
        Sampling(
            float(rng.choice([0, 0.7, 1.5])),
            int(rng.choice([0, 1, 7, 50, 10 * size])),
            float(rng.choice([1, 0.1, 0.9, 0.99])),
            float(rng.choice([0, 0.05])),
            float(rng.choice([1, 1.2])),
            seed=int(rng.integers(1 << 60)),
        )
        for _ in range(count)
    ]
    samplers = [Sampler(s, t) for s, t in zip(samplings, texts, strict=True)]
    found = choose(logits, samplers)
    wanted = [choice(*row) for row in zip(logits, texts, samplings, strict=True)]
    rows = [probabilities(*row) for row in zip(logits, texts, samplings, strict=True)]
    assert all(row[token] > 0 for row, token in zip(rows, found, strict=True))
    # Places in the running sum next to a border, and sums that are next to `top_p`.
    assert np.mean(found == wanted) >= 0.9
    alone = [choose(logits[i : i + 1], samplers[i : i + 1])[0] for i in range(0, count, 7)]
    assert found[::7].tolist() == alone


def test_ties():
    logits = np.zeros((1000, 300), np.float32)
    assert choose(logits[:1], [Sampler(Sampling())])[0] == 0
    sampling = Sampling(1.0, top_k=1, seed=3)
    assert len(set(choose(logits, samplers_of(sampling, 1000)).tolist())) > 200


def test_each_occurrence_counts_once():
    logits = np.array([[1, 3, 2, 0, -1]], np.float32)
    sampling = Sampling(repetition_penalty=1.4)
    assert choose(logits, [Sampler(sampling, [1])])[0] == 1
    assert choose(logits, [Sampler(sampling, [1, 1, 1])])[0] == 1
    assert choose(logits, [Sampler(Sampling(repetition_penalty=2.0), [1])])[0] == 2


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers(temperature):
    logits = np.zeros((3, 300), np.float32)
    logits[0, 299], logits[1], logits[2, 7] = np.nan, -np.inf, 1.0
    sampler = Sampler(Sampling(temperature, top_k=1, seed=0))
    assert choose(logits, [sampler] * 3).tolist() == [-1, -1, 7]
    with pytest.raises(ValueError, match=r"^expected logits that are numbers, got NaN$"):
        sampler.add(-1)


def test_seeds():
    logits = np.zeros((1, 5000), np.float32)

    def tokens(seed):
        return [int(choose(logits, [s])[0]) for s in samplers_of(Sampling(1.0, seed=seed), 5)]

    assert tokens(1) == tokens(1) != tokens(2)
    assert tokens(None) != tokens(None)
    assert tokens(1) != tokens(1 + (1 << 32))


@pytest.mark.parametrize("option", ["top_p", "min_p", "temperature", "repetition_penalty"])
def test_wrong_values(option):
    with pytest.raises(ValueError, match=rf"^expected {option} .*, got -1$"):
        Sampling(**{option: -1})

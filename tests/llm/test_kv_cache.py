"""The cache under TVM's names: sequences by number, and layers that call it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from xrelax.builder import op
from xrelax.llm.kv_cache import BUILTINS, KVState
from xrelax.runtime import get_global_func


def drawn(count, seed):
    return np.random.default_rng(seed).integers(2, 290, count).tolist()


def call(name, *args):
    return get_global_func(f"vm.builtin.{name}")(*args)


def logits_of(model, tokens):
    with model.sequence() as sequence:
        return model.extend(sequence, tokens)


def step(state, ids, tokens):
    """The logits after tokens of sequences, by the functions of the registry."""
    call("kv_state_begin_forward", state, ids, [len(t) for t in tokens])
    found = state.forward([token for own in tokens for token in own])
    call("kv_state_end_forward", state)
    return found


def test_sequences_by_number(tiny_model):
    """Texts of several lengths, forks, and positions that are taken back."""
    model = tiny_model()
    state, first, second = KVState(model), drawn(40, 1), drawn(50, 2)
    for number in (3, 5):
        call("kv_state_add_sequence", state, number)
    found = step(state, [5, 3], [second[:33], first[:20]])
    np.testing.assert_array_equal(found[:33], logits_of(model, second[:33]))
    np.testing.assert_array_equal(found[33:], logits_of(model, first[:20]))
    call("kv_state_fork_sequence", state, 5, 9)
    call("kv_state_fork_sequence", state, 5, 10, 7)
    call("kv_state_popn", state, 3, 4)
    assert call("attention_kv_cache_get_total_sequence_length", state) == 33 + 33 + 16 + 7
    call("kv_state_begin_forward", state, [3, 10], [2, 1])
    positions = call("attention_kv_cache_get_query_positions", state)
    assert positions.tolist() == [16, 17, 7]
    call("kv_state_end_forward", state)
    found = step(state, [9, 10, 3], [first[:5], second[7:9], first[16:40]])
    texts = (second[:33] + first[:5], second[:9], first)
    wanted = [logits_of(model, t)[-n:] for t, n in zip(texts, (5, 2, 24), strict=True)]
    np.testing.assert_array_equal(found, np.concatenate(wanted))
    call("kv_state_remove_sequence", state, 5)
    call("kv_state_clear", state)
    assert call("attention_kv_cache_get_num_available_pages", state) == model.pool.count


def test_keys_and_values(tiny_model):
    model = tiny_model()
    state, tokens = KVState(model), drawn(40, 1)
    for number in (0, 1):
        state.add_sequence(number)
        step(state, [number], [tokens[: 40 - number]])
    both = [call("attention_kv_cache_debug_get_kv", state, n, 5, 39) for n in (0, 1)]
    for one, other in zip(*both, strict=True):
        assert one.shape == (2, 34, 2, 16) and np.abs(one).max() > 0
        np.testing.assert_array_equal(one, other)
    state.clear()


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda s: s.add_sequence(0), "expected the number of no sequence, got 0"),
        (lambda s: s.popn(7, 1), r"expected a sequence \(0\), got 7"),
        (lambda s: s.popn(0, 5), "expected a length of at most 3, got -2"),
        (lambda s: s.fork_sequence(0, 1, 9), "expected a length of at most 3, got 9"),
        (lambda s: s.fork_sequence(0, 0), "expected the number of no sequence, got 0"),
        (lambda s: s.forward([1]), "expected begin_forward before, got none"),
        (lambda s: s.end_forward(), "expected begin_forward before, got none"),
        (lambda s: s.begin_forward([0], [0]), r"expected lengths of at least 1, got \[0\]"),
        (lambda s: s.begin_forward([0, 0], [1, 1]), "expected a length for each of different"),
        (lambda s: (s.begin_forward([0], [2]), s.forward([1])), "expected 2 tokens of begin_for"),
        (lambda s: [s.begin_forward([0], [2]) for _ in "ab"], "expected end_forward before"),
        (lambda s: s.debug_get_kv(0, 2, 4), "expected positions from 0 to 3, got 2 to 4"),
    ],
)
def test_mistakes_are_one_line(tiny_model, mistake, message):
    model = tiny_model()
    state = KVState(model)
    state.add_sequence(0)
    step(state, [0], [drawn(3, 0)])
    with pytest.raises(ValueError, match=message):
        mistake(state)
    state.clear()
    assert model.pool.free == model.pool.count


def test_too_few_pages(tiny_model):
    state = KVState(tiny_model(2))
    state.add_sequence(0)
    with pytest.raises(MemoryError, match="expected 3 free pages of the cache, got 2"):
        state.begin_forward([0], [65])
    assert all(get_global_func(name) is function for name, function in BUILTINS.items())


def test_layers_that_call_the_cache_of_tvm(tiny_file, tiny_model, monkeypatch):
    """Attention as models of TVM write it has the logits of ours."""
    from xrelax.llm import load
    from xrelax.llm.architectures.llama import Attention
    from xrelax.llm.kv_cache_in_graph import PagedKVCache

    def forward(self, x, step, layer):
        config, cache = self.config, PagedKVCache(step)
        assert cache.get_query_positions() is step.positions
        parts = [op.reshape(p, (1, step.count, -1, config.size)) for p in self.inputs(x)]
        with pytest.raises(ValueError, match=r"expected qkv of 4 \+ 2 \* 2 heads, got 8"):
            cache.attention_with_fused_qkv(layer, op.concat(parts, axis=2), 3)
        found = cache.attention_with_fused_qkv(
            layer, op.concat(parts, axis=2), config.heads, config.size**-0.5
        )
        return self.output(op.reshape(found, (step.count, config.heads * config.size)))

    with pytest.raises(ValueError, match="expected a rope_mode of none or normal, got 'inline'"):
        PagedKVCache(None, "inline")
    monkeypatch.setattr(Attention, "forward", forward)
    model, tokens = load(tiny_file), drawn(40, 3)
    ours = tiny_model()
    for one in (model, ours):
        with one.sequence() as sequence:
            one.prefill(sequence, tokens[:30])
            one.found = one.decode([sequence] * 10, tokens[30:])
    np.testing.assert_allclose(model.found, ours.found, rtol=1e-5, atol=1e-5)

"""Sliding windows: the pages that attention visits, and those that are freed."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax.llm.pages import PLACES, CachedSequence, PageLayout, PagePool, pages_of, table_of

WINDOW = 9


def pool_of(pages, window=WINDOW):
    return PagePool(PageLayout(1, 1, 1), pages, window)


@pytest.mark.parametrize("window", [1, 9, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("chunk", [1, 5, 32, 64, 100])
def test_a_sequence_grows_in_the_pages_of_its_window(window, chunk):
    """The window, a page of tokens that may be taken back, and the chunk."""
    pool, sequence, most = pool_of(20, window), CachedSequence(), 0
    for _ in range(2000 // chunk):
        pool.extend(sequence, chunk)
        held = len(sequence.pages)
        assert held + pool.free == 20 and held <= pool.pages_for(sequence.length, chunk)
        most = max(most, held)
        first = sequence.dropped * PLACES
        assert first <= max(0, sequence.length - chunk + 1 - window)
        assert len(sequence.slots(first)) == sequence.length - first
    assert most <= pages_of(window + PLACES + chunk) + 1
    assert sequence.dropped + len(sequence.pages) == pages_of(sequence.length) > 20
    pool.truncate(sequence, 0)
    assert (pool.free, sequence) == (20, CachedSequence())


def test_pages_of_windows_are_visited():
    """A table begins at the page of the first position that is seen."""
    pool, sequence = pool_of(20, 0), CachedSequence()
    pool.extend(sequence, 300)
    lengths = np.array([5, 9, 10, 40, 41, 42, 300], np.int32)
    table, seen = table_of([sequence] * len(lengths), lengths, WINDOW)
    assert table.shape == (7, 4)
    for row, length, shown in zip(table, lengths, seen, strict=True):
        first = max(0, length - WINDOW) // PLACES
        assert shown == length - first * PLACES <= WINDOW + PLACES
        used = pages_of(shown)
        assert row[:used].tolist() == sequence.pages[first : first + used] and used <= 2
    table, seen = table_of([sequence], lengths[-1:])
    assert table.shape == (1, 12) and seen == [300]


def test_positions_that_are_taken_back():
    pool, sequence = pool_of(20), CachedSequence()
    for _ in range(200):
        pool.extend(sequence, 1)
    assert sequence.dropped == 4 and len(sequence.pages) == 3
    assert pool.resumable(sequence, 200 - PLACES) == 200 - PLACES
    assert pool.resumable(sequence, 130) == 0
    with pytest.raises(ValueError, match=r"whose window begins at 128 or later, got 130$"):
        pool.truncate(sequence, 130)
    pool.truncate(sequence, 170)
    assert sequence.length == 170 and len(sequence.pages) == 2


def test_pages_of_forks_are_freed_by_the_last_one():
    pool, first = pool_of(20), CachedSequence()
    pool.extend(first, 60)
    second = pool.fork(first)
    for _ in range(70):
        pool.extend(first, 1)
    assert first.dropped == 2 and second.dropped == 0
    assert pool.free == 20 - len(set(first.pages) | set(second.pages))
    for _ in range(70):
        pool.extend(second, 1)
    assert second.dropped == 2 and not set(first.pages) & set(second.pages)
    for sequence in (first, second):
        pool.truncate(sequence, 0)
    assert pool.free == 20


@pytest.mark.parametrize("seed", range(20))
def test_drawn_operations(seed):
    """Every page belongs to sequences or is free, whatever happens."""
    rng = np.random.default_rng(seed)
    pool = pool_of(12, int(rng.choice([0, 5, 40])))
    sequences = [CachedSequence()]
    for _ in range(300):
        sequence = sequences[rng.integers(len(sequences))]
        match rng.integers(4):
            case 0 if len(sequences) < 6:
                sequences.append(pool.fork(sequence))
            case 1:
                length = int(rng.integers(sequence.length + 1)) if rng.random() < 0.8 else 0
                pool.truncate(sequence, pool.resumable(sequence, length))
            case _:
                count, free = int(rng.integers(1, 50)), pool.free
                needed = pool.needed(sequence, count)
                if needed > free:
                    with pytest.raises(MemoryError):
                        pool.extend(sequence, count)
                    assert pool.free == free
                    continue
                slots = pool.extend(sequence, count)
                assert len(slots) == count and pool.free >= free - needed
                own = {p for p in sequence.pages if pool._users[p] == 1}
                assert {int(s) // PLACES for s in slots} <= own
        assert pool.free == 12 - len({p for s in sequences for p in s.pages})
    for sequence in sequences:
        pool.truncate(sequence, 0)
    assert pool.free == 12


@pytest.fixture(scope="module", params=["windows", "gemma2"])
def model(request, tmp_path_factory):
    """Windows of all layers, and of every second one."""
    for module in ("torch", "gguf", "tokenizers"):
        pytest.importorskip(module)
    import gguf_models

    from xrelax.llm import load

    path = tmp_path_factory.mktemp("windows") / "model.gguf"
    made = gguf_models.model_of(request.param)
    reference = gguf_models.write(made, request.param, "F32", path)
    return request.param, reference, load(path, activations="float32", cache="float32")


def test_a_model_visits_and_keeps_the_pages_of_its_windows(model):
    from test_models import close, drawn, logits

    name, reference, compiled = model
    tokens = drawn(240, 1)
    wanted, most = logits(reference, tokens), 0
    with compiled.sequence() as sequence:
        compiled.prefill(sequence, tokens[:40])
        for at in range(40, 240):
            arguments = compiled._decode_arguments([sequence], [tokens[at]])
            close(compiled._decode(*arguments).numpy()[0], wanted[at])
            columns = [a.shape[1] for a in arguments if getattr(a, "ndim", 0) == 2]
            assert columns == ([4] if name == "windows" else [4, -(-(at + 1) // 128) * 4])
            most = max(most, len(sequence.pages))
        assert most == (3 if name == "windows" else 8)
        close(compiled.prefill(sequence, drawn(9, 2)), logits(reference, tokens + drawn(9, 2))[-1])
    assert compiled.pool.free == compiled.pool.count


def test_texts_longer_than_the_cache(model):
    """Three pages and one for the chunk are enough for any length if all layers have windows."""
    from test_models import drawn

    from xrelax.llm import LanguageModel, PromptLookup
    from xrelax.llm.batching import Batcher
    from xrelax.llm.generation import Request

    name, _, whole = model
    requests = [Request(drawn(n, n), 250 - n) for n in (3, 50, 100)]
    wanted = [list(whole.generate_tokens(r.tokens, r.max_tokens)) for r in requests]
    for request, tokens in zip(requests, wanted, strict=True):
        found = whole.generate_tokens(request.tokens, request.max_tokens, draft=PromptLookup())
        assert list(found) == tokens
    pages = 5 if name == "windows" else 8
    small = LanguageModel(whole.config, whole.tokenizer, whole.executable, pages * PLACES)
    with Batcher(small, chunk=32, prefixes=2) as batcher:
        assert batcher.context == 256
        for request, tokens in zip(requests, wanted, strict=True):
            pieces = list(batcher.stream(request))
            assert "".join(p.text for p in pieces) == whole.tokenizer.decode(tokens)
    assert small.pool.free == pages

"""Several requests at once: their texts, the pages of the cache, and who comes first."""

from __future__ import annotations

import threading
from contextlib import closing
from itertools import islice
from queue import SimpleQueue

import numpy as np
import pytest
from concurrent_calls import in_threads, wait_for

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from xrelax.llm import Sampling
from xrelax.llm.batching import Batcher, TooManyRequestsError
from xrelax.llm.generation import Request

LENGTHS = (1, 2, 31, 32, 33, 64, 65, 66, 129, 200)


def drawn(count, seed=0):
    return np.random.default_rng(seed).integers(2, 300, count).tolist()


def requests():
    """Prompts around the sizes of pages and chunks, greedy and with seeds."""
    kinds = (Sampling(), Sampling(temperature=1.0, top_p=0.9, seed=5))
    return [Request(drawn(n, seed=n), 20 + n % 7, kind) for n in LENGTHS for kind in kinds]


def collect(batcher, request):
    pieces = list(batcher.stream(request))
    return "".join(p.text for p in pieces), pieces[-1].reason, pieces[-1].tokens


def together(batcher, requests):
    """The results of requests that come at the same time."""
    results = [None] * len(requests)

    def run(at):
        results[at] = collect(batcher, requests[at])

    in_threads(len(requests), run)
    return results


@pytest.fixture(scope="module")
def alone(tiny_model):
    """The results of requests that come one after the other."""
    with Batcher(tiny_model(), prefixes=0) as batcher:
        return [collect(batcher, request) for request in requests()]


@pytest.mark.parametrize(("pages", "prefixes"), [(256, 0), (256, 8), (9, 0), (9, 8)])
def test_texts_do_not_depend_on_other_requests(tiny_model, alone, pages, prefixes):
    """9 pages are one sequence of the whole context, and one more page."""
    model = tiny_model(pages)
    with Batcher(model, prefixes=prefixes) as batcher:
        for _ in range(2):
            assert together(batcher, requests()) == alone
    assert model.pool.free == pages


def test_requests_that_lose_their_pages(tiny_model, monkeypatch):
    """Six texts of 5 pages begin in 9 pages; tokens are decoded again later, with the same bits."""
    made = [Request(drawn(5, i), 140, Sampling(1.0, seed=i)) for i in range(6)]
    with Batcher(tiny_model()) as batcher:
        expected = [collect(batcher, request) for request in made]
    model, rows = tiny_model(9), []
    decode = model.decode
    monkeypatch.setattr(model, "decode", lambda s, t: (rows.append(len(s)), decode(s, t))[1])
    with Batcher(model) as batcher:
        assert together(batcher, made) == expected
    assert sum(rows) > sum(count for _, _, count in expected) and max(rows) > 2
    assert model.pool.free == 9


@pytest.mark.parametrize("seed", range(4))
def test_drawn_requests(tiny_model, seed):
    """Common prefixes, few pages, small batches, and consumers that stop early."""
    rng = np.random.default_rng(seed)
    prompts = [drawn(250, i) for i in range(3)]
    made = [
        Request(
            prompts[rng.integers(3)][: rng.integers(240)] + drawn(rng.integers(1, 15), i),
            int(rng.integers(1, 120)),
            Sampling(float(rng.choice([0, 1])), top_p=0.9, seed=i),
            ["re", "th"] if rng.random() < 0.3 else [],
        )
        for i in range(24)
    ]
    with Batcher(tiny_model(), chunk=32, prefixes=0) as batcher:
        alone = [list(batcher.stream(request)) for request in made]
    wanted = [n if n < 8 else 1000 for n in rng.integers(1, 24, 24)]
    pages, found = int(rng.integers(8, 40)), [[] for _ in made]
    model = tiny_model(pages)
    with Batcher(model, chunk=32, prefixes=3, batch=int(rng.integers(1, 12))) as batcher:

        def run(at):
            with closing(batcher.stream(made[at])) as stream:
                found[at] = list(islice(stream, wanted[at]))

        in_threads(24, run)
    assert found == [pieces[:count] for pieces, count in zip(alone, wanted, strict=True)]
    assert model.pool.free == pages


def test_tokens_are_those_of_a_model_without_batching(tiny_model, alone):
    model = tiny_model()
    for request, (text, reason, count) in zip(requests(), alone, strict=True):
        if request.sampling.temperature:
            continue
        tokens = list(model.generate_tokens(request.tokens, request.max_tokens))
        assert (model.tokenizer.decode(tokens), len(tokens)) == (text, count)
        assert reason == ("length" if count == request.max_tokens else "stop")


def test_many_streams(tiny_model):
    model = tiny_model(64)
    made = [Request(drawn(1 + i % 90, i), 1 + i % 30, Sampling(1.0, seed=i)) for i in range(200)]
    with Batcher(model) as batcher:
        results = together(batcher, made)
        assert batcher.count == 0
    for request, (_, reason, count) in zip(made, results, strict=True):
        assert reason == "stop" or (reason, count) == ("length", request.max_tokens)
    assert model.pool.free == 64


def test_consumers_that_vanish(tiny_model):
    model = tiny_model(32)
    with Batcher(model, prefixes=0) as batcher:
        for _ in range(3):
            streams = [batcher.stream(Request(drawn(40, i), 200)) for i in range(20)]
            for stream in streams:
                next(stream)
            for stream in streams:
                stream.close()
        wait_for(lambda: batcher.count == 0)
        assert model.pool.free == 32


def test_a_consumer_that_raises_is_cancelled_alone(tiny_model):
    calls = []

    def deliver(piece):
        calls.append(piece)
        raise RuntimeError("the event loop is closed")

    with Batcher(tiny_model()) as batcher:
        batcher.submit(Request(drawn(5), 200), deliver)
        assert collect(batcher, Request(drawn(5), 9))[1:] == ("length", 9)
        wait_for(lambda: batcher.count == 0)
    assert calls[-1].reason == "cancelled" and len(calls) <= 3


def test_an_error_of_one_request_does_not_end_the_others(tiny_model, monkeypatch):
    model = tiny_model()
    choose = model.choose

    def without_numbers(logits, samplers):
        tokens = choose(logits, samplers)
        return [-1 if s.sampling.seed == 13 else t for s, t in zip(samplers, tokens, strict=True)]

    monkeypatch.setattr(model, "choose", without_numbers)
    made = [Request(drawn(20), 5, Sampling(seed=s)) for s in (12, 13, 14)]
    with Batcher(model) as batcher:
        results = together(batcher, made)
    assert [reason for _, reason, _ in results] == ["length", "error", "length"]
    assert model.pool.free == model.pool.count


@pytest.mark.parametrize("function", ["prefill", "decode"])
def test_an_error_of_the_model_leaves_the_batcher_usable(tiny_model, monkeypatch, function):
    model = tiny_model()
    with Batcher(model) as batcher:
        with monkeypatch.context() as patch:
            patch.setattr(model, function, lambda *_: 1 / 0)
            *_, last = batcher.stream(Request(drawn(20), 5))
            assert last.reason == "error" and isinstance(last.error, ZeroDivisionError)
        assert collect(batcher, Request(drawn(20), 5))[1] == "length"
    assert model.pool.free == model.pool.count


def test_an_error_of_the_thread_ends_all_requests(tiny_model, monkeypatch):
    with Batcher(tiny_model()) as batcher:
        monkeypatch.setattr(batcher, "_admit", lambda: 1 / 0)
        assert collect(batcher, Request(drawn(20), 5))[1] == "error"
        wait_for(lambda: batcher.is_closed)
        with pytest.raises(RuntimeError, match="before the batcher is closed"):
            collect(batcher, Request(drawn(20), 5))


def test_a_short_request_passes_a_long_one(tiny_model):
    """A long answer, and a long prompt, do not delay a request that comes after them."""
    ends = SimpleQueue()

    def note(name):
        return lambda piece: ends.put(name) if piece.reason else None

    with Batcher(tiny_model(), chunk=32) as batcher:
        batcher.submit(Request(drawn(3), 200), note("long answer"))
        batcher.submit(Request(drawn(250), 6), note("long prompt"))
        batcher.submit(Request(drawn(3), 2), note("short"))
        assert [ends.get(timeout=60) for _ in range(3)] == ["short", "long prompt", "long answer"]


@pytest.mark.parametrize(("length", "count"), [(1, 3), (3, 2), (70, 4)])
def test_the_steps_of_a_short_request_among_long_ones(tiny_model, length, count):
    """The bound of `Batcher`, for requests that come while thirty long prompts are computed."""
    chunk, chunks, ends, begins = 32, -(-(length - 1) // 32), SimpleQueue(), SimpleQueue()
    others = 30
    with Batcher(tiny_model(300), chunk=chunk, prefixes=0) as batcher:

        def submit():
            begins.put(batcher.steps)
            batcher.submit(Request(drawn(length, 99), count), end)

        def end(piece):
            if piece.reason:
                ends.put((batcher.steps, piece.tokens, batcher.count))

        calls, are_there = iter(range(10**6)), threading.Event()

        def deliver(piece):
            if next(calls) == 0:  # the first token of all, while the others are computed
                are_there.wait(60)
                submit()

        for seed in range(others):
            batcher.submit(Request(drawn(200 + seed, seed), 26), deliver)
        are_there.set()
        begin, (last, tokens, left) = begins.get(timeout=60), ends.get(timeout=60)
    assert left > others // 4  # that are not ended
    assert tokens == count
    assert last - begin <= 1 + chunks * (others + 1) + count


def test_requests_that_wait_are_served_in_their_order(tiny_model):
    order = SimpleQueue()
    with Batcher(tiny_model(), batch=1) as batcher:
        for name in range(6):
            batcher.submit(
                Request(drawn(9), 6 - name),
                lambda piece, name=name: order.put(name) if piece.reason else None,
            )
        assert [order.get(timeout=60) for _ in range(6)] == list(range(6))


def test_stop_strings_across_tokens(tiny_model):
    with Batcher(tiny_model()) as batcher:
        text, _, count = collect(batcher, Request(drawn(7), 40))
        for start, length in ((3, 1), (5, 4), (9, 7), (0, 2)):
            stop = text[start : start + length]
            pieces = list(batcher.stream(Request(drawn(7), 40, stop=["not in it", stop])))
            assert "".join(p.text for p in pieces) == text[: text.index(stop)]
            assert pieces[-1].reason == "stop" and pieces[-1].tokens < count


def test_a_token_that_ends_the_text(tiny_model):
    model = tiny_model()
    tokens = list(model.generate_tokens(drawn(7), 40))
    end = next(i for i in range(5, 40) if tokens[i] not in tokens[:i])
    model.tokenizer.ends, kept = frozenset([tokens[end]]), model.tokenizer.ends
    try:
        with Batcher(model) as batcher:
            found = collect(batcher, Request(drawn(7), 40))
    finally:
        model.tokenizer.ends = kept
    assert found == (model.tokenizer.decode(tokens[:end]), "stop", end)


def test_the_end_of_the_context_and_of_the_cache(tiny_model):
    with Batcher(tiny_model()) as batcher:
        assert batcher.context == 256
        assert collect(batcher, Request(drawn(250), 100))[1:] == ("length", 7)
        assert collect(batcher, Request(drawn(256), 100))[1:] == ("length", 1)
    with Batcher(tiny_model(2)) as batcher:
        assert batcher.context == 64
        assert collect(batcher, Request(drawn(60), 100))[1:] == ("length", 5)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request([]), "expected a prompt of 1 to 256 tokens, got 0"),
        (Request([5] * 257), "expected a prompt of 1 to 256 tokens, got 257"),
        (Request([5, 300]), "expected tokens from 0 to 299, got 300"),
        (Request([-1, 5]), "expected tokens from 0 to 299, got -1"),
        (Request([5], max_tokens=0), "expected max_tokens of at least 1, got 0"),
    ],
)
def test_wrong_requests(tiny_model, request_, message):
    with Batcher(tiny_model()) as batcher, pytest.raises(ValueError, match=f"^{message}$"):
        next(batcher.stream(request_))


def test_too_many_requests(tiny_model, monkeypatch):
    model, begin = tiny_model(), threading.Event()
    prefill = model.prefill
    monkeypatch.setattr(model, "prefill", lambda *given: begin.wait(60) and prefill(*given))
    with Batcher(model, limit=2) as batcher:
        for _ in range(2):
            batcher.submit(Request(drawn(5), 200), lambda piece: None)
        with pytest.raises(TooManyRequestsError, match="expected at most 2 requests"):
            batcher.submit(Request(drawn(5)), lambda piece: None)
        begin.set()


def test_close_cancels(tiny_model):
    model, pieces = tiny_model(), SimpleQueue()
    with Batcher(model, batch=1) as batcher:
        for _ in range(2):
            batcher.submit(Request(drawn(5), 200), lambda p: p.reason and pieces.put(p.reason))
    assert [pieces.get(timeout=60) for _ in range(2)] == ["cancelled"] * 2
    assert model.pool.free == model.pool.count


def test_prompts_are_shared_before_their_requests_end(tiny_model, monkeypatch):
    model, chunks, prompt = tiny_model(), [], drawn(200)
    prefill = model.prefill
    monkeypatch.setattr(
        model, "prefill", lambda sequence, t: (chunks.append(len(t)), prefill(sequence, t))
    )
    with Batcher(model, chunk=64) as batcher:
        first = batcher.stream(Request(prompt, 56))
        text = next(first).text
        collect(batcher, Request(prompt, 3))
        rest = "".join(piece.text for piece in first)
        assert chunks == [64, 64, 64, 7, 7]
    with Batcher(model, prefixes=0) as batcher:
        assert collect(batcher, Request(prompt, 56))[0] == text + rest


def test_prompts_with_a_common_prefix_share_pages(tiny_model, monkeypatch):
    """The second prompt is computed from the last whole chunk on that both have."""
    model, chunks = tiny_model(), []
    prefill = model.prefill
    monkeypatch.setattr(
        model, "prefill", lambda sequence, t: (chunks.append(len(t)), prefill(sequence, t))
    )
    with Batcher(model, chunk=64, prefixes=1) as batcher:
        first = drawn(200)
        for prompt in (first, first[:150] + drawn(40, 1), first):
            collect(batcher, Request(prompt, 3))
        assert chunks == [64, 64, 64, 7, 61, 64, 7]

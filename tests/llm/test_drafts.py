"""Speculative decoding: texts are those without a draft, and right guesses are counted."""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np
import pytest

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf_models
from test_batching import LENGTHS, collect, together

from xrelax.llm import DraftModel, PromptLookup, Sampling, command, load
from xrelax.llm.batching import Batcher
from xrelax.llm.conversation import Conversation
from xrelax.llm.drafts import Draft, propose_together
from xrelax.llm.generation import Request


def drawn(count, seed):
    return np.random.default_rng(seed).integers(2, 290, count).tolist()


class Known(Draft):
    """Guesses the tokens of a known text, of which some are made wrong."""

    def __init__(self, text, wrong, count=4):
        super().__init__(count)
        self.text, self.wrong, self.rng = text, wrong, np.random.default_rng(0)

    def propose(self, text):
        found = self.text[len(text) : len(text) + self.count]
        return [t + 1 if self.rng.random() < self.wrong else t for t in found]


SAMPLINGS = [Sampling(), Sampling(1.0, top_p=0.9, repetition_penalty=1.2, seed=3)]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["greedy", "drawn"])
@pytest.mark.parametrize("wrong", [0, 0.3, 1])
@pytest.mark.parametrize("length", [1, 29, 33])
def test_tokens_are_those_without_a_draft(tiny_model, sampling, wrong, length):
    model, prompt = tiny_model(), drawn(length, length)
    plain = list(model.generate_tokens(prompt, 40, sampling))
    draft = Known(prompt + plain, wrong)
    assert list(model.generate_tokens(prompt, 40, sampling, draft)) == plain
    assert draft.proposed and model.pool.free == model.pool.count
    assert (draft.acceptance == 1) == (wrong == 0) and (draft.acceptance == 0) == (wrong == 1)


def test_logits_of_several_tokens_have_the_bits_of_one(tiny_model):
    model, tokens = tiny_model(), drawn(70, 1)
    with model.sequence() as one, model.sequence() as several:
        for sequence in (one, several):
            model.prefill(sequence, tokens[:30])
        wanted = np.concatenate([model.decode([one], [t]) for t in tokens[30:]])
        found = [model.extend(several, tokens[a : a + 8]) for a in range(30, 70, 8)]
        np.testing.assert_array_equal(np.concatenate(found), wanted)


@pytest.mark.parametrize("pages", [2, 8, 256])
def test_ends_of_the_cache(tiny_model, pages):
    model, prompt = tiny_model(pages), drawn(20, 2)
    plain = list(model.generate_tokens(prompt, 300))
    for draft in (Known(prompt + plain, 0, 7), "prompt"):
        assert list(model.generate_tokens(prompt, 300, None, draft)) == plain
    assert len(plain) + len(prompt) in (model.room(model.new_sequence()) + 1, len(plain) + 20)
    assert model.pool.free == pages


def test_parts_of_the_text():
    lookup = PromptLookup(3)
    assert lookup.propose([1, 2, 3, 4, 5, 9, 1, 2, 3]) == [4, 5, 9]
    assert lookup.propose([7, 2, 3, 8, 1, 2, 3, 6, 3]) == [6, 3]
    assert lookup.propose([5, 5, 5]) == [5]
    assert lookup.propose([1, 2, 3]) == lookup.propose([1]) == []


def test_a_smaller_model(tiny_file, tiny_model, tmp_path):
    """The same weights with other activations are nearly always right."""
    model, draft = tiny_model(), DraftModel(load(tiny_file, activations="int8"), 3)
    prompt = drawn(20, 4)
    plain = list(model.generate_tokens(prompt, 60))
    assert list(model.generate_tokens(prompt, 60, None, draft)) == plain
    assert 0.5 < draft.acceptance <= 1
    assert draft.model.pool.free == draft.model.pool.count
    small = DraftModel(load(tiny_file, context=32, activations="int8"))
    assert list(model.generate_tokens(prompt, 60, None, small)) == plain
    assert 0 < small.proposed < 20
    assert list(model.generate_tokens(prompt, 60, None, small.model)) == plain


def test_conversations(tiny_model):
    def answers(draft):
        with Conversation(tiny_model(), max_tokens=20, draft=draft) as conversation:
            said = ["".join(conversation.say(text)) for text in ("then", "there")]
        assert conversation.model.pool.free == conversation.model.pool.count
        return said

    draft = PromptLookup()
    assert answers(draft) == answers(None)


def requests():
    """Prompts that repeat themselves, so that lookups find something."""
    return [
        Request((drawn(9, n) * 30)[:n], 30, sampling) for n in LENGTHS for sampling in SAMPLINGS
    ]


@pytest.fixture(scope="module")
def alone(tiny_model):
    """The results of requests without a draft."""
    with Batcher(tiny_model(), prefixes=0) as batcher:
        return [collect(batcher, request) for request in requests()]


@pytest.fixture(scope="module")
def small_model(tiny_file):
    """The same weights with other activations."""
    return load(tiny_file, activations="int8")


@pytest.mark.parametrize("pages", [9, 256])
@pytest.mark.parametrize("kind", ["prompt", "model"])
def test_texts_of_a_batch_are_those_without_a_draft(tiny_model, small_model, alone, kind, pages):
    """With 9 pages, requests lose theirs, and guesses have none."""
    model, draft = tiny_model(pages), kind if kind == "prompt" else small_model
    with Batcher(model, draft=draft) as batcher:
        for _ in range(2):
            assert together(batcher, requests()) == alone
        assert 0 < batcher.accepted <= batcher.proposed
    assert model.pool.free == pages and small_model.pool.free == small_model.pool.count


def test_a_batch_takes_fewer_steps_with_a_draft(tiny_model, small_model):
    made, steps = [Request(drawn(5, n), 60) for n in range(6)], []
    for draft in (None, small_model):
        with Batcher(tiny_model(), draft=draft) as batcher:
            ends = SimpleQueue()
            with batcher._changed:  # no step begins before all requests wait
                for request in made:
                    batcher.submit(request, lambda p: p.reason and ends.put(p.reason))
            assert [ends.get(timeout=120) for _ in made] == ["length"] * len(made)
            steps.append(batcher.steps)
    assert steps[1] < steps[0] / 2


@pytest.mark.parametrize("context", [60, 100, 200, None])
def test_guesses_of_several_texts(tiny_file, small_model, context):
    """They are those of each text alone, as far as the cache of the draft has room."""
    texts = [drawn(n, n) for n in (1, 5, 30, 40)]
    wanted = []
    for text in texts:
        wanted.append((draft := DraftModel(small_model)).propose(text))
        draft.close()
    model = type(small_model)(
        small_model.config, small_model.tokenizer, small_model.executable, context or 256
    )
    drafts = [DraftModel(model) for _ in texts]
    for _ in range(2):
        found = propose_together(drafts, texts)
        for one, all_ in zip(found, wanted, strict=True):
            assert one == all_[: len(one)]
        assert context is not None or found == wanted
    for draft in drafts:
        draft.close()
    assert model.pool.free == model.pool.count


def test_the_command_with_a_draft(tiny_file, capsys):
    """`xrelax-chat --draft` prints the same answer, and how many guesses were right."""
    arguments = [str(tiny_file), "--prompt", "then there", "--max-tokens", "20"]
    answers = []
    for draft in ([], ["--draft", "prompt"], ["--draft", str(tiny_file)]):
        assert command.main(arguments + draft) == 0
        shown = capsys.readouterr()
        answers.append(shown.out)
        assert ("% of the draft were right" in shown.err) == bool(draft)
    assert answers[0].strip() and answers[1:] == answers[:1] * 2
    assert command.main([*arguments, "--draft", "no.gguf"]) == 2
    assert "xrelax-chat: error: " in capsys.readouterr().err


def test_text_comes_in_pieces_or_whole(tiny_model):
    model = tiny_model()
    pieces = list(model.generate("the cat", max_tokens=6, stream=True))
    assert "".join(pieces) == model.generate("the cat", max_tokens=6, stream=False)
    assert list(model.generate("the cat", max_tokens=6)) == pieces


def test_drafts_that_are_refused(tiny_file, tiny_model, tmp_path):
    model = tiny_model()
    with pytest.raises(ValueError, match="expected a draft of 'prompt' or a model, got 'text'"):
        list(model.generate("x", draft="text"))
    with pytest.raises(ValueError, match="expected another model as the draft, got the model"):
        list(model.generate("x", draft=model))
    with pytest.raises(ValueError, match="expected a draft of at least 1 token, got 0"):
        PromptLookup(0)
    gguf_models.SIZES["vocab_size"], before = 310, gguf_models.SIZES["vocab_size"]
    try:
        other = gguf_models.model_of("llama")
    finally:
        gguf_models.SIZES["vocab_size"] = before
    gguf_models.write(other, "llama", "Q4_1", tmp_path / "other.gguf")
    with pytest.raises(ValueError, match="expected a draft with the vocabulary of the model"):
        list(model.generate("x", draft=load(tmp_path / "other.gguf")))

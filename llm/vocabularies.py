"""Vocabularies from the metadata of GGUF files, and from files of the package `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SPACE = "\u2581"
"""How SentencePiece writes a space."""
NORMAL, CONTROL, USER = 1, 3, 4
"""Types of tokens: text, no text such as the end of a turn, and text that is never split."""
ENDS = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>")
"""Tokens after which models say no more, whatever their files say."""

PATTERNS = {
    "gpt-2": None,
    "smollm": None,
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
"""How text is split before pairs are merged; None stands for the rule of GPT-2."""
SINGLE_DIGITS = ("smollm",)


@dataclass(frozen=True)
class Vocabulary:
    """An object of the package `tokenizers`, and what tokens mean."""

    tokenizer: Any
    control: Sequence[str]
    """The tokens that are no text."""
    begin: int | None
    adds_begin: bool
    """Whether texts begin with `begin`."""
    end: str
    """The end of a turn in chat templates; empty if there is none."""
    ends: frozenset[int]


def read_vocabulary(metadata: Mapping[str, Any]) -> Vocabulary:
    """The vocabulary of a file's metadata, or of a ``tokenizer.json`` in it.

    Raises ImportError without the package `tokenizers`, and ValueError with one line for
    vocabularies that are not supported.
    """
    try:
        import tokenizers  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise ImportError("expected the package tokenizers (pip install xrelax[llm])") from None
    return _of_json(metadata) if "tokenizer.json" in metadata else _of_gguf(metadata)


def _of_json(metadata: Mapping[str, Any]) -> Vocabulary:
    from tokenizers import Tokenizer

    text: str = metadata["tokenizer.json"]
    try:
        made: Any = Tokenizer.from_str(text)
    except Exception as error:  # the package has no other class
        raise ValueError(f"expected a tokenizer.json that tokenizers reads, got {error}") from None
    made.no_truncation()
    made.no_padding()
    begin = None if metadata["begin"] is None else made.token_to_id(metadata["begin"])
    added: list[dict[str, Any]] = json.loads(text).get("added_tokens") or []
    ends = {made.token_to_id(t) for t in (*ENDS, metadata["end"]) if t is not None}
    return Vocabulary(
        made,
        [token["content"] for token in added if token["special"]],
        begin,
        begin is not None and made.encode("").ids[:1] == [begin],
        metadata["end"] or "",
        frozenset(e for e in {*ends, *metadata["ends"]} if e is not None),
    )


def _of_gguf(metadata: Mapping[str, Any]) -> Vocabulary:
    """BPE of bytes ("gpt2") or of SentencePiece ("llama"), whose merges follow from scores."""
    kind = metadata.get("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise ValueError(f"expected a vocabulary of the kind gpt2 or llama, got {kind!r}")
    for name in ("tokens", "merges" if kind == "gpt2" else "scores"):
        if f"tokenizer.ggml.{name}" not in metadata:
            raise ValueError(f"expected 'tokenizer.ggml.{name}' of the vocabulary, got none")
    tokens: list[str] = list(metadata["tokenizer.ggml.tokens"])
    ids = {token: number for number, token in enumerate(tokens)}
    made = _pieces(metadata, ids) if kind == "llama" else _bytes(metadata, ids)
    types = metadata.get("tokenizer.ggml.token_type", [])
    control, user = (
        [t for t, k in zip(tokens, types, strict=False) if k == kind] for kind in (CONTROL, USER)
    )
    _add(made, control, user)
    names = ("bos", "eos", "eot", "eom")
    numbers: list[int | None] = [metadata.get(f"tokenizer.ggml.{n}_token_id") for n in names]
    begin, end, *others = numbers
    ends = {end, *others, *map(ids.get, ENDS)}
    return Vocabulary(
        made,
        control,
        begin,
        bool(metadata.get("tokenizer.ggml.add_bos_token", begin is not None)),
        "" if end is None else tokens[end],
        frozenset(e for e in ends if e is not None),
    )


def _add(made: Any, control: Sequence[str], user: Sequence[str]) -> None:
    """Let tokens be found before text is split; those of users are text."""
    from tokenizers import AddedToken

    made.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in control])
    made.add_tokens([AddedToken(t, special=False, normalized=False) for t in user])


def _bytes(metadata: Mapping[str, Any], ids: dict[str, int]) -> Any:
    """The vocabulary of bytes, with the merges of the file."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    rule = metadata.get("tokenizer.ggml.pre", "gpt-2")
    if rule not in PATTERNS:
        known = ", ".join(PATTERNS)
        raise ValueError(f"expected text to be split as by {known}, got {rule!r}")
    pairs = [tuple(m.split(" ", 1)) for m in metadata["tokenizer.ggml.merges"]]
    made: Any = Tokenizer(models.BPE(vocab=ids, merges=pairs))
    steps: list[Any] = []
    if rule in SINGLE_DIGITS:
        steps.append(pre_tokenizers.Digits(individual_digits=True))
    if (pattern := PATTERNS[rule]) is not None:
        steps.append(pre_tokenizers.Split(Regex(pattern), "isolated"))
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None))
    made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    made.decoder = decoders.ByteLevel()
    return made


def _pieces(metadata: Mapping[str, Any], ids: dict[str, int]) -> Any:
    """The vocabulary of SentencePiece: pieces are merged in the order of their scores."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    scores: Sequence[float] = metadata["tokenizer.ggml.scores"]
    types = metadata.get("tokenizer.ggml.token_type", [NORMAL] * len(scores))
    found = [
        (-scores[number], piece[:at], piece[at:])
        for piece, number in ids.items()
        if types[number] == NORMAL  # text never becomes a control token
        for at in range(1, len(piece))
        if piece[:at] in ids and piece[at:] in ids
    ]
    pairs = [pair for _, *pair in sorted(found, key=lambda f: f[0])]
    model: Any = models.BPE(
        vocab=ids, merges=[(a, b) for a, b in pairs], byte_fallback=True, fuse_unk=True,
        unk_token="<unk>" if "<unk>" in ids else None,
    )  # fmt: skip
    made: Any = Tokenizer(model)
    begins = bool(metadata.get("tokenizer.ggml.add_space_prefix", True))
    first = [normalizers.Prepend(SPACE)] if begins else []
    made.normalizer = normalizers.Sequence([*first, normalizers.Replace(" ", SPACE)])
    last = [decoders.Strip(" ", 1, 0)] if begins else []
    made.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *last]
    )
    return made

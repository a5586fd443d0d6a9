"""Text to tokens and back, and chats to text, as the metadata of a GGUF file define them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from .text_pieces import TextPieces

SPACE = "\u2581"
"""How SentencePiece writes a space."""
CONTROL, USER = 3, 4
"""Types of tokens that are no text, such as the end of a turn."""

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


class Tokenizer:
    """A BPE vocabulary by the package `tokenizers`, and a chat template by Jinja2.

    Its letters are bytes ("gpt2"), or those of SentencePiece ("llama"), whose merges follow from
    the scores of pieces.
    """

    def __init__(self, metadata: Mapping[str, Any]):
        kind = metadata.get("tokenizer.ggml.model")
        if kind not in ("gpt2", "llama"):
            raise ValueError(f"expected a vocabulary of the kind gpt2 or llama, got {kind!r}")
        for name in ("tokens", "merges" if kind == "gpt2" else "scores"):
            if f"tokenizer.ggml.{name}" not in metadata:
                raise ValueError(f"expected 'tokenizer.ggml.{name}' of the vocabulary, got none")
        self._tokens: list[str] = list(metadata["tokenizer.ggml.tokens"])
        self._ids = {token: number for number, token in enumerate(self._tokens)}
        types = metadata.get("tokenizer.ggml.token_type", [])
        pairs = zip(self._tokens, types, strict=False)
        self._special = [t for t, k in pairs if k in (CONTROL, USER)]
        try:
            made = _pieces(metadata, self._ids) if kind == "llama" else _bytes(metadata, self._ids)
            from tokenizers import AddedToken
        except ImportError:
            raise ImportError("expected the package tokenizers (pip install xrelax[llm])") from None
        made.add_special_tokens(
            [AddedToken(t, special=True, normalized=False) for t in self._special]
        )
        self._tokenizer = made
        self.template: str | None = metadata.get("tokenizer.chat_template")
        self.begin = self._special_id(metadata, "bos")
        self.adds_begin = bool(metadata.get("tokenizer.ggml.add_bos_token", self.begin is not None))
        ends = {self._special_id(metadata, name) for name in ("eos", "eot", "eom")}
        ends |= {self._ids.get(t) for t in ("<|im_end|>", "<|eot_id|>", "<|endoftext|>")}
        ends |= {self._ids.get("<end_of_turn>")}
        self.ends = frozenset(e for e in ends if e is not None)
        """Tokens after which a model says no more."""

    def _special_id(self, metadata: Mapping[str, Any], name: str) -> int | None:
        return metadata.get(f"tokenizer.ggml.{name}_token_id")

    def encode(self, text: str, begins: bool = True) -> list[int]:
        """The tokens of a text; control tokens are read where they are written out."""
        first = [self.begin] if begins and self.adds_begin and self.begin is not None else []
        return [*first, *self._tokenizer.encode(text, add_special_tokens=False).ids]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without control tokens."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=True)

    def stream(self, tokens: Iterable[int]) -> Iterator[str]:
        """The text that each token adds; bytes of unfinished characters wait for the next token."""
        pieces = TextPieces(self.decode)
        for token in tokens:
            if text := pieces.add(token):
                yield text
        if text := pieces.rest():
            yield text

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """A conversation as the model was trained on it, up to where it is to answer.

        Raises ValueError with one line for messages without role and content, for what the template
        refuses, and if the file has no template.
        """
        if self.template is None:
            raise ValueError("expected a model with a chat template, got one without")
        for message in messages:
            if not {"role", "content"} <= message.keys():
                raise ValueError(f"expected a message with role and content, got {message!r}")
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        names: dict[str, Any] = {"strftime_now": _now, "raise_exception": _refuse}
        environment.globals.update(names)
        begin = "" if self.begin is None else self._tokens[self.begin]
        try:
            return environment.from_string(self.template).render(
                messages=messages, add_generation_prompt=True, bos_token=begin, eos_token=""
            )
        except TemplateError as error:
            raise ValueError(f"the chat template refuses the messages: {error}") from None


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _refuse(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)


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
    found = [
        (-scores[number], piece[:at], piece[at:])
        for piece, number in ids.items()
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

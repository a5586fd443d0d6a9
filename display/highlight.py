"""Highlighted code as HTML, by Pygments where that is installed.

Colours have a contrast of at least 4.5 to 1 (WCAG AA) on a light and on a dark background.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib import import_module
from typing import Any

KINDS: Mapping[str, tuple[str, str]] = {
    "keyword": ("#8a2da5", "#d2a8ff"),
    "string": ("#0a5c2b", "#8ddb8c"),
    "comment": ("#5c6570", "#9aa7b4"),
    "number": ("#0550ae", "#79c0ff"),
    "name": ("#86500b", "#f0b072"),
    "function": ("#0b5fad", "#8cc4ff"),
    "type": ("#0b6371", "#6fd3e3"),
}
"""The kinds of tokens that have a colour: on a light background, and on a dark one."""

TOKENS: Mapping[str, tuple[str, ...]] = {
    "type": ("Keyword.Type", "Name.Class"),
    "keyword": ("Keyword", "Operator.Word"),
    "string": ("Literal.String",),
    "comment": ("Comment",),
    "number": ("Literal.Number",),
    "function": ("Name.Function", "Name.Decorator", "Name.Label"),
    "name": ("Name.Variable", "Name.Builtin"),
}
"""The tokens of Pygments that are of each kind; the first kind that fits is it."""

_PYGMENTS = {
    "python": ("pygments.lexers.python", "PythonLexer"),
    "llvm": ("pygments.lexers.asm", "LlvmLexer"),
    "asm": ("pygments.lexers.asm", "GasLexer"),
}
"""The lexers of languages, but of our own IR ("mlir")."""

_OF_STAGES = {"schedule": "python", "llvm-opt": "llvm", "asm": "asm"}


def stage_language(stage: str) -> str:
    """The language that a module is in at a stage of the pipeline."""
    return _OF_STAGES.get(stage, "mlir")


def stylesheet(scope: str = "") -> str:
    """The style of highlighted code in elements of a scope; `color-scheme` chooses the colours."""
    rules = (
        f"{scope} .x-{kind} {{ color: light-dark({light}, {dark}); }}"
        for kind, (light, dark) in KINDS.items()
    )
    return "".join(f"{rule.strip()}\n" for rule in rules)


def highlighted_lines(text: str, language: str) -> list[str]:
    """A text as HTML, each line by itself: "python", "mlir" (our IR), "llvm", "asm", or any other.

    Without Pygments, and in other languages, it is only escaped.
    """
    lines: list[list[str]] = [[]]
    for kind, value in _tokens(text, language):
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                shown = escape(part, quote=False)
                lines[-1].append(f'<span class="x-{kind}">{shown}</span>' if kind else shown)
    return ["".join(line) for line in lines]


def _tokens(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Parts of the text, each with its kind, or none."""
    lexer = lexer_of(language)
    if lexer is None:
        yield "", text
        return
    for token, value in lexer.get_tokens(text):
        yield _kind(token), value


@cache
def _kind(token: Any) -> str:
    for kind, names in TOKENS.items():
        if any(token in parent for parent in map(token_type, names)):
            return kind
    return ""


def token_type(name: str) -> Any:
    """The token of Pygments of that name."""
    return import_module("pygments.token").string_to_tokentype(name)


@cache
def lexer_of(language: str) -> Any:
    """The lexer of a language, `None` where there is none or Pygments is missing."""
    try:
        if language == "mlir":
            return _ir_lexer()
        if language not in _PYGMENTS:
            return None
        module, name = _PYGMENTS[language]
        return getattr(import_module(module), name)(stripnl=False, ensurenl=False)
    except ModuleNotFoundError:
        return None


def _ir_lexer() -> Any:
    """The lexer of our IR, which Pygments has none for."""
    regex_lexer, names = import_module("pygments.lexer"), import_module("pygments.token")
    rules = [
        (r"//.*", names.Comment),
        (r'"(\\.|[^"\\])*"', names.String),
        (r"[%^][\w$.#-]+", names.Name.Variable),
        (r"@[\w$.]+", names.Name.Function),
        (r"![\w.]+|\b(?:[fi]\d+|bf16|index|vector|tensor)\b", names.Keyword.Type),
        (r"\b[a-z_]+(?:\.\w+)+", names.Keyword),
        (r"-?\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\b", names.Number),
        (r"\b(?:true|false|in|params|attributes|reads|writes|symbols|step)\b", names.Keyword),
        (r"\w+|\s+|.", names.Text),
    ]
    lexer = type("IRLexer", (regex_lexer.RegexLexer,), {"tokens": {"root": rules}})
    return lexer(stripnl=False, ensurenl=False)

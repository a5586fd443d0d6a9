"""The vocabulary of a model folder: ``tokenizer.json``, control tokens and the chat template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .folder_sizes import Settings
from .json_file import read_json

FILES = ("generation_config.json", "tokenizer_config.json")


def vocabulary_of(folder: Path, settings: Settings) -> dict[str, Any]:
    """What `Tokenizer` needs; raises FileNotFoundError, and ValueError with one line."""
    read_json(folder / "tokenizer.json")  # what is no JSON is said with its name
    generation, tokens = (
        read_json(folder / name) if (folder / name).is_file() else {} for name in FILES
    )
    ends = generation.get("eos_token_id")
    if ends is None:
        ends = settings.get("eos_token_id")
    return {
        "tokenizer.json": (folder / "tokenizer.json").read_text("utf-8"),
        "begin": _text_of(tokens.get("bos_token")),
        "end": _text_of(tokens.get("eos_token")),
        "ends": ends if isinstance(ends, list) else [] if ends is None else [ends],
        "tokenizer.chat_template": _template(folder, tokens),
    }


def _text_of(token: Any) -> str | None:
    """A token of ``tokenizer_config.json``: a text, or an object with one."""
    return token if token is None or isinstance(token, str) else token.get("content")


def _template(folder: Path, tokens: dict[str, Any]) -> str | None:
    """The chat template, which has a file of its own or is one of several with names."""
    path, found = folder / "chat_template.jinja", tokens.get("chat_template")
    if path.is_file():
        return path.read_text("utf-8")
    if found is None or isinstance(found, str):
        return found
    named: dict[str, str] = {entry["name"]: entry["template"] for entry in found}
    return named.get("default")

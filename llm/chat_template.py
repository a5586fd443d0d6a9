"""Chat templates by Jinja2, in a sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any


def render(template: str, messages: Sequence[Mapping[str, str]], names: Mapping[str, str]) -> str:
    """The text of a conversation; raises ValueError with one line for what the template refuses."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    functions: dict[str, Any] = {"strftime_now": _now, "raise_exception": _refuse}
    environment.globals.update(functions)
    environment.filters["tojson"] = _json
    try:
        return environment.from_string(template).render(
            messages=messages, add_generation_prompt=True, **names
        )
    except TemplateError as error:
        raise ValueError(f"the chat template refuses the messages: {error}") from None


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _refuse(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)


def _json(value: Any, indent: int | None = None) -> str:
    """A value as JSON with all its letters, as models were trained on it; Jinja2's is for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)

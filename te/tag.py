"""`te.tag_scope`: the tag of the tensors that are defined in a scope."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar, Token

_CURRENT: ContextVar[str] = ContextVar("tag", default="")


class TagScope(ContextDecorator):
    """A scope, also as decorator, in which `te.compute` gives tensors a tag."""

    def __init__(self, tag: str):
        self.tag = tag
        self._tokens: list[Token[str]] = []

    def __enter__(self) -> TagScope:
        self._tokens.append(_CURRENT.set(joined(self.tag)))
        return self

    def __exit__(self, *error: object) -> None:
        _CURRENT.reset(self._tokens.pop())


def tag_scope(tag: str) -> TagScope:
    """A scope in which ``te.compute`` gives tensors this tag; TVM's ``te.tag_scope``.

    Scopes are context managers and decorators. Raises ValueError, on entry, for one in another.
    """
    return TagScope(tag)


def joined(tag: str) -> str:
    """The tag of a definition: its own or that of the scope; raises ValueError for both."""
    current = _CURRENT.get()
    if tag and current:
        raise ValueError(f"expected no tag in the scope of tag '{current}', got '{tag}'")
    return tag or current

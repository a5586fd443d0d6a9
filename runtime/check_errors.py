"""The exceptions of checks that fail at run time."""

from __future__ import annotations

ERRORS: dict[str, type[Exception]] = {
    e.__name__: e for e in (AssertionError, IndexError, RuntimeError, TypeError, ValueError)
}
"""The exceptions that a message may begin with."""


def check_error(message: str) -> Exception:
    """The exception of a message, as in ``TypeError: expected a tensor``; ValueError for others."""
    kind, colon, text = message.partition(": ")
    return ERRORS[kind](text) if colon and kind in ERRORS else ValueError(message)

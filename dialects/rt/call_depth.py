"""How deep calls of functions that call themselves may be nested."""

from __future__ import annotations

MAX_CALL_DEPTH = 1000
"""How deep calls of functions that call themselves are nested, as in Python: stacks are finite."""


def depth_message(name: str) -> str:
    """What a function says that calls itself too deeply."""
    return f"expected calls of '{name}' to be nested at most {MAX_CALL_DEPTH} deep"

"""Patterns of code generators by name; TVM's ``relax.backend.pattern_registry``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .codegen import FusionPattern

_patterns: dict[str, FusionPattern] = {}


def register_patterns(patterns: Sequence[FusionPattern | tuple[Any, ...]]) -> None:
    """Register patterns, each a `FusionPattern` or a tuple of its fields, in this order.

    A pattern replaces one of the same name, and comes last.
    """
    for given in patterns:
        pattern = given if isinstance(given, FusionPattern) else FusionPattern(*given)
        _patterns.pop(pattern.name, None)
        _patterns[pattern.name] = pattern


def get_pattern(name: str) -> FusionPattern | None:
    """The pattern of a name, or `None`."""
    return _patterns.get(name)


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """The patterns whose names start with a prefix, those registered last first.

    `FuseOpsByPattern` tries the first ones first.
    """
    return [p for name, p in reversed(_patterns.items()) if name.startswith(prefix)]

"""Strings as values of graphs."""

from __future__ import annotations

from ..dialects import relax
from .expr import Expr, owner_of


class StringImm(Expr, shows=relax.StringOp):
    """A string as a value, for calls of registered functions; TVM's ``relax.StringImm``."""

    def __init__(self, value: str):
        super().__init__(relax.StringOp(value).result)

    @property
    def value(self) -> str:
        """The string."""
        return owner_of(self, relax.StringOp).text.data

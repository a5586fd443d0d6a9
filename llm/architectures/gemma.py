"""Gemma: Llama with a GELU gate, and embeddings multiplied by the root of their width (2024).

Gemma 2 adds caps, windows of every second layer, and norms of what each part adds; Gemma 3 has
norms of queries and keys instead of caps, and other rotary positions in layers with a window.
"""

from __future__ import annotations

from typing import Any

from ...builder import op
from ...ir.expr import Expr
from .llama import Llama


class Gemma(Llama):
    """The logits of the next token."""

    gate: Any = staticmethod(op.nn.gelu_tanh)

    def embedded(self, tokens: Expr) -> Expr:
        """The embeddings of tokens, scaled."""
        return super().embedded(tokens) * op.const(self.config.width**0.5, "float32")

"""Llama, SmolLM2, Mistral, Qwen2 and Qwen3: a decoder with rotary positions and gated layers.

Attention Is All You Need (Vaswani 2017), with RMS norms before each part, rotary positions (Su
2021), key heads that several query heads share (Ainslie 2023), and SwiGLU (Shazeer 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...builder import nn, op
from ...ir.expr import Expr
from ..block_weights import Matrix, embedding, joined, linear, rows_of, share_parameters
from ..configuration import Configuration
from ..steps import Step
from .weights import Weights


def norm(weights: Weights, name: str, config: Configuration) -> nn.RMSNorm:
    """The RMS norm of a weight."""
    made = nn.RMSNorm(len(weights[name]), epsilon=config.epsilon)
    made.weight.data = weights[name]
    return made


def dense(weights: Weights, name: str, config: Configuration) -> nn.Module:
    """The linear layer of a weight, and of a bias if there is one."""
    bias = weights.get(f"{name}.bias")
    return linear(weights[f"{name}.weight"], bias, config.activations)


class Joined(nn.Module):
    """Several layers of the same input; one product, if their weights have a common format."""

    def __init__(self, weights: Weights, config: Configuration, *names: str):
        parts: list[Matrix] = [weights[f"{n}.weight"] for n in names]
        biases: list[Any] = [weights.get(f"{n}.bias") for n in names]
        self.ends = [int(e) for e in np.cumsum([rows_of(p) for p in parts])]
        whole = joined(parts)
        if whole is not None:
            has_bias = biases[0] is not None
            parts, biases = [whole], [np.concatenate(biases) if has_bias else None]
        self.layers = nn.ModuleList(
            [linear(p, b, config.activations) for p, b in zip(parts, biases, strict=True)]
        )

    def forward(self, x: Expr) -> list[Expr]:
        """The products with each weight."""
        found = [layer(x) for layer in self.layers]
        if len(found) > 1:
            return found
        return [
            op.strided_slice(found[0], axes=[1], begin=[begin], end=[end])
            for begin, end in zip([0, *self.ends], self.ends, strict=False)
        ]


class Attention(nn.Module):
    """Attention of grouped heads with rotary positions."""

    def __init__(self, weights: Weights, prefix: str, config: Configuration):
        self.config = config
        self.inputs = Joined(weights, config, *(f"{prefix}.attn_{n}" for n in "qkv"))
        self.output = dense(weights, f"{prefix}.attn_output", config)
        name = f"{prefix}.attn_{{}}_norm.weight"
        has_norms = name.format("q") in weights
        self.query_norm = norm(weights, name.format("q"), config) if has_norms else None
        self.key_norm = norm(weights, name.format("k"), config) if has_norms else None

    def forward(self, x: Expr, step: Step, layer: int) -> Expr:
        """What each position gathers from those before it."""
        config = self.config
        query, key, value = (
            op.reshape(part, (step.count, heads, config.size))
            for part, heads in zip(
                self.inputs(x), (config.heads, config.key_heads, config.key_heads), strict=True
            )
        )
        if self.query_norm is not None and self.key_norm is not None:
            query, key = self.query_norm(query), self.key_norm(key)
        query, key = step.rotated(layer, query), step.rotated(layer, key)
        found = step.attend(layer, query, key, value)
        return self.output(op.reshape(found, (step.count, config.heads * config.size)))


class FeedForward(nn.Module):
    """``down(function(gate(x)) * up(x))``."""

    def __init__(self, weights: Weights, prefix: str, config: Configuration, function: Any):
        self.function = function
        self.inputs = Joined(weights, config, f"{prefix}.ffn_gate", f"{prefix}.ffn_up")
        self.down = dense(weights, f"{prefix}.ffn_down", config)

    def forward(self, x: Expr) -> Expr:
        """The layer's output, of the shape of `x`."""
        gate, up = self.inputs(x)
        return self.down(self.function(gate) * up)


class Block(nn.Module):
    """Attention and a feed-forward layer, each of the norm of its input, and added to it.

    Where there are weights for it (Gemma 2 and 3), the norm of what is added is added instead.
    """

    def __init__(self, weights: Weights, prefix: str, config: Configuration, function: Any):
        self.attention_norm = norm(weights, f"{prefix}.attn_norm.weight", config)
        self.attention = Attention(weights, prefix, config)
        self.norm = norm(weights, f"{prefix}.ffn_norm.weight", config)
        self.feed_forward = FeedForward(weights, prefix, config, function)
        ends = (f"{prefix}.post_{part}_norm.weight" for part in ("attention", "ffw"))
        self.attention_end, self.end = (
            norm(weights, name, config) if name in weights else None for name in ends
        )

    def forward(self, x: Expr, step: Step, layer: int) -> Expr:
        """The block's output, of the shape of `x`."""
        found = self.attention(self.attention_norm(x), step, layer)
        x = x + (found if self.attention_end is None else self.attention_end(found))
        found = self.feed_forward(self.norm(x))
        return x + (found if self.end is None else self.end(found))


class Llama(nn.Module):
    """The logits of the next token."""

    gate: Any = staticmethod(op.nn.silu)
    """The function of the gates of feed-forward layers."""

    def __init__(self, weights: Weights, config: Configuration):
        self.config = config
        table = weights["token_embd.weight"]
        self.embedding = embedding(table)
        self.blocks = nn.ModuleList(
            [Block(weights, f"blk.{i}", config, self.gate) for i in range(config.layers)]
        )
        self.norm = norm(weights, "output_norm.weight", config)
        head = weights.get("output.weight", table)
        self.head = linear(head, weights.get("output.bias"), config.activations)
        if head is table:
            share_parameters(self.head, self.embedding)

    def embedded(self, tokens: Expr) -> Expr:
        """The embeddings (n, width) of tokens."""
        return self.embedding(tokens)

    def forward(self, tokens: Expr, step: Step) -> Expr:
        """The logits (sequences, vocabulary) that follow each sequence."""
        x = self.embedded(tokens)
        for layer, block in enumerate(self.blocks):
            x = step.named(layer, block(x, step, layer))
        logits = self.head(self.norm(step.last(x)))
        if (cap := self.config.logit_softcap) is None:
            return logits
        return op.tanh(logits / op.const(cap, "float32")) * op.const(cap, "float32")

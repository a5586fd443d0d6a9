"""GPT-2: a decoder with learned positions and layer norms before each part (Radford 2019)."""

from __future__ import annotations

from ...builder import nn, op
from ...ir.expr import Expr
from ..block_weights import embedding, linear, share_parameters
from ..configuration import Configuration
from ..steps import Step
from .weights import Weights


def norm(weights: Weights, name: str, config: Configuration) -> nn.LayerNorm:
    """The layer norm of a weight and a bias."""
    made = nn.LayerNorm(config.width, config.epsilon)
    assert made.weight is not None and made.bias is not None
    made.weight.data, made.bias.data = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return made


def dense(weights: Weights, name: str, config: Configuration) -> nn.Module:
    """The linear layer of a weight and a bias."""
    return linear(weights[f"{name}.weight"], weights[f"{name}.bias"], config.activations)


class Block(nn.Module):
    """Attention and a feed-forward layer, each of the norm of its input, and added to it."""

    def __init__(self, weights: Weights, prefix: str, config: Configuration):
        self.config = config
        self.attention_norm = norm(weights, f"{prefix}.attn_norm", config)
        self.inputs = dense(weights, f"{prefix}.attn_qkv", config)
        self.output = dense(weights, f"{prefix}.attn_output", config)
        self.norm = norm(weights, f"{prefix}.ffn_norm", config)
        self.up = dense(weights, f"{prefix}.ffn_up", config)
        self.down = dense(weights, f"{prefix}.ffn_down", config)

    def forward(self, x: Expr, step: Step, layer: int) -> Expr:
        """The block's output, of the shape of `x`."""
        x = x + self.attend(self.attention_norm(x), step, layer)
        return x + self.down(op.nn.gelu_tanh(self.up(self.norm(x))))

    def attend(self, x: Expr, step: Step, layer: int) -> Expr:
        """What each position gathers from those before it."""
        config = self.config
        joined, shape = self.inputs(x), (step.count, config.heads, config.size)
        query, key, value = (
            op.reshape(
                op.strided_slice(
                    joined, axes=[1], begin=[i * config.width], end=[(i + 1) * config.width]
                ),
                shape,
            )
            for i in range(3)
        )
        found = step.attend(layer, query, key, value)
        return self.output(op.reshape(found, (step.count, config.width)))


class Gpt2(nn.Module):
    """The logits of the next token."""

    def __init__(self, weights: Weights, config: Configuration):
        table = weights["token_embd.weight"]
        self.embedding = embedding(table)
        self.positions = embedding(weights["position_embd.weight"])
        self.blocks = nn.ModuleList(
            [Block(weights, f"blk.{i}", config) for i in range(config.layers)]
        )
        self.norm = norm(weights, "output_norm", config)
        head = weights.get("output.weight", table)
        self.head = linear(head, None, config.activations)
        if head is table:
            share_parameters(self.head, self.embedding)

    def forward(self, tokens: Expr, step: Step) -> Expr:
        """The logits (sequences, vocabulary) that follow each sequence."""
        x = self.embedding(tokens) + self.positions(step.positions)
        for layer, block in enumerate(self.blocks):
            x = step.named(layer, block(x, step, layer))
        return self.head(self.norm(step.last(x)))

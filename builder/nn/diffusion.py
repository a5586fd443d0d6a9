"""Layers of diffusion models: embeddings of time, and attention over text."""

from __future__ import annotations

from typing import Any

from ...ir.expr import Expr
from . import op
from .core import Module, ModuleList
from .layers import GroupNorm, Linear, SiLU


class Timesteps(Module):
    """Sines and cosines of steps of time; see `op.get_timestep_embedding`."""

    def __init__(
        self,
        num_channels: int,
        flip_sin_to_cos: bool = False,
        downscale_freq_shift: float = 1,
    ):
        self.num_channels = num_channels
        self.options: dict[str, Any] = {
            "flip_sin_to_cos": flip_sin_to_cos,
            "downscale_freq_shift": downscale_freq_shift,
        }

    def forward(self, x: Expr) -> Expr:
        """The embeddings, of shape (n, num_channels)."""
        return op.get_timestep_embedding(x, self.num_channels, **self.options)


class TimestepEmbedding(Module):
    """Two linear layers for embeddings of time, with an optional condition."""

    def __init__(
        self,
        in_channels: int,
        time_embed_dim: int,
        act_fn: str = "silu",
        out_dim: int | None = None,
        cond_proj_dim: int | None = None,
    ):
        if act_fn != "silu":
            raise ValueError(f"expected the activation silu, got {act_fn}")
        self.linear_1 = Linear(in_channels, time_embed_dim)
        self.cond_proj = (
            None if cond_proj_dim is None else Linear(cond_proj_dim, in_channels, bias=False)
        )
        self.act = SiLU()
        self.linear_2 = Linear(time_embed_dim, time_embed_dim if out_dim is None else out_dim)

    def forward(self, sample: Expr, condition: Expr | None = None) -> Expr:
        """The embeddings, of shape (n, out_dim)."""
        if condition is not None:
            if self.cond_proj is None:
                raise ValueError("expected cond_proj_dim for a condition, got None")
            sample = op.add(sample, self.cond_proj(condition))
        return self.linear_2(self.act(self.linear_1(sample)))


class Attention(Module):
    """Attention with several heads, of hidden states over themselves or over an encoder's."""

    def __init__(
        self,
        query_dim: int,
        cross_attention_dim: int | None = None,
        heads: int = 8,
        dim_head: int = 64,
        bias: bool = False,
        norm_num_groups: int | None = None,
        out_bias: bool = True,
        scale_qk: bool = True,
    ):
        inner, other = dim_head * heads, cross_attention_dim or query_dim
        self.heads, self.dim_head, self.scale_qk = heads, dim_head, scale_qk
        self.to_q = Linear(query_dim, inner, bias=bias)
        self.to_k = Linear(other, inner, bias=bias)
        self.to_v = Linear(other, inner, bias=bias)
        self.group_norm = (
            None if norm_num_groups is None else GroupNorm(norm_num_groups, inner, affine=True)
        )
        self.to_out = ModuleList([Linear(inner, query_dim, bias=out_bias)])

    def forward(
        self,
        hidden_states: Expr,
        encoder_hidden_states: Expr | None = None,
        attention_mask: Expr | None = None,
    ) -> Expr:
        """The hidden states (batch, length, query_dim)."""
        if self.group_norm is not None:
            hidden_states = self.group_norm(hidden_states, channel_axis=2, axes=[1])
        states = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        projected = [self.to_q(hidden_states), self.to_k(states), self.to_v(states)]
        query, key, value = (
            op.reshape(p, [p.shape[0], p.shape[1], self.heads, self.dim_head]) for p in projected
        )
        scale = None if self.scale_qk else 1.0
        result = op.scaled_dot_product_attention(query, key, value, attention_mask, scale=scale)
        shape = hidden_states.shape
        assert shape is not None
        return self.to_out[0](op.reshape(result, [*shape[:2], self.heads * self.dim_head]))

"""TVM's `relax.frontend.nn.llm.kv_cache.PagedKVCache`, as layers call it: a view of a `Step`."""

from __future__ import annotations

from ..builder import op
from ..ir.expr import Expr
from ..ir.struct_info import TensorStructInfo
from .steps import Step

ROPE_MODES = ("none", "normal")


class PagedKVCache:
    """The cache of a step: ``PagedKVCache(step).attention_with_fused_qkv(layer, qkv, heads)``.

    With a `rope_mode` of "normal", queries and keys are rotated by the positions of tokens, as the
    configuration of the model says; with "none" they are not. Raises ValueError for others.
    """

    def __init__(self, step: Step, rope_mode: str = "normal"):
        if rope_mode not in ROPE_MODES:
            raise ValueError(f"expected a rope_mode of none or normal, got {rope_mode!r}")
        self._step, self._has_rotations = step, rope_mode == "normal"

    def attention_with_fused_qkv(
        self, layer_id: int, qkv: Expr, num_qo_heads: int, sm_scale: float | None = None
    ) -> Expr:
        """Store keys and values, and attend: (batch, tokens, query heads, size).

        `qkv` is (batch, tokens, heads, size): heads of queries, then those of keys, then those of
        values. Products are multiplied by `sm_scale`, by default that of the model. Raises
        ValueError for other numbers of heads.
        """
        step, info = self._step, qkv.struct_info
        assert isinstance(info, TensorStructInfo) and info.shape is not None
        batch, tokens, heads, size = info.shape
        config = step.config
        if (num_qo_heads, heads) != (config.heads, config.heads + 2 * config.key_heads):
            raise ValueError(
                f"expected qkv of {config.heads} + 2 * {config.key_heads} heads, got {heads}, of "
                f"which {num_qo_heads} are of queries"
            )
        flat = op.reshape(qkv, (step.count, heads, size))
        ends = [num_qo_heads, num_qo_heads + config.key_heads]
        parts = op.split(flat, ends, axis=1)
        query, key, value = (parts[i] for i in range(3))
        if self._has_rotations:
            query, key = step.rotated(layer_id, query), step.rotated(layer_id, key)
        found = step.attend(layer_id, query, key, value, sm_scale)
        return op.reshape(found, (batch, tokens, num_qo_heads, size))

    def get_query_positions(self, total_length: object = None) -> Expr:
        """The positions (tokens,) of the tokens; `total_length` is what TVM passes."""
        return self._step.positions

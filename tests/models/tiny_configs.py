"""Tiny configurations of `transformers`: the sizes of an architecture's default one, replaced."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiny_overrides import OVERRIDES

_GROUPS: dict[int, str] = {
    1: "num_mtp_layers num_nextn_predict_layers n_group topk_group first_k_dense_replace "
    "num_dense_layers n_shared_experts num_shared_experts pretraining_tp num_groups "
    "group_detr",
    2: "num_hidden_layers num_layers n_layer n_layers depth encoder_layers decoder_layers "
    "num_encoder_layers num_decoder_layers encoder_num_hidden_layers "
    "decoder_num_hidden_layers num_key_value_heads multi_query_group_num "
    "num_experts_per_tok num_experts_per_token moe_topk num_adapter_layers "
    "decoder_num_layers speech_encoder_layers t2u_encoder_layers t2u_decoder_layers "
    "num_spatial_layers num_temporal_layers moe_top_k num_auxiliary_layers "
    "max_window_layers swa_num_key_value_heads mamba_n_groups n_groups linear_num_key_heads "
    "insert_layer_id type_vocab_size num_hidden_groups layers_block_num "
    "num_attention_heads_kv decoder_num_key_value_heads encoder_num_key_value_heads "
    "text_encoder_num_layers text_encoder_proj_layers query_dec_layers "
    "num_self_attends_per_block",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads index_n_heads "
    "decoder_attention_heads decoder_num_attention_heads encoder_num_attention_heads "
    "linear_num_value_heads mamba_n_heads mamba_num_heads num_experts n_routed_experts "
    "num_local_experts moe_num_experts swa_num_attention_heads "
    "num_conv_pos_embedding_groups decoder_self_attention_heads "
    "decoder_cross_attention_heads speech_encoder_attention_heads "
    "t2u_encoder_attention_heads t2u_decoder_attention_heads num_codebooks num_query_tokens "
    "num_self_attention_heads num_cross_attention_heads decoder_num_heads "
    "num_register_tokens num_encoder_attention_heads num_decoder_attention_heads "
    "global_pointer_head_size num_latents sliding_window attention_chunk_size num_landmarks "
    "zero_expert_num",
    8: "head_dim v_head_dim qk_rope_head_dim qk_nope_head_dim d_kv index_head_dim d_head "
    "linear_key_head_dim linear_value_head_dim mamba_d_head mamba_head_dim global_head_dim "
    "ssm_state_size mamba_d_state state_size patch_length mamba_chunk_size chunk_size "
    "attention_head_size swa_head_dim qk_head_dim expert_capacity num_queries num_denoising "
    "linear_head_dim hidden_size_per_layer_input attention_window kda_head_dim rotary_dim "
    "decoder_head_dim num_conv_pos_embeddings latent_dim codebook_dim",
    16: "num_filters q_lora_rank kv_lora_rank o_lora_rank d_latents ffn_hidden_size_per_layer "
    "embedding_rank codevector_dim proj_codevector_dim",
    32: "hidden_size d_model n_embd emb_dim embed_dim hidden_dim dim embedding_size "
    "projection_dim encoder_hidden_size decoder_hidden_size encoder_hidden_dim "
    "out_hidden_size query_dim output_dim word_embed_proj_dim moe_latent_size "
    "text_config_hidden_size lru_width embedding_dim image_text_hidden_size "
    "fusion_hidden_size feature_size mask_feature_size auxiliary_channels "
    "vision_hidden_size max_source_positions conv_dim_size fpn_feature_size conv_channels "
    "output_channels classifier_proj_size output_hidden_size speech_decoder_prenet_units "
    "num_embeddings max_speech_positions max_text_positions codebook_size text_hidden_size "
    "neck_hidden_size fpn_hidden_size input_embedding_size output_embedding_size "
    "mm_hidden_size decoder_hidden_dim encoder_embed_dim projector_hidden_size "
    "bottleneck_size true_hidden_size base_channels latent_channels",
    64: "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff n_inner ffn_hidden_size "
    "inner_dim d_inner moe_intermediate_size shared_expert_intermediate_size "
    "dim_feedforward moe_shared_expert_intermediate_size max_position_embeddings "
    "n_positions max_seq_len encoder_feedforward_dim decoder_intermediate_size mlp_dim "
    "max_sequence_length n_ctx shared_intermediate_size encoder_dim_feedforward "
    "decoder_dim_feedforward feed_forward_size speech_encoder_intermediate_size "
    "t2u_encoder_ffn_dim t2u_decoder_ffn_dim original_max_position_embeddings "
    "max_2d_position_embeddings max_target_positions dff dense_intermediate_size "
    "block_ff_dim unpadded_vocab_size encoder_max_position_embeddings "
    "decoder_max_position_embeddings num_position_embeddings moe_hidden_size max_length "
    "expert_ffn_hidden_size",
    99: "vocab_size vocab_size_per_layer_input t2u_vocab_size text_encoder_vocab_size "
    "char_vocab_size encoder_hash_byte_group_vocab",
}
"""Names of fields by their size."""

SIZES: dict[str, Any] = {name: size for size, names in _GROUPS.items() for name in names.split()}
SIZES |= {
    "image_size": 32,
    "patch_size": 8,
    "num_mel_bins": 16,
    "num_frames": 2,
    "use_cache": False,
    "num_labels": 3,
    "img_size": 32,
    # All positions: scores are often equal, and which of equal ones topk selects is not defined.
    "index_topk": 64,
    "vision_feature_layer": -1,
}
"""Sizes that replace those of any architecture, by the names of fields."""

LEAST_RANGE = 1e-3
"""The least range of initial weights that is kept: with that of some architectures, 1e-10, results
would not depend on the inputs."""

WIDE_RANGE = 0.2

_STAGES: dict[str, tuple[int, ...]] = {
    "depths": (1,) * 9,
    "hidden_sizes": (16, 32, 64, 64, 64, 64, 64),
    "num_attention_heads": (1, 2, 4, 4, 4),
    "num_heads": (1, 2, 4, 4, 4),
    "embed_dims": (16, 32, 64, 64),
    "embed_dim": (16, 32, 64, 64),
    "depth": (1,) * 9,
    "conv_dim": (16,) * 13,
    "decoder_hidden_sizes": (16, 32, 64, 64),
    "neck_hidden_sizes": (16, 32, 64, 64, 64, 64, 64),
    "tdnn_dim": (16,) * 9,
    "encoder_in_channels": (16, 32, 64),
    "decoder_in_channels": (32,) * 9,
    "feat_channels": (32,) * 9,
}
"""Sizes by stage, for fields that are tuples."""

_IDS = ("_token_id", "_token_index", "_id", "_index")


def tiny_fields(
    config_class: Any, further: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The fields of a tiny configuration; `further` replaces some, those of parts by their name.

    `defaults` replace those of the class.
    """
    found: dict[str, Any] = dict(defaults or {})
    for field in dataclasses.fields(config_class):
        value = _tiny(field.name, found.get(field.name, field.default))
        if value is not None and field.init:
            found[field.name] = value
    for name, (part, chosen) in _parts(config_class).items():
        given = further.get(name, {})
        if isinstance(given, Mapping):
            own = OVERRIDES.get(part.model_type, {}).get("config", {})
            given = tiny_fields(part, {**own, **given}, chosen)
        found[name] = given
    return found | {
        k: v for k, v in further.items() if not isinstance(v, Mapping) or k not in found
    }


def _parts(config_class: Any) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The classes of parts, and the fields that an architecture gives them.

    Where a part may have several classes, "model_type" is one of the fields.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, spec in config_class.sub_configs_defaults.items():
        if dataclasses.is_dataclass(spec.config_class):
            found[name] = spec.config_class, spec.init_kwargs
        elif spec.model_type is not None:
            fields = {"model_type": spec.model_type, **spec.init_kwargs}
            found[name] = CONFIG_MAPPING[spec.model_type], fields
    return found


def _tiny(name: str, default: Any) -> Any:
    """The small value of a field, None to keep its default."""
    if isinstance(default, list | tuple):
        return list(_STAGES[name][: len(default)]) if name in _STAGES else None
    if name.endswith(_IDS) and isinstance(default, int) and default > 50:
        return 60 + hash_of(name) % 30
    if default is None or isinstance(default, str):
        return None
    if name in ("initializer_range", "init_std"):
        return WIDE_RANGE if default < LEAST_RANGE else None
    return SIZES.get(name)


def hash_of(name: str) -> int:
    """A number that depends on the name alone."""
    return sum(ord(c) * (i + 1) for i, c in enumerate(name))

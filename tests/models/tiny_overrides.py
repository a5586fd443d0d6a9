"""Fields and inputs of architectures for which those of all others do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from subjects import noise, tokens

Maker = Callable[[Any, int, int], torch.Tensor]


def floats(*shape: Any) -> Maker:
    """Normal numbers; after the batch, the shape has sizes, fields, or "length"."""

    def make(config: Any, batch: int, length: int) -> torch.Tensor:
        return noise(batch, batch, *(_size(s, config, length) for s in shape))

    return make


def integers(*shape: Any) -> Maker:
    """Integers from 3 to 49; the shape is as in `floats`."""

    def make(config: Any, batch: int, length: int) -> torch.Tensor:
        return tokens(batch, batch, *(_size(s, config, length) for s in shape))

    return make


def boxes(config: Any, batch: int, length: int) -> torch.Tensor:
    """Boxes of words, whose corners are in order."""
    found = tokens(batch, batch, length, 4, most=30)
    found[..., 2:] += found[..., :2]
    return found


def _size(size: Any, config: Any, length: int) -> int:
    if size == "length":
        return length
    return getattr(config, size) if isinstance(size, str) else size


_SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
_FEW_SECTIONS = {**_SECTIONS, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}
_IMAGE = floats(3, 32, 32)

_SHARED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "axk1 axk2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa minicpm3 mistral4 "
        "mistral_large4_text youtu",
        {"config": {"num_key_value_heads": 4}},
    ),
    (
        "glm4v_text glm_image_text glm_ocr_text qwen2_5_vl_text qwen2_vl_text",
        {"config": {"rope_parameters": _SECTIONS}},
    ),
    ("glm4v_moe_text", {"config": {"rope_parameters": _FEW_SECTIONS}}),
    (
        "glm4v glm_image glm_ocr glm4v_moe",
        {"config": {"text_config": {"rope_parameters": _FEW_SECTIONS}}},
    ),
    (
        "qwen2_5_vl qwen2_vl paddleocr_vl",
        {"config": {"text_config": {"rope_parameters": _SECTIONS}}},
    ),
    ("timesformer videomae vivit", {"inputs": {"pixel_values": floats(2, 3, 32, 32)}}),
    ("swin donut-swin", {"config": {"patch_size": 2, "window_size": 2}}),
    ("convnext convnextv2", {"config": {"patch_size": 2}}),
    (
        "dac encodec mimi_encoder pocket_tts_audio_tokenizer_encoder",
        {"inputs": {"input_values": floats(1, 1600)}},
    ),
    (
        "lasr_ctc lasr_encoder parakeet_ctc parakeet_encoder",
        {"inputs": {"input_features": floats(64, 16)}},
    ),
    ("hunyuan_v1_dense hunyuan_v1_moe ministral", {"config": {"head_dim": 8}}),
    (
        "patchtsmixer patchtst",
        {"inputs": {"past_values": floats("context_length", "num_input_channels")}},
    ),
)

OVERRIDES: dict[str, dict[str, Any]] = {
    **{name: given for names, given in _SHARED for name in names.split()},
    "aimv2": {"inputs": {"pixel_values": _IMAGE}},
    "audio-spectrogram-transformer": {"inputs": {"input_values": floats("max_length", 16)}},
    "decision_transformer": {
        "inputs": {
            "states": floats("length", "state_dim"),
            "actions": floats("length", "act_dim"),
            "returns_to_go": floats("length", 1),
            "timesteps": integers("length"),
            "attention_mask": lambda config, batch, length: torch.ones(batch, length),
        }
    },
    "deepseek_v2": {"config": {"num_experts_per_tok": 2, "num_key_value_heads": 4}},
    "ernie4_5_moe": {"config": {"moe_k": 2}},
    "esm": {"config": {"vocab_size": 99, "pad_token_id": 1, "mask_token_id": 60}},
    "gpt_neo": {"config": {"attention_types": [[["global", "local"], 1]], "window_size": 4}},
    "layoutlm": {"inputs": {"bbox": boxes}},
    "lxmert": {
        "inputs": {"visual_feats": floats(5, "visual_feat_dim"), "visual_pos": floats(5, 4)}
    },
    "mamba2": {"config": {"num_heads": 8}},
    "mobilevitv2": {"config": {"image_size": 64, "patch_size": 2}},
    "nemotron": {"config": {"num_key_value_heads": 2}},
    "perceiver": {"inputs": {"inputs": floats("length", "d_model")}},
    "reformer": {
        "config": {
            "attn_layers": ["local", "local"],
            "axial_pos_shape": [4, 4],
            "axial_pos_embds_dim": [8, 24],
        }
    },
    "speech_to_text": {
        "config": {"input_feat_per_channel": 16},
        "inputs": {"input_features": floats(64, 16)},
    },
    "vilt": {"inputs": {"pixel_values": _IMAGE}},
    # The patches that are masked: the model would draw them.
    "vit_mae": {"inputs": {"noise": floats(16)}},
    "wav2vec2-bert": {"inputs": {"input_features": floats(16, "feature_projection_input_dim")}},
}
"""By type: fields of the `config`, and makers of `inputs` by name."""

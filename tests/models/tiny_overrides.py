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


def full(value: int, *shape: Any) -> Maker:
    """Integers of one value, such as a mask of ones; the shape is as in `floats`."""

    def make(config: Any, batch: int, length: int) -> torch.Tensor:
        return torch.full((batch, *(_size(s, config, length) for s in shape)), value)

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
_FORECAST = {
    "config": {
        "prediction_length": 8,
        "context_length": 16,
        "lags_sequence": [1, 2, 3],
        "num_time_features": 2,
        "label_length": 8,
    },
    "inputs": {
        "past_values": floats(19),
        "past_time_features": floats(19, 2),
        "past_observed_mask": lambda config, batch, length: torch.ones(batch, 19),
        "future_values": floats(8),
        "future_time_features": floats(8, 2),
    },
}
_BY_LAYER = {"full_attention": _SECTIONS, "sliding_attention": _SECTIONS}
_ALL_HEADS = {"config": {"num_key_value_heads": 4}}

_SHARED: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "axk1 axk2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa minicpm3 mistral4 "
        "mistral_large4_text youtu dots3_note_text",
        _ALL_HEADS,
    ),
    ("autoformer informer time_series_transformer", _FORECAST),
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
        "dac encodec mimi_encoder pocket_tts_audio_tokenizer_encoder xcodec",
        {"inputs": {"input_values": floats(1, 1600)}},
    ),
    (
        "lasr_ctc lasr_encoder nemotron3_5_transcribe_asr_audio nemotron3_diarization_audio "
        "nemotron_asr_streaming_encoder parakeet_ctc parakeet_encoder",
        {"inputs": {"input_features": floats(64, 16)}},
    ),
    (
        "canary cohere_asr nemotron3_5_asr nemotron_asr_streaming parakeet_rnnt parakeet_tdt",
        {"inputs": {"input_features": floats(64, 16), "decoder_input_ids": integers("length")}},
    ),
    # The weights spread the scores of positions: topk orders equal ones in any way.
    ("rt_detr rt_detr_v2", {"config": {"initializer_range": 0.2}}),
    ("sam3_lite_text sam3_lite_text_text_model", {"inputs": {"input_ids": integers("length")}}),
    ("audioflamingo3_encoder", {"inputs": {"input_features_mask": full(1, 64)}}),
    ("cohere_compass_text", {"config": {"rope_parameters": _BY_LAYER}}),
    (
        "hunyuan_v1_dense hunyuan_v1_moe ministral hunyuan_vl_text",
        {"config": {"head_dim": 8, "num_key_value_heads": 2}},
    ),
    (
        "efficientnet align_vision_model",
        {"config": {"width_coefficient": 0.5, "depth_coefficient": 0.5, "hidden_dim": 640}},
    ),
    ("mimi_decoder", {"config": {"upsample_groups": 32}}),
    ("granite_speech5_encoder", {"config": {"context_size": 8}}),
    ("granite_speech5_ctc", {"config": {"encoder_config": {"context_size": 8}}}),
    ("swin2sr", {"config": {"num_heads": [2] * 6, "window_size": 4, "patch_size": 1}}),
    # The model indexes the rates of a stage's layers by the stage.
    ("cvt", {"config": {"depth": [1, 2, 3]}}),
    (
        "patchtsmixer patchtst",
        {"inputs": {"past_values": floats("context_length", "num_input_channels")}},
    ),
)

OVERRIDES: dict[str, dict[str, Any]] = {
    **{name: given for names, given in _SHARED for name in names.split()},
    "aimv2": {"inputs": {"pixel_values": _IMAGE}},
    "audio-spectrogram-transformer": {"inputs": {"input_values": floats("max_length", 16)}},
    "dbrx": {"config": {"attn_config": {"rope_theta": 1e4, "clip_qkv": 8}}},
    "align": {"config": {"projection_dim": 160}},
    "lilt": {"config": {"hidden_size": 48}, "inputs": {"bbox": boxes}},
    "speecht5": {
        "inputs": {
            "input_values": floats("length", "hidden_size"),
            "decoder_input_values": floats("length", "hidden_size"),
        }
    },
    "step3p7": {"config": {"text_config": {"sliding_window": 4}}},
    "textnet": {"config": {"hidden_sizes": [64, 64, 64, 64, 64], "image_size": [64, 64]}},
    "timesfm": {
        "inputs": {
            "past_values": floats(64),
            "past_values_padding": full(0, 64),
            "freq": full(0, 1),
        }
    },
    "timm_backbone": {"config": {"backbone": "resnet10t"}},
    "udop": {"inputs": {"bbox": lambda config, batch, length: boxes(config, batch, length) / 60}},
    "univnet": {
        "inputs": {
            "input_features": floats(8, "num_mel_bins"),
            "noise_sequence": floats(8, "model_in_channels"),
        }
    },
    "vibevoice_acoustic_tokenizer_encoder": {"inputs": {"hidden_states": floats(1, 6400)}},
    "vibevoice_acoustic_tokenizer_decoder": {"inputs": {"hidden_states": floats("hidden_size", 4)}},
    "xmod": {"config": {"default_language": "en_XX"}},
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
    "bridgetower": {
        "config": {
            "hidden_size": 64,
            "text_config": {"hidden_size": 64},
            "vision_config": {"hidden_size": 64},
        }
    },
    "chameleon": {"config": {"vocabulary_map": {"<image>": 60, "IMGIMGA": 61}}},
    "dab-detr": {"config": {"query_dim": 4}},
    "dots1": {"config": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}},
    "emu3": {"config": {"vocabulary_map": {"<image>": 60, "<|visual token 0|>": 61}}},
    "esm": {"config": {"vocab_size": 99, "pad_token_id": 1, "mask_token_id": 60}},
    "gpt_neo": {"config": {"attention_types": [[["global", "local"], 1]], "window_size": 4}},
    # AutoModel has two classes for it.
    "funnel": {"config": {"architectures": ["FunnelModel"]}},
    "gemma3n_text": {
        "config": {
            "num_hidden_layers": 4,
            "num_kv_shared_layers": 2,
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "laurel_rank": 8,
        }
    },
    "layoutlm": {"inputs": {"bbox": boxes}},
    "lfm2_moe": {"config": {"layer_types": ["conv", "full_attention"]}},
    "lxmert": {
        "inputs": {"visual_feats": floats(5, "visual_feat_dim"), "visual_pos": floats(5, 4)}
    },
    "mamba2": {"config": {"num_heads": 8}},
    "mobilevitv2": {"config": {"image_size": 64, "patch_size": 2}},
    "mimi": {
        "config": {"upsample_groups": 32, "vector_quantization_hidden_dimension": 8},
        "inputs": {"input_values": floats(1, 1600)},
    },
    "moonshine_streaming": {"config": {"num_key_value_heads": 4}},
    "muse_spark_audio": {
        "config": {"num_hidden_layers": 4},
        "inputs": {"input_values": floats(3840)},
    },
    "nemotron": {"config": {"num_key_value_heads": 2}},
    "neomme": {"config": {"head_dim": 16}},
    "perceiver": {"inputs": {"inputs": floats("length", "d_model")}},
    "reformer": {
        "config": {
            "attn_layers": ["local", "local"],
            "axial_pos_shape": [4, 4],
            "axial_pos_embds_dim": [8, 24],
        }
    },
    "sam3": {"inputs": {"input_ids": integers("length")}},
    "speech_to_text": {
        "config": {"input_feat_per_channel": 16},
        "inputs": {"input_features": floats(64, 16)},
    },
    "swinv2": {"config": {"patch_size": 2, "window_size": 2}},
    "vilt": {"inputs": {"pixel_values": _IMAGE}},
    # The patches that are masked: the model would draw them.
    "vit_mae": {"inputs": {"noise": floats(16)}},
    "wav2vec2-bert": {"inputs": {"input_features": floats(16, "feature_projection_input_dim")}},
    "zamba": {
        "config": {
            "num_hidden_layers": 3,
            "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        }
    },
    "zamba2": {"config": {"layers_block_type": ["linear_attention", "hybrid"]}},
    "zaya": {"config": {"num_experts_per_tok": 1}},
}
"""By type: fields of the `config`, and makers of `inputs` by name."""

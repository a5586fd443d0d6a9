"""Tiny models of `transformers` as GGUF files, with the weights that the files have put back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
import transformers
from gguf.quants import dequantize, quantize

GEMMA = {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
"""Names of Gemma 2 and 3, whose norms are others."""
NAMES = {
    "transformer.wte.weight": "token_embd.weight",
    "transformer.wpe.weight": "position_embd.weight",
    "transformer.ln_f": "output_norm",
    "transformer.h": "blk",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_1": "attn_norm",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "post_attention_layernorm": "ffn_norm",
    "input_layernorm": "attn_norm",
    "model.layers": "blk",
}
SIZES = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
LOCAL = {"sliding_window": 7, "layer_types": ["sliding_attention", "full_attention"]}
CAPS = {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}


def _rope(kind: str, **options: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 5000.0, **options}}


SCALINGS = {
    "linear": _rope("linear", factor=3.0),
    "llama3": _rope(
        "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=64,
    ),
    "yarn": _rope("yarn", factor=4.0, original_max_position_embeddings=64),
}  # fmt: skip
CONFIGURATIONS = {
    "llama": lambda: transformers.LlamaConfig(**SIZES, rope_theta=5000.0),
    "mistral": lambda: transformers.MistralConfig(**SIZES, sliding_window=None),
    "qwen2": lambda: transformers.Qwen2Config(**SIZES, tie_word_embeddings=True),
    "qwen3": lambda: transformers.Qwen3Config(**SIZES, head_dim=32),
    "gemma": lambda: transformers.GemmaConfig(**SIZES, head_dim=32),
    "gemma2": lambda: transformers.Gemma2Config(
        **SIZES, **LOCAL, **CAPS, head_dim=32, query_pre_attn_scalar=32
    ),
    "gemma3": lambda: transformers.Gemma3TextConfig(
        **SIZES,
        **LOCAL,
        head_dim=32,
        query_pre_attn_scalar=32,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "linear", "rope_theta": 50000.0, "factor": 3.0},
        },
    ),
    "windows": lambda: transformers.MistralConfig(**SIZES, sliding_window=9),
    "linear": lambda: transformers.LlamaConfig(**SIZES, **SCALINGS["linear"]),
    "llama3": lambda: transformers.LlamaConfig(**SIZES, **SCALINGS["llama3"]),
    "yarn": lambda: transformers.LlamaConfig(**SIZES, **SCALINGS["yarn"]),
    "gpt2": lambda: transformers.GPT2Config(
        vocab_size=300, n_positions=256, n_embd=64, n_layer=2, n_head=4
    ),
}
KINDS = dict.fromkeys(("mistral", "windows", *SCALINGS), "llama")
"""Names of architectures in GGUF files, where they are others."""


def model_of(name: str, seed: int = 0) -> Any:
    """A model with random weights; norms and biases differ from 1 and 0."""
    torch.manual_seed(seed)
    config = CONFIGURATIONS[name]()
    # Other implementations of attention ignore caps of products.
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    model.eval()
    with torch.no_grad():
        for key, weight in model.named_parameters():
            is_norm = weight.ndim == 1 and ("norm" in key or ".ln_" in key) and "bias" not in key
            weight.copy_(torch.randn_like(weight) * (0.1 if weight.ndim == 1 else 0.15) + is_norm)
    return model.double()


def write(model: Any, name: str, kind: str, path: Path) -> Any:
    """Write a model as a GGUF file of a block format; the model gets the rounded weights.

    Rows of less than a block, and vectors, are floats of 32 bits.
    """
    architecture = KINDS.get(name, name)
    writer = gguf.GGUFWriter(str(path), architecture)
    _add_facts(writer, model.config, name)
    _add_vocabulary(writer, model.config.vocab_size)
    _add_weights(writer, model, name, kind, pairs=architecture == "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def _head_size(config: Any) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _add_facts(writer: Any, config: Any, name: str) -> None:
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    is_gpt2 = name == "gpt2"
    writer.add_feed_forward_length(4 * 64 if is_gpt2 else config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    if is_gpt2:
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(_head_size(config))
        _add_rotations(writer, config, _head_size(config))
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if name in ("windows", "gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if name == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if name == "gemma3":
        writer.add_sliding_window_pattern([k == "sliding_attention" for k in config.layer_types])


def _add_weights(writer: Any, model: Any, name: str, kind: str, pairs: bool) -> None:
    """The weights in blocks, as which the model gets them; with `pairs` as files of Llama."""
    names = {**NAMES, **GEMMA} if name in ("gemma2", "gemma3") else NAMES
    type_ = gguf.GGMLQuantizationType[kind]
    for key, weight in model.state_dict().items():
        if key == "lm_head.weight" and model.config.tie_word_embeddings:
            continue
        # GPT-2's layers in transformers have their weights transposed.
        if name == "gpt2" and weight.ndim == 2 and ".h." in key:
            weight = weight.T
        values = np.ascontiguousarray(weight.float().numpy())
        if "gemma" in name and values.ndim == 1:
            values = values + 1  # what norms multiply by
        order = _order(key, len(values), _head_size(model.config)) if pairs else slice(None)
        if values.ndim == 1 or kind == "F32":
            writer.add_tensor(_name(key, names), values[order])
            continue
        data = quantize(values[order], type_)
        writer.add_tensor(_name(key, names), data, raw_dtype=type_)
        rounded = np.empty_like(values)
        rounded[order] = dequantize(data, type_)
        weight.copy_(torch.from_numpy(rounded))


def _add_rotations(writer: Any, config: Any, size: int) -> None:
    """The base of rotary positions, and how they are stretched."""
    options = config.rope_parameters
    options = options.get("full_attention", options)
    base, kind = options["rope_theta"], options["rope_type"]
    writer.add_rope_freq_base(base)
    if kind == "llama3":  # its divisors are a tensor
        found, _ = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS[kind](config, "cpu")
        plain = base ** -(np.arange(0, size, 2) / size)
        writer.add_tensor("rope_freqs.weight", (plain / found.numpy()).astype(np.float32))
    elif kind != "default":
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(options["factor"])
        if kind == "yarn":
            writer.add_rope_scaling_orig_ctx_len(options["original_max_position_embeddings"])


def _name(key: str, names: dict[str, str] = NAMES) -> str:
    for old, new in names.items():
        key = key.replace(old, new)
    return key


def _order(key: str, rows: int, size: int) -> Any:
    """The rows of queries and keys in pairs, as files of Llama have them."""
    if not key.endswith(("q_proj.weight", "k_proj.weight")):
        return slice(None)
    return np.arange(rows).reshape(-1, 2, size // 2).swapaxes(1, 2).reshape(-1)


def _add_vocabulary(writer: Any, count: int) -> None:
    """Bytes as tokens, some pairs of letters, and two control tokens."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    tokens = ["<|im_start|>", "<|im_end|>", *bytes_to_unicode().values()]
    merges: list[str] = []
    for pair in ("th", "he", "in", "er", "an", "re"):
        tokens.append(pair)
        merges.append(" ".join(pair))
    tokens += [f"<|{n}|>" for n in range(count - len(tokens))]
    types = [3 if t.startswith("<|") else 1 for t in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(1)
    writer.add_chat_template(
        "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] }}"
        "{{ '<|im_end|>\\n' }}{% endfor %}{{ '<|im_start|>assistant\\n' }}"
    )


def reference_of(path: Path) -> Any:
    """The model of `transformers`, in float64, with the weights of a GGUF file of Llama."""
    reader = gguf.GGUFReader(str(path))
    facts = {n: f.contents() for n, f in reader.fields.items() if not n.startswith("tokenizer.")}
    tensors = {t.name: t for t in reader.tensors}
    config = transformers.LlamaConfig(
        vocab_size=tensors["token_embd.weight"].data.shape[0],
        hidden_size=facts["llama.embedding_length"],
        intermediate_size=facts["llama.feed_forward_length"],
        num_hidden_layers=facts["llama.block_count"],
        num_attention_heads=facts["llama.attention.head_count"],
        num_key_value_heads=facts["llama.attention.head_count_kv"],
        max_position_embeddings=facts["llama.context_length"],
        rms_norm_eps=facts["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": facts["llama.rope.freq_base"]},
        tie_word_embeddings="output.weight" not in tensors,
    )
    model = transformers.AutoModelForCausalLM.from_config(config).eval().double()
    size = config.hidden_size // config.num_attention_heads
    for key, weight in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        tensor = tensors[_name(key)]
        values = np.empty(tuple(weight.shape), np.float32)
        values[_order(key, len(values), size)] = dequantize(tensor.data, tensor.tensor_type)
        weight.copy_(torch.from_numpy(values))
    return model

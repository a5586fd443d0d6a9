"""Model folders of `transformers`, compared with its logits, and folders that are refused."""

from __future__ import annotations

import copy
import json
import struct

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf_models
import torch
import transformers
from gguf.quants import dequantize, quantize
from test_models import close, drawn, logits

from xrelax.llm import load
from xrelax.llm.folder_sizes import Settings, configuration_of
from xrelax.llm.safetensors_file import read_tensors

DTYPES = {
    "llama": torch.bfloat16,
    "mistral": torch.float16,
    "qwen2": torch.bfloat16,
    "qwen3": torch.float32,
    "gemma": torch.float16,
    "gemma2": torch.bfloat16,
    "gemma3": torch.float32,
    "windows": torch.float32,
    "linear": torch.float16,
    "llama3": torch.bfloat16,
    "yarn": torch.bfloat16,
    "gpt2": torch.float16,
}
TEMPLATE = "{% for m in messages %}{{ bos_token + m.content + eos_token }}{% endfor %}"


def tokenizer():
    """Words of letters, bytes, and control tokens outside of the vocabulary of BPE."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {t: i for i, t in enumerate([*letters, "th", "he", "the"])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[("t", "h"), ("th", "e"), ("h", "e")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<s>", "</s>"])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", made.token_to_id("<s>"))]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE
    )


def write(folder, name, dtype=torch.float32, **options):
    """Write a folder; returns the model in float64 with its weights."""
    model = gguf_models.model_of(name)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.to(dtype))
    copy.deepcopy(model).to(dtype).save_pretrained(folder, **options)
    tokenizer().save_pretrained(folder)
    return model


@pytest.mark.parametrize("name", DTYPES)
def test_logits(tmp_path, name):
    reference = write(tmp_path, name, DTYPES[name])
    model, tokens = load(tmp_path, activations="float32", cache="float32"), drawn(40, 1)
    wanted = logits(reference, tokens)
    with model.sequence() as sequence:
        close(model.prefill(sequence, tokens[:8]), wanted[7])
        for at in range(8, 40):
            close(model.decode([sequence], [tokens[at]])[0], wanted[at])


@pytest.mark.parametrize("kind", ["q4_1", "q8_0"])
def test_rounded_weights_of_several_files(tmp_path, kind):
    """Matrices are those that the package `gguf` rounds; vectors stay floats."""
    reference = write(tmp_path, "llama", torch.bfloat16, max_shard_size="40KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    with torch.no_grad():
        for weight in reference.parameters():
            if weight.ndim == 2:
                type_ = gguf_models.gguf.GGMLQuantizationType[kind.upper()]
                blocks = quantize(weight.float().numpy(), type_)
                weight.copy_(torch.from_numpy(dequantize(blocks, type_)))
    tokens = drawn(20, 2)
    model = load(tmp_path, weights=kind, activations="float32", cache="float32")
    with model.sequence() as sequence:
        close(model.prefill(sequence, tokens), logits(reference, tokens)[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder")
    write(path, "llama")
    return path


def test_vocabulary(folder):
    model, known = load(folder), tokenizer()
    text = "then the 日本</s>"
    assert model.tokenizer.encode(text) == known.encode(text)
    assert model.tokenizer.decode(model.tokenizer.encode(text)) == "then the 日本"
    assert known.eos_token_id in model.tokenizer.ends
    messages = [{"role": "user", "content": "the"}, {"role": "assistant", "content": "he"}]
    assert model.tokenizer.chat(messages) == "<s>the</s><s>he</s>"
    wanted = known.apply_chat_template(messages, return_dict=False)
    assert model.tokenizer.encode_chat(messages) == wanted


def test_changed_files_are_compiled_again(folder, tmp_path, monkeypatch):
    """The cache compares all files of a folder."""
    import os
    import shutil
    import time

    from xrelax.backend import model_cache

    monkeypatch.setattr(model_cache, "SETTLED", 0)
    path, tokens = tmp_path / "model", drawn(5, 1)
    shutil.copytree(folder, path)

    def result():
        with (model := load(path)).sequence() as sequence:
            return model.prefill(sequence, tokens)

    first = result()
    np.testing.assert_array_equal(result(), first)
    file = path / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-400:] = bytes(400)
    with file.open("r+b") as opened:
        opened.write(data)
    os.utime(file, ns=(time.time_ns(), time.time_ns()))
    assert (result() != first).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_type": "bert"}, "expected a model_type of llama, .*, got 'bert' in"),
        ({"hidden_size": None}, "expected 'hidden_size' in .*config.json', got none"),
        ({"hidden_act": "relu"}, "expected hidden_act of silu or swish in .*, got 'relu'"),
        ({"num_hidden_layers": 3}, "expected a weight 'blk.2.*' in .*, got none"),
        ({"num_hidden_layers": 1}, "expected weights that llama has in .*, got 'model.layers.1"),
        ({"tie_word_embeddings": False, "cut": True}, "expected a weight 'lm_head.weight'"),
        ({"partial_rotary_factor": 0.5}, "expected partial_rotary_factor of 1.0 in .*, got 0.5"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "expected rotary positions of default"),
        ({"rope_parameters": {"rope_type": "linear"}}, "expected 'factor' of rope_parameters"),
    ],
)
def test_models_that_are_not_supported(folder, tmp_path, options, message):
    changed = json.loads((folder / "config.json").read_text())
    cut = options.pop("cut", None)
    changed.update(options)
    (tmp_path / "config.json").write_text(json.dumps(changed))
    for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    if cut:
        file = tmp_path / "model.safetensors"
        file.write_bytes(file.read_bytes().replace(b'"lm_head.weight"', b'"x.attn.bias"   '))
    with pytest.raises(ValueError, match=message):
        load(tmp_path)


def test_folders_that_are_no_models(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"expected a model folder with config.json, got"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ValueError, match=r"expected an object of JSON in .*config.json', got no"):
        load(tmp_path)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(FileNotFoundError, match="expected a file of weights, got no file"):
        load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(FileNotFoundError, match=r"expected a model folder with tokenizer.json"):
        load(tmp_path)
    with pytest.raises(ValueError, match=r"'output.weight': expected rows of a mul"):
        (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
        odd = {"hidden_size": 40, "num_attention_heads": 4, "num_key_value_heads": 4}
        config = transformers.LlamaConfig(**{**gguf_models.SIZES, **odd})
        transformers.AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
        load(tmp_path, weights="q8_0")


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "header",
    [
        {"a": entry(offsets=(0, 80))},
        {"a": entry(offsets=(-8, 0))},
        {"a": entry(shape=(3,))},
        {"a": entry(shape=(-1, -2))},
        {"a": entry(dtype="I64", shape=(1,))},
        {"a": {}},
        {"a": 1},
        [],
    ],
)
def test_headers_that_are_wrong(tmp_path, header):
    path, text = tmp_path / "model.safetensors", json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
    with pytest.raises(ValueError, match="expected a safetensors file, got"):
        read_tensors(path)


def test_files_that_are_cut(folder, tmp_path):
    whole, path = (folder / "model.safetensors").read_bytes(), tmp_path / "model.safetensors"
    for length in (0, 3, 8, 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="expected a safetensors file, got"):
            read_tensors(path)


def test_windows_by_number():
    """What files without types of layers say."""
    options = {
        "model_type": "gemma3_text", "num_attention_heads": 1, "hidden_size": 8, "vocab_size": 9,
        "num_hidden_layers": 7, "max_position_embeddings": 9, "rms_norm_eps": 1e-6,
        "sliding_window": 4, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "rope_local_base_freq": 2e4, "rope_theta": 1e6, "query_pre_attn_scalar": 16,
    }  # fmt: skip
    config = configuration_of(Settings(options, "folder"), "int16", "float16")
    assert config.windows == (4, 4, 4, 4, 4, 0, 4)
    assert (config.base, config.local_base, config.scale) == (1e6, 2e4, 0.25)
    assert config.factors == (8.0,) * 4
    qwen = {**options, "model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 5}
    del qwen["rope_scaling"]
    assert configuration_of(Settings(qwen, ""), "int16", "float16").windows == (0,) * 5 + (4, 4)

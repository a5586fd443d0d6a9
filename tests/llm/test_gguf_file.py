"""GGUF files: block formats as gguf's own package has them, and files that are refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import gguf
from gguf.quants import dequantize

from xrelax.dialects.relax.operators.block_weights import TakeBlocksOp
from xrelax.llm import load
from xrelax.llm.gguf_file import GgufFile
from xrelax.llm.gguf_formats import SIZES, packed

SCALES = {"Q6_K": (208,), "Q4_0": (0,), "Q5_0": (0,), "Q8_0": (0,)}
"""Where a block has its f16; others have two at its start."""


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("rows", [1, 16, 37])
def test_blocks_of_any_bits(kind, rows):
    rng = np.random.default_rng(rows)
    blocks = rng.integers(0, 256, (rows, 3, SIZES[kind]), dtype=np.uint8)
    for at in SCALES.get(kind, (0, 2)):
        drawn = rng.uniform(-1, 1, (rows, 3, 1)).astype(np.float16)
        blocks[..., at : at + 2] = drawn.view(np.uint8)
    data = blocks.reshape(rows, -1)
    weight = packed(kind, data)
    attributes = {
        "columns": rows,
        "bits": weight.format.bits,
        "zero_point": weight.format.zero_point,
    }
    found = TakeBlocksOp.reference([np.arange(rows), *weight.arrays], attributes)
    wanted = dequantize(data, gguf.GGMLQuantizationType[kind])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def write(path, architecture="llama", layers=1, kind="F32", merges=True, **changes):
    """A file of a tiny model; `changes` replaces numbers, or leaves them out if they are None."""
    writer = gguf.GGUFWriter(str(path), architecture)
    numbers = {
        "block_count": layers,
        "context_length": 64,
        "embedding_length": 32,
        "feed_forward_length": 32,
        "attention.head_count": 2,
    } | changes
    for name, value in numbers.items():
        if value is not None:
            writer.add_uint32(f"{architecture}.{name}", value)
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([*"abcdefghijklmnopqrs", "ab"])
    if merges:
        writer.add_token_merges(["a b"])
    names = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    matrices = ["token_embd.weight", *(f"blk.0.{n}.weight" for n in names)]
    type_ = gguf.GGMLQuantizationType[kind]
    for name in matrices:
        values = np.ones((20 if "token" in name else 32, 256), np.float32)
        if kind == "F32":
            writer.add_tensor(name, values[:, :32].copy())
        else:
            size = gguf.GGML_QUANT_SIZES[type_]
            data = np.zeros((len(values), 256 // size[0] * size[1]), np.uint8)
            writer.add_tensor(name, data, raw_dtype=type_)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_numbers_of_a_file(tmp_path):
    file = GgufFile.open(write(tmp_path / "model.gguf"))
    config = file.configuration("int8", "float16")
    assert (config.layers, config.heads, config.key_heads, config.size) == (1, 2, 2, 16)
    assert (config.vocabulary, config.base, config.activations) == (20, 10000.0, "int8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architecture": "mamba"}, "expected an architecture of gemma, .*, got 'mamba' in"),
        ({"block_count": None}, "expected 'llama.block_count' in .*model.gguf', got none"),
        ({"merges": False}, "expected 'tokenizer.ggml.merges' of the vocabulary, got none"),
        ({"kind": "Q3_K"}, "of .*model.gguf': expected weights of Q4_0, .*, got Q3_K"),
        ({"block_count": 0}, "expected weights that llama has in .*, got 'blk.0"),
        ({"rope.dimension_count": 8}, "expected 'rope.dimension_count' of 16 in .*, got 8"),
        ({"layers": 2}, "expected a weight 'blk.1.*' in .*model.gguf', got none"),
    ],
)
def test_models_that_are_not_supported(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        load(write(tmp_path / "model.gguf", **changes))


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a GGUF file, got no file"):
        load(tmp_path / "none.gguf")
    whole = write(tmp_path / "model.gguf").read_bytes()
    cut = tmp_path / "cut.gguf"
    for data in (b"", b"text", b"GGUF", *(whole[:n] for n in range(8, len(whole), 1999))):
        cut.write_bytes(data)
        with pytest.raises(ValueError, match="expected a GGUF file, got"):
            load(cut)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activations": "int4"}, "expected activations of int8, int16, float32, got 'int4'"),
        ({"cache": "int4"}, "expected a cache of int8, .*, float32, got 'int4'"),
        ({"weights": "q2_k"}, "expected weights of None, q4_0, .*, q8_0, got 'q2_k'"),
        ({"context": 0}, "expected a context of at least 1, got 0"),
    ],
)
def test_options_that_are_wrong(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        load(write(tmp_path / "model.gguf"), **options)

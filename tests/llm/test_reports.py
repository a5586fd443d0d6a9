"""Profiles and comparisons of a model, by layers."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from xrelax.llm import LanguageModel, load


@pytest.fixture(scope="module")
def model(tiny_file) -> LanguageModel:
    return load(tiny_file, activations="float32", cache="float32")


@pytest.mark.parametrize("function", ["decode", "prefill"])
def test_profile(model, function):
    found = model.profile(function, length=40, sequences=2, repeat=3)
    rows = {row[0]: row for row in found.rows()}
    assert {"write_keys", "write_values"} <= rows.keys()
    assert rows["write_keys"][1] == "1" and ("paged_attention" in rows) == (function == "decode")
    _, _, layer, whole, *_ = map(float, rows["write_keys"][1:2] + rows["write_keys"][1:])
    assert whole == pytest.approx(2 * layer, abs=0.011)
    assert 0 < found.share < 100
    assert re.match(rf"{function}: [\d.]+ ms, 2 layers, \d+ % of [\d.]+ GB/s\nkernel ", str(found))
    assert model.pool.free == model.pool.count


@pytest.mark.parametrize("function", ["decode", "prefill"])
def test_errors_of_layers(model, function):
    found = model.debug("then there", function)
    assert found.first_bad_layer is None and str(found).endswith("\nno bad layer")
    assert [row[0] for row in found.rows()] == ["layer_0", "layer_1", "logits"]
    for operation in found.layers():
        assert 0 < operation.error.relative < 1e-5
    assert model.pool.free == model.pool.count


def test_the_first_bad_layer(model, tiny_file):
    """A build that rounds activations is wrong from the first product on, within a tolerance."""
    rounded = load(tiny_file, activations="int8", cache="float32")
    found = rounded.debug("then there", reference=model, rtol=1e-4, atol=1e-4)
    assert found.first_bad_layer == 0 and found.first_bad.operator == "nn.matmul_blocks"
    assert "first bad layer: 0, first bad: '" in str(found)
    near = rounded.debug("then there", reference=model, rtol=1, atol=1)
    assert near.first_bad_layer is None
    errors = [operation.error.relative for operation in near.layers()]
    assert min(errors) > 1e-4
    last = rounded.debug("then there", reference=model, atol=10 * max(errors), rtol=10)
    assert last.first_bad is None


def test_a_wrong_layer_is_named(model, tmp_path):
    """Values of the reference that differ after the first layer."""
    found = model.debug("then there")
    values = {
        o.name: v for o in found.report for v in o.expected.values() if o.name == "layer_1_result"
    }
    with model._step_of("prefill", model.tokenizer.encode("then there"), 1) as arguments:
        wrong = {"layer_1_result": np.asarray(values["layer_1_result"], np.float32) + 1}
        report = model.executable.debug("prefill", *arguments, reference=wrong)
    assert type(found)(report).first_bad_layer == 1


def test_what_is_refused(model):
    with pytest.raises(ValueError, match=r"^expected a function of decode, prefill, got 'choose'$"):
        model.profile("choose")
    with pytest.raises(ValueError, match=r"^expected tokens of sequences, got 0 of 1$"):
        model.debug("")
    with pytest.raises(ValueError, match=r"^expected .* free pages of the cache, got \d+$"):
        model.profile("prefill", length=100000)
    assert model.pool.free == model.pool.count


def test_a_cached_model_is_not_compiled_again(tiny_file, tmp_path, monkeypatch):
    """A second process compiles no kernel for a profile or a comparison, but for the clock."""
    from xrelax.backend import model_cache
    from xrelax.compilation import Compilation

    monkeypatch.setenv("XRELAX_CACHE", "1")
    monkeypatch.setenv("XRELAX_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(model_cache, "SETTLED", 0)
    first = load(tiny_file)
    assert first.executable.profiler is not None
    again = load(tiny_file)
    assert again.executable.constants and again.executable.profiler is None
    executable = again.executable

    def compiled(*_):
        raise AssertionError("a kernel was compiled")

    monkeypatch.setattr(Compilation, "_compile_kernel", compiled)
    assert {row[0] for row in again.profile("decode", repeat=1).rows()} >= {"write_keys"}
    assert again.debug("then there", "decode").first_bad_layer is None
    assert again.executable is executable


def test_functions_share_their_weights(model):
    """Each weight is one constant, of which files have one array."""
    contents = [bytes(c.numpy()) for c in model.executable.constants if c.dtype == "uint32"]
    assert contents and len(set(contents)) == len(contents)

"""Parameters in a folder: what is written is read, and files that do not fit are refused."""

import json
import shutil

import numpy as np
import pytest

import xrelax as tvm
from xrelax.contrib import tvmjs
from xrelax.runtime.dtype import bfloat16_to_float32, to_bfloat16

RNG = np.random.default_rng(5)
PARAMS = {
    "w_0": RNG.standard_normal((64, 33)).astype("float32"),
    "w_1": RNG.standard_normal((3, 5)).astype("float16"),
    "empty": np.zeros((0, 4), "float64"),
    "scalar": np.array(7, "int64"),
    "mask": np.array([True, False]),
}


def rounded(values):
    return bfloat16_to_float32(to_bfloat16(values))


@pytest.mark.parametrize("form", ["raw", "f32-to-bf16", {"w_0": "f32-to-bf16", "*": "raw"}])
def test_what_is_written_is_read(tmp_path, form):
    tvmjs.dump_tensor_cache(PARAMS, tmp_path / "new", form, {"model": "m"}, shard_cap_mb=0)
    found, metadata = tvmjs.load_tensor_cache(tmp_path / "new", tvm.cpu())
    assert metadata == {"model": "m"} and list(found) == list(PARAMS)
    for name, values in PARAMS.items():
        wanted = rounded(values) if name == "w_0" and form != "raw" else values
        assert found[name].dtype == str(values.dtype)
        np.testing.assert_array_equal(found[name].numpy(), wanted)
    listed = json.loads((tmp_path / "new/tensor-cache.json").read_text())
    assert sum(len(shard["records"]) for shard in listed["records"]) == len(PARAMS)
    (tmp_path / "new/tensor-cache.json").rename(tmp_path / "new/ndarray-cache.json")
    assert tvmjs.load_ndarray_cache(str(tmp_path / "new/ndarray-cache.json"))[1] == metadata


def test_bfloat16_is_kept(tmp_path):
    half = tvm.nd.array(PARAMS["w_0"], dtype="bfloat16")
    tvmjs.dump_tensor_cache([("half", half)], tmp_path)
    found, _ = tvmjs.load_tensor_cache(tmp_path)
    assert found["half"].dtype == "bfloat16"
    np.testing.assert_array_equal(found["half"].view(), half.view())


def test_updates_keep_other_tensors(tmp_path):
    tvmjs.dump_tensor_cache(
        {"a": np.ones(3), "b": np.ones(2)}, tmp_path, meta_data=lambda: {"n": 1}
    )
    tvmjs.dump_tensor_cache({"b": np.zeros(4)}, tmp_path, update_if_exists=True)
    found, metadata = tvmjs.load_tensor_cache(tmp_path)
    assert metadata == {"n": 1}
    assert {name: x.numpy().tolist() for name, x in found.items()} == {"a": [1] * 3, "b": [0] * 4}


def test_programs_load_parameters(tmp_path):
    call = tvm.get_global_func
    tvmjs.dump_tensor_cache(PARAMS, tmp_path, "raw", shard_cap_mb=1)
    call("vm.builtin.tensor_cache.load")(str(tmp_path), tvm.cpu().dlpack_device_type(), 0)
    by_prefix = call("vm.builtin.param_array_from_cache")
    for found in (
        by_prefix("w", -1),
        by_prefix("w", 2),
        call("vm.builtin.param_array_from_cache_by_name")(["w_0", "w_1"]),
    ):
        for number, tensor in enumerate(found):
            np.testing.assert_array_equal(tensor.numpy(), PARAMS[f"w_{number}"])
        assert len(found) == 2
    with pytest.raises(ValueError, match="expected a loaded parameter, got 'w_2'"):
        by_prefix("w", 3)
    cache = {name: call(f"vm.builtin.ndarray_cache.{name}") for name in ("get", "update", "remove")}
    cache["update"]("w_0", np.zeros(1))
    assert cache["get"]("w_0").shape == (64, 33)
    cache["update"]("w_0", np.zeros(1), True)
    assert cache["get"]("w_0").shape == (1,)
    cache["remove"]("w_0")
    assert cache["get"]("w_0") is None and by_prefix("w", -1) == []
    call("vm.builtin.tensor_cache.clear")()
    assert cache["get"]("w_1") is None


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"tensor-cache\.json"):
        tvmjs.load_tensor_cache(tmp_path)
    with pytest.raises(ValueError, match=r"expected an encode_format .* for 'a', got 'f16'"):
        tvmjs.dump_tensor_cache({"a": np.ones(3)}, tmp_path, "f16")
    with pytest.raises(ValueError, match="for 'a', got None"):
        tvmjs.dump_tensor_cache({"a": np.ones(3)}, tmp_path, {"b": "raw"})
    tvmjs.dump_tensor_cache({"a": np.ones(3)}, tmp_path)
    listed = (tmp_path / "tensor-cache.json").read_text()
    for old, new, message in (
        ("        3\n", "        4\n", r"the bytes of 'a', of float64 and shape \[4\], got 24"),
        (
            "params_shard",
            "../params_shard",
            "a raw-shard of the folder, got '../params_shard_0.bin'",
        ),
        ('"nbytes": 24,\n            "records"', '"nbytes": 8,\n            "records"', "8 bytes"),
        (
            '"byteOffset": 0',
            '"byteOffset": -8',
            r"expected 'a' in the 24 bytes of 'params_shard_0\.bin', got bytes -8 to 16",
        ),
        (
            '"dtype"',
            '"type"',
            r"expected 'dtype' in each entry of the cache, got \['name', 'shape'",
        ),
        ('"metadata"', '"meta"', r"expected 'metadata' in each .*, got \['meta', 'records'\]"),
    ):
        assert old in listed
        shutil.copytree(
            tmp_path, other := tmp_path.with_name(tmp_path.name + "_"), dirs_exist_ok=True
        )
        (other / "tensor-cache.json").write_text(listed.replace(old, new))
        with pytest.raises(ValueError, match=message):
            tvmjs.load_tensor_cache(other)

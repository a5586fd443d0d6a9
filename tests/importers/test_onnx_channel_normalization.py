"""Batch, instance and group normalization of ONNX, in inference and in training."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape):
    return RNG.standard_normal(shape, np.float32)


def positive(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


BATCH_NORM = ["x", "scale", "shift", "mean", "var"]


def statistics(channels, dtype="float32"):
    return {name: (dtype, [channels]) for name in BATCH_NORM[1:]}


@pytest.mark.parametrize("opset", [7, 9, 15])
@pytest.mark.parametrize("rank", [2, 4])
def test_batch_normalization(opset, rank):
    made = model(
        node("BatchNormalization", BATCH_NORM, ["y"], epsilon=0.01),
        {"x": ("float32", ["n", 3, "h", "w"][:rank])} | statistics(3),
        ["y"],
        opset=opset,
    )
    vectors = {n: positive(3) for n in BATCH_NORM[1:]}
    check(made, {"x": floats(2, 3, 4, 5)[..., 0, 0] if rank == 2 else floats(2, 3, 4, 5)} | vectors)


def test_batch_normalization_with_float32_statistics_of_half_data():
    made = model(
        node("BatchNormalization", BATCH_NORM, ["y"]),
        {"x": ("float16", ["n", 3, "h"])} | statistics("c"),
        ["y"],
        opset=15,
    )
    vectors = {n: positive(3) for n in BATCH_NORM[1:]}
    check(made, {"x": floats(2, 3, 4).astype(np.float16)} | vectors, by="reference")


def test_batch_normalization_of_each_element_in_opset_7():
    kinds = {n: ("float32", [3, "h"]) for n in BATCH_NORM[1:]}
    made = model(
        node("BatchNormalization", BATCH_NORM, ["y"], spatial=0, epsilon=0.1),
        {"x": ("float32", ["n", 3, "h"])} | kinds,
        ["y"],
        opset=7,
    )
    feeds = {n: positive(3, 4) for n in BATCH_NORM[1:]} | {"x": floats(2, 3, 4)}
    x, scale, shift, mean, var = (feeds[n] for n in BATCH_NORM)
    wanted = (x - mean) / np.sqrt(var + 0.1) * scale + shift
    compare(compile_onnx(made).run(None, feeds), [wanted.astype(np.float32)])


def test_batch_normalization_in_training():
    made = model(
        node("BatchNormalization", BATCH_NORM, ["y", "m", "v"], training_mode=1, momentum=0.8),
        {"x": ("float32", ["n", 3, "h"])} | statistics(3),
        ["y", "m", "v"],
        opset=15,
    )
    feeds = {n: positive(3) for n in BATCH_NORM[1:]} | {"x": floats(4, 3, 5)}
    check(made, feeds, by="reference")


def test_statistics_of_a_batch_have_no_value_before_opset_14():
    unused = ["y", "m", "v", "saved_m", "saved_v"]
    for outputs in (["y"], ["y", "m"]):
        made = model(
            node("BatchNormalization", BATCH_NORM, unused),
            {"x": ("float32", ["n", 3])} | statistics(3),
            outputs,
            opset=9,
        )
        if outputs == ["y"]:
            assert compile_onnx(made).output_names == ["y"]
        else:
            with pytest.raises(UnsupportedError, match=r"output \('m'\)"):
                compile_onnx(made)


@pytest.mark.parametrize("opset,test", [(1, 1), (6, 1), (6, 0)])
def test_batch_normalization_of_early_opsets_is_for_tests(opset, test):
    made = model(
        node("BatchNormalization", BATCH_NORM, ["y"], is_test=test),
        {"x": ("float32", ["n", 3])} | statistics(3),
        ["y"],
        opset=opset,
    )
    if not test:
        with pytest.raises(UnsupportedError, match="training; export the model for inference"):
            compile_onnx(made)
        return
    feeds = {n: positive(3) for n in BATCH_NORM[1:]} | {"x": floats(2, 3)}
    x, scale, shift, mean, var = (feeds[n] for n in BATCH_NORM)
    wanted = (x - mean) / np.sqrt(var + 1e-5) * scale + shift
    compare(compile_onnx(made).run(None, feeds), [wanted.astype(np.float32)])


def test_instance_normalization():
    made = model(
        node("InstanceNormalization", ["x", "s", "b"], ["y"], epsilon=0.02),
        {"x": ("float32", ["n", 3, "h", "w"]), "s": ("float32", [3]), "b": ("float32", ["c"])},
        ["y"],
    )
    check(made, {"x": floats(2, 3, 4, 5), "s": positive(3), "b": positive(3)})


@pytest.mark.parametrize("opset", [18, 21])
def test_scales_of_group_normalization_are_those_of_channels_from_opset_21_on(opset):
    size = 2 if opset == 18 else 6
    made = model(
        node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2, epsilon=0.02),
        {"x": ("float32", ["n", 6, "h"]), "s": ("float32", [size]), "b": ("float32", [size])},
        ["y"],
        opset=opset,
    )
    feeds = {"x": floats(2, 6, 5), "s": positive(size), "b": positive(size)}
    grouped = feeds["x"].reshape(2, 2, -1)
    centred = grouped - grouped.mean(-1, keepdims=True)
    x = (centred / np.sqrt(grouped.var(-1, keepdims=True) + 0.02)).reshape(2, 6, 5)
    scale, shift = (np.repeat(feeds[n], 6 // size)[:, None] for n in "sb")
    compare(compile_onnx(made).run(None, feeds), [x * scale + shift])

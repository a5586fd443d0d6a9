"""Small ONNX models that the fuzzer changes: some of several nodes, and ONNX's node tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx_models import model
from onnx_nodes import absent, cases


def layers() -> onnx.ModelProto:
    """A classifier of images: convolution, batch norm, pooling, and layers of any batch."""
    numbers = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return numbers.uniform(-0.5, 0.5, shape).astype("float32")

    return model(
        [
            helper.make_node("Conv", ["x", "w1"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
            helper.make_node("BatchNormalization", ["c", "g", "b", "b", "g"], ["n"]),
            helper.make_node("Relu", ["n"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["p"], ["f"], axis=1),
            helper.make_node("Gemm", ["f", "w2", "b2"], ["h"], transB=1, alpha=0.5),
            helper.make_node("Softmax", ["h"], ["y"], axis=-1),
        ],
        {"x": ("float32", ["n", 2, 8, 8])},
        ["y", "p"],
        initializers={
            "w1": weights(4, 2, 3, 3), "g": np.ones(4, "float32"), "b": weights(4) ** 2,
            "w2": weights(3, 16), "b2": weights(3),
        },
    )  # fmt: skip


def shapes() -> onnx.ModelProto:
    """Heads of attention by shapes that are computed, with a mask."""
    return model(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
            helper.make_node("Gather", ["s", "one"], ["m"], axis=0),
            helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
            helper.make_node("Unsqueeze", ["m", "axes"], ["m1"]),
            helper.make_node("Concat", ["n1", "m1", "heads"], ["t"], axis=0),
            helper.make_node("Reshape", ["x", "t"], ["h"]),
            helper.make_node("Transpose", ["h"], ["q"], perm=[0, 2, 1, 3]),
            helper.make_node("Transpose", ["h"], ["k"], perm=[0, 2, 3, 1]),
            helper.make_node("MatMul", ["q", "k"], ["d"]),
            helper.make_node("Less", ["d", "limit"], ["below"]),
            helper.make_node("Where", ["below", "d", "limit"], ["e"]),
            helper.make_node("Softmax", ["e"], ["a"], axis=3),
            helper.make_node("ReduceMean", ["a"], ["y"], axes=[1], keepdims=0),
        ],
        {"x": ("float32", ["n", "m", 6])},
        ["y"],
        initializers={
            "zero": np.array(0), "one": np.array(1), "axes": np.array([0]),
            "heads": np.array([2, 3]), "limit": np.array(0.5, "float32"),
        },
    )  # fmt: skip


def quantized() -> onnx.ModelProto:
    """A layer between integers, and a slice of it."""
    return model(
        [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
            helper.make_node("DequantizeLinear", ["w", "ws"], ["v"], axis=1),
            helper.make_node("MatMul", ["d", "v"], ["p"]),
            helper.make_node("Clip", ["p", "low", "high"], ["c"]),
            helper.make_node("Slice", ["c", "starts", "ends", "axes"], ["y"]),
        ],
        {"x": ("float32", ["n", 4])},
        ["y", "q"],
        initializers={
            "s": np.float32(0.05), "z": np.uint8(120), "ws": np.array([0.1, 0.2], "float32"),
            "w": np.arange(-4, 4, dtype="int8").reshape(4, 2), "low": np.float32(-1),
            "high": np.float32(2), "starts": np.array([0]), "ends": np.array([9]),
            "axes": np.array([-1]),
        },
    )  # fmt: skip


@cache
def bases() -> dict[str, onnx.ModelProto]:
    """The models that are changed: those above, and the ones of ONNX's node tests."""
    own = {f.__name__: f() for f in (layers, shapes, quantized)}
    small = {
        name: case.model
        for name, case in cases().items()
        if not absent(case.model) and case.model.ByteSize() < 20_000 and not _is_random(case.model)
    }
    return {**own, **small}


def _is_random(made: Any) -> bool:
    random_operators = ("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomUniform")
    return any(n.op_type.startswith(random_operators) for n in made.graph.node)

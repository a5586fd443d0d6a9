"""Conversions of ONNX: casts, and the bits of values as another dtype."""

import numpy as np
from onnx import TensorProto, helper
from onnx_models import check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape):
    return RNG.standard_normal(shape, np.float32) * 3


def test_casts():
    kinds = ["BOOL", "INT8", "INT32", "INT64", "UINT8", "FLOAT16", "FLOAT", "DOUBLE"]
    nodes = [
        node("Cast", [x], [f"{x}_{kind}"], to=getattr(TensorProto, kind))
        for x in ("x", "i", "b")
        for kind in kinds
    ]
    nodes.append(node("CastLike", ["x", "i"], ["like"]))
    made = model(
        nodes,
        {"x": ("float64", ["n"]), "i": ("int64", ["n"]), "b": ("bool", ["n"])},
        [n.output[0] for n in nodes],
        opset=19,
    )
    x = np.array([0, -0.5, 1.75, 99.999, 0.1])
    feeds = {"x": x, "i": np.array([0, 1, 2, 200, 127]), "b": x > 0.2}
    check(made, feeds, by="reference")


def test_casts_of_floats_beyond_the_integers_saturate():
    nodes = [node("Cast", ["x"], [k], to=getattr(TensorProto, k)) for k in ("INT8", "UINT8")]
    made = model(nodes, {"x": ("float32", ["n"])}, ["INT8", "UINT8"])
    x = np.array([300, -300, np.inf, -np.inf, np.nan], np.float32)
    found = compile_onnx(made).run(None, {"x": x})
    wanted = [[127, -128, 127, -128, 0], [255, 0, 255, 0, 0]]
    compare(found, [np.array(wanted[0], np.int8), np.array(wanted[1], np.uint8)])


def test_bits():
    pairs = [
        ("float32", "UINT32"),
        ("uint16", "BFLOAT16"),
        ("bfloat16", "INT16"),
        ("bfloat16", "FLOAT16"),
        ("int64", "DOUBLE"),
        ("uint8", "INT8"),
        ("uint8", "UINT8"),
        ("int8", "BOOL"),
    ]
    nodes = [
        node("BitCast", [f"x{i}"], [f"y{i}"], to=getattr(TensorProto, kind))
        for i, (_, kind) in enumerate(pairs)
    ]
    inputs = {f"x{i}": (dtype, ["n"]) for i, (dtype, _) in enumerate(pairs)}
    made = model(nodes, inputs, [f"y{i}" for i in range(len(pairs))], opset=26)
    data = floats(6)
    bits = data.view(np.uint16)[1::2]
    values = {
        "float32": data,
        "uint16": bits,
        "bfloat16": bits.view(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)),
        "int64": floats(6).astype(np.float64).view(np.int64),
        "uint8": np.arange(250, 256, dtype=np.uint8),
        "int8": np.array([0, 1, 0, 1, 1, 0], np.int8),
    }
    feeds = {f"x{i}": values[dtype] for i, (dtype, _) in enumerate(pairs)}
    check(made, feeds, by="reference")

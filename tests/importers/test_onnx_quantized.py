"""Quantized tensors of ONNX: granularities, dtypes, opsets, and matmuls of integers."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import check, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

pytestmark = pytest.mark.sampled

NUMBERS = np.random.default_rng(7)
STORED = ("int8", "uint8", "int16", "uint16")
MICROSOFT = {"com.microsoft": 1}


def floats(*shape, low=-4.0, high=4.0, dtype="float32"):
    return NUMBERS.uniform(low, high, shape).astype(dtype)


def integers(dtype, *shape, low=None, high=None):
    """Of 7 bits if they are of int8.

    ONNX Runtime adds two products in 16 bits, saturated, on processors without VNNI.
    """
    limits, unused = np.iinfo(dtype), int(dtype == "int8")
    least = limits.min >> unused if low is None else low
    most = limits.max >> unused if high is None else high
    return NUMBERS.integers(least, most, shape, endpoint=True).astype(dtype)


def quantize(stored, scale, opset=21, domain="", **attributes):
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], domain=domain, **attributes)
    domains = MICROSOFT if domain else None
    shift = integers(stored, *np.shape(scale), low=0, high=20)
    constants = {"s": np.asarray(scale, "float32"), "z": shift}
    return model(node, {"x": ("float32", ["n", 6])}, ["y"], opset, constants, domains)


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("scale", [0.05, floats(6, low=0.01, high=0.1)])
def test_quantize(stored, scale):
    x = floats(4, 6, low=-8, high=8)
    x[0, :2] = [1e9, -np.inf]
    check(quantize(stored, scale), {"x": x})


@pytest.mark.parametrize("stored", ["int8", "uint8"])
@pytest.mark.parametrize("opset", [10, 13, 19])
def test_quantize_of_older_opsets(stored, opset):
    check(quantize(stored, 0.05, opset), {"x": floats(3, 6, low=-8, high=8)})


def test_halves_are_rounded_to_even_before_the_zero_point_is_added():
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])
    constants = {"s": np.float32(0.5), "z": np.uint8(5)}
    made = model(node, {"x": ("float32", ["n"])}, ["y"], 13, constants)
    x = np.array([0.25, 0.75, 1.25, -0.25, -0.75, -1.25], "float32")
    compiled = check(made, {"x": x})
    np.testing.assert_array_equal(compiled(x).numpy(), [5, 7, 7, 5, 3, 3])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("opset", [13, 21])
def test_an_axis(axis, opset):
    scale, shift = floats(3, low=0.01, high=0.1), integers("uint8", 3)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis),
    ]
    made = model(nodes, {"x": ("float32", [3, 3])}, ["y", "q"], opset, {"s": scale, "z": shift})
    check(made, {"x": floats(3, 3)})


def test_a_symbolic_axis_has_the_length_of_the_scale():
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"], axis=0)
    inputs = {"x": ("int8", ["n", 2]), "s": ("float32", ["m"])}
    compiled = compile_onnx(model(node, inputs, ["y"]))
    x, scale = integers("int8", 3, 2), floats(3)
    np.testing.assert_array_equal(compiled(x, scale).numpy(), x * scale[:, None])
    with pytest.raises(ValueError, match="expected"):
        compiled(x, floats(4))


@pytest.mark.parametrize("stored", [*STORED, "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_dequantize(stored, dtype):
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"])
    inputs = {"x": (stored, ["n", 5]), "s": (dtype, [])}
    x = integers(
        stored, 4, 5, low=max(np.iinfo(stored).min, -60000), high=min(np.iinfo(stored).max, 60000)
    )
    check(model(node, inputs, ["y"], 21), {"x": x, "s": floats(dtype=dtype, low=0.001, high=0.01)})


@pytest.mark.parametrize("length", [8, 7, 5])
@pytest.mark.parametrize("axis", [0, 1])
def test_blocks(length, axis):
    shape, blocks = ((length, 3), (2, 3)) if axis == 0 else ((3, length), (3, 2))
    constants = {"s": floats(*blocks, low=0.01, high=0.1), "z": integers("int8", *blocks)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis, block_size=4),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis, block_size=4),
    ]
    made = model(nodes, {"x": ("float32", shape)}, ["y", "q"], 21, constants)
    check(made, {"x": floats(*shape)})


def test_blocks_of_symbolic_rows():
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"], axis=1, block_size=2)
    inputs = {"x": ("int8", ["n", 4]), "s": ("float32", ["n", 2])}
    feeds = {"x": integers("int8", 3, 4), "s": floats(3, 2)}
    check(model(node, inputs, ["y"], 21), feeds)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_precision_and_output_dtype(dtype):
    node = helper.make_node(
        "QuantizeLinear", ["x", "s"], ["y"], output_dtype=TensorProto.INT16,
        precision=TensorProto.FLOAT if dtype == "float16" else 0,
    )  # fmt: skip
    inputs = {"x": (dtype, ["n"]), "s": (dtype, [])}
    feeds = {"x": floats(50, dtype=dtype), "s": floats(dtype=dtype, low=0.01, high=0.02)}
    check(model(node, inputs, ["y"], 23), feeds, by="reference")
    node = helper.make_node("DequantizeLinear", ["x", "s"], ["y"], output_dtype=TensorProto.FLOAT16)
    inputs = {"x": ("int8", ["n"]), "s": ("float32", [])}
    feeds = {"x": integers("int8", 9), "s": np.float32(0.02)}
    check(model(node, inputs, ["y"], 23), feeds, by="reference")


def test_half_precision_is_divided_in_half_precision():
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])
    inputs = {"x": ("float16", ["n"]), "s": ("float16", [])}
    made = model(node, inputs, ["y"], 21, {"z": np.uint8(3)})
    x = floats(4000, dtype="float16", low=-30, high=30)
    check(made, {"x": x, "s": np.float16(0.123)}, by="reference")


@pytest.mark.parametrize("element", ["INT4", "UINT4", "INT2", "UINT2"])
@pytest.mark.parametrize("raw", [True, False])
def test_constants_of_less_than_8_bits(element, raw):
    bits, signed = int(element[-1]), element.startswith("I")
    low = -(1 << (bits - 1)) if signed else 0
    values = NUMBERS.integers(low, low + (1 << bits), 15)
    kind = getattr(TensorProto, element)
    weight = helper.make_tensor("w", kind, [3, 5], values)
    if not raw:
        content = np.frombuffer(weight.raw_data or b"", "uint8")
        content = content if content.size else np.array(weight.int32_data, "uint8")
        weight = onnx_tensor("w", kind, [3, 5], int32_data=content)
    node = helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=0)
    added = helper.make_node("Add", ["v", "x"], ["y"])
    made = model([node, added], {"x": ("float32", ["n", 3, 5])}, ["y"], 25)
    shift = helper.make_tensor("z", kind, [3], [low + 1] * 3)
    scale = helper.make_tensor("s", TensorProto.FLOAT, [3], [0.5, 1, 2])
    made.graph.initializer.extend([weight, shift, scale])
    found = compile_onnx(made)(np.zeros((1, 3, 5), "float32")).numpy()[0]
    wanted = (values.reshape(3, 5) - (low + 1)) * np.array([[0.5], [1], [2]])
    np.testing.assert_array_equal(found, wanted)


def onnx_tensor(name, kind, dims, **content):
    made = TensorProto(name=name, data_type=kind, dims=dims)
    made.int32_data.extend(int(v) for v in content["int32_data"])
    return made


@pytest.mark.parametrize(("element", "low", "high"), [("INT4", -8, 7), ("UINT4", 0, 15)])
def test_quantization_to_4_bits_saturates(element, low, high):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    made = model(nodes, {"x": ("float32", ["n"])}, ["y"], 21, {"s": np.float32(1)})
    made.graph.initializer.append(helper.make_tensor("z", getattr(TensorProto, element), [], [1]))
    x = np.array([-100, -9, -3, 0, 5, 100], "float32")
    wanted = np.clip(x + 1, low, high) - 1
    np.testing.assert_array_equal(compile_onnx(made)(x).numpy(), wanted)
    check(made, {"x": x})


def test_other_operators_refuse_less_than_8_bits():
    node = helper.make_node("Add", ["w", "w"], ["y"])
    made = model(node, {}, ["y"], 21)
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [2], [1, 2]))
    with pytest.raises(UnsupportedError, match="integers of less than 8 bits; dequantize them"):
        compile_onnx(made)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize(("low", "high"), [(-3, 5), (1, 5), (-5, -1)])
def test_dynamic_quantization(shape, low, high):
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    symbolic = [f"d{i}" for i in range(len(shape))]
    made = model(node, {"x": ("float32", symbolic)}, ["y", "s", "z"])
    check(made, {"x": floats(*shape, low=low, high=high)})


def test_dynamic_quantization_of_zeros():
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    made = model(node, {"x": ("float32", ["n"])}, ["y", "s", "z"])
    check(made, {"x": np.zeros(4, "float32")}, by="reference")


@pytest.mark.parametrize(
    ("left", "right"), [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")]
)
@pytest.mark.parametrize("shifts", [(), ("az",), ("az", "bz")])
def test_integer_matmuls(left, right, shifts):
    node = helper.make_node("MatMulInteger", ["a", "b", *shifts], ["y"])
    inputs = {"a": (left, ["n", 3, "k"]), "b": (right, ["k", 4])}
    constants = {"az": integers(left), "bz": integers(right, 4)}
    made = model(node, inputs, ["y"], 10, {name: constants[name] for name in shifts})
    by = "reference" if (left, right) == ("int8", "int8") else "onnxruntime"
    check(made, {"a": integers(left, 2, 3, 70), "b": integers(right, 70, 4)}, by)


@pytest.mark.parametrize("rows", [False, True])
def test_integer_matmuls_with_zero_points_of_rows(rows):
    node = helper.make_node("MatMulInteger", ["a", "b", "az"], ["y"])
    shift = integers("uint8", 3) if rows else integers("uint8", 1)
    made = model(node, {"a": ("uint8", [3, 5]), "b": ("uint8", [5, 2])}, ["y"], 10, {"az": shift})
    a, b = integers("uint8", 3, 5), integers("uint8", 5, 2)
    found = compile_onnx(made)(a, b).numpy()
    wide = a.astype("int32") - shift.astype("int32")[:, None]
    np.testing.assert_array_equal(found, wide @ b.astype("int32"))


def test_sums_of_the_largest_products_do_not_overflow():
    node = helper.make_node("MatMulInteger", ["a", "b", "az"], ["y"])
    inputs = {"a": ("uint8", ["n", 4000]), "b": ("uint8", [4000, 2])}
    made = model(node, inputs, ["y"], 10, {"az": np.uint8(255)})
    feeds = {"a": np.zeros((2, 4000), "uint8"), "b": np.full((4000, 2), 255, "uint8")}
    found = compile_onnx(made)(feeds["a"], feeds["b"]).numpy()
    np.testing.assert_array_equal(found, np.full((2, 2), -255 * 255 * 4000, "int32"))


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_quantized_matmuls(columns, dtype):
    names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    node = helper.make_node("QLinearMatMul", names, ["y"])
    own = (6,) if columns else ()
    constants = {
        "as": floats(low=0.01, high=0.02, dtype=dtype), "az": np.uint8(120),
        "bs": floats(*own, low=0.01, high=0.02, dtype=dtype), "bz": integers("int8", *own),
        "ys": np.asarray(0.5, dtype), "yz": np.uint8(100),
    }  # fmt: skip
    made = model(node, {"a": ("uint8", ["n", 33]), "b": ("int8", [33, 6])}, ["y"], 21, constants)
    check(made, {"a": integers("uint8", 5, 33), "b": integers("int8", 33, 6)}, by="reference")


def test_quantized_matmuls_refuse_wide_integers():
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    made = model(node, {"a": ("int32", [2, 2]), "b": ("int32", [2, 2])}, ["y"], 10)
    with pytest.raises(UnsupportedError, match="expected quantized integers of 8 bits, got int32"):
        compile_onnx(made)


@pytest.mark.parametrize(
    ("attributes", "scale", "expected"),
    [
        ({"axis": 2}, floats(6), "expected an axis from -2 to 1, got 2"),
        ({"axis": 0, "block_size": 4}, floats(2, 5), "'relax.*' |expected"),
        ({"axis": 1, "block_size": 4}, floats(2, 1), "expected blocks of 4 for 6 elements, got 1"),
        ({"axis": 1, "block_size": -1}, floats(2, 1), "expected blocks of -1"),
        ({"axis": 1, "block_size": 4}, floats(6), "expected a scale of rank 2 for blocks, got 1"),
        ({}, floats(5), "expected"),
        ({}, floats(2, 6), "expected a scale and a zero point of rank 0 or 1 for rank 2"),
        ({"output_dtype": TensorProto.INT8}, floats(6), "expected a zero point of int8, got uint8"),
        ({"output_dtype": TensorProto.FLOAT8E5M2}, floats(6), "tensors of type FLOAT8E5M2"),
    ],
)
def test_wrong_parameters(attributes, scale, expected):
    made = quantize("uint8", scale, **attributes)
    with pytest.raises(UnsupportedError, match=expected) as caught:
        compile_onnx(made)
    assert len(caught.value.problems) == 1


def test_microsofts_quantization():
    made = quantize("uint16", 0.001, domain="com.microsoft")
    check(made, {"x": floats(4, 6)})
    node = helper.make_node(
        "DequantizeLinear", ["x", "s", "z"], ["y"], domain="com.microsoft", axis=1
    )
    constants = {"s": floats(3), "z": integers("int16", 3)}
    made = model(node, {"x": ("int16", ["n", 3])}, ["y"], 17, constants, MICROSOFT)
    check(made, {"x": integers("int16", 4, 3)})

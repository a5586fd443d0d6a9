"""Quantized layers: convolutions, ONNX Runtime's operators, and packed weights."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import by_onnxruntime, check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.unsupported import UnsupportedError

pytestmark = pytest.mark.sampled

NUMBERS = np.random.default_rng(3)
MICROSOFT = {"com.microsoft": 1}


def floats(*shape, low=-1.0, high=1.0, dtype="float32"):
    return NUMBERS.uniform(low, high, shape).astype(dtype)


def integers(dtype, *shape):
    """Of 7 bits if they are signed.

    ONNX Runtime adds two products in 16 bits, saturated, on processors without VNNI.
    """
    limits, unused = np.iinfo(dtype), int(dtype == "int8")
    low, high = limits.min >> unused, limits.max >> unused
    return NUMBERS.integers(low, high, shape, endpoint=True).astype(dtype)


def contributed(operator, names, inputs, constants, **attributes):
    """A model of one operator of ONNX Runtime."""
    node = helper.make_node(operator, names, ["y"], domain="com.microsoft", **attributes)
    return model(node, inputs, ["y"], 17, constants, MICROSOFT)


def parameters(*names, dtype="uint8"):
    """A scale and a zero point for each name."""
    found = {}
    for name in names:
        found[f"{name}s"] = floats(low=0.01, high=0.03)
        found[f"{name}z"] = integers(dtype)
    return found


def near(made, feeds):
    """Compare integers, which rounding may take to either neighbour."""
    (found,), (wanted,) = compile_onnx(made).run(None, feeds), by_onnxruntime(made, feeds)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    apart = np.abs(found.astype("int32") - wanted.astype("int32"))
    assert apart.max() <= 1 and (apart > 0).mean() < 0.02


@pytest.mark.parametrize("weights", ["uint8", "int8"])
@pytest.mark.parametrize(
    "attributes",
    [{"pads": [1, 0, 2, 1], "strides": [2, 1]}, {"auto_pad": "SAME_UPPER"}, {"dilations": [2, 2]}],
)
def test_integer_convolutions(weights, attributes):
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **attributes)
    constants = {"w": integers(weights, 3, 2, 3, 3), "xz": np.uint8(130), "wz": integers(weights)}
    made = model(node, {"x": ("uint8", ["n", 2, 7, 8])}, ["y"], 10, constants)
    check(made, {"x": integers("uint8", 2, 2, 7, 8)})


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_integer_convolutions_with_zero_points_of_channels(rank):
    node = helper.make_node("ConvInteger", ["x", "w", "", "wz"], ["y"])
    weight, shift = integers("int8", 4, 2, *[2] * rank), integers("int8", 4)
    made = model(
        node, {"x": ("int8", ["n", 2, *[5] * rank])}, ["y"], 10, {"w": weight, "wz": shift}
    )
    plain = model(
        helper.make_node("Conv", ["x", "w"], ["y"]),
        {"x": ("float32", ["n", 2, *[5] * rank])}, ["y"], 11,
        {"w": weight.astype("float32") - shift.reshape(4, *[1] * (rank + 1))},
    )  # fmt: skip
    x = integers("int8", 3, 2, *[5] * rank)
    (wanted,) = by_onnxruntime(plain, {"x": x.astype("float32")})
    np.testing.assert_array_equal(compile_onnx(made)(x).numpy(), wanted.astype("int32"))


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("group", [1, 2])
def test_quantized_convolutions(by_channel, group):
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    node = helper.make_node("QLinearConv", names, ["y"], group=group, pads=[1, 1, 1, 1])
    own = (6,) if by_channel else ()
    constants = {
        **parameters("x", "y"),
        "w": integers("int8", 6, 4 // group, 3, 3),
        "ws": floats(*own, low=0.001, high=0.02),
        "wz": np.zeros(own, "int8"),
        "b": NUMBERS.integers(-900, 900, 6).astype("int32"),
    }
    made = model(node, {"x": ("uint8", ["n", 4, 6, 6])}, ["y"], 10, constants)
    near(made, {"x": integers("uint8", 2, 4, 6, 6)})


def test_quantized_convolutions_refuse_what_plain_ones_do():
    node = helper.make_node("ConvInteger", ["x", "w"], ["y"], pads=[1, 1])
    made = model(
        node, {"x": ("uint8", [1, 2, 7, 8])}, ["y"], 10, {"w": integers("int8", 3, 2, 3, 3)}
    )
    with pytest.raises(UnsupportedError, match="expected 4 pads, got 2"):
        compile_onnx(made)
    made.graph.node[0].attribute[0].name = "margins"
    with pytest.raises(UnsupportedError, match="attribute 'margins'"):
        compile_onnx(made)


@pytest.mark.parametrize("operator", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_sums_and_products(operator, dtype):
    names = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    inputs = {"a": (dtype, ["n", 5]), "b": (dtype, [5])}
    made = contributed(operator, names, inputs, parameters("a", "b", "y", dtype=dtype))
    near(made, {"a": integers(dtype, 40, 5), "b": integers(dtype, 5)})


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.3}),
        ("QLinearSoftmax", {"opset": 13, "axis": 1}),
        ("QLinearSoftmax", {"opset": 12, "axis": 1}),
        ("QLinearGlobalAveragePool", {}),
        ("QLinearGlobalAveragePool", {"channels_last": 1}),
        ("QLinearAveragePool", {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 0, 0, 1]}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "channels_last": 1}),
    ],
)
def test_layers_of_one_tensor(operator, attributes):
    constants = parameters("x", "y")
    if operator in ("QLinearSoftmax", "QLinearSigmoid"):
        constants |= {"ys": np.float32(1 / 256), "yz": np.uint8(0)}
    names = ["x", "xs", "xz", "ys", "yz"]
    made = contributed(operator, names, {"x": ("uint8", [2, 6, 5, 4])}, constants, **attributes)
    near(made, {"x": integers("uint8", 2, 6, 5, 4)})


def test_joined_tensors_have_scales_of_their_own():
    names = ["ys", "yz", "a", "as", "az", "b", "bs", "bz"]
    inputs = {"a": ("uint8", [3, 2]), "b": ("uint8", [3, 4])}
    made = contributed("QLinearConcat", names, inputs, parameters("y", "a", "b"), axis=-1)
    near(made, {"a": integers("uint8", 3, 2), "b": integers("uint8", 3, 4)})
    made.graph.node[0].input.pop()
    with pytest.raises(UnsupportedError, match="expected three inputs for each tensor, got 5"):
        compile_onnx(made)


def test_choices():
    names = ["c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    inputs = {"c": ("bool", [3, 4]), "a": ("uint8", [3, 4]), "b": ("uint8", [4])}
    made = contributed("QLinearWhere", names, inputs, parameters("y", "a", "b"))
    feeds = {"c": NUMBERS.random((3, 4)) < 0.5}
    near(made, {**feeds, "a": integers("uint8", 3, 4), "b": integers("uint8", 4)})


@pytest.mark.parametrize("columns", [(), (4,)])
@pytest.mark.parametrize("bias", [False, True])
def test_integer_matmuls_to_floats(columns, bias):
    names = ["a", "b", "as", "bs", "az", "bz", *["c"] * bias]
    constants = {
        **parameters("a"), "bs": floats(*columns), "bz": integers("int8", *columns),
        "b": integers("int8", 9, 4), "c": floats(4),
    }  # fmt: skip
    made = contributed("MatMulIntegerToFloat", names, {"a": ("uint8", ["n", 9])}, constants)
    check(made, {"a": integers("uint8", 3, 9)}, tolerance=1e-4)


@pytest.mark.parametrize("bias", [False, True])
def test_matmuls_that_quantize_their_operand(bias):
    names = ["a", "b", "bs", "bz", *["c"] * bias]
    constants = {"b": integers("int8", 9, 4), "bs": floats(4), "bz": np.zeros(4, "int8")}
    made = contributed(
        "DynamicQuantizeMatMul", names, {"a": ("float32", ["n", 9])}, {**constants, "c": floats(4)}
    )
    check(made, {"a": floats(5, 9)}, tolerance=1e-4)


@pytest.mark.parametrize("quantizes", [False, True])
@pytest.mark.parametrize("swaps", [{}, {"transA": 1}, {"transB": 1}])
def test_quantized_gemm(quantizes, swaps):
    names = ["a", "as", "az", "b", "bs", "bz", "c", *["ys", "yz"] * quantizes]
    a_shape, b_shape = ((7, 3), (7, 4)) if "transA" in swaps else ((3, 7), (7, 4))
    b_shape = b_shape[::-1] if "transB" in swaps else b_shape
    constants = {
        **parameters("a", "y"), "b": integers("int8", *b_shape), "bs": floats(low=0.01, high=0.02),
        "bz": np.int8(0), "c": NUMBERS.integers(-500, 500, 4).astype("int32"),
    }  # fmt: skip
    made = contributed("QGemm", names, {"a": ("uint8", a_shape)}, constants, alpha=0.7, **swaps)
    feeds = {"a": integers("uint8", *a_shape)}
    near(made, feeds) if quantizes else check(made, feeds, tolerance=1e-4)


def n_bits(bits, K, N, block, zero_points=None, dtype="float32", bias=False):
    """A model of MatMulNBits with random weights."""
    blocks = -(-K // block)
    constants = {
        "b": integers("uint8", N, blocks, block * bits // 8),
        "s": floats(N, blocks, low=0.01, high=0.1, dtype=dtype),
    }
    names = ["a", "b", "s"]
    if zero_points == "packed":
        constants["z"] = integers("uint8", N * -(-blocks * bits // 8))
    elif zero_points == "floats":
        constants["z"] = floats(N, blocks, low=3, high=9, dtype=dtype)
    if bias:
        constants["c"] = floats(N, dtype=dtype)
    names += ["z" if zero_points else "", "", "c"] if bias else ["z"] if zero_points else []
    inputs = {"a": (dtype, ["n", 2, K])}
    return contributed(
        "MatMulNBits", names, inputs, constants, K=K, N=N, bits=bits, block_size=block
    )


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zero_points", [None, "packed"])
@pytest.mark.parametrize(("K", "block"), [(32, 16), (40, 16), (96, 32)])
def test_weights_of_few_bits(bits, zero_points, K, block):
    made = n_bits(bits, K, 5, block, zero_points)
    check(made, {"a": floats(3, 2, K)}, tolerance=1e-3)


@pytest.mark.parametrize(
    ("zero_points", "bias"), [("floats", False), ("packed", True), (None, True)]
)
def test_zero_points_of_floats_and_a_bias(zero_points, bias):
    check(n_bits(4, 48, 3, 16, zero_points, bias=bias), {"a": floats(2, 2, 48)}, tolerance=1e-3)


def test_weights_of_2_bits():
    made = n_bits(2, 20, 3, 16)
    a = floats(1, 2, 20)
    packed, scales = (numpy_of(made, name) for name in ("b", "s"))
    parts = np.stack([(packed >> s) & 3 for s in (0, 2, 4, 6)], -1).reshape(3, 2, 16)
    weight = ((parts.astype("float32") - 2) * scales[..., None]).reshape(3, 32)[:, :20]
    np.testing.assert_allclose(compile_onnx(made)(a).numpy(), a @ weight.T, rtol=1e-4, atol=1e-5)


def numpy_of(made, name):
    from onnx import numpy_helper

    return next(numpy_helper.to_array(t) for t in made.graph.initializer if t.name == name)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"bits": 3}, "expected 2, 4 or 8 bits, got 3"),
        ({"K": 0}, "expected positive K, N and block_size, got 0, 5 and 16"),
        ({"N": 6}, "cannot reshape"),
        ({"block_size": 1 << 40}, "cannot reshape"),
    ],
)
def test_wrong_packed_weights(change, expected):
    made = n_bits(4, 32, 5, 16)
    for attribute in made.graph.node[0].attribute:
        attribute.i = change.get(attribute.name, attribute.i)
    with pytest.raises(UnsupportedError, match=expected):
        compile_onnx(made)


def test_packed_weights_are_constants():
    made = n_bits(4, 32, 5, 16)
    given = made.graph.initializer.pop(0)
    info = helper.make_tensor_value_info("b", TensorProto.UINT8, list(given.dims))
    made.graph.input.append(info)
    with pytest.raises(UnsupportedError, match="weights that depends on data"):
        compile_onnx(made)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zero_points", [False, True])
def test_gathered_blocks(bits, zero_points):
    width = 40
    constants = {
        "d": integers("uint8", 7, width * bits // 8), "s": floats(7, 3, low=0.01, high=0.1),
        "z": integers("uint8", 7, -(-3 * bits // 8)),
    }  # fmt: skip
    names = ["d", "i", "s", *["z"] * zero_points]
    made = contributed(
        "GatherBlockQuantized", names, {"i": ("int64", ["n", 2])}, constants,
        bits=bits, block_size=16, quantize_axis=1, gather_axis=0,
    )  # fmt: skip
    check(made, {"i": np.array([[0, 6], [-1, 3], [2, 2]])})


def test_gathered_blocks_of_int4():
    values = NUMBERS.integers(-8, 8, 6 * 32)
    made = contributed(
        "GatherBlockQuantized", ["d", "i", "s"], {"i": ("int32", [3])},
        {"s": floats(6, 2, low=0.01, high=0.1)}, block_size=16, quantize_axis=1,
    )  # fmt: skip
    made.graph.initializer.append(helper.make_tensor("d", TensorProto.INT4, [6, 32], values))
    check(made, {"i": np.array([5, 0, 5], "int32")})


def test_a_quantized_network():
    """Convolution, pool and gemm between QuantizeLinear and DequantizeLinear."""
    constants = {
        "s": np.float32(0.02), "z": np.uint8(128), "ws": floats(4, low=0.001, high=0.01),
        "w": integers("int8", 4, 2, 3, 3), "g": integers("int8", 3, 16), "gs": np.float32(0.01),
        "bs": np.float32(0.001), "b": NUMBERS.integers(-99, 99, 3).astype("int32"),
    }  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"], axis=0),
        helper.make_node("Conv", ["xd", "wd"], ["c"]),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "s", "z"], ["cd"]),
        helper.make_node("MaxPool", ["cd"], ["p"], kernel_shape=[3, 3], strides=[3, 3]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("DequantizeLinear", ["g", "gs"], ["gd"]),
        helper.make_node("DequantizeLinear", ["b", "bs"], ["bd"]),
        helper.make_node("Gemm", ["f", "gd", "bd"], ["y"], transB=1),
    ]
    made = model(nodes, {"x": ("float32", ["n", 2, 8, 8])}, ["y"], 17, constants)
    feeds = {"x": floats(3, 2, 8, 8)}
    compare(compile_onnx(made).run(None, feeds), by_onnxruntime(made, feeds), 1e-4)


@pytest.mark.parametrize("masks", [None, "lengths", "keys"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(masks, causal):
    constants = {
        "w": integers("int8", 8, 24), "b": floats(24), "xs": np.float32(0.01),
        "ws": np.float32(0.005), "xz": np.uint8(120), "wz": np.int8(0),
        "m": np.array([3, 5], "int32") if masks == "lengths" else
        np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], "int32"),
    }  # fmt: skip
    names = ["x", "w", "b", "xs", "ws", "m" if masks else "", "xz", "wz"]
    made = contributed(
        "QAttention", names, {"x": ("uint8", [2, 5, 8])}, constants,
        num_heads=2, unidirectional=causal,
    )  # fmt: skip
    check(made, {"x": integers("uint8", 2, 5, 8)}, tolerance=1e-4)


def test_attention_that_is_not_supported():
    constants = {"w": integers("int8", 8, 24), "b": floats(24), "s": np.float32(0.01)}
    inputs = {"x": ("uint8", [2, 5, 8])}
    made = contributed("QAttention", ["x", "w", "b", "s", "s"], inputs, constants, num_heads=3)
    with pytest.raises(UnsupportedError, match="3 parts of 3 heads, got a width of 24"):
        compile_onnx(made)
    made.graph.node[0].attribute.add(name="do_rotary", type=2, i=1)
    with pytest.raises(UnsupportedError, match="past keys, or embeddings of positions"):
        compile_onnx(made)

"""Neural network operators: inferred shapes, static, symbolic and unknown, and messages."""

from typing import Any

import inferred
import pytest
from inferred import infer


def error_of(name: str, *operands: str, **attributes: Any) -> str:
    """The message of an operator without its first word, which is "expected"."""
    return inferred.error_of(name, *operands, **attributes).removeprefix("expected ")


@pytest.mark.parametrize(
    ("operands", "attributes", "result"),
    [
        (["[2, 3], i8", "[3, 4], i8"], {"out_dtype": "int32"}, "[2, 4], i32"),
        (["[2, 3], f32", "[3, 4], f32"], {"out_dtype": "void"}, "[2, 4], f32"),
        (["[2, 3], f16", "[3, 4], f16"], {"out_dtype": "float32"}, "[2, 4], f32"),
        (["[b, n, k], f32", "[b, m, k], f32"], {"transpose_rhs": True}, "[b, n, m], f32"),
        (["[k], f32", "[m, k], f32"], {"transpose_rhs": True}, "[m], f32"),
        (["[k], f32", "rank 2, f32"], {"transpose_rhs": True}, "rank 1, f32"),
        (["*, ?", "*, ?"], {"out_dtype": "int32"}, "*, i32"),
    ],
)
def test_matmul(operands: list[str], attributes: dict[str, Any], result: str):
    assert infer("matmul", *operands, **attributes) == result


@pytest.mark.parametrize(
    ("operands", "attributes", "message"),
    [
        (["[2], f32", "[2], f32"], {"transpose_rhs": True},
         "rhs of 'relax.matmul' to have at least two dims to transpose, got (2,)"),
        (["[2, 3], f32", "[3, 4], f32"], {"transpose_rhs": True},
         "lhs (…, k) and transposed rhs (…, n, k) of 'relax.matmul' to be compatible, got (2, 3) "
         "and (3, 4)"),
        (["[2, 3], f32", "[3, 4], f32"], {"out_dtype": "int32"},
         "out_dtype of 'relax.matmul' to be a float like float32, got int32"),
        (["[2, 3], i8", "[3, 4], i8"], {"out_dtype": "bool"},
         "out_dtype of 'relax.matmul' to be an integer like int8, got bool"),
        (["[2, 3], i1", "[3, 4], i1"], {}, "operands of 'relax.matmul' to be numbers, got bool"),
    ],
)  # fmt: skip
def test_matmul_messages(operands: list[str], attributes: dict[str, Any], message: str):
    assert error_of("matmul", *operands, **attributes) == message


def test_outer():
    assert infer("outer", "[n], f32", "[4], f32") == "[n, 4], f32"
    assert infer("outer", "rank 1, f32", "[4], f32") == "rank 2, f32"
    message = "operands of 'relax.outer' to have rank 1, got (4, 1)"
    assert error_of("outer", "[n], f32", "[4, 1], f32") == message


@pytest.mark.parametrize(
    ("subscripts", "operands", "result"),
    [
        ("ij,jk->ik", ["[n, 4], f32", "[4, m], f32"], "[n, m], f32"),
        ("ij,jk", ["[n, 4], f32", "[4, m], f32"], "[n, m], f32"),
        ("ba", ["[n, m], f32"], "[m, n], f32"),
        (" ii -> i ", ["[n, n], f32"], "[n], f32"),
        ("...ij, ...jk -> ...ik", ["[b, n, 4], f32", "[2, 1, 4, m], f32"], "[2, b, n, m], f32"),
        ("i...", ["[n, 2, 3], f32"], "[2, 3, n], f32"),
        ("i->", ["[n], f32"], "[], f32"),
        ("ij,jk->ik", ["[n, 4], f32", "rank 2, f32"], "*, f32"),
    ],
)
def test_einsum(subscripts: str, operands: list[str], result: str):
    assert infer("einsum", *operands, subscripts=subscripts) == result


@pytest.mark.parametrize("subscripts", ["ij", "ij->ijk", "ij->ii", "i->i", "i1->i", "ij.->i", ""])
def test_einsum_messages(subscripts: str):
    one = error_of("einsum", "[n, 4, 5], f32", subscripts=subscripts)
    assert one == f"subscripts of 'relax.einsum' for tensors of rank 3, got '{subscripts}'"
    assert error_of("einsum", "[n, 4], f32", "[n], f32", subscripts="ij,j") == (
        "shapes of 'relax.einsum' to match 'ij,j', got (n, 4) and (n,)"
    )


@pytest.mark.parametrize(
    ("data", "weight", "attributes", "result"),
    [
        ("[1, 3, 224, 224], f32", "[64, 3, 7, 7], f32", {"strides": 2, "padding": 3},
         "[1, 64, 112, 112], f32"),
        ("[n, 3, h, w], f32", "[8, 3, 3, 3], f32", {"padding": [1, 1]}, "[n, 8, h, w], f32"),
        ("[n, 3, h, w], f32", "[8, 3, 3, 3], f32", {"padding": [0, 1, 2, 3]},
         "[n, 8, h, w + 2], f32"),
        ("[n, 4, h, 9], f32", "[8, 2, 3, 3], f32", {"groups": 2, "strides": [2, 1]},
         "[n, 8, (h + 1) floordiv 2 - 1, 7], f32"),
        ("[1, 9, 9, c], f32", "[3, 3, c, 4], f32",
         {"data_layout": "NHWC", "kernel_layout": "HWIO", "dilation": 2}, "[1, 5, 5, 4], f32"),
        ("[1, 9, 9, c], f32", "[4, c, 3, 3], f32", {"data_layout": "NHWC", "out_layout": "NCHW"},
         "[1, 4, 7, 7], f32"),
        ("[1, 4, 9, 9], i8", "[4, 4, 3, 3], i8", {"out_dtype": "int32"}, "[1, 4, 7, 7], i32"),
        ("rank 4, f32", "[4, 4, 3, 3], f32", {}, "rank 4, f32"),
        ("*, ?", "*, ?", {}, "rank 4, ?"),
    ],
)  # fmt: skip
def test_conv2d(data: str, weight: str, attributes: dict[str, Any], result: str):
    assert infer("nn.conv2d", data, weight, **attributes) == result


CHANNELS = "channels of 'relax.nn.conv2d' to be compatible, got "


@pytest.mark.parametrize(
    ("data", "weight", "attributes", "message"),
    [
        ("[1, 3, 8, 8], f32", "[4, 2, 3, 3], f32", {},
         f"{CHANNELS}(1, 3, 8, 8) as NCHW, (4, 2, 3, 3) as OIHW and 1 groups"),
        ("[1, 4, 8, 8], f32", "[3, 2, 3, 3], f32", {"groups": 2},
         f"{CHANNELS}(1, 4, 8, 8) as NCHW, (3, 2, 3, 3) as OIHW and 2 groups"),
        ("[1, 4, 8, 8], f32", "[3, 2, 3, 3], f32", {"groups": 0},
         f"{CHANNELS}(1, 4, 8, 8) as NCHW, (3, 2, 3, 3) as OIHW and 0 groups"),
        ("[1, 3, 2, 8], f32", "[4, 3, 3, 3], f32", {},
         "spatial dims of 'relax.nn.conv2d' with padding to hold a window of 3, got 2"),
        ("[1, 3, 4, 8], f32", "[4, 3, 3, 3], f32", {"dilation": 3, "padding": [1, 0]},
         "spatial dims of 'relax.nn.conv2d' with padding to hold a window of 7, got 6"),
        ("[1, 3, 8], f32", "[4, 3, 3, 3], f32", {},
         "data of 'relax.nn.conv2d' to have rank 4, got (1, 3, 8)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3], f32", {},
         "weight of 'relax.nn.conv2d' to have rank 4, got (4, 3, 3)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3, 3], f32", {"strides": 0},
         "strides of 'relax.nn.conv2d' to be 1 or 2 ints of at least 1, got (0,)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3, 3], f32", {"dilation": [1, 1, 1]},
         "dilation of 'relax.nn.conv2d' to be 1 or 2 ints of at least 1, got (1, 1, 1)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3, 3], f32", {"padding": [1, 1, 1]},
         "padding of 'relax.nn.conv2d' to be 1, 2 or 4 ints of at least 0, got (1, 1, 1)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3, 3], f32", {"padding": -1},
         "padding of 'relax.nn.conv2d' to be 1, 2 or 4 ints of at least 0, got (-1,)"),
        ("[1, 3, 8, 8], f32", "[4, 3, 3, 3], f16", {},
         "operands of 'relax.nn.conv2d' to have one dtype, got float32 and float16"),
    ],
)  # fmt: skip
def test_conv2d_messages(data: str, weight: str, attributes: dict[str, Any], message: str):
    assert error_of("nn.conv2d", data, weight, **attributes) == message


def test_conv1d():
    assert infer("nn.conv1d", "[n, 3, w], f32", "[8, 3, 5], f32", padding=2) == "[n, 8, w], f32"
    message = "padding of 'relax.nn.conv1d' to be 1 or 2 ints of at least 0, got (1, 1, 1)"
    assert error_of("nn.conv1d", "[n, 3, w], f32", "[8, 3, 5], f32", padding=[1, 1, 1]) == message


@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ({}, "[n, 4, h + 2, 10], f32"),
        ({"strides": 2, "padding": 1, "output_padding": 1}, "[n, 4, h * 2, 16], f32"),
        ({"groups": 2}, "[n, 8, h + 2, 10], f32"),
    ],
)
def test_conv2d_transpose(attributes: dict[str, Any], result: str):
    assert infer("nn.conv2d_transpose", "[n, 6, h, 8], f32", "[6, 4, 3, 3], f32", **attributes) == (
        result
    )


def test_conv_transpose_messages():
    operands = "[1, 6, 2, 2], f32", "[6, 4, 3, 3], f32"
    assert error_of("nn.conv2d_transpose", *operands, padding=3) == (
        "padding of 'relax.nn.conv2d_transpose' to leave a result, got a dim of -2"
    )
    assert error_of("nn.conv2d_transpose", *operands, output_padding=1) == (
        "output_padding of 'relax.nn.conv2d_transpose' to be less than strides or dilation, got 1"
    )


@pytest.mark.parametrize("name", ["nn.max_pool2d", "nn.avg_pool2d"])
@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ({}, "[n, 3, h, 9], f32"),
        ({"pool_size": 2, "strides": 2}, "[n, 3, h floordiv 2, 4], f32"),
        ({"pool_size": 2, "strides": 2, "ceil_mode": True}, "[n, 3, (h + 1) floordiv 2, 5], f32"),
        ({"pool_size": [3, 1], "strides": 1, "padding": [1, 0]}, "[n, 3, h, 9], f32"),
    ],
)
def test_pools(name: str, attributes: dict[str, Any], result: str):
    assert infer(name, "[n, 3, h, 9], f32", **attributes) == result


def test_a_last_window_starts_in_the_data():
    """A window that ``ceil_mode`` lets hang over may not lie in the padding alone."""
    options = {"pool_size": 2, "strides": 3, "padding": 1, "ceil_mode": True}
    assert infer("nn.max_pool1d", "[1, 1, 8], f32", **options) == "[1, 1, 3], f32"
    assert infer("nn.max_pool1d", "[1, 1, 9], f32", **options) == "[1, 1, 4], f32"


def test_pool_messages():
    data = "[1, 3, 8, 8], f32"
    assert error_of("nn.max_pool1d_with_indices", "[1, 3, 8], f32", padding=2) == (
        "padding of 'relax.nn.max_pool1d_with_indices' to be less than a window of 1, got (2, 2)"
    )
    assert error_of("nn.max_pool2d", data, pool_size=9) == (
        "spatial dims of 'relax.nn.max_pool2d' with padding to hold a window of 9, got 8"
    )
    assert error_of("nn.max_pool2d", data, pool_size=[1, 2, 3]) == (
        "pool_size of 'relax.nn.max_pool2d' to be 1 or 2 ints of at least 1, got (1, 2, 3)"
    )
    assert error_of("nn.avg_pool2d", data, divisor_override=0) == (
        "divisor_override of 'relax.nn.avg_pool2d' other than 0, got 0"
    )
    assert error_of("nn.avg_pool2d", "[1, 3, 8, 8], i1") == (
        "operands of 'relax.nn.avg_pool2d' to be numbers, got bool"
    )
    assert error_of("nn.max_pool2d", "[1, 3, 8, 8], i1") == (
        "operands of 'relax.nn.max_pool2d' to be numbers, got bool"
    )


@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive_pools(kind: str):
    name = f"nn.adaptive_{kind}_pool2d"
    assert infer(name, "[n, c, h, w], f32", output_size=1) == "[n, c, 1, 1], f32"
    assert infer(name, "[n, c, h, w], f32", output_size=[7, 3]) == "[n, c, 7, 3], f32"
    assert infer(name, "[n, c, h, w], f32") == "[n, c, h, w], f32"
    assert infer(name, "[n, h, w, c], f32", output_size=2, layout="NHWC") == "[n, 2, 2, c], f32"
    assert infer(name, "*, f32", output_size=2) == "rank 4, f32"
    assert error_of(name, "[n, c, h, w], f32", output_size=0) == (
        f"output_size of 'relax.{name}' to be 1 or 2 ints of at least 1, got (0,)"
    )


VECTORS = ["[c], f32"] * 2


def test_batch_norm():
    data = "[n, c, h, w], f32"
    assert infer("nn.batch_norm", data, *VECTORS, *VECTORS) == f"{data}; [c], f32; [c], f32"
    assert infer("nn.batch_norm", "[n, c], f32", *VECTORS, *VECTORS, axis=-1).startswith("[n, c]")
    trained = infer("nn.batch_norm", data, *VECTORS, *VECTORS, training=True, momentum=1.0)
    assert trained == f"{data}; [c], f32; [c], f32"
    assert infer("nn.batch_norm", "*, f32", *VECTORS, *VECTORS) == "*, f32; [c], f32; [c], f32"


def test_batch_norm_messages():
    data = "[n, c, h, w], f32"
    assert error_of("nn.batch_norm", data, *VECTORS, "[n], f32", "[c], f32") == (
        "moving_mean of 'relax.nn.batch_norm' to have shape (c,), got (n,)"
    )
    assert error_of("nn.batch_norm", data, *VECTORS, *VECTORS, axis=4) == (
        "axis of 'relax.nn.batch_norm' in [-4, 4), got 4"
    )
    assert error_of("nn.batch_norm", data, *VECTORS, *VECTORS, training=True, momentum=1.5) == (
        "momentum of 'relax.nn.batch_norm' in [0, 1], got 1.5"
    )


def test_layer_norm():
    assert infer("nn.layer_norm", "[n, c], f32", *VECTORS, axes=-1) == "[n, c], f32"
    both = ["[4, c], f32"] * 2
    assert infer("nn.layer_norm", "[n, 4, c], f32", *both, axes=[-2, -1]) == "[n, 4, c], f32"
    assert infer("nn.layer_norm", "rank 3, f32", *both, axes=[-2, -1]) == "rank 3, f32"
    assert infer("nn.rms_norm", "[n, c], f32", "[c], f32", axes=[-1]) == "[n, c], f32"


def test_norm_messages():
    assert error_of("nn.layer_norm", "[n, c], f32", "[n], f32", "[c], f32", axes=-1) == (
        "gamma of 'relax.nn.layer_norm' to have shape (c,), got (n,)"
    )
    assert error_of("nn.layer_norm", "[n, c], f32", *VECTORS, axes=[1, -1]) == (
        "distinct axes of 'relax.nn.layer_norm', got (1, -1)"
    )
    assert error_of("nn.layer_norm", "[n, c], i32", "[c], i32", "[c], i32", axes=1) == (
        "operands of 'relax.nn.layer_norm' to be floats, got int32"
    )
    assert error_of("nn.rms_norm", "[n, c], f32", "[n], f32", axes=[-1]) == (
        "weight of 'relax.nn.rms_norm' to have shape (c,), got (n,)"
    )
    groups = {"channel_axis": 1, "axes": [2]}
    six = ["[6], f32"] * 2
    assert infer("nn.group_norm", "[n, 6, w], f32", *six, num_groups=3, **groups) == (
        "[n, 6, w], f32"
    )
    assert error_of("nn.group_norm", "[n, 6, w], f32", *six, num_groups=4, **groups) == (
        "num_groups of 'relax.nn.group_norm' to divide the channels, got 4 and (n, 6, w)"
    )
    assert (
        error_of("nn.group_norm", "[n, 6, w], f32", *six, num_groups=3, channel_axis=1, axes=[1, 2])
        == "axes of 'relax.nn.group_norm' without channel_axis 1, got (1, 2)"
    )


QKV = ["[b, s, h, d], f32", "[b, t, h, d], f32", "[b, t, h, v], f32"]


def test_attention():
    assert infer("nn.attention", *QKV) == "[b, s, h, v], f32"
    assert infer("nn.attention", *QKV, "[s, t], f32", causal_mask="TopLeft") == "[b, s, h, v], f32"
    grouped = ["[b, s, 6, d], f32", "[b, t, 2, d], f32", "[b, t, 2, d], f32"]
    assert infer("nn.attention", *grouped) == "[b, s, 6, d], f32"
    assert infer("nn.attention", "rank 4, f32", *QKV[1:]) == "rank 4, f32"


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ([QKV[0], "[b, t, h, e], f32", QKV[2]],
         "query, key and value of 'relax.nn.attention' to be compatible, got (b, s, h, d), (b, t, "
         "h, e) and (b, t, h, v)"),
        (["[b, s, 5, d], f32", "[b, t, 2, d], f32", "[b, t, 2, d], f32"],
         "query, key and value of 'relax.nn.attention' to be compatible, got (b, s, 5, d), (b, t, "
         "2, d) and (b, t, 2, d)"),
        ([*QKV, "[t, s], f32"],
         "bias of 'relax.nn.attention' to broadcast to (b, h, s, t), got (t, s)"),
        ([*QKV, "[2, b, h, s, t], f32"],
         "bias of 'relax.nn.attention' to broadcast to (b, h, s, t), got (2, b, h, s, t)"),
        (["[b, s, d], f32", *QKV[1:]],
         "query of 'relax.nn.attention' to have rank 4, got (b, s, d)"),
    ],
)  # fmt: skip
def test_attention_messages(operands: list[str], message: str):
    assert error_of("nn.attention", *operands) == message


WORDS = ["[b, s, h, d], ui32", "[b, t, h, d], ui32", "[b, (t + 1) floordiv 2, h, v], ui32"]


def test_attention_of_words():
    assert infer("nn.attention_words", *WORDS, scale=0.5) == "[b, s, h, v], f32"
    assert infer("nn.attention_words", *WORDS, "[s, t], bf16", scale=0.5) == "[b, s, h, v], f32"


@pytest.mark.parametrize(
    ("operands", "attributes", "message"),
    [
        (WORDS, {}, "scale of 'relax.nn.attention_words' to be given, got None"),
        ([*WORDS[:2], "[b, t, h, v], ui32"], {"scale": 1.0},
         "query, key and value of 'relax.nn.attention_words' to be compatible, got (b, s, h, d), "
         "(b, t, h, d) and (b, t, h, v)"),
        (QKV, {"scale": 1.0},
         "operands of 'relax.nn.attention_words' to be words of two bfloat16, got float32"),
    ],
)  # fmt: skip
def test_attention_of_words_messages(operands, attributes, message: str):
    assert error_of("nn.attention_words", *operands, **attributes) == message

"""Operators on elements, along axes and from shapes: inferred types and messages."""

from typing import Any

import pytest
from inferred import error_of, infer

from xrelax.dialects.int_expr import sym

n, m = sym("n"), sym("m")

FLOATS = "exp expm1 log log2 log1p sqrt rsqrt sigmoid sin cos tan asin acos atan sinh cosh".split()
FLOATS += "tanh asinh acosh atanh erf nn.leakyrelu nn.silu nn.gelu nn.gelu_tanh".split()
FLOATS += ["nn.selu", "nn.softplus", "nn.softmax", "nn.log_softmax"]
NUMBERS = "negative abs square sign floor ceil round trunc nn.relu6 clip tril triu".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
ARITHMETIC = ["floor_divide", "mod", "power"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]


@pytest.mark.parametrize("name", [*FLOATS, *NUMBERS])
@pytest.mark.parametrize("text", ["[4, n], f32", "[n, m * 2], bf16", "rank 3, f64", "*, ?"])
def test_functions_of_one_tensor_keep_its_type(name: str, text: str):
    assert infer(name, text) == text


@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_floats(name: str):
    message = f"expected operands of 'relax.{name}' to be floats, got int32"
    assert error_of(name, "[4], i32") == message


@pytest.mark.parametrize("name", ["negative", "square", "floor", "isnan", "argmax", "mod", "clip"])
def test_functions_of_numbers(name: str):
    operands = ["[4, 1], i1"] * (2 if name == "mod" else 1)
    message = f"expected operands of 'relax.{name}' to be numbers, got bool"
    assert error_of(name, *operands) == message


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "logical_not"])
def test_questions_give_bools(name: str):
    assert infer(name, "[n, 4], f16") == "[n, 4], i1"
    assert infer(name, "rank 2, f32") == "rank 2, i1"
    assert infer(name, "*, ?") == "*, i1"


@pytest.mark.parametrize("name", [*COMPARISONS, *LOGICAL])
def test_comparisons_give_bools(name: str):
    assert infer(name, "[n, 1], f32", "[4], f32") == "[n, 4], i1"
    assert infer(name, "[2], i1", "rank 2, i1") == "rank 2, i1"
    if not name.startswith("logical"):
        assert infer(name, "[2], f32", "[2], i32") == "[2], i1"


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITS])
def test_arithmetic_broadcasts(name: str):
    assert infer(name, "[n, 1], i32", "[4], i32") == "[n, 4], i32"
    message = f"expected shapes of 'relax.{name}' to broadcast, got (3,) and (4,)"
    assert error_of(name, "[3], i32", "[4], i32") == message
    assert infer(name, "[n], i32", "[4], i32") == "rank 1, i32"


def test_bits_are_those_of_integers():
    for name in BITS:
        assert "got float32" in error_of(name, "[4], f32", "[4], f32")
    for name in ("left_shift", "right_shift"):
        assert error_of(name, "[], i1", "[], i1").endswith("to be integers, got bool")
    assert infer("bitwise_and", "[], i1", "[2], i1") == "[2], i1"
    assert infer("bitwise_not", "[n], ui8") == "[n], ui8"
    assert error_of("bitwise_not", "[n], f32").endswith("to be integers or bools, got float32")


def test_where():
    assert infer("where", "[n, 1], i1", "[4], f32", "[], f32") == "[n, 4], f32"
    assert infer("where", "[4], i1", "[n, 1], i8", "rank 2, i8") == "rank 2, i8"
    assert infer("where", "*, ?", "[4], f32", "[4], ?") == "*, ?"
    message = error_of("where", "[4], i32", "[4], f32", "[4], f32")
    assert message == "expected condition of 'relax.where' to be bool, got int32"
    message = error_of("where", "[3], i1", "[4], f32", "[4], f32")
    assert message == "expected shapes of 'relax.where' to broadcast, got (3,) and (4,)"
    message = error_of("where", "[4], i1", "[4], f32", "[4], f64")
    assert (
        message == "expected operands of 'relax.where' to have one dtype, got float32 and float64"
    )


def test_clip():
    assert infer("clip", "[n], i32", min=0) == "[n], i32"
    assert infer("clip", "[n], f32", min=0, max=6.5) == "[n], f32"
    message = "expected max of 'relax.clip' to be an int like its operand, got 6.5"
    assert error_of("clip", "[n], i32", max=6.5) == message


def test_astype():
    assert infer("astype", "[n, 4], f32", dtype="uint8") == "[n, 4], ui8"
    assert infer("astype", "rank 1, ?", dtype="bfloat16") == "rank 1, bf16"
    assert infer("astype", "*, f32", dtype="bool") == "*, i1"


@pytest.mark.parametrize("name", ["nn.softmax", "nn.log_softmax", "cumsum"])
def test_operators_along_an_axis(name: str):
    assert infer(name, "[n, 4], f32", axis=0) == "[n, 4], f32"
    message = f"expected axis of 'relax.{name}' in [-2, 2), got 2"
    assert error_of(name, "[n, 4], f32", axis=2) == message
    assert error_of(name, "rank 2, f32", axis=2) == message


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "variance", "std", "max", "min"])
@pytest.mark.parametrize(
    ("operand", "axis", "keepdims", "result"),
    [
        ("[n, 4, m], f32", None, False, "[], f32"),
        ("[n, 4, m], f32", None, True, "[1, 1, 1], f32"),
        ("[n, 4, m], f32", [1], False, "[n, m], f32"),
        ("[n, 4, m], f16", [-1, 0], False, "[4], f16"),
        ("[n, 4, m], f64", [0, 2], True, "[1, 4, 1], f64"),
        ("[n, 4], f32", [], False, "[n, 4], f32"),
        ("rank 3, f32", [1], False, "rank 2, f32"),
        ("rank 3, f32", [1], True, "rank 3, f32"),
        ("rank 3, f32", None, False, "[], f32"),
        ("*, f32", None, False, "[], f32"),
        ("*, f32", [0], False, "*, f32"),
        ("[4], ?", None, False, "[], ?"),
    ],
)
def test_reductions(name: str, operand: str, axis: Any, keepdims: bool, result: str):
    assert infer(name, operand, axis=axis, keepdims=keepdims) == result


def test_dtypes_of_reductions():
    assert infer("sum", "[n], i1") == "[], i64"
    assert infer("sum", "[n], i8") == "[], i8"
    assert infer("prod", "[n], i8", dtype="int64") == "[], i64"
    assert infer("cumsum", "[n], i1", axis=0) == "[n], i64"
    assert infer("any", "[n], f32") == infer("all", "[n], i8") == "[], i1"
    assert infer("max", "[n], i1") == "[], i1"
    for name in ("mean", "variance", "std"):
        assert error_of(name, "[n], i32").endswith("to be floats, got int32")


def test_messages_of_reductions():
    for name in ("sum", "max", "any", "mean"):
        assert error_of(name, "[2, 3], f32", axis=[2]).endswith("in [-2, 2), got 2")
        message = f"expected distinct axis of 'relax.{name}', got (0, -2)"
        assert error_of(name, "[2, 3], f32", axis=[0, -2]) == message


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extrema_of_nothing(name: str):
    message = f"expected x of 'relax.{name}' to have elements along its axes, got (2, 0)"
    assert error_of(name, "[2, 0], f32", axis=1) == message
    assert error_of(name, "[2, 0], f32") == message
    dtype = "i64" if name.startswith("arg") else "f32"
    assert infer(name, "[2, 0], f32", axis=0) == f"[0], {dtype}"
    assert infer(name, "[2, n], f32", axis=1) == f"[2], {dtype}"


def test_places_of_extrema():
    assert infer("argmax", "[n, 4], f32") == "[], i64"
    assert infer("argmin", "[n, 4], i8", axis=-1, keepdims=True) == "[n, 1], i64"
    assert infer("argmin", "rank 2, ?", axis=0) == "rank 1, i64"


def test_running_sums():
    assert infer("cumsum", "[n, 4], f32") == "[n * 4], f32"
    assert infer("cumprod", "rank 2, f32") == "rank 1, f32"
    assert infer("cumprod", "[n], i8", axis=0, dtype="int32", exclusive=True) == "[n], i32"


def test_filled_tensors():
    assert infer("zeros", shape=(n, 4)) == "[n, 4], f32"
    assert infer("ones", shape=(), dtype="int8") == "[], i8"
    assert infer("full", "[], f32", shape=(n * 2,)) == "[n * 2], f32"
    assert infer("full", "[], f32", shape=(2,), dtype="float16") == "[2], f16"
    assert infer("zeros_like", "[n], i8") == "[n], i8"
    assert infer("ones_like", "rank 2, ?", dtype="bool") == "rank 2, i1"
    assert infer("full_like", "[n], i8", "[], f32") == "[n], i8"
    message = "expected shape of 'relax.zeros' without negative dims, got (n, -1)"
    assert error_of("zeros", shape=(n, -1)) == message
    for name, others in (("full", {"shape": (2,)}), ("full_like", {})):
        operands = ["[1], f32"] if name == "full" else ["[2], f32", "[1], f32"]
        message = f"expected fill_value of 'relax.{name}' to have rank 0, got (1,)"
        assert error_of(name, *operands, **others) == message


def test_ranges():
    assert infer("arange", start=n) == "[n], i64"
    assert infer("arange", start=2, end=n + 2) == "[n], i64"
    assert infer("arange", start=0, end=n, step=2) == "[(n + 1) floordiv 2], i64"
    assert infer("arange", start=n, end=-1, step=-1, dtype="float16") == "[n + 1], f16"
    assert infer("arange", start=0.0, end=1, step=0.25) == "[4], f32"
    message = "expected step of 'relax.arange' to be a number other than 0, got "
    assert error_of("arange", start=0, end=4, step=0) == message + "0"
    assert error_of("arange", start=0, end=4, step=n) == message + "n"
    message = "expected end of 'relax.arange' with step 1 to come after 4, got 0"
    assert error_of("arange", start=4, end=0) == message
    message = "expected bounds of 'relax.arange' of floats to be numbers, got symbols"
    assert error_of("arange", start=0.5, end=n) == message


def test_hamming_windows():
    assert infer("hamming_window", window_size=n, periodic=False, dtype="float16") == "[n], f16"
    message = "expected window_size of 'relax.hamming_window' to be an integer of at least 1, got "
    assert error_of("hamming_window", window_size=0) == message + "0"
    assert error_of("hamming_window", window_size=2.5) == message + "2.5"
    message = "expected dtype of 'relax.hamming_window' to be a float, got int32"
    assert error_of("hamming_window", window_size=n, dtype="int32") == message


def test_triangles_and_units():
    message = "expected x of 'relax.tril' to have at least two dims, got (n,)"
    assert error_of("tril", "[n], f32") == message
    assert error_of("triu", "[n, n], f32", k=0.5).endswith("to be an integer, got 0.5")
    assert infer("eye", n=n) == "[n, n], f32"
    assert infer("eye", n=2, m=m, k=n, dtype="int8") == "[2, m], i8"
    assert error_of("eye", n=2.0) == "expected n of 'relax.eye' to be an integer, got 2.0"
    assert error_of("eye", n=-1).endswith("without negative dims, got (-1, -1)")


def test_one_hot():
    assert infer("one_hot", "[n], i32", depth=4) == "[n, 4], i64"
    assert infer("one_hot", "[n, 2], i64", depth=4, axis=0, on_value=1.0) == "[4, n, 2], f32"
    assert infer("one_hot", "rank 1, i8", depth=4, dtype="bool") == "rank 2, i1"
    assert infer("one_hot", "*, i8", depth=4) == "*, i64"
    assert error_of("one_hot", "[n], f32", depth=4).endswith("to be integers, got float32")
    assert error_of("one_hot", "[n], i8", depth=-1).endswith("to be at least 0, got -1")
    assert error_of("one_hot", "[n], i8", depth=2, axis=2).endswith("in [-2, 2), got 2")

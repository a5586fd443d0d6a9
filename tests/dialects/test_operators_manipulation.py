"""Operators that give elements other places: inferred shapes, messages, and their indices."""

from typing import Any

import numpy as np
import pytest
from inferred import error_of, infer, operator, tensor

from xrelax import relax, te
from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.script import from_source
from xrelax.te import topi

n, m, k = sym("n"), sym("m"), sym("k")


@pytest.mark.parametrize(
    ("source", "shape", "result"),
    [
        ("[6, 4], f32", (8, 3), "[8, 3], f32"),
        ("[6, 4], f32", (-1, 3), "[8, 3], f32"),
        ("[], f32", (1, 1), "[1, 1], f32"),
        ("[0, 3], f32", (5, 0), "[5, 0], f32"),
        ("[n, m], f32", (n * m,), "[m * n], f32"),
        ("[n, m], f32", (m, -1), "[m, n], f32"),
        ("[n, 768], f32", (n, 12, -1), "[n, 12, 64], f32"),
        ("[n + m, k], f32", (-1, k), "[m + n, k], f32"),
        ("[n, k + n], f32", (n + k, -1), "[k + n, n], f32"),
        ("rank 2, f32", (n, 4), "[n, 4], f32"),
        ("*, f32", (-1, 4), "rank 2, f32"),
    ],
)
def test_reshape(source, shape, result):
    assert infer("reshape", source, shape=shape) == result


def test_reshape_keeps_the_shape_that_it_works_out():
    free, given = (operator("reshape", "[n, 12], f32", shape=s) for s in ((n, -1, 3), (n, 4, 3)))
    assert free.properties == given.properties
    assert free.infer([tensor("[n, 12], f32")], free.attribute_values()) == free.result.type


@pytest.mark.parametrize(
    ("source", "shape", "message"),
    [
        ("[6, 4], f32", (5, 5), "to have the elements of (6, 4), got (5, 5)"),
        ("[6, 4], f32", (-1, 5), "to have the elements of (6, 4), got (-1, 5)"),
        ("[0, 4], f32", (-1, 0), "to have the elements of (0, 4), got (-1, 0)"),
        (
            "[n, 4], f32",
            (m, 4),
            "to have the elements of (n, 4), got (m, 4): use R.match_cast on the operand",
        ),
        (
            "[n], f32",
            (-1, 4),
            "to have the elements of (n,), got (-1, 4): use R.match_cast on the operand",
        ),
    ],
)
def test_reshape_of_other_elements(source, shape, message):
    expected = f"expected shape of 'relax.reshape' {message}"
    assert error_of("reshape", source, shape=shape) == expected


@pytest.mark.parametrize("shape", [(-1, -1), (-2, 3)])
def test_reshape_with_negative_dims(shape):
    assert "to be at least 0 and at most one of them -1, got" in error_of(
        "reshape", "[6], f32", shape=shape
    )


def test_flatten():
    assert infer("flatten", "[n, 3, m], f32") == "[m * n * 3], f32"
    assert infer("flatten", "[], i1") == "[1], i1"
    assert infer("flatten", "*, f32") == "rank 1, f32"


def test_expand_dims():
    assert infer("expand_dims", "[n, 3], f32", axis=[0, -1]) == "[1, n, 3, 1], f32"
    assert infer("expand_dims", "[n, 3], f32", axis=1) == "[n, 1, 3], f32"
    assert infer("expand_dims", "rank 1, f32", axis=[0]) == "rank 2, f32"
    assert infer("expand_dims", "*, f32", axis=[0]) == "*, f32"
    assert error_of("expand_dims", "[3], f32", axis=[2]) == (
        "expected axis of 'relax.expand_dims' in [-2, 2), got 2"
    )
    assert "expected distinct axis" in error_of("expand_dims", "[3], f32", axis=[0, -3])


def test_squeeze():
    assert infer("squeeze", "[1, n, 1, 3], f32") == "[n, 3], f32"
    assert infer("squeeze", "[1, n, 1, 3], f32", axis=[-2]) == "[1, n, 3], f32"
    assert infer("squeeze", "rank 3, f32", axis=[0]) == "rank 2, f32"
    assert infer("squeeze", "rank 3, f32") == "*, f32"
    assert infer("squeeze", "[1, 3, n, 1], f32", axis=[0, 1, -1]) == "[3, n], f32"
    assert error_of("squeeze", "[1, n], f32", axis=[1]) == (
        "expected dim 1 of 'relax.squeeze' to be known, got (1, n)"
    )


def test_broadcast_to():
    assert infer("broadcast_to", "[1, n], f32", shape=(m, 3, n)) == "[m, 3, n], f32"
    assert infer("broadcast_to", "*, f32", shape=(m,)) == "[m], f32"
    for source, shape in (("[3], f32", (4,)), ("[n], f32", (m,)), ("[1, 3], f32", (3,))):
        assert "expected a tensor that 'relax.broadcast_to' can broadcast to" in error_of(
            "broadcast_to", source, shape=shape
        )
    assert "at least 0, got (-1, 3)" in error_of("broadcast_to", "[3], f32", shape=(-1, 3))


def test_repeat_and_tile():
    assert infer("repeat", "[n, 3], f32", repeats=2, axis=-1) == "[n, 6], f32"
    assert infer("repeat", "[n, 3], f32", repeats=2) == "[n * 6], f32"
    assert infer("repeat", "rank 2, f32", repeats=2) == "rank 1, f32"
    assert infer("tile", "[n, 3], f32", repeats=[2]) == "[n, 6], f32"
    assert infer("tile", "[n], f32", repeats=[4, 2]) == "[4, n * 2], f32"
    assert infer("tile", "rank 1, f32", repeats=[4, 2]) == "rank 2, f32"
    assert "at least 0, got -1" in error_of("repeat", "[3], f32", repeats=-1)
    assert "at least 0, got (2, -1)" in error_of("tile", "[3], f32", repeats=[2, -1])


def test_flip_and_roll():
    assert infer("flip", "[n, 3], f32", axis=[0, 1]) == "[n, 3], f32"
    assert infer("roll", "[n, 3], f32", shift=-1, axis=0) == "[n, 3], f32"
    assert error_of("flip", "[n, 3], f32", axis=[2]) == (
        "expected axis of 'relax.flip' in [-2, 2), got 2"
    )
    assert "in [-2, 2), got 2" in error_of("roll", "[n, 3], f32", shift=1, axis=2)


def test_concat():
    assert infer("concat", "[n, 3], f32", "[m, 3], f32", "[1, 3], f32") == "[m + n + 1, 3], f32"
    assert infer("concat", "[n, 3], f32", "[n, m], f32", axis=-1) == "[n, m + 3], f32"
    assert infer("concat", "[n, 3], f32", "rank 2, f32") == "rank 2, f32"
    assert infer("concat", "*, f32", "*, f32") == "*, f32"
    assert error_of("concat", "[n, 3], f32", "[n, 4], f32") == (
        "expected tensors of 'relax.concat' to have the same dims but for 0, got (n, 3), (n, 4)"
    )
    assert "one rank, got (n, 3), (n,)" in error_of("concat", "[n, 3], f32", "[n], f32")
    assert "one dtype" in error_of("concat", "[3], f32", "[3], f16")
    assert error_of("concat") == "expected tensors of 'relax.concat', got none"


def test_stack():
    assert infer("stack", "[n, 3], f32", "[n, 3], f32", axis=-1) == "[n, 3, 2], f32"
    assert infer("stack", "rank 2, f32") == "rank 3, f32"
    assert "the same dims, got (n,), (m,)" in error_of("stack", "[n], f32", "[m], f32")


def test_split():
    assert infer("split", "[6, n], f32", indices_or_sections=2) == "[3, n], f32; [3, n], f32"
    assert infer("split", "[n * 2], f32", indices_or_sections=2) == "[n], f32; [n], f32"
    parts = infer("split", "[7], f32", indices_or_sections=[2, 5])
    assert parts == "[2], f32; [3], f32; [2], f32"
    parts = infer("split", "[n + m], f32", indices_or_sections=[n])
    assert parts == "[n], f32; [m], f32"
    assert infer("split", "*, f32", indices_or_sections=[1]) == "*, f32; *, f32"
    parts = infer("split", "[n], f32", indices_or_sections=2)
    assert parts == "[(n + 1) floordiv 2], f32; [n - ((n + 1) floordiv 2)], f32"
    parts = infer("split", "[5], f32", indices_or_sections=4)
    assert parts == "[2], f32; [2], f32; [1], f32; [0], f32"
    assert "at least 1 section" in error_of("split", "[4], f32", indices_or_sections=0)


@pytest.mark.parametrize(
    ("dim", "begin", "end", "stride", "length"),
    [
        ("7", 2, 5, 1, "3"),
        ("7", -3, 100, 1, "3"),
        ("7", 5, 2, 1, "0"),
        ("7", 6, -8, -2, "4"),
        ("n", 0, (1 << 63) - 1, 1, "n"),
        ("n", 0, (1 << 31) - 1, 2, "(n + 1) floordiv 2"),
        ("n", (1 << 31) - 1, -(1 << 31), -1, "n"),
        ("n", 0, m, 1, "min(m, n)"),
        ("n", 2, (1 << 63) - 1, 1, "max(0, n - 2)"),
        ("n + m", m, n + m, 1, "n"),
        ("n + 3", n, n + 3, 1, "3"),
        ("n + 3", -3, -1, 1, "2"),
    ],
)
def test_strided_slice(dim, begin, end, stride, length):
    attributes: dict[str, Any] = {"axes": [0], "begin": [begin], "end": [end], "strides": [stride]}
    assert infer("strided_slice", f"[{dim}, 3], f32", **attributes) == f"[{length}, 3], f32"


def test_strided_slice_that_is_inside():
    slices: dict[str, Any] = {"axes": [0], "begin": [n - 1], "end": [n], "assume_inbound": True}
    assert infer("strided_slice", "[n, 3], f32", **slices) == "[1, 3], f32"


def test_strided_slice_errors():
    source, slices = "[7, 3], f32", {"axes": [0], "begin": [0], "end": [1]}
    assert error_of("strided_slice", source, **slices, strides=[0]) == (
        "expected strides of 'relax.strided_slice' other than 0, got (0,)"
    )
    assert "as many axes, begins, ends and strides of 'relax.strided_slice', got 1, 1, 2, 1" in (
        error_of("strided_slice", source, axes=[0], begin=[0], end=[1, 2])
    )
    assert "expected distinct axes" in error_of(
        "strided_slice", source, axes=[0, -2], begin=[0, 0], end=[1, 1]
    )


def test_pad():
    assert infer("nn.pad", "[n, 3], f32", pad_width=[1, 2, 0, 4]) == "[n + 3, 7], f32"
    assert infer("nn.pad", "[n, 3], f32", pad_width=((1, 2), (0, 4))) == "[n + 3, 7], f32"
    assert infer("nn.pad", "rank 1, f32", pad_width=[1, 2]) == "rank 1, f32"
    assert error_of("nn.pad", "[n, 3], f32", pad_width=[1, 2]) == (
        "expected 2 pairs of widths of 'relax.nn.pad', at least 0, got (1, 2)"
    )
    assert "at least 0, got (-1, 2)" in error_of("nn.pad", "[n], f32", pad_width=[-1, 2])
    assert "to be one of int8, got 0.5" in error_of(
        "nn.pad", "[n], i8", pad_width=[1, 2], pad_value=0.5
    )
    assert "to have elements to copy, got (0,)" in error_of(
        "nn.pad", "[0], f32", pad_width=[1, 2], pad_mode="reflect"
    )


def kernel(function, *shapes, **attributes):
    """The text of the kernel that an operator is lowered to."""
    tensors = [te.placeholder([te.tensor.shape_of([IntExpr.of(d)])[0] for d in s]) for s in shapes]
    return str(te.build_prim_func([*tensors, function(*tensors, **attributes)]))


@pytest.mark.parametrize(
    ("source", "target", "index"),
    [
        ((n, 768), (n, 12, 64), "%v_i0, %v_i1 * 64 + %v_i2"),
        ((n, 12, 64), (n, 768), "%v_i0, %v_i1 floordiv 64, %v_i1 mod 64"),
        ((n, m, k), (n * m, k), "%v_i0 floordiv m, %v_i0 mod m, %v_i1"),
        ((n * m, k), (n, m, k), "%v_i0 * m + %v_i1, %v_i2"),
        ((n, 1, m), (n, m, 1), "%v_i0, 0, %v_i1"),
        ((2, 3, 4, 5), (6, 20), "%v_i0 floordiv 3, %v_i0 mod 3, %v_i1 floordiv 5, %v_i1 mod 5"),
    ],
)
def test_a_reshape_divides_only_where_dims_are_taken_apart(source, target, index):
    shape = [te.tensor.shape_of([IntExpr.of(d)])[0] for d in target]
    assert f"[{index}] : " in kernel(topi.reshape, source, shape=shape)


def test_views_are_checked_at_run_time():
    function = from_source("""
@R.function
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.memory.view(x, R.shape([(n + 3) // 4, 4]))
""")
    view = relax.build(function)
    x = np.arange(8, dtype="float32")
    np.testing.assert_array_equal(view(x).numpy(), x.reshape(2, 4))
    with pytest.raises(ValueError, match=r"to n \* 4 bytes in 'main': expected dim 0 to be 28"):
        view(x[:7].copy())

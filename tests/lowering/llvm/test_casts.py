"""Conversions between all dtypes, saturating, and constants."""

import numpy as np
import pytest

from xrelax.runtime.dtype import to_bfloat16

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_float_to_integer_saturates(elementwise, kind, width):
    values = [0, -0.5, 1.9, -1.9, 127, 128, -129, 300, 4e9, -4e9, 1e19, -1e19, np.inf, -np.inf]
    with np.errstate(over="ignore"):
        x = np.array([*values, np.nan]).astype(FLOATS[kind])
    for sign, operation in (("i", "fptosi"), ("u", "fptoui")):
        dtype = np.dtype(f"{sign}{width // 8}")
        result = f"{'' if sign == 'i' else 'u'}i{width}"
        body = f"%r = arith.{operation} %x0 : {{T}} to {{R}}"
        found = elementwise(body, kind, result, x).numpy()
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        whole = [0 if np.isnan(v) else (v if np.isinf(v) else int(v)) for v in x.tolist()]
        expected = [int(max(low, min(high, v))) for v in whole]
        np.testing.assert_array_equal(found, np.array(expected, dtype))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_integer_to_float_rounds_once(elementwise, width):
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    numbers = [0, 1, -1, 100, low, high, high - 1, high // 3, high // 2 + 1]
    x = np.array(numbers, f"i{width // 8}")
    for kind, dtype in FLOATS.items():
        with np.errstate(over="ignore"):
            expected = x.astype(dtype)
        found = elementwise(f"%r = arith.sitofp %x0 : i{width} to {kind}", f"i{width}", kind, x)
        np.testing.assert_array_equal(found.numpy(), expected)
        found = elementwise(
            f"%r = arith.uitofp %x0 : i{width} to {kind}",
            f"ui{width}",
            kind,
            x.view(f"u{width // 8}"),
        )
        with np.errstate(over="ignore"):
            expected = x.view(f"u{width // 8}").astype(dtype)
        np.testing.assert_array_equal(found.numpy(), expected)


def test_integer_to_bfloat16_does_not_round_twice(elementwise):
    """2**24 + 2**16 is a tie between two bfloat16; one more is not, but f32 loses the one."""
    x = np.array([2**24 + 2**16 + 1, 2**24 + 2**16], np.int32)
    found = elementwise("%r = arith.sitofp %x0 : i32 to bf16", "i32", "bf16", x).numpy()
    np.testing.assert_array_equal(found, np.array([2**24 + 2**17, 2**24], np.float32))


def test_float_to_float(elementwise):
    x = np.array([1 + 2**-11 + 2**-30, 65520.0, 1e-8, -0.0, np.inf, np.nan, 1 / 3])
    with np.errstate(over="ignore"):
        half, single = x.astype(np.float16), x.astype(np.float32)
        half_of_single = single.astype(np.float16)
    for body, source, target, given, expected in (
        ("truncf", "f64", "f16", x, half),
        ("truncf", "f64", "f32", x, single),
        ("truncf", "f32", "f16", single, half_of_single),
        ("extf", "f16", "f64", half, half.astype(np.float64)),
        ("extf", "f32", "f64", single, single.astype(np.float64)),
    ):
        text = f"%r = arith.{body} %x0 : {source} to {target}"
        np.testing.assert_array_equal(elementwise(text, source, target, given).numpy(), expected)
    found = elementwise("%r = arith.truncf %x0 : f32 to bf16", "f32", "bf16", single)
    np.testing.assert_array_equal(found.view(), to_bfloat16(single))
    found = elementwise(
        "%b = arith.truncf %x0 : f32 to bf16\n%r = arith.extf %b : bf16 to f64",
        "f32",
        "f64",
        single,
    )
    bits = to_bfloat16(single).astype(np.uint32) << 16
    np.testing.assert_array_equal(found.numpy(), bits.view(np.float32).astype(np.float64))


def test_integer_to_integer(elementwise):
    x = np.array([0, 1, -1, 127, -128, 200, -30000], np.int16)
    through_index = """
    %p = arith.index_cast %x0 : i16 to index
    %r = arith.index_cast %p : index to i32"""
    cases = (
        ("%r = arith.trunci %x0 : i16 to i8", "i8", x.astype(np.int8)),
        ("%r = arith.extsi %x0 : i16 to i64", "i64", x.astype(np.int64)),
        ("%r = arith.extui %x0 : i16 to i64", "i64", x.view(np.uint16).astype(np.int64)),
        (through_index, "i32", x.astype(np.int32)),
        ("%r = arith.bitcast %x0 : i16 to f16", "f16", x.view(np.float16)),
    )  # fmt: skip
    for body, result, expected in cases:
        np.testing.assert_array_equal(elementwise(body, "i16", result, x).numpy(), expected)


def test_bool_conversions(elementwise):
    x = np.array([True, False, True])
    found = elementwise("%r = arith.uitofp %x0 : i1 to f32", "i1", "f32", x).numpy()
    np.testing.assert_array_equal(found, [1, 0, 1])
    found = elementwise("%r = arith.extui %x0 : i1 to i8", "i1", "ui8", x).numpy()
    np.testing.assert_array_equal(found, [1, 0, 1])


def test_constants_of_vectors(elementwise):
    x = np.arange(7, dtype=np.int32)
    body = (
        "%c = arith.constant dense<[1, -2, 3, 40]> : vector<4xi32>\n%r = arith.muli %x0, %c : {T}"
    )
    found = elementwise(body, "i32", "i32", x, lanes=4).numpy()
    np.testing.assert_array_equal(found, x * np.array([1, -2, 3, 40, 1, -2, 3]))
    body = "%c = arith.constant dense<0.1> : vector<4xf32>\n%r = arith.addf %x0, %c : {T}"
    found = elementwise(body, "f32", "f32", x.astype(np.float32), lanes=4).numpy()
    np.testing.assert_array_equal(found, x.astype(np.float32) + np.float32(0.1))
    body = """
    %c = arith.constant dense<[true, false, true, false]> : vector<4xi1>
    %r = arith.andi %x0, %c : {T}"""
    found = elementwise(body, "i1", "i1", np.ones(7, bool), lanes=4).numpy()
    np.testing.assert_array_equal(found, [1, 0, 1, 0, 1, 0, 1])

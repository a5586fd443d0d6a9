"""`T.dp4a` and `T.bfdot` as script: words, accumulators, and wrong dtypes."""

import itertools

import numpy as np
import pytest

from xrelax import te

SIGNS = list(itertools.product(("int32", "uint32"), repeat=2))
A = np.array([0x01FF807F, 0x80FE0203, 0xFFFFFFFF, 0x80808080], "uint32")
B = np.array([0x807F01FF, 0x7F7F0380, 0x80808080, 0xFFFFFFFF], "uint32")
BYTES = {"int32": np.int8, "uint32": np.uint8}
PARAMETERS = 'A: T.Buffer((4,), "{}"), B: T.Buffer((4,), "{}"), Y: T.Buffer((4,), "int32")'


def dot(lhs, rhs):
    """The dot products of words as bytes of their dtypes."""
    pair = [w.view(BYTES[w.dtype.name]).astype(np.int32).reshape(4, 4) for w in (lhs, rhs)]
    return (pair[0] * pair[1]).sum(-1, dtype=np.int32)


@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_signs(run, lhs, rhs):
    """Words of uint32 are unsigned bytes, those of int32 signed ones; the text reads back."""
    a, b = A.view(lhs), B.view(rhs)
    body = "for i in range(4):\n    Y[i] = T.dp4a(A[i], B[i])"
    found = run(PARAMETERS.format(lhs, rhs), body, a, b, dtype="int32")
    np.testing.assert_array_equal(found, dot(a, b))


@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_words_of_another_sign(run, lhs, rhs):
    """A cast keeps the bits of words, and changes the sign of their bytes."""
    a, b = A.view("int32"), B.view("uint32")
    body = f"""
for i in range(4):
    Y[i] = T.dp4a(T.Cast("{lhs}", A[i]), T.reinterpret("{rhs}", B[i]))
"""
    found = run(PARAMETERS.format("int32", "uint32"), body, a, b, dtype="int32")
    np.testing.assert_array_equal(found, dot(a.view(lhs), b.view(rhs)))


def test_printed_signs(kernel, round_trip):
    """A cast is printed where an operand has the other sign."""
    body = "for i in range(4):\n    Y[i] = T.dp4a({})"
    for words in ("A[i], B[i]", 'T.Cast("uint32", A[i]), T.Cast("int32", B[i])'):
        text = round_trip(kernel(PARAMETERS.format("int32", "uint32"), body.format(words)))
        assert text.splitlines()[-1].strip() == f"Y[i] = T.dp4a({words})"


def test_a_signed_result(run):
    """The result is an int32: a cast to uint32 makes a quotient unsigned."""
    body = """
for i in range(4):
    Y[i] = T.dp4a(A[i], B[i]) // 3
for i in range(4):
    Y[i] += T.Cast("int32", T.Cast("uint32", T.dp4a(A[i], B[i])) // T.uint32(3))
"""
    a, b = A.view("int32"), B.view("int32")
    expected = dot(a, b) // 3 + (dot(a, b).view("uint32") // 3).view("int32")
    np.testing.assert_array_equal(
        run(PARAMETERS.format("int32", "int32"), body, a, b, dtype="int32"), expected
    )


@pytest.mark.parametrize("accumulator", ["Y[i]", "T.uint32(7)", "7"])
def test_accumulators(run, accumulator):
    a, b = A, B.view("int32")
    body = f"""
for i in range(4):
    Y[i] = i * 1000
    Y[i] = T.dp4a(A[i], B[i], {accumulator})
"""
    total = np.arange(4) * 1000 if "Y" in accumulator else 7
    found = run(PARAMETERS.format("uint32", "int32"), body, a, b, dtype="int32")
    np.testing.assert_array_equal(found, dot(a, b) + total)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "bool"])
def test_wrong_words(refused, dtype):
    """Of either operand, at the call."""
    for pair in (("int32", dtype), (dtype, "uint32")):
        refused(
            f"@T.prim_func\ndef kernel({PARAMETERS.format(*pair)}):\n"
            "    Y[0] = T.dp4a(A[0], B[0])\n",
            f"error: expected 'dp4a' of words of int32 or uint32, got {dtype}",
            "T.dp4a",
        )


def test_wrong_words_of_expressions():
    a, b = te.placeholder((4,), "float16", "A"), te.placeholder((4,), "int32", "B")
    with pytest.raises(TypeError) as caught:
        te.compute((4,), lambda i: te.dp4a(a[i], b[i]))
    assert str(caught.value) == "expected 'dp4a' of words of int32 or uint32, got float16"


FLOATS = 'A: T.Buffer((4,), "uint32"), B: T.Buffer((4,), "uint32"), Y: T.Buffer((4,), "float32")'
ONE_TWO, THREE = 0x40003F80, 0x00004040
"""Words of the bf16 1 and 2, and of 3 and 0."""


@pytest.mark.parametrize("accumulator", ["", ", Y[i]", ", T.float32(7)", ", 7"])
def test_products_of_bfloat16(run, accumulator):
    """The first number is in the low half; the text reads back."""
    a = np.array([ONE_TWO, ONE_TWO, THREE, 0], "uint32")
    b = np.array([ONE_TWO, THREE, THREE, ONE_TWO], "uint32")
    body = (
        f"for i in range(4):\n    Y[i] = T.float32(5)\n    Y[i] = T.bfdot(A[i], B[i]{accumulator})"
    )
    total = 0 if not accumulator else 5 if "Y" in accumulator else 7
    found = run(FLOATS, body, a, b, dtype="float32")
    np.testing.assert_array_equal(found, np.array([5, 3, 9, 0], "float32") + total)


def test_printed_words_of_bfloat16(run, kernel, round_trip):
    """Words of int32 are cast, and a cast is printed; a sum of 0 is not."""
    body = "for i in range(4):\n    Y[i] = T.Cast('int32', T.bfdot({}, B[i], 0))"
    a, b = np.array([ONE_TWO, THREE, 0, ONE_TWO], "int32"), np.full(4, ONE_TWO, "uint32")
    parameters = PARAMETERS.format("int32", "uint32")
    for word in ('T.Cast("uint32", A[i])', 'T.reinterpret("uint32", A[i])'):
        found = run(parameters, body.format(word), a, b, dtype="int32")
        np.testing.assert_array_equal(found, [5, 3, 0, 5])
        text = round_trip(kernel(parameters, body.format(word)))
        printed = 'Y[i] = T.Cast("int32", T.bfdot(T.Cast("uint32", A[i]), B[i]))'
        assert text.splitlines()[-1].strip() == printed


@pytest.mark.parametrize("dtype", ["int32", "uint16", "uint64", "bfloat16", "float32"])
def test_wrong_words_of_bfloat16(refused, dtype):
    """Of either operand, at the call."""
    for pair in (("uint32", dtype), (dtype, "uint32")):
        refused(
            f"@T.prim_func\ndef kernel({PARAMETERS.format(*pair)}):\n"
            "    Y[0] = T.Cast('int32', T.bfdot(A[0], B[0]))\n",
            f"error: expected 'bfdot' of words of uint32, got {dtype}",
            "T.bfdot",
        )


def test_wrong_words_of_bfloat16_in_expressions():
    a, b = te.placeholder((4,), "uint32", "A"), te.placeholder((4,), "int32", "B")
    with pytest.raises(TypeError) as caught:
        te.compute((4,), lambda i: te.bfdot(a[i], b[i]))
    assert str(caught.value) == "expected 'bfdot' of words of uint32, got int32"


def test_a_wrong_sum_of_bfloat16(refused):
    refused(
        f"@T.prim_func\ndef kernel({FLOATS}):\n    Y[0] = T.bfdot(A[0], B[0], A[1])\n",
        "error: expected 'bfdot' with a sum of float32, got uint32",
        "T.bfdot",
    )

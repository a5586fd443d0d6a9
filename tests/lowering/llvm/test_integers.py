"""`arith` on integers, compiled and compared with Python's integers."""

import numpy as np
import pytest

WIDTHS = (8, 16, 32, 64)


def samples(width: int, signed: bool) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of awkward numbers."""
    dtype = np.dtype(f"{'i' if signed else 'u'}{width // 8}")
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    numbers = [0, 1, 2, 3, 7, 8, width - 1, width, 100, high, high - 1]
    numbers += [low, low + 1, -1, -2, -7, -8] if signed else [high // 2 + 1]
    pairs = [(x, y) for x in numbers for y in numbers]
    return np.array([p[0] for p in pairs], dtype), np.array([p[1] for p in pairs], dtype)


def wrapped(values: list[int], dtype: np.dtype) -> np.ndarray:
    """Numbers modulo the range of a dtype."""
    bits = 8 * dtype.itemsize
    return np.array([v % 2**bits for v in values], f"u{dtype.itemsize}").view(dtype)


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


SIGNED = {
    "addi": lambda x, y, w: x + y,
    "subi": lambda x, y, w: x - y,
    "muli": lambda x, y, w: x * y,
    "divsi": lambda x, y, w: truncated(x, y) if y else 0,
    "remsi": lambda x, y, w: x - y * truncated(x, y) if y else 0,
    "floordivsi": lambda x, y, w: x // y if y else 0,
    "ceildivsi": lambda x, y, w: -(-x // y) if y else 0,
    "minsi": lambda x, y, w: min(x, y),
    "maxsi": lambda x, y, w: max(x, y),
    "andi": lambda x, y, w: x & y,
    "ori": lambda x, y, w: x | y,
    "xori": lambda x, y, w: x ^ y,
    "shrsi": lambda x, y, w: x >> (y if 0 <= y < w else w),
}
UNSIGNED = {
    "divui": lambda x, y, w: x // y if y else 0,
    "remui": lambda x, y, w: x % y if y else 0,
    "ceildivui": lambda x, y, w: -(-x // y) if y else 0,
    "minui": lambda x, y, w: min(x, y),
    "maxui": lambda x, y, w: max(x, y),
    "shli": lambda x, y, w: x << y if y < w else 0,
    "shrui": lambda x, y, w: x >> y if y < w else 0,
}


@pytest.mark.sampled
@pytest.mark.parametrize("lanes", [0, 8])
@pytest.mark.parametrize("width", WIDTHS)
def test_binary_operations(elementwise, width, lanes):
    """Each on all pairs of awkward numbers, scalars and vectors with a masked tail."""
    for table, signed in ((SIGNED, True), (UNSIGNED, False)):
        x, y = samples(width, signed)
        kind = f"{'' if signed else 'u'}i{width}"
        for name, function in table.items():
            body = f"%r = arith.{name} %x0, %x1 : {{T}}"
            found = elementwise(body, kind, kind, x, y, lanes=lanes).numpy()
            expected = wrapped([function(int(a), int(b), width) for a, b in zip(x, y)], x.dtype)
            np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("divisor", [1, 2, 8, 3, -1, -4, 0])
def test_division_by_a_constant(elementwise, divisor):
    x = np.array([-9, -8, -7, -1, 0, 1, 7, 8, 9, -(2**31), 2**31 - 1], np.int32)
    for name in ("divsi", "remsi", "floordivsi", "ceildivsi"):
        body = f"%c = arith.constant {divisor} : i32\n%r = arith.{name} %x0, %c : i32"
        found = elementwise(body, "i32", "i32", x).numpy()
        expected = wrapped([SIGNED[name](int(v), divisor, 32) for v in x], x.dtype)
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_comparisons_give_bool_buffers(elementwise):
    compare = {
        "eq": np.equal,
        "ne": np.not_equal,
        "slt": np.less,
        "sle": np.less_equal,
        "sgt": np.greater,
        "sge": np.greater_equal,
    }
    x, y = samples(16, True)
    for name, function in compare.items():
        found = elementwise(f"%r = arith.cmpi {name}, %x0, %x1 : i16", "i16", "i1", x, y).numpy()
        assert found.dtype == bool
        np.testing.assert_array_equal(found, function(x, y), err_msg=name)
    for name in ("ult", "ule", "ugt", "uge"):
        found = elementwise(f"%r = arith.cmpi {name}, %x0, %x1 : i16", "i16", "i1", x, y).numpy()
        expected = compare[f"s{name[1:]}"](x.view(np.uint16), y.view(np.uint16))
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("lanes", [0, 16])
def test_bool_buffers_are_bytes(elementwise, lanes):
    x = np.array([True, False, True, True, False] * 5)
    y = np.array([False, False, True, False, True] * 5)
    found = elementwise("%r = arith.xori %x0, %x1 : {T}", "i1", "i1", x, y, lanes=lanes).numpy()
    np.testing.assert_array_equal(found, x ^ y)


def test_bits(elementwise):
    for width in WIDTHS:
        x, _ = samples(width, False)
        bits = [f"{int(v):0{width}b}" for v in x]
        expected = {
            "ctpop": [b.count("1") for b in bits],
            "ctlz": [width - len(b.lstrip("0")) for b in bits],
            "cttz": [width - len(b.rstrip("0")) for b in bits],
        }
        for name, numbers in expected.items():
            kind = f"ui{width}"
            found = elementwise(f"%r = math.{name} %x0 : i{width}", kind, kind, x).numpy()
            np.testing.assert_array_equal(found, np.array(numbers, x.dtype), err_msg=name)
        x, _ = samples(width, True)
        kind = f"i{width}"
        found = elementwise(f"%r = math.absi %x0 : {kind}", kind, kind, x).numpy()
        np.testing.assert_array_equal(found, wrapped([abs(int(v)) for v in x], x.dtype))


@pytest.mark.parametrize("lanes", [0, 4])
def test_integer_power(elementwise, lanes):
    x, y = samples(32, True)
    found = elementwise("%r = math.ipowi %x0, %x1 : {T}", "i32", "i32", x, y, lanes=lanes).numpy()

    def power(base: int, exponent: int) -> int:
        if exponent >= 0:
            return pow(base, exponent, 2**32)
        return base**-exponent if base == 1 else ((-1) ** (exponent % 2) if base == -1 else 0)

    np.testing.assert_array_equal(
        found, wrapped([power(int(a), int(b)) for a, b in zip(x, y)], x.dtype)
    )

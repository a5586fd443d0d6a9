"""Names of data types with their sizes."""

import pytest

import xrelax


@pytest.mark.parametrize(
    ("name", "bits", "lanes", "itemsize"),
    [
        ("float32", 32, 1, 4),
        ("bfloat16", 16, 1, 2),
        ("int8x4", 8, 4, 4),
        ("float6_e2m3fnx4", 6, 4, 3),
        ("bool", 8, 1, 1),
        ("handle", 64, 1, 8),
    ],
)
def test_sizes(name, bits, lanes, itemsize):
    dtype = xrelax.DataType(name)
    assert (dtype, dtype.bits, dtype.lanes, dtype.itemsize) == (name, bits, lanes, itemsize)


def test_lanes():
    assert xrelax.DataType("int8x4").with_lanes(2) == "int8x2"
    assert xrelax.DataType("int8x4").with_lanes(1) == "int8"
    with pytest.raises(ValueError, match=r"expected a data type such as .*, got '3'"):
        xrelax.DataType(3)
    with pytest.raises(ValueError, match=r"^expected lanes of a known number, got 'int32xvsc"):
        _ = xrelax.DataType("int32xvscalex4").itemsize
    with pytest.raises(ValueError, match=r"^expected a data type such as float32 or int8x4, got"):
        xrelax.DataType("number")
